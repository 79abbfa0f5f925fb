// Residual after each iteration on one problem of Solo and one of Talos, both pushed (LeLidec2024, fig. 16).
// Each solver is judged by its own model; cold start; it runs until it stalls, the tolerance being out of reach.
#include <algorithm>

#include "list.hpp"
#include "problems.hpp"

namespace tribo::experiments {
namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> x;
  for (std::size_t k = 0; k < n; ++k) x.push_back(static_cast<double>(k + 1));
  return x;
}

/// Iterations until the residual is below the bound; -1: never.
double reached(const std::vector<double>& trace, double bound) {
  const auto at = std::find_if(trace.begin(), trace.end(), [&](double r) { return r <= bound; });
  return at == trace.end() ? -1 : static_cast<double>(at - trace.begin() + 1);
}

}  // namespace

Result convergence(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  result.settings = {{"start", "cold"}, {"time", 0.2}, {"tolerance_absolute", 1e-13}, {"max_iterations", 10000}};
  const std::vector<Pair> pairs = all_pairs();
  int run = 0;
  for (const bool talos : {false, true}) {
    const std::string robot = talos ? "talos" : "solo";
    Scene scene = talos ? talos_pushed(options) : solo_pushed(options);
    scene.duration = 0.201;
    const Recorded last = record(scene, 1).back();
    Table table{"One problem of " + robot + ", " + std::to_string(last.problem.nc()) + " contacts",
                {"method", "iterations", "best residual", "last residual", "to 1e-5", "to 1e-9", "status"}};
    Panel panel{robot + ", " + std::to_string(last.problem.nc()) + " contacts", "iteration [-]",
                "residual of the model's law [N, m/s^2, N m/s^2]", true, true};
    for (const Pair& pair : pairs) {
      std::vector<double> trace;
      const Solved s = solve(last.problem, pair, {1e-13, 0}, VecX::Zero(last.problem.size()), 1, &trace);
      const double best = trace.empty() ? 0 : *std::min_element(trace.begin(), trace.end());
      table.rows.push_back({pair.label(), s.report.iterations, best, s.report.residual.absolute(), reached(trace, 1e-5),
                            reached(trace, 1e-9), to_string(s.report.status)});
      result.measures[robot + "_" + pair.label() + "_best"] = std::min(best, s.report.residual.absolute());
      result.measures[robot + "_" + pair.label() + "_iterations_1e-5"] = reached(trace, 1e-5);
      panel.series.push_back(series_of(pair.label(), counted(trace.size()), trace));
      progress(++run / (2.0 * static_cast<double>(pairs.size())));
    }
    result.measures[robot + "_pgs_over_admm"] =
        result.measures[robot + "_ncp:pgs_iterations_1e-5"] / result.measures[robot + "_ncp:admm_iterations_1e-5"];
    result.tables.push_back(table);
    result.panels.push_back(panel);
  }
  return result;
}

}  // namespace tribo::experiments
