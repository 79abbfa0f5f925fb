#include "tribo/simulation.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "dynamics/fluid.hpp"
#include "simulation/controller_memory.hpp"
#include "stepping/ledger.hpp"
#include "stepping/workspace.hpp"
#include "tribo/linearization.hpp"
#include "tribo/step.hpp"

namespace tribo {
namespace {

// Asks for nothing, within the limits of the model: no torque where there is no motor.
void clear(const Model& model, Actuation& actuation) {
  Actuation& a = actuation;
  if (a.tau.size() != model.nv) a.resize(model.nv);
  for (int k = 0; k < model.nv; ++k) {  // one pass: a simulation does this in every step
    a.tau[k] = a.kp[k] = a.kd[k] = a.error[k] = a.v_ref[k] = a.external[k] = 0;
    a.target[k] = std::numeric_limits<double>::quiet_NaN();
    a.upper[k] = model.joints.effort_limit[k];
    a.lower[k] = -a.upper[k];
  }
  a.unsolved = 0;
}

bool foreign(const State& state, const StepperEntry& stepper) {
  return !state.memory.empty() && state.memory.family != stepper.memory;
}

void require_size(const char* what, Eigen::Index is, int must) {
  if (is == must) return;
  throw InvalidInput(std::string("the state has ") + std::to_string(is) + " numbers of " + what + "; the model has " +
                     std::to_string(must));
}

// A quaternion, or (cos, sin) of a joint without end, must have length 1.
void require_units(const Model& model, const VecX& q) {
  for (const Body& body : model.bodies) {
    const int n = body.joint == JointKind::Continuous ? 2 : nv_of(body.joint) >= 3 ? 4 : 0;
    if (n == 0) continue;
    const double length = q.segment(body.iq + nq_of(body.joint) - n, n).norm();
    if (!(std::abs(length - 1) < 1e-3))
      throw InvalidInput(std::string("the state's ") + (n == 4 ? "quaternion" : "(cos, sin)") + " of '" + body.name +
                         "' has length " + shown(length) + ", must be 1");
  }
}

}  // namespace

struct Simulation::Impl {
  Impl(std::shared_ptr<const Model> m, const std::string& stepper_name, const StepperOptions& options, double step)
      : model(std::move(m)), work(*model), state(State::neutral(*model)), dt(step), options(options) {
    if (!(dt > 0) || !std::isfinite(dt))
      throw InvalidInput("dt = " + std::to_string(dt) + " s, must be finite and > 0");
    entry = &stepper_entry(stepper_name);
    state.memory.family = entry->memory;
    stepper = make_stepper(stepper_name, *model, options);
  }

  std::shared_ptr<const Model> model;
  Workspace work;
  State state;
  double dt;
  StepperOptions options;
  const StepperEntry* entry;
  std::unique_ptr<Stepper> stepper;
  std::vector<std::unique_ptr<Controller>> controllers;
  std::vector<Push> pushes;
  Audit audit;
  StageTimes times;                                             // where they are asked for
  double second_start = 0, second_work = 0, second_energy = 0;  // of the running second, for Audit::gained
  Actuation decided;                                            // of a controller with a period
  std::vector<double> before;                                   // what controllers remembered at the start of the step
  std::size_t forgotten = 0;                                    // memories of contacts, of the state that was set last
  bool started = false, first_second = true;
  std::unique_ptr<Linearizer> linearizer;  // where it was asked for
  std::vector<AppliedForce> forces;        // of the pushes now
  std::vector<double> remembered;          // by the controllers, while they are asked for a linearisation

  std::size_t memory(const Controller& c) const { return memory_in_state(*model, c); }

  // What is held between ticks has no target where there is NaN, and no limit where that is infinite; all else is a number.
  void require_remembered(const std::vector<double>& control) const {
    std::size_t offset = 0;
    for (const auto& controller : controllers) {
      const std::size_t n = memory(*controller), own = at(controller->memory()), nv = at(model->nv);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t field = i > own && nv > 0 ? (i - own - 1) / nv : 0;
        const double x = control[offset + i];
        const bool fine = field == 5 ? !std::isinf(x) : field > 5 ? !std::isnan(x) : std::isfinite(x);
        if (!fine)
          throw InvalidInput("the state is not finite: number " + std::to_string(offset + i) +
                             " of what controllers remember is " + shown(x));
      }
      offset += n;
    }
  }

  // A tick where it is due, and what was decided at the last one. Memory begins as zeros: periods are counted without a 0.
  void control_held(Controller& controller, std::span<double> memory) {
    const std::size_t own = at(controller.memory()), nv = at(model->nv);
    double& last = memory[own];
    const double period = controller.period(), number = static_cast<double>(state.clock.period_number(period));
    const double now = number < 0 ? number : number + 1;
    const bool due = now != last;
    if (due) {
      clear(*model, decided);
      decided.dt = std::max(dt, period);
      controller.control(*model, state, work.dynamics, memory.first(own), decided);
      work.actuation.unsolved += decided.unsolved;
      last = now;
    }
    double* held = memory.data() + own + 1;
    for (VecX* x : decided.decided()) {
      if (due)
        std::copy_n(x->data(), nv, held);
      else
        std::copy_n(held, nv, x->data());
      held += nv;
    }
    Actuation& a = work.actuation;
    for (auto field : {&Actuation::tau, &Actuation::kp, &Actuation::kd, &Actuation::error, &Actuation::v_ref})
      a.*field += decided.*field;
    for (int k = 0; k < model->nv; ++k) {
      if (decided.has_target(k)) a.target[k] = decided.target[k];
      a.lower[k] = std::max(a.lower[k], decided.lower[k]);
      a.upper[k] = std::min(a.upper[k], decided.upper[k]);
    }
  }

  // What the controllers decide for this step.
  void ask_controllers() {
    clear(*model, work.actuation);
    work.actuation.dt = dt;
    if (controllers.empty()) return;
    work.update(state);
    std::size_t offset = 0;
    for (const auto& controller : controllers) {
      const std::size_t n = memory(*controller);
      const auto mine = std::span(state.control).subspan(offset, n);
      if (controller->period() > 0)
        control_held(*controller, mine);
      else
        controller->control(*model, state, work.dynamics, mine, work.actuation);
      offset += n;
    }
  }

  // The forces of the pushes at the start of the step; the slop forgives the rounding of t.
  void list_pushes() {
    forces.clear();
    for (const Push& push : pushes) {
      const double since = state.t - push.start;
      const double slop = std::max(1e-6 * dt, 4 * std::numeric_limits<double>::epsilon() * std::abs(state.t));
      if (since < -slop || since >= push.duration - slop) continue;
      const double share = since / push.duration;
      forces.push_back({push.body, push.point, push.force + share * (push.force_end - push.force),
                        push.torque + share * (push.torque_end - push.torque)});
    }
  }

  // A controller may throw, by Ctrl-C in a Python function for one: what those before it remembered is taken back, so that
  // the step can be taken again.
  void control_or_none() {
    before = state.control;
    try {
      control();
    } catch (...) {
      state.control = before;
      throw;
    }
  }

  // Actuation and external forces for this step.
  void control() {
    ask_controllers();
    list_pushes();
    if (forces.empty() && model->medium.boxes.empty()) return;
    work.update(state);
    add_forces(work.dynamics, forces, work.actuation.external);
    add_fluid_forces(model->medium, work.dynamics, work.actuation.external);
  }

  // The step that begins now, asked about. The controllers' memory is as it was.
  StepInput asked() {
    if (!linearizer) linearizer = std::make_unique<Linearizer>(*model, entry->name, options);
    state.clock.set(state.t, dt);
    remembered = state.control;
    ask_controllers();
    state.control = remembered;
    list_pushes();
    return {state, work.actuation, forces, dt};
  }

  void count_time(StageTimer::Clock::time_point began) {
    times.step += StageTimer::since(began);
    ++times.steps;
  }

  void diagnose(const StepReport& report) {
    Audit& a = audit;
    ++a.steps;
    a.time = state.t;
    a.laws.add(report.laws);
    a.penetration = std::max(a.penetration, report.penetration);
    a.iterations += static_cast<std::uint64_t>(report.solve.iterations);
    a.worst_residual = std::max(a.worst_residual, report.solve.residual.relative());
    a.unconverged += report.status == StepStatus::Unconverged;
    a.infeasible += report.status == StepStatus::Infeasible;
    a.wedged += report.status == StepStatus::Wedged;
    a.escalated += report.solve.escalated;
    a.sleeping = report.sleeping;
    a.unresolved += report.unresolved > 0;
    a.unsolved += report.unsolved > 0;
    a.gave_way += report.gave_way > 0;
    if (report.worst_target >= 0 && (a.worst_target < 0 || std::abs(report.target_miss) > a.target_miss)) {
      a.target_miss = std::abs(report.target_miss);
      a.worst_target = report.worst_target;
    }
    if (report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped) {
      a.status = report.status;
      end_second();
      return;
    }
    EnergyLines& sum = a.energy;
    const EnergyLines& e = report.energy;
    add_step(sum, e);
    second_energy = std::max(second_energy, e.kinetic + e.elastic);
    // A shorter run says what it has, once 1/n, which a scheme adds to what n steps set in motion, is none of it.
    if (first_second && a.steps >= 200) a.gained = std::max(0.0, added());
    if (state.t - second_start >= 1 - 1e-9) end_second();
    for (double x : {e.kinetic, e.potential, e.elastic, sum.actuators, sum.damping, sum.contacts, sum.constraints,
                     sum.external, sum.recovery, sum.integrator})
      a.energy_scale = std::max(a.energy_scale, std::abs(x));
    const double open = sum.kinetic + sum.potential + sum.elastic - a.energy_start - sum.work();
    a.ledger_error = a.energy_scale > 0 ? std::abs(open) / a.energy_scale : 0;
  }

  // What the scheme added since the second began. What is at rest has no energy that could grow: rounding is no gain.
  double added() const {
    const double scale = std::max(second_energy, 1e-3 * audit.energy_scale);
    return scale > 0 ? (audit.energy.integrator - second_work) / scale : 0;
  }
  void end_second() {
    audit.gained = std::max(first_second ? 0.0 : audit.gained, added());
    first_second = false;
    second_start = state.t;
    second_work = audit.energy.integrator;
    second_energy = audit.energy.kinetic + audit.energy.elastic;
  }

  // The ledger counts from the state in which stepping begins.
  void start() {
    work.update(state);
    audit = {};
    audit.forgotten = forgotten;
    audit.energy.kinetic = work.dynamics.kinetic();
    audit.energy.potential = work.dynamics.potential();
    audit.energy.elastic = stepper->elastic(state, work);
    audit.energy_start = audit.energy.kinetic + audit.energy.potential + audit.energy.elastic;
    audit.energy_scale = std::max({audit.energy.kinetic, std::abs(audit.energy.potential), audit.energy.elastic});
    second_start = state.t;
    second_work = 0;
    second_energy = audit.energy.kinetic + audit.energy.elastic;
    first_second = true;
    started = true;
  }
};

Simulation::Simulation(std::shared_ptr<const Model> model, const std::string& stepper, const StepperOptions& options,
                       double dt)
    : impl_(std::make_unique<Impl>(std::move(model), stepper, options, dt)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;

void Simulation::add_controller(std::unique_ptr<Controller> controller) {
  if (controller->sets_targets() && !impl_->entry->targets)
    throw InvalidInput("the controller sets velocity targets, which stepper '" + impl_->entry->name +
                       "' does not solve: use 'rigid'");
  if (!(controller->period() >= 0) || !std::isfinite(controller->period()))
    throw InvalidInput("the period of a controller is " + std::to_string(controller->period()) +
                       " s, must be finite and >= 0");
  impl_->state.control.resize(impl_->state.control.size() + impl_->memory(*controller), 0.0);
  impl_->decided.resize(impl_->model->nv);
  impl_->controllers.push_back(std::move(controller));
}

void Simulation::add_push(const Push& push) { impl_->pushes.push_back(push); }

StepReport Simulation::step() {
  Impl& s = *impl_;
  s.state.clock.set(s.state.t, s.dt);
  if (!s.started) s.start();
  const auto began = s.work.times != nullptr ? StageTimer::Clock::now() : StageTimer::Clock::time_point{};
  s.control_or_none();
  StepReport report = s.stepper->advance(s.state, s.work, s.dt);
  if (s.work.times != nullptr) s.count_time(began);
  report.unsolved = s.work.actuation.unsolved;
  s.diagnose(report);
  return report;
}

const std::vector<ContactReport>& Simulation::contacts() const { return impl_->stepper->contacts(); }
const VecX& Simulation::torque() const { return impl_->stepper->outcome().torque; }
const VecX& Simulation::target_miss() const { return impl_->stepper->outcome().target_miss; }
const Audit& Simulation::audit() const { return impl_->audit; }
void Simulation::time_stages(bool on) {
  if (on) impl_->times = {};
  impl_->work.times = on ? &impl_->times : nullptr;
}
const StageTimes& Simulation::stage_times() const { return impl_->times; }
const Model& Simulation::model() const { return *impl_->model; }
const State& Simulation::state() const { return impl_->state; }
double Simulation::dt() const { return impl_->dt; }

void Simulation::linearize(Linearization& out) {
  const StepInput step = impl_->asked();
  impl_->linearizer->linearize(step, out);
}

VecX Simulation::one_sided(const VecX& dx, const VecX& du) {
  const StepInput step = impl_->asked();
  return impl_->linearizer->one_sided(step, dx, du);
}

MatX Simulation::parameter_slopes(const std::vector<std::string>& names, bool by_differences) {
  const StepInput step = impl_->asked();
  if (by_differences) return impl_->linearizer->difference_parameters(step, names);
  Linearization lin;
  lin.parameters = names;
  impl_->linearizer->linearize(step, lin);
  return lin.P;
}

DerivativeCheck Simulation::check_derivatives() {
  const StepInput step = impl_->asked();
  return impl_->linearizer->check(step);
}

void Simulation::set_state(const State& state) {
  const Model& m = *impl_->model;
  if (state.model != m.hash())
    throw InvalidInput("the state belongs to another model, " + hex(state.model) + "; this one is " + hex(m.hash()));
  require_size("q", state.q.size(), m.nq);
  require_size("v", state.v.size(), m.nv);
  const std::size_t remembered = state.control.size(), expected = impl_->state.control.size();
  if (remembered != expected)
    throw InvalidInput("the state holds " + std::to_string(remembered) +
                       " numbers that controllers remember, those of this simulation remember " +
                       std::to_string(expected) + ": it was kept with other controllers");
  if (!std::isfinite(state.t) || !state.q.allFinite() || !state.v.allFinite())
    throw InvalidInput("the state is not finite");
  require_units(m, state.q);
  impl_->require_remembered(state.control);
  check_memory(state.memory);
  check_commands(m, state.kinematic);
  impl_->state = state;  // a copy keeps the capacity of the contact list
  impl_->forgotten = foreign(state, *impl_->entry) ? state.memory.size() : 0;
  if (impl_->forgotten > 0) impl_->state.memory.clear();
  impl_->state.memory.family = impl_->entry->memory;
  impl_->work.moved();
  impl_->started = false;
}

void Simulation::move_kinematic(int k, const Placement& to, double time) {
  impl_->state.move_kinematic(*impl_->model, k, to, time, impl_->dt);
  impl_->work.moved();
}

std::string forgotten_memory(const State& state, const std::string& stepper) {
  const StepperEntry& entry = stepper_entry(stepper);
  if (!foreign(state, entry)) return "";
  const std::string author = state.memory.family == MemoryFamily::Unknown
                                 ? "a stepper that the state does not name"
                                 : "a stepper of the " + to_string(state.memory.family) + " family";
  return "what the state remembers of " + std::to_string(state.memory.size()) +
         " contacts and joint rows was written by " + author + ", and stepper '" + stepper + "' (" +
         to_string(entry.memory) +
         " family) would misread it: it is forgotten, as at a fresh start; t, q, v and what controllers remember stay";
}

Placement Simulation::body_pose(int body) {
  impl_->work.update(impl_->state);
  return impl_->work.dynamics.X_WB(body);
}

// The next step begins with these, and does not compute them again.
void Simulation::write_bodies(double* pose, double* velocity) {
  impl_->work.update(impl_->state);
  const Dynamics& dynamics = impl_->work.dynamics;
  for (int b = 0; b < static_cast<int>(impl_->model->bodies.size()); ++b) {
    const Placement& X = dynamics.X_WB(b);
    const Quat turn(X.R);
    Eigen::Map<Vec3>(pose + 7 * b) = X.p;
    Eigen::Map<Eigen::Vector4d>(pose + 7 * b + 3) = turn.w() < 0 ? Eigen::Vector4d(-turn.coeffs()) : turn.coeffs();
    Eigen::Map<Vec3>(velocity + 6 * b) = dynamics.point_velocity(b, X.p);
    Eigen::Map<Vec3>(velocity + 6 * b + 3) = dynamics.body_velocity(b).ang;
  }
}

}  // namespace tribo
