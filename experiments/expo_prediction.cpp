// Normal force over 20 ms after touch-down, as one step with A and b held foretells it, against the truth, at several
// speeds of impact; and the jump of the force at the impact (Hammoud2022, figs. 5, 6).
//
// Solo stands with its feet at the floor and all of it moves down with one speed. The mean force over a step of h is
// the impulse I(h) / h: differences of I over h give the foretold force in each half millisecond.
#include <cmath>

#include "list.hpp"
#include "motions.hpp"

namespace tribo::experiments {
namespace {

constexpr double bin = 5e-4, horizon = 0.02;  // [s]
constexpr double truth_dt = 1e-3 / 64;

// Mean normal force of the first foot over one step of h.
double first_foot(Simulation& simulation) {
  const auto& contacts = simulation.contacts();
  return contacts.empty() ? 0.0 : contacts.front().f.z();
}

State falling(const Scene& scene, const Simulation& simulation, double speed) {
  State state = scene.start;
  state.control = simulation.state().control;
  state.v.setZero();
  state.v[2] = -speed;
  return state;
}

Simulation at_step(const ExperimentOptions& options, double dt) {
  Setting setting;
  setting.integrator = integrator("expo");
  setting.dt = dt;
  return make_simulation(motion_scene(options, motion_case("solo-squat"), setting));
}

}  // namespace

Result expo_prediction(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  Setting setting;
  setting.integrator = integrator("expo");
  const Scene scene = motion_scene(options, motion_case("solo-squat"), setting);
  const std::vector<double> speeds = {0.1, 0.2, 0.5, 1.0};
  const int bins = static_cast<int>(std::lround(horizon / bin)), inside = static_cast<int>(std::lround(bin / truth_dt));
  result.settings = {{"horizon", horizon}, {"bin", bin}, {"stiffness", 1e5}, {"damping", 300}};
  Table table{"Force of the left fore foot over 20 ms after touch-down",
              {"speed [m/s]", "largest force [N]", "mean error over the mean force", "error of the impulse",
               "force at the impact [N]", "B times speed [N]"}};
  for (double speed : speeds) {
    std::vector<double> t, foretold, real;
    double impulse = 0;
    for (int k = 1; k <= bins; ++k) {
      Simulation simulation = at_step(options, k * bin);
      simulation.set_state(falling(scene, simulation, speed));
      simulation.step();
      const double now = k * bin * first_foot(simulation);
      t.push_back(1e3 * (k - 0.5) * bin);
      foretold.push_back((now - impulse) / bin);
      impulse = now;
    }
    Simulation fine = at_step(options, truth_dt);
    fine.set_state(falling(scene, fine, speed));
    double at_impact = 0, most = 0, error = 0, sum = 0;
    for (int k = 0; k < bins; ++k) {
      double mean = 0;
      for (int i = 0; i < inside; ++i) {
        fine.step();
        const double f = first_foot(fine);
        if (k == 0 && i == 0) at_impact = f;
        mean += f / inside;
      }
      real.push_back(mean);
      most = std::max(most, mean);
      error += std::abs(mean - foretold[static_cast<std::size_t>(k)]);
      sum += mean;
    }
    // Half a step after the touch the spring has taken K v dt / 2 already, and the foot has slowed down.
    const double impact = 300 * speed;
    table.rows.push_back({speed, most, error / sum, std::abs(sum * bin - impulse) / (sum * bin), at_impact, impact});
    const std::string key = "speed_" + std::to_string(std::lround(100 * speed)) + "cm";
    result.measures[key + "_error"] = error / sum;
    result.measures[key + "_jump"] = at_impact / impact;
    Panel panel{"Impact at " + std::to_string(speed).substr(0, 3) + " m/s", "time [ms]", "normal force of a foot [N]"};
    panel.series = {{"truth", t, real}, {"foretold by one step", t, foretold}};
    result.panels.push_back(panel);
    progress(static_cast<double>(result.panels.size()) / static_cast<double>(speeds.size()));
  }
  result.tables.push_back(table);
  return result;
}

}  // namespace tribo::experiments
