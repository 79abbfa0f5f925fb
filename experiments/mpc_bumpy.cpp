// Solo walks over blocks up to 10 cm high at mu 0.3, which its controller takes for 0.9 (LeLidec2024, fig. 19): which method
// keeps the laws while feet slip, and whether velocities that depart tell the models apart or only that the walk is chaotic.
#include <cmath>
#include <filesystem>

#include "list.hpp"
#include "scenes.hpp"
#include "walking.hpp"

namespace tribo::experiments {
namespace {

constexpr double speed = 0.3;  // [m/s]

/// One run for each terrain.
using Runs = std::vector<Stroll>;
using Values = std::vector<double>;

Values each(const Runs& runs, double Stroll::*value) {
  Values x;
  for (const Stroll& run : runs) x.push_back(run.*value);
  return x;
}

Values departures(const Runs& a, const Runs& b) {
  Values t;
  for (std::size_t k = 0; k < a.size(); ++k) t.push_back(departure(a[k], b[k]));
  return t;
}

double stand_share(const Runs& runs) {
  double n = 0;
  for (const Stroll& run : runs) n += run.stands;
  return n / static_cast<double>(runs.size());
}

class Bumps {
 public:
  Bumps(const ExperimentOptions& options, const Progress& progress)
      : seeds_(options.quick ? 3 : 20), starts_(options.quick ? 1 : 3), progress_(progress) {
    rough_.mu = 0.3;
    rough_.roughness = 0.1;
    rough_.duration = options.quick ? 4 : 10;
    rough_.paces = flat_.paces = {{0.5, speed, 0}};
    flat_.duration = 4;
  }

  Result run(const std::string& folder) {
    if (!folder.empty()) {
      Course first = rough_;
      first.seed = 1;
      write_course(first,
                   (std::filesystem::path(folder) / "mpc-bumpy.toml").string());  // the report shows it as a film
    }
    result_.settings = {{"robot", "solo12"},
                        {"mu", rough_.mu},
                        {"blocks [m]", 0.1},
                        {"heights up to [m]", rough_.roughness},
                        {"duration", rough_.duration},
                        {"seeds", seeds_},
                        {"disturbed starts", starts_},
                        {"disturbance", 1e-9},
                        {"tolerance", "1e-9, newton 1e-13"}};
    for (const WalkMethod& method : walk_methods()) {
      rough_runs_[method.key] = walk(rough_, method, 0);
      describe(method);
    }
    disturb();
    for (const WalkMethod& method : walk_methods())
      if (method.key != "newton") compare(method);
    lead_of_per_contact();
    result_.tables = {table_, apart_, lead_};
    result_.panels = {velocity_, laws_, times_};
    return result_;
  }

 private:
  Runs walk(Course course, const WalkMethod& method, double disturbance) {
    Runs runs;
    for (int k = 0; k < seeds_; ++k) {
      course.seed = static_cast<unsigned>(k + 1);
      runs.push_back(stroll(course, method, disturbance));
      progress_(++done_ / ((9.0 + starts_) * seeds_));
    }
    return runs;
  }

  void describe(const WalkMethod& method) {
    const Runs& runs = rough_runs_[method.key];
    const Spread far = spread_of(each(runs, &Stroll::distance)), slipping = spread_of(each(runs, &Stroll::slipping));
    const double worst = spread_of(each(runs, &Stroll::worst)).most, share = stand_share(runs);
    table_.rows.push_back({method.label, spread_of(each(runs, &Stroll::error)).mean, far.mean, far.deviation,
                           std::lround(share * seeds_), worst, slipping.mean, slipping.deviation,
                           100 * spread_of(each(runs, &Stroll::slip_share)).mean,
                           spread_of(each(runs, &Stroll::solve)).mean});
    const Stroll& first = runs.front();
    velocity_.series.push_back(series_of(method.label, first.t, first.forward));
    laws_.series.push_back(series_of(method.label, first.t, first.violation));
    times_.series.push_back(series_of(method.label, first.t, first.micros));
    measure(method, "distance", far.mean / (speed * (rough_.duration - 0.65)));
    measure(method, "stand_share", share);
    measure(method, "worst", worst);
    measure(method, "slipping", slipping.mean);
    measure(method, "slipping_least", slipping.least);
    measure(method, "slipping_most", slipping.most);
  }

  // Newton's method again from starts that differ by 1e-9: what chaos alone makes of a walk.
  void disturb() {
    const Runs& newton = rough_runs_["newton"];
    chaos_.assign(newton.size(), 0);
    double told = 0, worst = result_.measures["newton_worst"];
    Values all;
    for (int k = 0; k < starts_; ++k) {
      const Runs runs = walk(rough_, walk_methods().front(), 1e-9 * (k + 1));
      const Values t = departures(runs, newton);
      for (std::size_t i = 0; i < t.size(); ++i) chaos_[i] += t[i] / starts_;
      all.insert(all.end(), t.begin(), t.end());
      told = std::max(told, std::abs(told_apart(each(runs, &Stroll::distance), each(newton, &Stroll::distance))));
      worst = std::max(worst, spread_of(each(runs, &Stroll::worst)).most);
    }
    apart_.rows.push_back({"NCP/newton, starts disturbed by 1e-9", median_of(all), nullptr, told});
    result_.measures["disturbed_departure"] = median_of(all);
    result_.measures["disturbed_told_apart"] = told;
    result_.measures["newton_worst"] = worst;
  }

  void compare(const WalkMethod& method) {
    const Runs& runs = rough_runs_[method.key];
    const Runs& newton = rough_runs_["newton"];
    const Values t = departures(runs, newton);
    const double earlier = told_apart(chaos_, t);
    const double told = std::abs(told_apart(each(runs, &Stroll::distance), each(newton, &Stroll::distance)));
    apart_.rows.push_back({method.label, median_of(t), earlier, told});
    measure(method, "departure", median_of(t));
    measure(method, "before_chaos", earlier);
    measure(method, "told_apart", told);
  }

  // Time of a per-contact solver over that of ADMM, on flat ground and here.
  void lead_of_per_contact() {
    const auto ratio = [](const Runs& a, const Runs& b) {
      Values x;
      for (std::size_t k = 0; k < a.size(); ++k) x.push_back(a[k].solve / b[k].solve);
      return spread_of(x);
    };
    std::map<std::string, Runs> flat;
    for (const WalkMethod& method : walk_methods())
      if (method.key == "pgs" || method.key == "raisim" || method.key == "admm")
        flat[method.key] = walk(flat_, method, 0);
    for (const WalkMethod& method : walk_methods()) {
      if (method.key != "pgs" && method.key != "raisim") continue;
      const Spread level = ratio(flat[method.key], flat["admm"]);
      const Spread rough = ratio(rough_runs_[method.key], rough_runs_["admm"]);
      const double narrows = (rough.mean - level.mean) / std::hypot(rough.error(), level.error());
      lead_.rows.push_back({method.label, level.mean, level.deviation, rough.mean, rough.deviation, narrows});
      measure(method, "gap_narrows", narrows);
      measure(method, "over_admm_time", rough.mean);
    }
  }

  void measure(const WalkMethod& method, const char* what, double value) {
    result_.measures[method.key + "_" + what] = value;
  }

  int seeds_, starts_, done_ = 0;
  const Progress& progress_;
  Course rough_, flat_;
  std::map<std::string, Runs> rough_runs_;
  Values chaos_;  // by terrain: when a disturbed start departs, its mean
  Result result_;
  Table table_{
      "Blocks up to 10 cm high, 0.3 m/s, over terrain seeds; until a robot falls",
      {"method", "mean error [m/s]", "distance [m]", "its spread over seeds [m]", "stand at the end", "worst law",
       "mean law while slipping", "its spread over seeds", "slip [% of steps]", "contact solve [us a step]"}};
  Table apart_{"When velocities depart by 0.05 m/s from those of NCP/newton, and whether distances differ",
               {"method", "departs, median [s]", "earlier than chaos [standard errors]",
                "distance from NCP/newton's [standard errors]"}};
  Table lead_{"Time of a contact solve over that of NCP/ADMM",
              {"method", "on flat ground", "spread", "on blocks", "spread", "difference [standard errors]"}};
  Panel velocity_{"Forward velocity on the first terrain, mean over a gait period", "time [s]", "velocity [m/s]"};
  Panel laws_{"Worst law of contact in 10 ms, first terrain", "time [s]", "violation [-]", false, true};
  Panel times_{"Contact solve of a step, first terrain", "time [s]", "time [us]", false, true};
};

}  // namespace

Result mpc_bumpy(const ExperimentOptions& options, const Progress& progress) {
  return Bumps(options, progress).run(options.out);
}

}  // namespace tribo::experiments
