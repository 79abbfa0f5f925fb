// tribo: the table of subcommands. Each is one file and one line here.
#include "plot.hpp"
#include "subcommands.hpp"
#include "tribo/decomposition.hpp"

namespace {

using tribo::app::Command;

constexpr Command commands[] = {
    {"run", "simulate a scene", tribo::app::add_run},
    {"check", "report every error of a scene or a robot file", tribo::app::add_check},
    {"linearize", "write the derivative of a step", tribo::app::add_linearize},
    {"solve", "solve contact problems from files", tribo::app::add_solve},
    {"compare", "run a scene with several methods and compare them", tribo::app::add_compare},
    {"experiment", "run an experiment of the literature and check its claims", nullptr},  // a program of its own
    {"bench", "measure the CPU time of a step", tribo::app::add_bench},
    {"matrix", "run every robot and scene under every stepper", tribo::app::add_matrix},
    {"sweep", "run a grid of settings and seeds", tribo::app::add_sweep},
    {"train", "train a policy that follows a velocity", tribo::app::add_train},
    {"view", "show a recording in the browser", tribo::app::add_view},
    {"video", "write a recording as a film or a picture", tribo::app::add_video},
    {"recover", "pack the recordings of runs that were killed", tribo::app::add_recover},
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

}  // namespace

// Python says on stderr what it lacks; that no parts were made is told by the reader.
static void decompose(const std::string& mesh, int most, const std::string& out) {
  tribo::app::call_python({"decompose", mesh, std::to_string(most), out});
}

int main(int argc, char** argv) {
  tribo::set_decomposer(decompose);
  return tribo::app::run_commands(about, examples, commands, argc, argv);
}
