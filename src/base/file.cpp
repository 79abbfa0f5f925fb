#include "base/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

const char* kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISSOCK(mode)) return "a socket";
  return "not a file";
}

/// What a chain of links ends in, whether it is there or not.
std::string followed(const std::string& given) {
  fs::path path = given;
  std::error_code error;
  while (fs::is_symlink(fs::symlink_status(path, error))) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    // /dev/stdout of a shell's "> file": whoever holds it open would go on writing to what was replaced.
    if (fs::canonical(folder, error).string().starts_with("/proc/")) {
      throw InvalidInput(given + ": is a file that is open already, which is not replaced: give it its own name");
    }
    path = folder / fs::read_symlink(path, error);
    if (error) throw InvalidInput(given + ": cannot be followed (" + error.message() + ")");
  }
  return path.string();
}

/// Temporary files stand where a rename can reach their place.
std::string temporary_begin(const Destination& to) {
  return to.stream ? (fs::temp_directory_path() / "tribo").string() : to.path;
}

/// Is it NAME.tmp.DIGITS.DIGITS?
bool is_temporary_of(const std::string& name, const std::string& of) {
  const std::string begin = of + ".tmp.";
  if (!name.starts_with(begin)) return false;
  const std::string rest = name.substr(begin.size());
  const std::size_t dot = rest.find('.');
  const auto digits = [](std::string_view x) {
    return !x.empty() && x.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dot != std::string::npos && digits(std::string_view(rest).substr(0, dot)) &&
         digits(std::string_view(rest).substr(dot + 1));
}

/// Temporary files of writers that were killed. Those that live hold a lock on theirs.
void remove_left_over(const std::string& begin) {
  const fs::path path(begin);
  const std::string of = path.filename().string();
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(path.has_parent_path() ? path.parent_path() : fs::path("."), error)) {
    if (!is_temporary_of(entry.path().filename().string(), of)) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat info {};
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0)
      ::unlink(entry.path().c_str());
    ::close(fd);
  }
}

/// A lock that says that the writer lives. False where somebody took the file for a left-over one meanwhile.
bool claim(int fd, const std::string& name) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino;
}

/// The entry of a renamed file is durable only once its folder is.
void sync_folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

void fail_io(const std::string& path, const std::string& what) {
  throw InvalidInput(path + ": " + what + (errno ? std::string(" (") + std::strerror(errno) + ")" : ""));
}

File::File(std::string path, Mode mode) : path_(std::move(path)) {
  errno = 0;
  if (mode != Mode::Read) {
    const int flags = mode == Mode::Write ? O_RDWR | O_CREAT | O_TRUNC : O_WRONLY | O_NOCTTY;
    fd_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (fd_ < 0) fail_io(path_, "cannot be written");
    return;
  }
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) fail_io(path_, "cannot be read");
  struct stat info {};
  if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) return;
  ::close(fd_);
  errno = 0;
  fail_io(path_, "is not a regular file");
}

File File::temporary(const std::string& begin) {
  static std::atomic<unsigned> count{0};
  remove_left_over(begin);
  for (;;) {
    std::string name = begin + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(count++);
    errno = 0;
    const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) fail_io(begin, "cannot be written");
    if (fd < 0) continue;
    if (claim(fd, name)) return {std::move(name), fd};
    ::close(fd);
  }
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

File::File(File&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

std::uint64_t File::size() const {
  struct stat info {};
  errno = 0;
  if (::fstat(fd_, &info) != 0) fail_io(path_, "has no size");
  return static_cast<std::uint64_t>(info.st_size);
}

void File::read_at(std::uint64_t offset, void* data, std::size_t n) const {
  auto* p = static_cast<char*>(data);
  while (n > 0) {
    errno = 0;
    const ssize_t k = ::pread(fd_, p, n, static_cast<off_t>(offset));
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) fail_io(path_, k < 0 ? "cannot be read" : "ends too early: the file is truncated");
    p += k;
    offset += static_cast<std::uint64_t>(k);
    n -= static_cast<std::size_t>(k);
  }
}

void File::write_at(std::uint64_t offset, const void* data, std::size_t n) {
  const auto* p = static_cast<const char*>(data);
  while (n > 0) {
    errno = 0;
    const ssize_t k = ::pwrite(fd_, p, n, static_cast<off_t>(offset));
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) fail_io(path_, "cannot be written");
    p += k;
    offset += static_cast<std::uint64_t>(k);
    n -= static_cast<std::size_t>(k);
  }
}

void File::append(const void* data, std::size_t n) {
  const auto* p = static_cast<const char*>(data);
  while (n > 0) {
    errno = 0;
    const ssize_t k = ::write(fd_, p, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) fail_io(path_, "cannot be written");
    p += k;
    n -= static_cast<std::size_t>(k);
  }
}

void File::sync() {
  errno = 0;
  // Some file systems cannot sync (EINVAL, EROFS): the data is as safe as it can be there.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail_io(path_, "cannot be written to the disk");
}

Destination destination(const std::string& path) {
  struct stat info {};
  errno = 0;
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ELOOP) fail_io(path, "cannot be written");
    return {followed(path)};
  }
  if (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode)) return {path, true};
  if (S_ISREG(info.st_mode)) return {followed(path)};
  throw InvalidInput(path + ": is " + kind(info.st_mode) + ", which is not replaced: name a file");
}

AtomicFile::AtomicFile(const std::string& path)
    : to_(destination(path)), file_(File::temporary(temporary_begin(to_))) {}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(file_.path().c_str());
}

void AtomicFile::write(const void* data, std::size_t n) {
  file_.write_at(position_, data, n);
  position_ += n;
}

void AtomicFile::commit() {
  if (to_.stream) return pour();
  file_.sync();
  errno = 0;
  if (std::rename(file_.path().c_str(), to_.path.c_str()) != 0) fail_io(to_.path, "cannot be put in place");
  committed_ = true;
  sync_folder(to_.path);
}

/// The temporary file goes with the object.
void AtomicFile::pour() const {
  File out(to_.path, File::Mode::Stream);
  std::vector<char> chunk(1 << 16);
  const std::uint64_t size = file_.size();
  for (std::uint64_t at = 0; at < size;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), size - at));
    file_.read_at(at, chunk.data(), n);
    out.append(chunk.data(), n);
    at += n;
  }
}

void write_file(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

std::string read_text(const std::string& path, std::uint64_t most) {
  const File file(path, File::Mode::Read);
  const std::uint64_t n = file.size();
  if (n > most) {
    throw InvalidInput(path + ": has " + std::to_string(n) + " bytes; at most " + std::to_string(most) + " are read");
  }
  std::string text(static_cast<std::size_t>(n), '\0');
  file.read_at(0, text.data(), text.size());
  return text;
}

std::string read_start(const std::string& path, std::uint64_t most) {
  try {
    const File file(path, File::Mode::Read);
    std::string text(static_cast<std::size_t>(std::min(file.size(), most)), '\0');
    file.read_at(0, text.data(), text.size());
    return text;
  } catch (const InvalidInput&) {
    return "";
  }
}

}  // namespace tribo
