// Where the time of a step goes (Hammoud2022, table III; appendix): the steppers of the family on the trot, the parts
// of an exponential step at a state with two feet down and at one with four, and those of a step of implicit Euler. A
// tick of the controller belongs to no stepper: its time is measured and taken off.
#include <cmath>

#include "base/cpu_time.hpp"
#include "dynamics/derivatives.hpp"
#include "linalg/dense.hpp"
#include "linalg/matrix_exponential.hpp"
#include "linalg/modal.hpp"
#include "linalg/polynomial.hpp"
#include "list.hpp"
#include "motions.hpp"
#include "stepping/workspace.hpp"
#include "tribo/assembly.hpp"
#include "tribo/dynamics.hpp"

namespace tribo::experiments {
namespace {

// Smallest CPU time of a call, over repeats [us].
template <class F>
double least_us(int repeats, F&& f) {
  double least = HUGE_VAL;
  for (int r = 0; r < repeats; ++r) {
    constexpr int calls = 200;
    const double begin = cpu_seconds();
    for (int k = 0; k < calls; ++k) f();
    least = std::min(least, 1e6 * (cpu_seconds() - begin) / calls);
  }
  return least;
}

// Two strides of the trot, taken again and again from the same state.
class Stretch {
 public:
  Stretch(const ExperimentOptions& options, const std::string& label, double dt, const std::string& anchor,
          double tick = 0)
      : Stretch(motion_scene(options, motion_case("solo-trot"), setting(label, dt, anchor, tick)),
                options.quick ? 0.1 : 0.72) {}

  // Mean CPU time of a step over some thousand of them; keeps the least.
  void measure() {
    const long times = std::max(1L, 4000 / steps_);
    double spent = 0;
    for (long r = 0; r < times; ++r) {
      simulation_.set_state(start_);
      const double begin = cpu_seconds();
      parts_ = 0;
      for (long k = 0; k < steps_; ++k) parts_ += simulation_.step().substeps;
      spent += cpu_seconds() - begin;
    }
    least_ = std::min(least_, 1e6 * spent / static_cast<double>(times * steps_));
  }
  double us() const { return least_; }
  double parts() const { return static_cast<double>(parts_) / static_cast<double>(steps_); }  // of a step

 private:
  static Setting setting(const std::string& label, double dt, const std::string& anchor, double tick) {
    Setting s;
    s.integrator = integrator(label);
    s.dt = dt;
    s.anchor = anchor;
    s.tick = tick;
    return s;
  }
  Stretch(const Scene& scene, double length)
      : simulation_(make_simulation(scene)), steps_(std::lround(length / scene.dt)) {
    for (long k = 0; k < std::lround(0.3 / scene.dt); ++k) simulation_.step();
    start_ = simulation_.state();
  }

  Simulation simulation_;
  State start_;
  long steps_, parts_ = 0;
  double least_ = HUGE_VAL;
};

// The parts of a step at the state of a time of the trot.
void parts(const ExperimentOptions& options, double time, int repeats, Table& table, Result& result) {
  Setting setting;
  setting.integrator = integrator("expo");
  setting.dt = 2e-3;
  const Scene scene = motion_scene(options, motion_case("solo-trot"), setting);
  Simulation simulation = make_simulation(scene);
  while (simulation.state().t < time) simulation.step();
  const Model& model = *scene.model;
  const State& state = simulation.state();
  Workspace work(model);
  const VecX zero = VecX::Zero(model.nv);
  const double compute = least_us(repeats, [&] { work.dynamics.compute(state.q, state.v); });
  const double factor = least_us(repeats, [&] { work.dynamics.factor(zero); });
  fill_motions(model, work.dynamics, state.kinematic_time(), 2e-3, work.motions);
  const double detect = least_us(repeats, [&] {
    work.collision.detect(work.motions, {1e-3, 2e-3}, state.memory.contacts);
  });
  std::vector<Contact> contacts;
  for (const Contact& c : work.collision.contacts())
    if (c.gap < 0) contacts.push_back(c);
  ContactProblem problem;
  VectorBuffer before, free;
  work.assembly.group(contacts, {});
  if (work.assembly.islands() == 0) throw InvalidInput("no foot is down at this time of the trot");
  const double build = least_us(repeats, [&] {
    work.assembly.build(work.assembly.island(0), contacts, {}, work.dynamics, state.v, zero, true, problem, before,
                        free);
  });
  const int n = problem.size();
  const VecX K = VecX::Constant(n, 1e5), B = VecX::Constant(n, 300), p = VecX::Constant(n, -1e-4),
             c = VecX::Constant(n, 0.01), b = VecX::Constant(n, -9.81);
  VecX first(n), second(n);
  const double* G = problem.G().data();
  Polynomial polynomial;
  Modal modal;
  MatrixExponential matrix;
  const double poly = least_us(repeats, [&] {
    polynomial.prepare(G, K.data(), n, 3e-3, 2e-3);
    polynomial.integrate(p.data(), c.data(), b.data(), first.data(), second.data());
  });
  const double modes = least_us(repeats, [&] {
    modal.decompose(G, K.data(), n);
    modal.integrate(3e-3, 2e-3, p.data(), c.data(), b.data(), first.data(), second.data());
  });
  auto augmented = [&](int order) {
    return least_us(repeats, [&] {
      matrix.integrate(G, K.data(), B.data(), n, 2e-3, order, p.data(), c.data(), b.data(), first.data(),
                       second.data());
    });
  };
  const double full = augmented(0), lowest = augmented(1);
  table.rows.push_back({n / 3, detect, compute, factor, build, poly, modes, lowest, full});
  const std::string key = std::to_string(n / 3) + "_contacts_";
  result.measures[key + "modal_over_polynomial"] = modes / poly;
  result.measures[key + "full_over_polynomial"] = full / poly;
}

// Mean time and iterations of a step, and what one residual, one set of derivatives and one factorisation cost at the
// last state; the slopes of the contacts are what is left.
void implicit_parts(const ExperimentOptions& options, const std::string& motion, double dt, int repeats, Table& table) {
  Setting setting;
  setting.integrator = integrator("eul-imp");
  setting.dt = dt;
  const Scene scene = motion_scene(options, motion_case(motion), setting);
  Simulation simulation = make_simulation(scene);
  const long steps = std::lround((options.quick ? 0.4 : 1.2) / dt);
  int iterations = 0;
  const double begin = cpu_seconds();
  for (long k = 0; k < steps; ++k) iterations += simulation.step().solve.iterations;
  const double whole = 1e6 * (cpu_seconds() - begin) / static_cast<double>(steps);
  const double each = static_cast<double>(iterations) / static_cast<double>(steps);
  const Model& model = *scene.model;
  const State& state = simulation.state();
  Dynamics dynamics(model);
  InverseDynamics inverse(model);
  const VecX a = VecX::Constant(model.nv, 0.1);
  const double residual = least_us(repeats, [&] {
    dynamics.compute(state.q, state.v);
    inverse.compute(dynamics, state.v, a);
  });
  const double derivatives = least_us(repeats, [&] { inverse.differentiate(dynamics, state.v, a); });
  MatX A;
  VecX x;
  std::vector<int> pivot(static_cast<std::size_t>(model.nv));
  const double lu = least_us(repeats, [&] {
    A = inverse.M().tree(0) / dt + inverse.dv().tree(0) + dt * inverse.dq().tree(0);
    x = a;
    dense::lu(A.data(), model.nv, pivot.data());
    dense::lu_solve(A.data(), model.nv, pivot.data(), x.data());
  });
  // Two or three residuals at the start of a step and one at its end, beside one an iteration.
  table.rows.push_back({motion, 1e3 * dt, whole, each, (each + 3.5) * residual, each * derivatives, each * lu});
}

}  // namespace

Result expo_timing(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const int repeats = options.quick ? 2 : 20;
  result.settings = {{"motion", "solo-trot"}, {"audit", "off"}, {"repeats", repeats}};
  Table steps{"CPU time of a step of the trot, without ticks of control",
              {"stepper", "anchor", "dt [ms]", "us a step", "over explicit Euler with these anchors", "parts a step"}};
  struct Row {
    std::string label, anchor;
    double dt;
  };
  std::vector<Row> rows = {
      {"eul-exp", "surface", 1e-4},     {"expo", "surface", 2e-3},      {"eul-exp", "detected", 1e-4},
      {"expo", "detected", 2e-3},       {"expo-mid", "detected", 2e-3}, {"expo-events", "detected", 2e-3},
      {"expo-modal", "detected", 2e-3}, {"expo-1", "detected", 2e-3},   {"expo-full", "detected", 2e-3},
      {"rk4", "detected", 1e-4},        {"eul-imp", "detected", 2e-3}};
  // A tick every 0.1 ms against one every 2 ms, on steps of explicit Euler of 0.1 ms.
  std::vector<Stretch> stretches;
  stretches.emplace_back(options, "eul-exp", 1e-4, "detected", 1e-4);
  for (const Row& row : rows) stretches.emplace_back(options, row.label, row.dt, row.anchor);
  const int rounds = repeats;
  for (int r = 0; r < rounds; ++r) {  // in turn, so that a slow moment of the machine meets all
    for (Stretch& s : stretches) s.measure();
    progress((r + 1.0) / rounds);
  }
  const double tick = (stretches[0].us() - stretches[3].us()) / (1 - 1e-4 / 2e-3);
  result.measures["tick_us"] = tick;
  double euler = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const double us = stretches[i + 1].us() - tick * row.dt / 2e-3;
    if (row.label == "eul-exp") euler = us;
    steps.rows.push_back({row.label, row.anchor, 1e3 * row.dt, us, us / euler, stretches[i + 1].parts()});
    result.measures[row.label + "_" + row.anchor + "_us"] = us;
    result.measures[row.label + "_" + row.anchor + "_over_euler"] = us / euler;
  }
  Table breakdown{"Parts of an exponential step [us]",
                  {"contacts", "collision", "M and h", "factor of M", "J and G", "integrals: polynomial", "modes",
                   "augmented, order 1", "augmented, full"}};
  parts(options, 0.30, repeats, breakdown, result);
  parts(options, 0.10, repeats, breakdown, result);
  Table implicit{"Parts of a step of implicit Euler [us]",
                 {"motion", "dt [ms]", "whole", "iterations", "residuals at one each", "derivatives", "LU and solve"}};
  implicit_parts(options, "solo-trot", 2e-3, repeats, implicit);
  implicit_parts(options, "solo-squat", 1e-2, repeats, implicit);
  result.tables = {steps, breakdown, implicit};
  return result;
}

}  // namespace tribo::experiments
