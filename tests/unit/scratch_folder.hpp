// A folder of its own for a test that writes files; removed with the object.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tribo/types.hpp"

struct ScratchFolder {
  std::filesystem::path path;

  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tribo-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

/// The message of the InvalidInput that an action throws; "" where it throws nothing.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const tribo::InvalidInput& error) {
    return error.what();
  }
  return "";
}
