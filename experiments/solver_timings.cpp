// Times, iterations and residuals of every solver along three trajectories: Solo pushed with 10 N, Talos with 80 N, a
// ball dropped into the Allegro hand (LeLidec2024, fig. 17). eps_abs 1e-6. The problems are those of the default
// solver's run; warm starts are its forces of the step before. Primal Newton methods are judged with the R that they bring.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "problems.hpp"

namespace tribo::experiments {
namespace {

struct Tally {
  double time = 0, iterations = 0, converged = 0, worst = 0, ncp = 0;
};

Tally measure(const std::vector<Recorded>& problems, const Pair& pair, bool warm, int repeats) {
  Tally t;
  for (const Recorded& r : problems) {
    const VecX guess = warm ? r.guess : VecX::Zero(r.problem.size());
    const Solved s = solve(own_law(r.problem, pair), pair, {1e-6, 0}, guess, repeats);
    t.time += s.time;
    t.iterations += s.report.iterations;
    t.converged += s.report.status == SolveStatus::Converged;
    t.worst = std::max(t.worst, s.report.residual.absolute());
    t.ncp = std::max(t.ncp, judge(r.problem, ContactModel::Ncp, s.f).absolute());
  }
  const auto n = static_cast<double>(problems.size());
  t.time /= n, t.iterations /= n, t.converged /= n;
  return t;
}

}  // namespace

Result solver_timings(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const int every = options.quick ? 60 : 5, repeats = options.quick ? 1 : 3;
  result.settings = {{"tolerance_absolute", 1e-6}, {"max_iterations", 10000}, {"every", every}, {"repeats", repeats}};
  const std::vector<Pair> pairs = all_pairs();
  Panel cold_panel{"Cold start", "", "mean time a solve [us]", false, true};
  Panel warm_panel{"Warm start", "", "mean time a solve [us]", false, true};
  for (const Pair& pair : pairs) cold_panel.categories.push_back(pair.label());
  warm_panel.categories = cold_panel.categories;
  int run = 0;
  for (int k = 0; k < 3; ++k) {
    const std::string name = k == 0 ? "solo" : k == 1 ? "talos" : "allegro";
    const Scene scene = k == 0 ? solo_pushed(options) : k == 1 ? talos_pushed(options) : allegro_drop(options);
    const std::vector<Recorded> problems = record(scene, every);
    int contacts = 0;
    for (const Recorded& r : problems) contacts = std::max(contacts, r.problem.nc());
    Table table{
        name + ": " + std::to_string(problems.size()) + " problems, up to " + std::to_string(contacts) + " contacts",
        {"method", "cold [us]", "warm [us]", "iterations cold", "warm", "converged cold", "warm",
         "worst residual, own law", "NCP residual"}};
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const Tally cold = measure(problems, pairs[p], false, repeats), warm = measure(problems, pairs[p], true, repeats);
      table.rows.push_back({pairs[p].label(), 1e6 * cold.time, 1e6 * warm.time, cold.iterations, warm.iterations,
                            cold.converged, warm.converged, std::max(cold.worst, warm.worst),
                            std::max(cold.ncp, warm.ncp)});
      const std::string key = name + "_" + pairs[p].label();
      result.measures[key + "_cold_us"] = 1e6 * cold.time;
      result.measures[key + "_warm_us"] = 1e6 * warm.time;
      result.measures[key + "_cold_iterations"] = cold.iterations;
      result.measures[key + "_warm_iterations"] = warm.iterations;
      result.measures[key + "_warm_over_cold"] = warm.iterations / std::max(cold.iterations, 1e-9);
      result.measures[key + "_converged"] = std::min(cold.converged, warm.converged);
      for (auto [panel, time] : {std::pair{&cold_panel, cold.time}, {&warm_panel, warm.time}}) {
        if (p == 0) panel->series.push_back({name});
        panel->series.back().x.push_back(static_cast<double>(p));
        panel->series.back().y.push_back(1e6 * time);
      }
      progress(++run / (3.0 * static_cast<double>(pairs.size())));
    }
    result.measures[name + "_pgs_over_newton_cold"] =
        result.measures[name + "_ncp:pgs_cold_us"] / result.measures[name + "_ncp:newton_cold_us"];
    result.measures[name + "_mujoco_over_pgs_cold"] =
        result.measures[name + "_ccp:primal-newton-mujoco_cold_us"] / result.measures[name + "_ccp:pgs_cold_us"];
    result.measures[name + "_admm_over_pgs_cold"] =
        result.measures[name + "_ccp:admm_cold_us"] / result.measures[name + "_ccp:pgs_cold_us"];
    result.measures[name + "_mujoco_over_admm_cold"] =
        result.measures[name + "_ccp:primal-newton-mujoco_cold_us"] / result.measures[name + "_ccp:admm_cold_us"];
    result.tables.push_back(table);
  }
  result.panels = {cold_panel, warm_panel};
  return result;
}

}  // namespace tribo::experiments
