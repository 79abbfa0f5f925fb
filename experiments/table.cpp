// Every experiment: one line each.
#include "base/names.hpp"
#include "list.hpp"
#include "tribo/types.hpp"

namespace tribo::experiments {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> table = {
      {"cube-slide", "a cube launched along the ground: drift, lift and energy of each model", cube_slide},
      {"cube-drag", "a cube dragged by a growing force: error over dt, energy, forces of the corners", cube_drag},
      {"self-consistency", "the dragged cube: deviation of each method from itself as eps and dt grow",
       self_consistency},
      {"stack-ratio", "a heavy cube on a light one: violation of the laws over the mass ratio", stack_ratio},
      {"compliance", "Solo pushed: what a compliance R does to normal, friction and internal forces", compliance},
      {"convergence", "residual per iteration on one problem of Solo and one of Talos", convergence},
      {"solver-timings", "times, iterations and residuals of every solver on Solo, Talos and Allegro", solver_timings},
      {"rigid-tables", "laws that each model keeps, what each solver can be relied on for (tables II, III)",
       rigid_tables},
      {"pendulum", "six links swing into the ground: chatter, static friction and cost of the momentum family",
       pendulum},
      {"chain-scaling", "cost of a momentum step over the length of a chain", chain_scaling},
      {"expo-accuracy", "error of a control step over time and dt: four integrators, four motions", expo_accuracy},
      {"expo-stability", "longest stable step of each integrator, by the rule for anchors", expo_stability},
      {"expo-stiffness", "error of a control step over stiffness and damping of the contacts", expo_stiffness},
      {"expo-prediction", "force after touch-down as one step foretells it, and its jump", expo_prediction},
      {"expo-timing", "where the time of a step with compliant contact goes", expo_timing},
      {"incline", "a box on an incline under every stepper: what holds, and how far it slides", incline},
      {"trot-robots", "nine quadrupeds trot at steps of 1 to 100 ms: slip of every loaded contact", trot_robots},
      {"many-contacts", "a heap and a humanoid that lies flat: cost of a step of each family", many_contacts},
      {"gain-tuning", "gains of joint control by nonlinear optimisation of the summed squared error", gain_tuning},
      {"ur10-control", "an arm under feedback: largest step, error and cost of each way to control it", ur10_control},
      {"quadruped-control", "a trotting quadruped: the same, with slip, torque and solvers that fail",
       quadruped_control},
      {"mpc-flat", "a quadruped walks on flat ground: velocity, laws and solve time, method by method", mpc_flat},
      {"mpc-bumpy", "the same over slippery blocks, over terrains: do the models deviate, or is the walk chaotic",
       mpc_bumpy},
      {"gradients", "a cube launched along the ground: what each contact model does to the slope of its way",
       gradients},
      {"truth", "problems with a known answer: seams, passes, spin, grips, torsion, overlap, impacts", truth},
      {"corpus", "contact problems with reference solutions, as tests/corpus holds them", corpus, true},
  };
  return table;
}

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> known;
  for (const Experiment& e : experiments()) {
    if (e.name == name) return e;
    known.push_back(e.name);
  }
  throw InvalidInput(unknown_name("experiment", name, known));
}

}  // namespace tribo::experiments
