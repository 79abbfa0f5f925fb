#include "simulation/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tribo/types.hpp"

namespace tribo {
namespace {

std::string temporary_name(const std::string& path) { return path + ".tmp." + std::to_string(::getpid()); }

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
  if (mode == Mode::Write) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
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

void File::sync() {
  errno = 0;
  // Some file systems cannot sync (EINVAL, EROFS): the data is as safe as it can be there.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail_io(path_, "cannot be written to the disk");
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), file_(temporary_name(path_), File::Mode::Write) {}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(file_.path().c_str());
}

void AtomicFile::write(const void* data, std::size_t n) {
  file_.write_at(position_, data, n);
  position_ += n;
}

void AtomicFile::commit() {
  file_.sync();
  errno = 0;
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) fail_io(path_, "cannot be put in place");
  committed_ = true;
  sync_folder(path_);
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

}  // namespace tribo
