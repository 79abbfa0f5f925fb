// Error of one control step against the time it takes and against dt (Hammoud2022, figs. 2, 3): the exponential
// stepper, whole and with each fixed order, of order two (expo-mid), with parts that end where contacts change
// (-events) and with a tolerance instead of a step (expo-1e-3); explicit Euler, Runge-Kutta and implicit Euler, on four
// motions.
//
// Truth: dt = 1/64 ms. "own": of the same integrator, as in the paper; "common": of expo-mid-events for all, the one
// that errs least where contacts change, since a truth of order one favours those who err alike. Every control step
// begins at the truth, with its contact memory and its held torque.
#include <algorithm>
#include <cmath>

#include "list.hpp"
#include "motions.hpp"

namespace tribo::experiments {
namespace {

struct Run {
  std::string label;
  double dt = 0;
  LocalError own, common;
};

// dt_c, dt_c/2, … down to 1/8 ms; the quick ones go on to a quarter of that, and the exponential ones among them also
// take dt_c/3, dt_c/5, dt_c/6, dt_c/10 ….
std::vector<double> steps_of(const MotionCase& motion, const std::string& label, bool quick) {
  if (integrator(label).accuracy > 0) return {motion.dt_c};
  const bool expo = label == "expo" || label == "expo-mid" || label == "expo-mid-events";
  const double least = (expo || label == "eul-exp" || label == "rk4" ? 1e-3 / 32 : 1e-3 / 8) * (1 - 1e-9);
  std::vector<double> steps;
  for (double dt = motion.dt_c; dt >= least; dt *= 0.5) {
    steps.push_back(dt);
    for (double part : {1.25, 1.5}) {
      const double count = part * motion.dt_c / dt;
      if (expo && !quick && std::abs(count - std::round(count)) < 1e-6 && dt / part >= least)
        steps.push_back(dt / part);
    }
  }
  if (quick && steps.size() > 3) {
    const bool small = label == "eul-exp" || label == "rk4";
    steps = small ? std::vector<double>(steps.end() - 2, steps.end()) : std::vector<double>{steps[0], steps[2]};
  }
  return steps;
}

bool exponential(const std::string& label) { return label.rfind("expo", 0) == 0; }

// Runs of others with an error within 10 times their best, 10 times as fast as real time, that no exponential run beats
// in both.
int ahead_of_expo(const std::vector<Run>& runs, std::string& which) {
  std::map<std::string, double> best;
  for (const Run& r : runs) {
    const auto found = best.find(r.label);
    best[r.label] = found == best.end() ? r.common.mean : std::min(found->second, r.common.mean);
  }
  int count = 0;
  for (const Run& r : runs) {
    if (exponential(r.label) || r.common.mean > 10 * best[r.label] || r.common.real_time < 10) continue;
    const bool beaten = std::any_of(runs.begin(), runs.end(), [&](const Run& e) {
      return exponential(e.label) && e.common.mean <= r.common.mean && e.common.time <= r.common.time;
    });
    if (beaten) continue;
    ++count;
    which += (which.empty() ? "" : ", ") + r.label + " at " + std::to_string(1e3 * r.dt) + " ms";
  }
  return count;
}

// Runs that have lost the motion are left to the table; those by tolerance are one curve.
void add_curves(Panel& over_time, Panel& over_dt, const std::vector<Run>& runs) {
  for (const Run& r : runs) {
    if (!(r.common.mean < 10)) continue;
    const std::string label = integrator(r.label).accuracy > 0 ? "expo by tolerance" : r.label;
    if (over_time.series.empty() || over_time.series.back().label != label) {
      over_time.series.push_back({label});
      over_dt.series.push_back({label});
    }
    over_time.series.back().x.push_back(r.common.real_time);
    over_time.series.back().y.push_back(r.common.mean);
    over_dt.series.back().x.push_back(1e3 * r.dt);
    over_dt.series.back().y.push_back(r.common.mean);
  }
}

// The walk under Runge-Kutta by the rule for anchors of slipping contacts, each against its own truth: has the law a
// limit?
Table slip_rules(const ExperimentOptions& options, Result& result) {
  Table table{"romeo-walk, Runge-Kutta by the rule for anchors of slipping contacts",
              {"slip anchor", "dt [ms]", "mean error, own truth", "worst error, own truth"}};
  const MotionCase& motion = motion_case("romeo-walk");
  Setting setting;
  setting.integrator = integrator("rk4");
  for (const char* rule : {"drawn", "set", "set-undamped"}) {
    setting.slip_anchor = rule;
    const std::vector<State> own = truth(options, motion, setting);
    for (int steps = 32; steps <= 1024; steps *= 2) {
      setting.dt = motion.dt_c / steps;
      const LocalError e = local_error(options, motion, setting, own);
      table.rows.push_back({rule, 1e3 * setting.dt, e.mean, e.worst});
      const std::string dt = std::to_string(std::lround(1e6 * setting.dt));
      result.measures[std::string("romeo-walk_rk4-") + rule + "_" + dt + "us_error"] = e.mean;
    }
  }
  return table;
}

}  // namespace

Result expo_accuracy(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const std::vector<std::string> labels =
      options.quick
          ? std::vector<std::string>{"expo", "expo-mid", "expo-1", "eul-exp", "eul-imp"}
          : std::vector<std::string>{
                "expo",   "expo-mid", "expo-mid-events", "expo-1e-1", "expo-1e-2", "expo-1e-3", "expo-1e-4", "expo-1",
                "expo-2", "expo-3",   "expo-5",          "expo-7",    "expo-full", "eul-exp",   "rk4",       "eul-imp"};
  result.settings = {{"truth_dt", 1e-3 / 64}, {"stiffness", 1e5}, {"damping", 300}, {"mu", 1}, {"anchor", "surface"}};
  double done = 0;
  for (const MotionCase& motion : motion_cases()) {
    if (options.quick && motion.name == "romeo-walk") continue;
    std::vector<Run> runs;
    Setting setting;
    setting.integrator = integrator("expo-mid-events");
    const std::vector<State> common = truth(options, motion, setting);
    for (const std::string& label : labels) {
      setting.integrator = integrator(label);
      const bool other = !exponential(label) && !options.quick;
      const std::vector<State> own = other ? truth(options, motion, setting) : common;
      for (double dt : steps_of(motion, label, options.quick)) {
        setting.dt = dt;
        Run run{label, dt, {}, local_error(options, motion, setting, common)};
        run.own = other ? local_error(options, motion, setting, own) : run.common;
        runs.push_back(run);
        const std::string key = motion.name + "_" + label + "_" + std::to_string(std::lround(1e6 * dt)) + "us";
        result.measures[key + "_error"] = run.common.mean;
      }
      done += 1.0 / static_cast<double>(labels.size() * motion_cases().size());
      progress(std::min(done, 1.0));
    }
    Table table{motion.name + ", control step " + std::to_string(std::lround(1e3 * motion.dt_c)) + " ms",
                {"integrator", "dt [ms]", "mean error", "worst error", "mean error, own truth", "us a step",
                 "real-time factor"}};
    double smallest = HUGE_VAL, expo = HUGE_VAL, implicit_ratio = 0, whole = 0;
    for (const Run& r : runs) {
      table.rows.push_back(
          {r.label, 1e3 * r.dt, r.common.mean, r.common.worst, r.own.mean, 1e6 * r.common.step, r.common.real_time});
      smallest = std::min(smallest, r.common.mean);
      if (r.dt == motion.dt_c && r.label == "expo") expo = r.common.mean, whole = r.common.step;
      if (r.dt == motion.dt_c && r.label == "eul-imp") implicit_ratio = r.common.step / whole;
    }
    std::string which;
    const int ahead = ahead_of_expo(runs, which);
    result.measures[motion.name + "_ahead_of_expo"] = ahead;
    result.measures["ahead_of_expo"] += ahead;
    result.measures[motion.name + "_expo_longest_error"] = expo;
    result.measures[motion.name + "_eul-imp_over_expo_time"] = implicit_ratio;
    result.settings[motion.name + "_ahead_of_expo"] = which;
    Panel over_time{motion.name, "real-time factor [-]", "error of a control step [rad, rad/s, m, m/s]", true, true};
    Panel over_dt = over_time;
    over_dt.x_label = "dt [ms]";
    add_curves(over_time, over_dt, runs);
    result.tables.push_back(table);
    result.panels.push_back(over_time);
    result.panels.push_back(over_dt);
  }
  if (!options.quick) result.tables.push_back(slip_rules(options, result));
  return result;
}

}  // namespace tribo::experiments
