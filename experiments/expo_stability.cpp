// The longest step with which each motion goes on to its end (Hammoud2022, table II), for each integrator and each rule
// for anchors. Nothing is reset. Stable: finite, no velocity above 100 rad/s or m/s, and the robot on its feet at the
// end.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "motions.hpp"
#include "tribo/dynamics.hpp"

namespace tribo::experiments {
namespace {

constexpr double fastest = 100;  // [rad/s] or [m/s]

bool stable(const ExperimentOptions& options, const MotionCase& motion, const Setting& setting) {
  const Scene scene = motion_scene(options, motion, setting);
  Simulation simulation = make_simulation(scene);
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  const double height = dynamics.center_of_mass(0).z();
  const long steps = std::lround(scene.duration / scene.dt);
  for (long k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    if (report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped) return false;
    if (!(simulation.state().v.cwiseAbs().maxCoeff() < fastest)) return false;
  }
  dynamics.compute(simulation.state().q, simulation.state().v);
  return std::abs(dynamics.center_of_mass(0).z() - height) < 0.25 * height;
}

// dt_c over powers of two; 0 where none down to the last is stable.
double longest(const ExperimentOptions& options, const MotionCase& motion, Setting setting, int halvings) {
  for (int k = 0; k <= halvings; ++k) {
    setting.dt = motion.dt_c / std::exp2(k);
    if (stable(options, motion, setting)) return setting.dt;
  }
  return 0;
}

}  // namespace

Result expo_stability(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const std::vector<std::string> rules = options.quick
                                             ? std::vector<std::string>{"detected"}
                                             : std::vector<std::string>{"detected", "surface", "surface-unsplit"};
  const std::vector<std::string> labels =
      options.quick ? std::vector<std::string>{"expo"}
                    : std::vector<std::string>{"expo",      "expo, cut only", "expo-mid", "expo-mid-events",
                                               "expo-1e-2", "eul-exp",        "rk4",      "eul-imp"};
  result.settings = {{"stiffness", 1e5}, {"damping", 300}, {"mu", 1}, {"fastest", fastest}};
  const std::map<std::string, std::map<std::string, double>> paper = {
      // [ms]
      {"expo", {{"solo-squat", 40}, {"solo-jump", 10}, {"solo-trot", 2}, {"romeo-walk", 40.0 / 8}}},
      {"eul-exp",
       {{"solo-squat", 40.0 / 512}, {"solo-jump", 10.0 / 64}, {"solo-trot", 2.0 / 16}, {"romeo-walk", 40.0 / 32}}},
      {"eul-imp", {{"solo-squat", 40.0 / 2}, {"solo-jump", 10.0 / 2}, {"solo-trot", 2}, {"romeo-walk", 40.0 / 4}}}};
  int run = 0;
  for (const std::string& rule : rules) {
    Table table{"Longest stable step [ms], anchor '" + rule + "'", {"integrator"}};
    for (const MotionCase& motion : motion_cases()) table.columns.push_back(motion.name);
    for (const std::string& label : labels) {
      std::vector<Json> row = {label};
      for (const MotionCase& motion : motion_cases()) {
        Setting setting;
        setting.project_only = label == "expo, cut only";
        setting.integrator = integrator(setting.project_only ? "expo" : label);
        setting.anchor = rule;
        const double dt = longest(options, motion, setting, label == "eul-imp" ? 7 : 11);
        row.push_back(1e3 * dt);
        const std::string key = motion.name + "_" + (setting.project_only ? "expo-cut" : label) + "_" + rule;
        result.measures[key + "_ms"] = 1e3 * dt;
        if (const auto row = paper.find(label); row != paper.end())
          result.measures[key + "_over_paper"] = 1e3 * dt / row->second.at(motion.name);
        progress(++run / static_cast<double>(rules.size() * labels.size() * motion_cases().size()));
      }
      table.rows.push_back(row);
    }
    result.tables.push_back(table);
  }
  return result;
}

}  // namespace tribo::experiments
