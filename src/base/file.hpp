// Files as the operating system has them: whole or not at all, and every failure with its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tribo {

/// "PATH: WHAT (reason of the system)", as InvalidInput.
[[noreturn]] void fail_io(const std::string& path, const std::string& what);

/// A descriptor opened for writing (created or emptied), for reading, or for what cannot be sought in; closed with the
/// object. Opening a FIFO as a stream waits for its reader.
class File {
 public:
  enum class Mode { Read, Write, Stream };
  File(std::string path, Mode mode);
  /// A new file, BEGIN.tmp.PID.N, locked as long as it is open. Those that killed writers left are removed.
  static File temporary(const std::string& begin);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const;
  void read_at(std::uint64_t offset, void* data, std::size_t n) const;
  void write_at(std::uint64_t offset, const void* data, std::size_t n);
  void append(const void* data, std::size_t n);  ///< where the descriptor stands
  void sync();

 private:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
};

/// Where an output that is given a name goes. Files and new names are replaced; a symbolic link stays, and what it
/// points to is replaced; character devices and FIFOs are written to. All else is refused with InvalidInput.
struct Destination {
  std::string path;     ///< with links followed
  bool stream = false;  ///< to write to, never to replace
};
Destination destination(const std::string& path);

/// The one way in which outputs come to be: written under a temporary name, beside the file whose place it takes;
/// commit() makes it durable and renames, or pours it into a stream. Removed where not committed.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();

  void write(const void* data, std::size_t n);
  void write_at(std::uint64_t offset, const void* data, std::size_t n) { file_.write_at(offset, data, n); }
  std::uint64_t position() const { return position_; }
  void commit();

 private:
  void pour() const;

  Destination to_;
  File file_;
  std::uint64_t position_ = 0;
  bool committed_ = false;
};

/// An AtomicFile of these bytes.
void write_file(const std::string& path, const std::string& bytes);

/// The whole file: the bytes that it says it has, since files of a kernel may not end. InvalidInput where it is missing, not a
/// regular file, or longer than most.
std::string read_text(const std::string& path, std::uint64_t most);
/// Its first bytes, most of them at most; none where it cannot be read.
std::string read_start(const std::string& path, std::uint64_t most);

}  // namespace tribo
