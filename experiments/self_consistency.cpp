// How far a method departs from itself as its tolerance and its time step grow: the dragged cube (LeLidec2024, IV-B).
#include <cmath>

#include "list.hpp"
#include "scenes.hpp"

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
    for (double eps : tolerances) {
      const double e = integral_error(drag(options, setup, {eps, 0}, 1e-3), exact);
      s.x.push_back(eps), s.y.push_back(e);
      table.rows.push_back({setup.label, eps, 1e-3, e});
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
  result.panels = {by_tolerance, by_step};
  return result;
}

}  // namespace tribo::experiments
