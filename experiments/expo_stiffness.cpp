// Error of one control step of the trot against stiffness, at a damping ratio of 0.5, and against the damping ratio, at
// K = 1e5 N/m (Hammoud2022, fig. 4): exponential and implicit Euler at 2 ms, explicit Euler at 0.5 ms. The ratio is the
// paper's B / (2 sqrt(K)), for 1 kg. Each integrator has its own truth. The exponential stepper also with anchors where
// the overlap is first seen, as in the paper.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "motions.hpp"

namespace tribo::experiments {
namespace {

struct Curve {
  std::string label;
  double dt;
  std::string anchor;

  std::string name() const { return anchor == "surface" ? label : label + "_" + anchor; }
};

LocalError error_of(const ExperimentOptions& options, const Curve& curve, double stiffness, double ratio) {
  const MotionCase& motion = motion_case("solo-trot");
  Setting setting;
  setting.stiffness = stiffness;
  setting.anchor = curve.anchor;
  setting.damping = 2 * ratio * std::sqrt(stiffness);
  // The truth of explicit Euler would itself be unstable from K = 1e7 on: the exponential one's stands for it.
  setting.integrator = integrator(curve.label == "eul-imp" ? "eul-imp" : "expo");
  const std::vector<State> states = truth(options, motion, setting);
  setting.integrator = integrator(curve.label);
  setting.dt = curve.dt;
  return local_error(options, motion, setting, states);
}

}  // namespace

Result expo_stiffness(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  std::vector<Curve> curves;
  curves.push_back({"expo", 2e-3, "surface"});
  curves.push_back({"expo", 2e-3, "detected"});
  if (!options.quick) {
    curves.push_back({"expo-events", 2e-3, "surface"});
    curves.push_back({"eul-exp", 5e-4, "surface"});
    curves.push_back({"eul-imp", 2e-3, "surface"});
  }
  std::vector<double> stiffness = {1e4, 3.2e4, 1e5, 3.2e5, 1e6, 3.2e6, 1e7, 3.2e7, 1e8};
  std::vector<double> ratios = {0.05, 0.1, 0.2, 0.5, 1, 2};
  if (options.quick) stiffness = {1e4, 1e6, 1e8}, ratios = {0.5};
  result.settings = {{"motion", "solo-trot"}, {"ratio", 0.5}, {"stiffness", 1e5}};
  Table table{"Mean error of a control step",
              {"integrator", "anchor", "dt [ms]", "K [N/m]", "damping ratio", "error",
               "of it where contacts are made, broken or begin to slip"}};
  Panel over_k{"Damping ratio 0.5", "stiffness [N/m]", "error [rad/s, m/s]", true, true};
  Panel over_ratio{"K = 1e5 N/m", "damping ratio [-]", "error [rad/s, m/s]", true, true};
  double done = 0;
  const double all = static_cast<double>(curves.size() * (stiffness.size() + ratios.size()));
  for (const Curve& curve : curves) {
    std::vector<double> by_k, by_ratio;
    auto add = [&](double K, double ratio, std::vector<double>& errors) {
      const LocalError e = error_of(options, curve, K, ratio);
      errors.push_back(e.mean);
      table.rows.push_back({curve.label, curve.anchor, 1e3 * curve.dt, K, ratio, e.mean, e.eventful});
      progress(++done / all);
    };
    for (double K : stiffness) add(K, 0.5, by_k);
    for (double ratio : ratios) add(1e5, ratio, by_ratio);
    over_k.series.push_back({curve.name(), stiffness, by_k});
    over_ratio.series.push_back({curve.name(), ratios, by_ratio});
    result.measures[curve.name() + "_spread_over_stiffness"] =
        largest(by_k) / *std::min_element(by_k.begin(), by_k.end());
    result.measures[curve.name() + "_largest_over_stiffness"] = largest(by_k);
    result.measures[curve.name() + "_spread_over_damping"] =
        largest(by_ratio) / *std::min_element(by_ratio.begin(), by_ratio.end());
  }
  result.tables.push_back(table);
  result.panels = {over_k, over_ratio};
  return result;
}

}  // namespace tribo::experiments
