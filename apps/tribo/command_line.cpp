#include "command_line.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/legible.hpp"
#include "base/names.hpp"
#include "base/version.hpp"
#include "common.hpp"
#include "readers/data_folders.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

int complain(const std::string& message) {
  std::fprintf(stderr, "tribo: %s\n", legible(message).c_str());
  return bad_input;
}

/// The folder that holds this program.
fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

/// In a wheel the program is tribo/bin/tribo: the package holds the scenes, and robots lie in the folder beside it.
void use_data_of_package() {
  std::error_code error;
  const fs::path package = own_folder().parent_path();
  if (!fs::exists(package / "__init__.py", error)) return;
  data_folders() = {package / "scenes", package.parent_path() / "cmeel.prefix/share/example-robot-data/robots"};
}

/// Becomes the program beside this one, with the arguments from the second on.
int become(const std::string& program, char** argv) {
  const fs::path path = own_folder() / program;
  execv(path.c_str(), argv + 1);
  return complain("'tribo " + std::string(argv[1]) + "' needs " + path.string() +
                  ", which is not there; 'make build' builds it");
}

/// A descriptor that was closed by the caller would be given to the first file that is opened. Writing to this one fails.
void keep_standard_files() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) std::abort();
  std::signal(SIGPIPE, SIG_IGN);  // who reads no further is an error like a full disk
}

/// What was printed has to have arrived.
int checked(int code) {
  errno = 0;
  std::cout.flush();
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (whole) return code;
  complain("stdout: cannot be written" + (errno ? std::string(" (") + std::strerror(errno) + ")" : ""));
  return code == done ? failed : code;
}

int execute(CLI::App& app, Action& action, int argc, char** argv) {
  use_data_of_package();
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::Success& asked) {  // help, version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const bool several = !app.get_subcommands({}).empty() && argc > 1;
    return complain(std::string(error.what()) + "\nSee '" + app.get_name() + " --help'" +
                    (several ? " and 'tribo " + std::string(argv[1]) + " --help'." : "."));
  } catch (const InvalidInput& error) {
    return complain(error.what());
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for this input");
  } catch (const std::exception& error) {
    complain(error.what());
    return failed;
  }
}

}  // namespace

CommandOption& CommandOption::required(bool is) { return option_->required(is), *this; }
CommandOption& CommandOption::capture_default_str() { return option_->capture_default_str(), *this; }
CommandOption& CommandOption::range(int smallest, int largest) {
  return option_->check(CLI::Range(smallest, largest)), *this;
}
CommandOption& CommandOption::number() { return option_->check(CLI::Number), *this; }

CommandOption CommandLine::add_option(const char* name, std::string& value, const std::string& help) {
  return CommandOption(app_.add_option(name, value, help));
}
CommandOption CommandLine::add_option(const char* name, int& value, const std::string& help) {
  return CommandOption(app_.add_option(name, value, help));
}
CommandOption CommandLine::add_option(const char* name, double& value, const std::string& help) {
  return CommandOption(app_.add_option(name, value, help));
}
CommandOption CommandLine::add_list(const char* name, std::vector<std::string>& values, const char* type,
                                    const std::string& help) {
  return CommandOption(app_.add_option(name, values, help)
                           ->expected(1)
                           ->allow_extra_args(false)
                           ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                           ->type_name(type));
}
void CommandLine::add_flag(const char* name, bool& value, const std::string& help) { app_.add_flag(name, value, help); }
void CommandLine::footer(const std::string& text) { app_.footer(text); }
void CommandLine::callback(std::function<void()> call) { app_.callback(std::move(call)); }

int run_commands(const char* about, const char* footer, std::span<const Command> commands, int argc, char** argv) {
  CLI::App app{about, "tribo"};
  app.set_version_flag("--version", std::string("tribo ") + version(), "print the version");
  app.footer(footer);
  app.require_subcommand(1);
  Action action;
  std::vector<std::string> names;
  const Command* called = nullptr;
  for (const Command& command : commands) {
    CommandLine line(*app.add_subcommand(command.name, command.summary));
    if (command.add) command.add(line, action);
    names.emplace_back(command.name);
    if (argc > 1 && names.back() == argv[1]) called = &command;
  }
  keep_standard_files();
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return bad_input;
  }
  if (argv[1][0] != '-' && called == nullptr) return complain(unknown_name("command", argv[1], names));
  if (called != nullptr && called->add == nullptr) return become("tribo-" + std::string(called->name), argv);
  return checked(execute(app, action, argc, argv));
}

int run_command(const Command& command, int argc, char** argv) {
  CLI::App app{command.summary, "tribo " + std::string(command.name)};
  Action action;
  CommandLine line(app);
  command.add(line, action);
  keep_standard_files();
  return checked(execute(app, action, argc, argv));
}

}  // namespace tribo::app
