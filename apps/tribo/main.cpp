// tribo: the table of subcommands. Each is one file and one line here.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/names.hpp"
#include "common.hpp"

namespace {

using tribo::app::Command;

constexpr Command commands[] = {
    {"run", "simulate a scene", tribo::app::add_run},
    {"check", "report every error of a scene or a robot file", tribo::app::add_check},
    {"solve", "solve contact problems from files", tribo::app::add_solve},
    {"compare", "run a scene with several methods and compare them", tribo::app::add_compare},
    {"experiment", "run an experiment of the literature and check its claims", nullptr},  // a program of its own
    {"bench", "measure the CPU time of a step", tribo::app::add_bench},
    {"view", "show a recording in the browser", tribo::app::add_view},
    {"video", "write a recording as a film or a picture", tribo::app::add_video},
    {"list", "list scenes, robots, steppers, solvers, controllers, features", tribo::app::add_list},
};

constexpr char about[] = "Tribo: a robot simulator for stiff frictional contact.";
constexpr char examples[] =
    "Examples:\n"
    "  tribo run solo --duration 2 --out out/solo        simulate, and record for NumPy\n"
    "  tribo run talos --contact-model ccp --json        another robot, another contact law\n"
    "  tribo solve problem.json --solver newton          one contact problem\n"
    "  tribo list solvers                                the contact solvers\n\n"
    "Exit codes: 0 done; 1 the simulation or the solve failed; 2 bad input; 130, 143 interrupted.";

/// Becomes the program beside this one, with the arguments from the second on.
int become(const char* program, char** argv) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / program;
  execv(path.c_str(), argv + 1);
  return tribo::app::complain("'tribo " + std::string(argv[1]) + "' needs " + path.string() +
                              ", which is not there; 'make build' builds it");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{about, "tribo"};
  app.set_version_flag("--version", "tribo " TRIBO_VERSION, "print the version");
  app.footer(examples);
  app.require_subcommand(1);
  tribo::app::Action action;
  std::vector<std::string> names;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    if (command.add) command.add(*sub, action);
    names.emplace_back(command.name);
  }
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return tribo::app::bad_input;
  }
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end())
    return tribo::app::complain(tribo::unknown_name("command", argv[1], names));
  if (argv[1] == std::string("experiment")) return become("tribo-experiment", argv);
  return tribo::app::execute(app, action, argc, argv);
}
