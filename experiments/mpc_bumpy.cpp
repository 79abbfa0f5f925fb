// Solo walks over blocks up to 10 cm high at mu 0.3, which its controller takes for 0.9 (LeLidec2024, fig. 19): which method
// keeps the laws while feet slip, and whether velocities that depart tell the models apart or only that the walk is chaotic.
#include <cmath>

#include "list.hpp"
#include "scenes.hpp"
#include "walking.hpp"

namespace tribo::experiments {
namespace {

// Is the mean difference of pairs told from zero? In units of its standard error.
double told_apart(const std::vector<Stroll>& a, const std::vector<Stroll>& b) {
  std::vector<double> gap;
  for (std::size_t k = 0; k < a.size(); ++k) gap.push_back(a[k].distance - b[k].distance);
  const Spread s = spread_of(gap);
  const double error = s.deviation / std::sqrt(static_cast<double>(gap.size()));
  return error > 0 ? std::abs(s.mean) / error : 0;
}

double median_departure(const std::vector<Stroll>& a, const std::vector<Stroll>& b) {
  std::vector<double> t;
  for (std::size_t k = 0; k < a.size(); ++k) t.push_back(departure(a[k], b[k]));
  return median_of(t);
}

}  // namespace

Result mpc_bumpy(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  Course course;
  course.mu = 0.3;
  course.roughness = 0.1;
  course.duration = options.quick ? 4 : 10;
  course.paces = {{0.5, 0.3, 0}};
  const int seeds = options.quick ? 3 : 20;
  result.settings = {
      {"robot", "solo12"},           {"mu", course.mu}, {"blocks [m]", 0.1},   {"heights up to [m]", course.roughness},
      {"duration", course.duration}, {"seeds", seeds},  {"disturbance", 1e-9}, {"tolerance", "1e-9, newton 1e-11"}};
  Table table{"Blocks up to 10 cm high, 0.3 m/s, over terrain seeds",
              {"method", "mean error [m/s]", "distance [m]", "its spread over seeds [m]", "stand at the end",
               "worst law", "mean law while slipping", "slip [% of steps]", "contact solve [us a step]"},
              {}};
  Table apart{"When velocities depart by 0.05 m/s, and whether distances differ",
              {"method", "departs from NCP/newton, median [s]", "distance from NCP/newton's [standard errors]"},
              {}};
  Panel velocity{"Forward velocity on the first terrain, mean over a gait period", "time [s]", "velocity [m/s]"};
  Panel laws{"Worst law of contact in 10 ms, first terrain", "time [s]", "violation [-]", false, true};
  Panel times{"Contact solve of a step, first terrain", "time [s]", "time [us]", false, true};
  std::vector<Stroll> newton;
  double newton_time = 0;
  int done = 0;
  const auto walk_all = [&](const WalkMethod& method, double disturbance) {
    std::vector<Stroll> runs;
    for (int k = 0; k < seeds; ++k) {
      course.seed = static_cast<unsigned>(k + 1);
      runs.push_back(stroll(course, method, disturbance));
      progress(++done / (7.0 * seeds));
    }
    return runs;
  };
  for (const WalkMethod& method : walk_methods()) {
    const std::vector<Stroll> runs = walk_all(method, 0);
    std::vector<double> distance, error, slipping, solve, slips;
    double worst = 0;
    int stand = 0;
    for (const Stroll& run : runs) {
      distance.push_back(run.distance), error.push_back(run.error), slipping.push_back(run.slipping);
      solve.push_back(run.micros_median), slips.push_back(run.slip_share);
      worst = std::max(worst, run.worst);
      stand += run.stands;
    }
    if (method.key == "newton") newton = runs, newton_time = median_of(solve);
    const Spread far = spread_of(distance);
    const double mean_slip = spread_of(slipping).mean, told = told_apart(runs, newton);
    table.rows.push_back({method.label, spread_of(error).mean, far.mean, far.deviation, stand, worst, mean_slip,
                          100 * spread_of(slips).mean, median_of(solve)});
    const double departs = median_departure(runs, newton);
    if (method.key != "newton") apart.rows.push_back({method.label, departs, told});
    const Stroll& first = runs.front();
    velocity.series.push_back(series_of(method.label, first.t, first.forward));
    laws.series.push_back(series_of(method.label, first.t, first.violation));
    times.series.push_back(series_of(method.label, first.t, first.micros));
    result.measures[method.key + "_distance"] = far.mean / (0.3 * (course.duration - 0.65));
    result.measures[method.key + "_stand_share"] = static_cast<double>(stand) / seeds;
    result.measures[method.key + "_worst"] = worst;
    result.measures[method.key + "_slipping"] = mean_slip;
    result.measures[method.key + "_departure"] = departs;
    result.measures[method.key + "_told_apart"] = told;
    result.measures[method.key + "_time_over_newton"] = median_of(solve) / newton_time;
  }
  const std::vector<Stroll> disturbed = walk_all(walk_methods().front(), 1e-9);
  const double chaos = median_departure(disturbed, newton), null = told_apart(disturbed, newton);
  apart.rows.push_back({"NCP/newton, start disturbed by 1e-9", chaos, null});
  result.measures["disturbed_departure"] = chaos;
  result.measures["disturbed_told_apart"] = null;
  for (const Stroll& run : disturbed)
    result.measures["newton_worst"] = std::max(result.measures["newton_worst"], run.worst);
  result.measures["per_contact_over_admm_time"] =
      std::max(result.measures["pgs_time_over_newton"], result.measures["raisim_time_over_newton"]) /
      result.measures["admm_time_over_newton"];
  result.tables = {table, apart};
  result.panels = {velocity, laws, times};
  return result;
}

}  // namespace tribo::experiments
