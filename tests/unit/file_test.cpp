#include "base/file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>

#include <cstring>
#include <thread>

#include "io/npy.hpp"
#include "scratch_folder.hpp"

using namespace tribo;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const ScratchFolder& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path), {}));
}

/// What a reader of a FIFO gets while an action writes.
template <class Action>
std::string through_fifo(const std::string& fifo, Action&& write) {
  std::string got;
  std::thread reader([&] {
    std::ifstream in(fifo, std::ios::binary);
    got.assign(std::istreambuf_iterator<char>(in), {});
  });
  write();
  reader.join();
  return got;
}

/// A character device of our own that hands on what is written to it. Nobody can rename anything over its name.
struct Terminal {
  int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  std::string name;
  Terminal() {
    REQUIRE(master >= 0);
    REQUIRE(::grantpt(master) == 0);
    REQUIRE(::unlockpt(master) == 0);
    name = ::ptsname(master);
    termios raw{};
    ::tcgetattr(master, &raw);
    ::cfmakeraw(&raw);
    ::tcsetattr(master, TCSANOW, &raw);
  }
  ~Terminal() { ::close(master); }
  std::string read() const {
    char text[64];
    const ssize_t n = ::read(master, text, sizeof text);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  }
};

}  // namespace

TEST_CASE("output: new names are made, files are replaced as a whole, no temporary name is left") {
  ScratchFolder folder;
  write_file(folder.file("a"), "one");
  CHECK(folder.read("a") == "one");
  {
    AtomicFile begun(folder.file("a"));
    begun.write("tw", 2);
    CHECK(folder.read("a") == "one");
  }
  CHECK(folder.read("a") == "one");
  {
    AtomicFile first(folder.file("a")), second(folder.file("a"));  // each has a temporary name of its own
    first.write("first", 5);
    second.write("2", 1);
    first.commit();
    CHECK(folder.read("a") == "first");
    second.commit();
  }
  CHECK(folder.read("a") == "2");
  CHECK(entries(folder) == 1);
}

TEST_CASE("output: a symbolic link stays, what it points to is replaced") {
  ScratchFolder folder;
  fs::create_directory(folder.path / "deep");
  folder.write("deep/target", "old");
  fs::create_symlink("deep/target", folder.path / "near");        // relative to the folder of the link
  fs::create_symlink(folder.path / "near", folder.path / "far");  // a chain
  fs::create_symlink("deep/not-yet", folder.path / "dangling");   // made by the first output
  fs::create_symlink("gone/not-yet", folder.path / "nowhere");    // the folder is missing
  fs::create_symlink("circle", folder.path / "circle");
  const std::size_t before = entries(folder);
  for (const char* link : {"near", "far"}) {
    write_file(folder.file(link), link);
    CHECK(fs::is_symlink(folder.path / link));
    CHECK_FALSE(fs::is_symlink(folder.path / "deep/target"));
    CHECK(folder.read("deep/target") == link);
  }
  write_file(folder.file("dangling"), "new");
  CHECK(fs::is_symlink(folder.path / "dangling"));
  CHECK(folder.read("deep/not-yet") == "new");
  for (const char* link : {"nowhere", "circle"}) {
    CHECK(refusal([&] { write_file(folder.file(link), "x"); }).find("cannot be written") != std::string::npos);
    CHECK(fs::is_symlink(folder.path / link));
  }
  CHECK(entries(folder) == before);
}

TEST_CASE("output: a FIFO gets every byte and stays a FIFO, of a .npz too") {
  ScratchFolder folder;
  const std::string fifo = folder.file("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string long_text(300'000, 'x');  // more than a pipe holds
  CHECK(through_fifo(fifo, [&] { write_file(fifo, long_text); }) == long_text);
  const auto write_npz = [&](const std::string& path) {
    NpzWriter npz(path);
    const double x[] = {1, 2, 3};
    const std::uint64_t shape[] = {3};
    npz.add("x", NpyType::F64, shape, x);
    npz.finish();
  };
  write_npz(folder.file("x.npz"));
  CHECK(through_fifo(fifo, [&] { write_npz(fifo); }) == folder.read("x.npz"));
  CHECK(fs::is_fifo(fifo));
  CHECK(entries(folder) == 2);
}

TEST_CASE("output: a character device is written to and stays, by its name or by a link") {
  ScratchFolder folder;
  const Terminal terminal;
  write_file(terminal.name, "by name");
  CHECK(terminal.read() == "by name");
  fs::create_symlink(terminal.name, folder.path / "link");
  write_file(folder.file("link"), "by link");
  CHECK(terminal.read() == "by link");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(fs::is_character_file(terminal.name));
  CHECK(entries(folder) == 1);
}

TEST_CASE("output: folders, sockets and files that are open already are refused and stay") {
  ScratchFolder folder;
  fs::create_directory(folder.path / "folder");
  fs::create_symlink("folder", folder.path / "to-folder");
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.file("socket").c_str(), sizeof address.sun_path - 1);
  REQUIRE(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const int open = ::open(folder.write("open", "mine").c_str(), O_WRONLY);
  const std::size_t before = entries(folder);
  const auto says = [](const std::string& path) { return refusal([&] { write_file(path, "x"); }); };
  CHECK(says(folder.file("folder")).find("is a folder") != std::string::npos);
  CHECK(says(folder.file("to-folder")).find("is a folder") != std::string::npos);
  CHECK(says(folder.file("socket")).find("is a socket") != std::string::npos);
  CHECK(says("/proc/self/fd/" + std::to_string(open)).find("is open already") != std::string::npos);
  CHECK(folder.read("open") == "mine");
  CHECK(fs::is_socket(folder.path / "socket"));
  CHECK(fs::is_symlink(folder.path / "to-folder"));
  CHECK(entries(folder) == before);
  ::close(open);
  ::close(server);
}
