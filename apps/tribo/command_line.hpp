// The command line of a program. CLI11 stands behind it, in command_line.cpp alone: it takes six seconds to compile.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tribo::app {

/// What an option of the command line is asked to be; in the way of CLI11, option->required().
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}
  CommandOption* operator->() { return this; }
  CommandOption& required(bool is = true);
  CommandOption& capture_default_str();             ///< the help says the default
  CommandOption& range(int smallest, int largest);  ///< refuses others
  CommandOption& number();                          ///< of text: refuses what is none

 private:
  CLI::Option* option_;
};

/// Options of one subcommand. The variables must live until the program ends.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}
  CommandOption add_option(const char* name, std::string& value, const std::string& help);
  CommandOption add_option(const char* name, int& value, const std::string& help);
  CommandOption add_option(const char* name, double& value, const std::string& help);
  /// One value each time; may be repeated.
  CommandOption add_list(const char* name, std::vector<std::string>& values, const char* type, const std::string& help);
  void add_flag(const char* name, bool& value, const std::string& help);
  void footer(const std::string& text);
  void callback(std::function<void()> call);

 private:
  CLI::App& app_;
};

/// A subcommand adds its options to the command line and, when it is the one called, sets action to what returns the
/// exit code. One without `add` is a program of its own beside this one, `tribo-NAME`.
using Action = std::function<int()>;
struct Command {
  const char* name;
  const char* summary;
  void (*add)(CommandLine& command, Action& action);
};

/// Does what the arguments ask; errors are told on stderr. Returns the exit code.
int run_commands(const char* about, const char* footer, std::span<const Command> commands, int argc, char** argv);
/// The same of a program with one command, which users know as `tribo NAME`.
int run_command(const Command& command, int argc, char** argv);

}  // namespace tribo::app
