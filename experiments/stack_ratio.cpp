// A heavy cube on a light one of 1 g, masses up to 1 : 1e6 (LeLidec2024, fig. 13).
// At rest all models agree; what differs is whether a solver gets there. The violation is the worst of the three laws
// over the run, relative to the step's own forces and accelerations.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "problems.hpp"

namespace tribo::experiments {
namespace {

struct Rest {
  double violation = 0, unconverged = 0, sunk = 0, iterations = 0;
};

Rest rest(const ExperimentOptions& options, const Pair& pair, double ratio, int steps) {
  Scene scene = stack_of_two(options, ratio);
  parse_method("rigid:" + pair.label()).apply(scene);
  scene.duration = steps * scene.dt;
  Simulation simulation = make_simulation(scene);
  const double z = simulation.state().q[9];
  for (int k = 0; k < steps; ++k) simulation.step();
  const Audit& a = simulation.audit();
  return {std::max({a.laws.signorini, a.laws.coulomb, a.laws.dissipation}), static_cast<double>(a.unconverged) / steps,
          z - simulation.state().q[9], static_cast<double>(a.iterations) / steps};
}

/// Of the first problem, by the law that the solver speaks of.
double own_residual(const ExperimentOptions& options, const Pair& pair, double ratio) {
  Scene scene = stack_of_two(options, ratio);
  scene.duration = 2e-3;
  const ContactProblem own = own_law(as_dense(record(scene, 1).front().problem), pair);
  return solve(own, pair, {0, 1e-8}, VecX::Zero(own.size())).report.residual.relative();
}

}  // namespace

Result stack_ratio(const ExperimentOptions& options, const Progress& progress) {
  const std::vector<double> ratios =
      options.quick ? std::vector<double>{1, 1e2, 1e4, 1e6} : std::vector<double>{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6};
  const int steps = options.quick ? 5 : 100;
  Result result;
  result.settings = {{"light", 1e-3},           {"dt", 1e-3},
                     {"steps", steps},          {"tolerance_relative", 1e-8},
                     {"max_iterations", 10000}, {"scene", "heavy-on-light"}};
  Table table{
      "A heavy cube on one of 1 g",
      {"method", "mass ratio", "worst violation of a law", "share unconverged", "iterations a step", "sunk [m]"}};
  Panel panel{"Violation of the laws", "mass ratio [-]", "worst violation, relative [-]", true, true};
  const std::vector<Pair> pairs = all_pairs();
  int run = 0;
  for (const Pair& pair : pairs) {
    Series series{pair.label()};
    for (double ratio : ratios) {
      const Rest r = rest(options, pair, ratio, steps);
      table.rows.push_back({pair.label(), ratio, r.violation, r.unconverged, r.iterations, r.sunk});
      series.x.push_back(ratio);
      series.y.push_back(std::max(r.violation, 1e-17));
      const std::string key = pair.label() + "_1e" + std::to_string(std::lround(std::log10(ratio)));
      result.measures[key + "_violation"] = r.violation;
      result.measures[key + "_unconverged"] = r.unconverged;
      if (pair.solver.starts_with("primal-newton")) result.measures[key + "_own"] = own_residual(options, pair, ratio);
      progress(++run / static_cast<double>(pairs.size() * ratios.size()));
    }
    panel.series.push_back(series);
  }
  result.tables.push_back(table);
  result.panels.push_back(panel);
  return result;
}

}  // namespace tribo::experiments
