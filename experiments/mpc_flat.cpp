// Solo walks on flat ground under predictive control, mu 0.9 (LeLidec2024, fig. 18): velocity against the command, laws of
// contact, time of the contact solve, method by method; and starts disturbed by 1e-9.
#include "list.hpp"
#include "scenes.hpp"
#include "walking.hpp"

namespace tribo::experiments {

Result mpc_flat(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  Course course;
  course.duration = options.quick ? 6 : 20;
  course.paces = options.quick ? std::vector<Pace>{{0.5, 0.3, 0}, {2, 0.6, 0}, {4, 0.3, 0.5}}
                               : std::vector<Pace>{{1, 0.15, 0}, {4, 0.3, 0}, {8, 0.6, 0}, {14, 0.3, 0.5}};
  const int starts = options.quick ? 2 : 3;
  result.settings = {{"robot", "solo12"},          {"mu", course.mu},     {"duration", course.duration},
                     {"disturbed starts", starts}, {"disturbance", 1e-9}, {"tolerance", "1e-9, newton 1e-13"}};
  Table table{"Flat ground, commands up to 0.6 m/s and 0.5 rad/s",
              {"method", "mean error [m/s]", "of turning [rad/s]", "distance [m]", "its spread over starts [m]",
               "worst law", "slip [% of steps]", "contact solve [us a step]", "stands"},
              {}};
  Panel velocity{"Forward velocity, mean over a gait period", "time [s]", "velocity [m/s]"};
  Panel laws{"Worst law of contact in 10 ms", "time [s]", "violation [-]", false, true};
  Panel times{"Contact solve of a step", "time [s]", "time [us]", false, true};
  double most_error = 0, most_turn = 0, least = 1e9, most = 0, newton_time = 0;
  int done = 0;
  for (const WalkMethod& method : walk_methods()) {
    std::vector<double> distances, solve;
    Stroll first;
    for (int k = 0; k < starts; ++k) {
      Stroll run = stroll(course, method, 1e-9 * k);
      distances.push_back(run.distance);
      solve.push_back(run.solve);
      if (k == 0) first = std::move(run);
      progress(++done / (6.0 * starts));
    }
    const Spread spread = spread_of(distances);
    table.rows.push_back({method.label, first.error, first.turn_error, spread.mean, spread.deviation, first.worst,
                          100 * first.slip_share, median_of(solve), first.stands});
    if (done == starts) velocity.series.push_back(series_of("command", first.t, first.command));
    velocity.series.push_back(series_of(method.label, first.t, first.forward));
    laws.series.push_back(series_of(method.label, first.t, first.violation));
    times.series.push_back(series_of(method.label, first.t, first.micros));
    result.measures[method.key + "_error"] = first.stands ? first.error : 1e9;
    result.measures[method.key + "_worst"] = first.worst;
    result.measures[method.key + "_distance_spread"] = spread.deviation;
    if (method.key == "newton") newton_time = median_of(solve);
    result.measures[method.key + "_time_over_newton"] = median_of(solve) / newton_time;
    most_error = std::max(most_error, first.stands ? first.error : 1e9);
    most_turn = std::max(most_turn, first.turn_error);
    least = std::min(least, spread.mean), most = std::max(most, spread.mean);
  }
  result.measures["most_error"] = most_error;
  result.measures["most_turn_error"] = most_turn;
  result.measures["distance_apart"] = (most - least) / least;
  result.measures["per_contact_over_admm_time"] =
      std::max(result.measures["pgs_time_over_newton"], result.measures["raisim_time_over_newton"]) /
      result.measures["admm_time_over_newton"];
  result.tables.push_back(table);
  result.panels = {velocity, laws, times};
  return result;
}

}  // namespace tribo::experiments
