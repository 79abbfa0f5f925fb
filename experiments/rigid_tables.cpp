// Tables II and III of LeLidec2024, measured: which law each model keeps, and what each solver can be relied on for.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "list.hpp"
#include "problems.hpp"

namespace tribo::experiments {
namespace {

constexpr double kept = 1e-6;  ///< a law holds, relative; a solve has converged

/// Two digits, for tables that people read.
std::string cell(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return (value <= kept ? "yes " : "no ") + std::string("(") + text + ")";
}

/// Worst of each law while a cube slides at 22.5 degrees to the axes.
void models(const ExperimentOptions& options, Result& result) {
  Table table{"Table II: laws that each model keeps (worst relative violation while a cube slides)",
              {"model", "Signorini", "Coulomb", "maximum dissipation"}};
  for (const auto& [model, solver] :
       {std::pair{"lcp", "lemke"}, {"ccp", "admm"}, {"raisim", "raisim"}, {"ncp", "newton"}}) {
    Scene scene = scene_of(options, "cube-slide");
    parse_method(std::string("rigid:") + model + ":" + solver).apply(scene);
    const double angle = std::numbers::pi / 8;
    scene.start.v.head<3>() = Vec3(std::cos(angle), std::sin(angle), 0);
    scene.duration = 0.05;
    const LawResiduals laws = follow(scene).audit.laws;
    const std::string key = model;
    table.rows.push_back({model, cell(laws.signorini), cell(laws.coulomb), cell(laws.dissipation)});
    result.measures[key + "_signorini"] = laws.signorini;
    result.measures[key + "_coulomb"] = laws.coulomb;
    result.measures[key + "_dissipation"] = laws.dissipation;
  }
  result.tables.push_back(table);
}

/// Hard: own law on one problem of Solo. Internal: a cube that sticks, over its weight, in a run.
double hard(const Recorded& solo, const Pair& pair) {
  return solve(solo.problem, pair, {0, 1e-9}, VecX::Zero(solo.problem.size())).report.residual.relative();
}
double internal(const ExperimentOptions& options, const Pair& pair) {
  Scene scene = scene_of(options, "cube-push");
  parse_method("rigid:" + pair.label()).apply(scene);
  scene.duration = 0.1;
  const Recorded last = record(scene, 1).back();  // its guess: the forces of the step before
  return internal_force(last.problem, last.guess) / 9.81;
}
double robust(const ExperimentOptions& options, const Pair& pair) {
  Scene scene = stack_of_two(options, 1e6);
  scene.duration = 2e-3;
  const Recorded first = record(scene, 1).front();
  const ContactProblem own = own_law(as_dense(first.problem), pair);
  return solve(own, pair, {0, 1e-8}, VecX::Zero(own.size())).report.residual.relative();
}
/// Of the problems, all with a dense G: a solver that takes no other has not missed what it was never asked.
double share_converged(const std::vector<Recorded>& problems, const Pair& pair) {
  double share = 0;
  for (const Recorded& r : problems)
    share += solve(own_law(r.problem, pair), pair, {0, kept}, r.guess).report.residual.relative() <= kept;
  return share / static_cast<double>(problems.size());
}
std::string share_cell(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%s (%.1f %%)", share == 1 ? "yes" : "no", 100 * share);
  return text;
}

std::vector<Recorded> table_problems(const ExperimentOptions& options) {
  const int every = options.quick ? 100 : 10;
  std::vector<Recorded> problems;
  for (const Scene& scene : {solo_pushed(options), talos_pushed(options), allegro_drop(options)})
    for (const Recorded& r : record(scene, every)) problems.push_back(r);
  Scene tall = tower({1, 5, 0.2, 3, 10, 0.5, 2, 20}, 0.4);
  tall.duration = 2e-3;
  problems.push_back(record(tall, 1).back());
  for (Recorded& r : problems) r.problem = as_dense(r.problem);
  return problems;
}

void solvers(const ExperimentOptions& options, const Progress& progress, Result& result) {
  Table table{
      "Table III: solvers. Hard and free of internal forces: by the problem without compliance. Robust and converged: "
      "each by its own law, primal Newton methods with the R that they bring",
      {"solver", "hard contacts", "no internal forces", "robust (1e3 kg on 1e-3 kg)", "converged (share of problems)"}};
  const std::vector<Recorded> problems = table_problems(options);
  Scene standing = solo_pushed(options);
  standing.duration = 0.201;
  const Recorded solo = record(standing, 1).back();
  const std::vector<Pair> pairs = all_pairs();
  double done = 0;
  for (const Pair& pair : pairs) {
    const double share = share_converged(problems, pair);
    const double h = hard(solo, pair), i = internal(options, pair), s = robust(options, pair);
    table.rows.push_back({pair.label(), cell(h), cell(i), cell(s), share_cell(share)});
    result.measures[pair.label() + "_hard"] = h;
    result.measures[pair.label() + "_internal"] = i;
    result.measures[pair.label() + "_robust"] = s;
    result.measures[pair.label() + "_converged"] = share;
    progress((done += 1) / static_cast<double>(pairs.size()));
  }
  // MuJoCo's documented default: impedance d = 0.95, R = (1 - d)/d diag G.
  const Pair documented{ContactModel::Ccp, "primal-newton-mujoco", 0.05 / 0.95};
  const double share = share_converged(problems, documented), s = robust(options, documented);
  table.rows.push_back({documented.label() + ", impedance 0.95", cell(hard(solo, documented)), "not measured", cell(s),
                        share_cell(share)});
  result.measures["mujoco-documented_robust"] = s;
  result.measures["mujoco-documented_converged"] = share;
  result.settings["problems"] = problems.size();
  result.tables.push_back(table);
}

}  // namespace

Result rigid_tables(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  result.settings["kept_below"] = kept;
  models(options, result);
  solvers(options, progress, result);
  return result;
}

}  // namespace tribo::experiments
