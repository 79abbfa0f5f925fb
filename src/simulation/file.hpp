// Files as the operating system has them: whole or not at all, and every failure with its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tribo {

/// "PATH: WHAT (reason of the system)", as InvalidInput.
[[noreturn]] void fail_io(const std::string& path, const std::string& what);

/// A descriptor opened for writing (created or emptied) or for reading; closed with the object.
class File {
 public:
  enum class Mode { Read, Write };
  File(std::string path, Mode mode);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const;
  void read_at(std::uint64_t offset, void* data, std::size_t n) const;
  void write_at(std::uint64_t offset, const void* data, std::size_t n);
  void sync();

 private:
  std::string path_;
  int fd_ = -1;
};

/// Written under a temporary name beside its own; commit() makes it durable and renames. Removed where not committed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();

  void write(const void* data, std::size_t n);
  void write_at(std::uint64_t offset, const void* data, std::size_t n) { file_.write_at(offset, data, n); }
  std::uint64_t position() const { return position_; }
  void commit();

 private:
  std::string path_;
  File file_;
  std::uint64_t position_ = 0;
  bool committed_ = false;
};

/// The whole file. InvalidInput where it is missing, not a regular file, or longer than most.
std::string read_text(const std::string& path, std::uint64_t most);

}  // namespace tribo
