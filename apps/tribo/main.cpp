// tribo: the table of subcommands. Each is one file and one line here.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "base/names.hpp"
#include "common.hpp"

namespace {

using tribo::app::Command;

constexpr Command commands[] = {
    {"run", "simulate a scene", tribo::app::add_run},
    {"check", "say everything that is wrong with a scene or a robot file", tribo::app::add_check},
    {"solve", "solve contact problems out of files", tribo::app::add_solve},
    {"compare", "the same scene under several methods, side by side", tribo::app::add_compare},
    {"experiment", "run an experiment of the literature and judge its claims", tribo::app::add_experiment},
    {"bench", "what a step costs", tribo::app::add_bench},
    {"view", "show a recording in the browser", tribo::app::add_view},
    {"video", "write a recording as a film or a picture", tribo::app::add_video},
    {"list", "say what there is to choose from", tribo::app::add_list},
};

constexpr char about[] = "Tribo: a robot simulator for stiff frictional contact.";
constexpr char examples[] =
    "Examples:\n"
    "  tribo run solo --duration 2 --out out/solo        simulate, and record for NumPy\n"
    "  tribo run talos --contact-model ccp --json        the same robot under another law of contact\n"
    "  tribo solve problem.json --solver newton          one contact problem\n"
    "  tribo list solvers                                what there is to choose from\n\n"
    "Exit codes: 0 done; 1 the simulation or the solve failed; 2 bad input; 130, 143 interrupted.";

int complain(const std::string& message) {
  std::fprintf(stderr, "tribo: %s\n", message.c_str());
  return tribo::app::bad_input;
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
    command.add(*app.add_subcommand(command.name, command.summary), action);
    names.emplace_back(command.name);
  }
  try {
    if (argc < 2) {
      std::fputs(app.help().c_str(), stderr);
      return tribo::app::bad_input;
    }
    if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
      return complain(tribo::unknown_name("command", argv[1], names));
    }
    app.parse(argc, argv);
    return action();
  } catch (const CLI::Success& asked) {  // help, version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(std::string(error.what()) + "\nSee 'tribo --help' and 'tribo " + (argc > 1 ? argv[1] : "run") +
                    " --help'.");
  } catch (const tribo::InvalidInput& error) {
    return complain(error.what());
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for this input");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tribo: %s\n", error.what());
    return tribo::app::failed;
  }
}
