// How far a method departs from itself as its tolerance and its time step grow: the dragged cube (LeLidec2024, IV-B).
#include <cmath>

#include <random>

#include "list.hpp"
#include "problems.hpp"

namespace tribo::experiments {
namespace {

const std::vector<Setup> setups = {{"ncp:newton", "rigid:ncp:newton"},
                                   {"ncp:pgs", "rigid:ncp:pgs"},
                                   {"ncp:admm", "rigid:ncp:admm"},
                                   {"raisim", "rigid:raisim:raisim"},
                                   {"ccp:admm, wide margin", "rigid:ccp:admm", 0.1}};

Path drag(const ExperimentOptions& options, const Setup& setup, const Tolerance& tolerance, double dt) {
  Scene scene = scene_of(options, "cube-push");
  setup.apply(scene);
  scene.stepper_options.contact.tolerance = tolerance;
  scene.dt = dt;
  return follow(scene);
}

/// Of the velocities that one problem of the cube has, from twenty starts, over the scale of accelerations. The cube
/// sticks until 0.196 s.
double spread(const ExperimentOptions& options, const Pair& pair, double t) {
  Scene scene = scene_of(options, "cube-push");
  scene.duration = t;
  const Recorded last = record(scene, 1).back();
  std::mt19937 random(5);
  const auto lot = [&] { return static_cast<double>(random()) / 4294967296.0; };
  VecX least, most;
  double scale = 1;
  for (int k = 0; k < 20; ++k) {
    VecX guess = VecX::Zero(last.problem.size());
    for (int i = 0; k > 0 && i < guess.size(); ++i) guess[i] = 10 * (i % 3 == 2 ? lot() : 2 * lot() - 1);
    const Solved s = solve(last.problem, pair, {0, 1e-12}, guess);
    least = k == 0 ? s.c : least.cwiseMin(s.c).eval();
    most = k == 0 ? s.c : most.cwiseMax(s.c).eval();
    scale = s.report.residual.motion_scale;
  }
  return (most - least).maxCoeff() / scale;
}

/// How much of a method's motion its law leaves open: solves that begin from nothing instead of the last forces.
double start_matters(const ExperimentOptions& options, const Setup& setup, const Path& exact) {
  Scene scene = scene_of(options, "cube-push");
  setup.apply(scene);
  scene.stepper_options.contact.tolerance = {1e-12, 0};
  scene.stepper_options.contact.warm_start = false;
  return integral_error(follow(scene), exact);
}

void spreads(const ExperimentOptions& options, Result& result) {
  Table table{
      "Velocities of one problem solved from twenty starts to 1e-12: largest difference over the scale of "
      "accelerations",
      {"method", "while it sticks", "while it slides"}};
  for (const Pair& pair :
       {Pair{ContactModel::Ncp, "newton"}, Pair{ContactModel::Ncp, "pgs"}, Pair{ContactModel::Ncp, "admm"},
        Pair{ContactModel::Ccp, "admm"}, Pair{ContactModel::Raisim, "raisim"}}) {
    const double stick = spread(options, pair, 0.15), slide = spread(options, pair, 0.8);
    table.rows.push_back({pair.label(), stick, slide});
    result.measures[pair.label() + "_spread_stick"] = stick;
    result.measures[pair.label() + "_spread_slide"] = slide;
  }
  result.tables.push_back(table);
}

}  // namespace

Result self_consistency(const ExperimentOptions& options, const Progress& progress) {
  const std::vector<double> tolerances =
      options.quick ? std::vector<double>{1e-2, 1e-6}
                    : std::vector<double>{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};
  const std::vector<double> steps =
      options.quick ? std::vector<double>{1e-3, 1e-2} : std::vector<double>{1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  const double finest = options.quick ? 1e-4 : 1e-5;
  Result result;
  result.settings = {{"scene", "cube-push"}, {"reference_tolerance", 1e-12}, {"reference_dt", finest}};
  Table table{"Integral error against the method itself [m s]", {"method", "eps_abs, at dt 1 ms", "dt [s]", "error"}};
  Panel by_tolerance{"Tolerance grows, dt 1 ms", "absolute tolerance [N, m/s^2]", "sum |q - q_ref| dt [m s]", true,
                     true};
  Panel by_step{"Time step grows", "time step [s]", "sum |q - q_ref| dt [m s]", true, true};
  int run = 0;
  for (const Setup& setup : setups) {
    Series s{setup.label}, t{setup.label};
    const Path exact = drag(options, setup, {1e-12, 0}, 1e-3);
    const std::string key = setup.method.substr(6);
    const double open = start_matters(options, setup, exact);
    table.rows.push_back({setup.label + ", cold starts", 1e-12, 1e-3, open});
    result.measures[key + "_start"] = open;
    for (double eps : tolerances) {
      const double e = integral_error(drag(options, setup, {eps, 0}, 1e-3), exact);
      s.x.push_back(eps), s.y.push_back(e);
      table.rows.push_back({setup.label, eps, 1e-3, e});
      result.measures[key + "_over_start_1e" + std::to_string(std::lround(std::log10(eps)))] =
          e / std::max(open, 1e-300);
      result.measures[key + "_eps_1e" + std::to_string(std::lround(std::log10(eps)))] = e;
    }
    const Path fine = drag(options, setup, {0, 1e-8}, finest);
    for (double dt : steps) {
      const double e = integral_error(drag(options, setup, {0, 1e-8}, dt), fine);
      t.x.push_back(dt), t.y.push_back(e);
      table.rows.push_back({setup.label, "default", dt, e});
      result.measures[key + "_dt_" + std::to_string(std::lround(dt * 1e6)) + "us"] = e;
    }
    by_tolerance.series.push_back(s), by_step.series.push_back(t);
    progress(++run / static_cast<double>(setups.size()));
  }
  result.tables.push_back(table);
  spreads(options, result);
  result.panels = {by_tolerance, by_step};
  return result;
}

}  // namespace tribo::experiments
