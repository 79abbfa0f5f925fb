#include "base/folder_lock.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <optional>

#include "scratch_folder.hpp"

using namespace tribo;

TEST_CASE("folder lock: a second holder is told who holds it, in this process as in another") {
  ScratchFolder folder;
  const auto taken = [&] { return refusal([&] { FolderLock second(folder.path.string()); }); };
  {
    const FolderLock lock(folder.path.string());
    const std::string text = taken();
    CHECK(text.find(folder.path.string()) != std::string::npos);
    CHECK(text.find("pid " + std::to_string(::getpid()) + " since 2") != std::string::npos);
    CHECK(text.find("test_unit") != std::string::npos);  // its command
    std::filesystem::create_symlink(folder.path, folder.path / "alias");
    CHECK(refusal([&] { FolderLock second(folder.file("alias")); }) != "");
    const pid_t child = ::fork();
    if (child == 0) ::_exit(taken().empty() ? 0 : 7);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(std::filesystem::exists(folder.path / "tribo.lock"));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path / "tribo.lock"));
  CHECK(taken() == "");
}

TEST_CASE("folder lock: that of a killed holder is taken over") {
  ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path.string());
    ::_exit(0);  // without a word, as by a kill
  }
  ::waitpid(child, nullptr, 0);
  CHECK(folder.read("tribo.lock").find("pid " + std::to_string(child)) == 0);
  const FolderLock lock(folder.path.string());
  CHECK(folder.read("tribo.lock").find("pid " + std::to_string(::getpid()) + " ") == 0);
}

TEST_CASE("folder lock: a name that is no file of ours is refused, and what it points to stays") {
  ScratchFolder folder;
  folder.write("precious", "data");
  std::filesystem::create_symlink("precious", folder.path / "tribo.lock");
  CHECK(refusal([&] { FolderLock lock(folder.path.string()); }).find("tribo.lock") != std::string::npos);
  CHECK(folder.read("precious") == "data");
}
