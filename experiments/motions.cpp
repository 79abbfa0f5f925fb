#include "motions.hpp"

#include <algorithm>
#include <cmath>

#include "base/cpu_time.hpp"
#include "base/names.hpp"
#include "dynamics/group.hpp"

namespace tribo::experiments {
namespace {

constexpr double truth_dt = 1e-3 / 64;  // of the paper
constexpr int timed = 3;                // times that the same steps are taken in a full run

// Largest difference of a coordinate (on the group) or of a velocity.
double distance(const Model& model, const State& a, const State& b, VecX& work) {
  work.setZero(model.nv);
  for (const Member& member : model.members) difference(model, member, a.q, b.q, work);
  return std::max(work.cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

}  // namespace

const std::vector<MotionCase>& motion_cases() {
  static const std::vector<MotionCase> cases = {
      {"solo-squat", 0.04, 0.4, 0.16, 1.6},
      {"solo-jump", 0.01, 0.44, 0.06, 0.56},
      {"solo-trot", 0.002, 0.30, 0.05, 0.72},
      {"romeo-walk", 0.04, 0.6, 0.08, 1.0},
  };
  return cases;
}

const MotionCase& motion_case(const std::string& name) {
  for (const MotionCase& c : motion_cases())
    if (c.name == name) return c;
  throw InvalidInput("no motion '" + name + "'");
}

const Integrator& integrator(const std::string& label) {
  static const std::vector<Integrator> all = {
      {"expo", "exponential"},
      {"expo-1", "exponential", "reduced", 1},
      {"expo-2", "exponential", "reduced", 2},
      {"expo-3", "exponential", "reduced", 3},
      {"expo-5", "exponential", "reduced", 5},
      {"expo-7", "exponential", "reduced", 7},
      {"expo-full", "exponential", "full"},
      {"expo-modal", "exponential", "modal"},
      {"expo-mid", "exponential", "", 0, true},
      {"expo-events", "exponential", "", 0, false, true},
      {"expo-mid-events", "exponential", "", 0, true, true},
      {"expo-1e-1", "exponential", "", 0, true, true, 1e-1},
      {"expo-1e-2", "exponential", "", 0, true, true, 1e-2},
      {"expo-1e-3", "exponential", "", 0, true, true, 1e-3},
      {"expo-1e-4", "exponential", "", 0, true, true, 1e-4},
      {"eul-exp", "explicit-euler"},
      {"rk4", "runge-kutta"},
      {"eul-imp", "implicit-euler"},
  };
  for (const Integrator& i : all)
    if (i.label == label) return i;
  throw InvalidInput("no integrator '" + label + "'");
}

Scene motion_scene(const ExperimentOptions& options, const MotionCase& motion, const Setting& s) {
  std::vector<Override> keys = {
      {"stepper.name", s.integrator.stepper},
      {"stepper.anchor", s.anchor},
      {"stepper.slip_anchor", s.slip_anchor},
      {"stepper.audit", "off"},
      {"material.default.stiffness", shown(s.stiffness)},
      {"material.default.damping", shown(s.damping)},
  };
  if (!s.integrator.method.empty()) keys.push_back({"stepper.method", s.integrator.method});
  if (s.integrator.order > 0) keys.push_back({"stepper.order", std::to_string(s.integrator.order)});
  if (s.integrator.midpoint) keys.push_back({"stepper.midpoint", "true"});
  if (s.integrator.events) keys.push_back({"stepper.events", "true"});
  if (s.integrator.accuracy > 0) keys.push_back({"stepper.accuracy", shown(s.integrator.accuracy)});
  if (s.project_only && s.integrator.stepper == "exponential") keys.push_back({"stepper.project_only", "true"});
  if (s.tick > 0) keys.push_back({"controller.period", shown(s.tick)});
  Scene scene = scene_of(options, motion.name, keys);
  scene.dt = s.dt;
  return scene;
}

std::vector<State> truth(const ExperimentOptions& options, const MotionCase& motion, Setting setting) {
  setting.dt = truth_dt;
  const Scene scene = motion_scene(options, motion, setting);
  Simulation simulation = make_simulation(scene);
  const long every = std::lround(motion.dt_c / truth_dt);
  const double length = options.quick ? motion.quick : motion.full;
  const long first = std::lround(motion.from / motion.dt_c), last = first + std::lround(length / motion.dt_c);
  std::vector<State> states;
  for (long k = 0; k <= last; ++k) {
    if (k >= first) states.push_back(simulation.state());
    for (long i = 0; i < every && k < last; ++i) simulation.step();
  }
  return states;
}

LocalError local_error(const ExperimentOptions& options, const MotionCase& motion, const Setting& setting,
                       const std::vector<State>& truth) {
  const Scene scene = motion_scene(options, motion, setting);
  const long steps = std::lround(motion.dt_c / setting.dt);
  const auto n = static_cast<double>(truth.size() - 1);
  LocalError e;
  e.time = HUGE_VAL;
  VecX work;
  for (int r = 0; r < (options.quick ? 1 : timed); ++r) {
    Simulation simulation = make_simulation(scene);
    double time = 0;
    e.mean = e.worst = e.eventful = 0;
    for (std::size_t k = 0; k + 1 < truth.size(); ++k) {
      simulation.set_state(truth[k]);
      bool eventful = false;
      const double begin = cpu_seconds();
      for (long i = 0; i < steps; ++i) {
        const StepReport report = simulation.step();
        eventful |= report.made > 0 || report.broken > 0 || report.slipped > 0;
      }
      time += cpu_seconds() - begin;
      const State& end = simulation.state();
      const bool broke = !end.v.allFinite() || std::abs(end.t - truth[k + 1].t) > 0.5 * setting.dt;
      const double error = broke ? HUGE_VAL : distance(*scene.model, truth[k + 1], end, work);
      e.mean += error / n;
      e.worst = std::max(e.worst, error);
      if (eventful) e.eventful += error / n;
    }
    e.time = std::min(e.time, time);
  }
  e.real_time = n * motion.dt_c / e.time;
  e.step = e.time / (n * static_cast<double>(steps));
  return e;
}

}  // namespace tribo::experiments
