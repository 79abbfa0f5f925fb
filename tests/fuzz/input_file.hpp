// An input of the fuzzer as a file with an extension, in a folder of its own in memory.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

struct InputFile {
  std::string path;

  explicit InputFile(const std::string& name) {
    std::string folder = "/dev/shm/tribo-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    path = folder + "/" + name;
  }
  ~InputFile() { std::filesystem::remove_all(std::filesystem::path(path).parent_path()); }
  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
};
