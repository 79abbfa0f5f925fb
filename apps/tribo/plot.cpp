#include "plot.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

extern char** environ;

#ifndef TRIBO_PYTHON  // in a wheel
#define TRIBO_PYTHON ""
#define TRIBO_PYTHON_DIR ""
#endif

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

/// That of the environment, that of the build, the one on the PATH.
std::string python() {
  if (const char* mine = std::getenv("TRIBO_PYTHON")) return mine;
  std::error_code error;
  return fs::exists(TRIBO_PYTHON, error) ? TRIBO_PYTHON : "python3";
}

/// As the operating system takes them: to each word, and a null after the last.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

/// Exit code of the child, -1 where there is none. Its standard output goes to stderr, where ours may be JSON.
int call(std::vector<std::string> words, bool quiet) {
  const std::vector<char*> argv = pointers(words);
  std::vector<std::string> variables;
  std::string path = TRIBO_PYTHON_DIR;
  for (char** e = environ; *e != nullptr; ++e) {
    if (std::strncmp(*e, "PYTHONPATH=", 11) == 0)
      path += (path.empty() ? "" : ":") + std::string(*e + 11);
    else
      variables.emplace_back(*e);
  }
  if (!path.empty()) variables.push_back("PYTHONPATH=" + path);
  const std::vector<char*> env = pointers(variables);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (quiet) posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), env.data());
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string draw(const std::string& result, const std::string& picture) {
  if (call({python(), "-m", "tribo.plots", result, picture}, true) == 0) return picture;
  std::fprintf(
      stderr,
      "tribo: no picture was drawn. Pictures need Python with matplotlib: pip install 'tribo[sweep]', or in the "
      "source tree\n'make setup'; or set TRIBO_PYTHON to such a Python. Then  %s -m tribo.plots %s %s\n",
      python().c_str(), result.c_str(), picture.c_str());
  return "";
}

std::string report(const std::string& result, const std::string& page) {
  return call({python(), "-m", "tribo", "report", result, page}, true) == 0 ? page : "";
}

int hand_to_python(std::vector<std::string> words) {
  // Ctrl-C goes to both. It waits: here for good, since the child ends itself, there until tribo.__main__ can take it.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, nullptr);
  return call_python(std::move(words));
}

int call_python(std::vector<std::string> words) {
  if (call({python(), "-c", "import tribo._core"}, true) != 0) {
    std::fprintf(
        stderr,
        "tribo %s: needs the Python package tribo: 'pip install tribo', or 'pip install .' in the source tree, or set "
        "TRIBO_PYTHON to a\nPython that has it (the message above says what is missing in %s)\n",
        words[0].c_str(), python().c_str());
    return 1;
  }
  sigset_t waiting;
  if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGINT) == 1) return 130;
  words.insert(words.begin(), {python(), "-m", "tribo"});
  return call(words, false);
}

}  // namespace tribo::app
