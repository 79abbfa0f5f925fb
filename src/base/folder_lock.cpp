#include "base/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>

#include "base/file.hpp"
#include "tribo/types.hpp"

namespace tribo {
namespace {

constexpr std::size_t most_words = 300;

/// Cut to a length that a message can hold, on one line.
std::string one_line(std::string text) {
  if (text.size() > most_words) text.resize(most_words);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// "pid 12 since 2024-05-06 07:08:09 UTC: tribo run solo --out out"; the command where the system tells it.
std::string self() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char since[40];
  std::strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &utc);
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  const std::string command = one_line({std::istreambuf_iterator<char>(in), {}});
  return "pid " + std::to_string(::getpid()) + " since " + since + (command.empty() ? "" : ": " + command);
}

std::string holder(int fd) {
  char text[2 * most_words];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  const std::string words = one_line(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))));
  return words.empty() ? "another run" : words;
}

/// A holder that ends removes the file: whoever opened it before that has a lock that nobody sees.
bool still_named(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) : path_(folder + "/tribo.lock") {
  for (;;) {
    errno = 0;
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd_ < 0) fail_io(path_, "cannot be made");
    // Some file systems have no locks: all that can be done there is to go on.
    const bool taken = ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken) {
      const std::string who = holder(fd_);
      ::close(fd_);
      throw InvalidInput(folder + ": is being written to by " + who + "; wait for its end, or choose another folder");
    }
    if (still_named(fd_, path_)) break;
    ::close(fd_);
  }
  const std::string text = self() + "\n";
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) < 0) {
    const int why = errno;
    ::unlink(path_.c_str());
    ::close(fd_);
    errno = why;
    fail_io(path_, "cannot be written");
  }
}

FolderLock::~FolderLock() {
  if (still_named(fd_, path_)) ::unlink(path_.c_str());  // the folder may be another by now
  ::flock(fd_, LOCK_UN);                                 // whatever child has inherited the descriptor
  ::close(fd_);
}

}  // namespace tribo
