// The motors of a robot file, each under its own control: see tribo/actuator.hpp for the equations.
//
// Where a motor is alone on a joint of one coordinate, its springs and dampers are gains that steppers may take
// implicitly: with s = b1 + g1 u and d = b2 + g2 u,
//   kp = -gear^2 s,  kd = -gear^2 d,  error = (b0 + g0 u) / (-gear s) - q            (act.4)
// The others act explicitly, each within its own range. What acts on frames and tendons is no torque of a motor in a joint,
// whose limits it does not share: it goes to Actuation::external.
#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "control/live_controls.hpp"
#include "dynamics/actuator_length.hpp"
#include "tribo/controller.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/robot_file.hpp"

namespace tribo {
namespace {

class Actuators final : public Controller, public LiveControls {
 public:
  const VecX& controls() const override { return control_; }
  void follow(const double* row, double* forces) override {
    live_ = row;
    forces_ = forces;
  }

  Actuators(const Model& model, const ActuatorOptions& options)
      : member_(model.members[at(options.member)]), control_(options.control), activation_(options.activation) {
    const std::string owner = "actuators of '" + member_.name + "'";
    if (member_.actuators.empty()) throw InvalidInput(owner + ": its file describes none");
    if (control_.size() != static_cast<Eigen::Index>(member_.actuators.size()))
      throw InvalidInput(owner + ": control has " + std::to_string(control_.size()) + " entries, must have " +
                         std::to_string(member_.actuators.size()));
    if (activation_.size() == 0) activation_.setZero(control_.size());
    if (activation_.size() != control_.size() || !activation_.allFinite())
      throw InvalidInput(owner + ": activation must have a finite number for each of " +
                         std::to_string(control_.size()));
    for (VecX* x : {&pull_, &outside_}) x->setZero(model.nv);
    ranged_.assign(at(model.nv), 0);
    if (member_.file)
      for (const SharedRange& joint : member_.file->ranges) ranged_[at(joint.iv)] = 1;
    std::vector<int> pulls(model.bodies.size());
    for (std::size_t a = 0; a < member_.actuators.size(); ++a) {
      const Actuator& actuator = member_.actuators[a];
      double& u = control_[static_cast<Eigen::Index>(a)];
      if (!std::isfinite(u)) throw InvalidInput(owner + ": control of '" + actuator.name + "' is not finite");
      u = std::clamp(u, actuator.control_lower, actuator.control_upper);
      for (const ActuatorEnd& end : actuator.ends)
        if (on_joint(end)) ++pulls[at(end.body)];
      active_ += actuator.activation != ActivationKind::None;
    }
    for (const Actuator& actuator : member_.actuators) {
      const ActuatorEnd& end = actuator.ends[0];
      implicit_.push_back(on_joint(end) && actuator.ends.size() == 1 && pulls[at(end.body)] == 1 &&
                          nv_of(model.bodies[at(end.body)].joint) == 1);
    }
  }

  /// Activations, less what they start with: memory begins as zeros.
  int memory() const override { return active_; }
  void remember(const VecX& activation, std::span<double> memory) const override {
    double* since = memory.data();
    for (std::size_t a = 0; a < member_.actuators.size(); ++a)
      if (member_.actuators[a].activation != ActivationKind::None)
        *since++ = activation[static_cast<Eigen::Index>(a)] - activation_[static_cast<Eigen::Index>(a)];
  }

  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
               Actuation& out) override {
    double* next = memory.data();
    outside_.setZero();
    for (std::size_t a = 0; a < member_.actuators.size(); ++a) {
      const Actuator& actuator = member_.actuators[a];
      double u = live_ == nullptr ? control_[static_cast<Eigen::Index>(a)]
                                  : std::clamp(live_[a], actuator.control_lower, actuator.control_upper);
      if (actuator.activation != ActivationKind::None)
        u = activate(actuator, u, activation_[static_cast<Eigen::Index>(a)], out.dt, *next++);
      const double f = implicit_[a] ? spring(model.bodies[at(actuator.ends[0].body)], actuator, u, state, out)
                                    : force(model, actuator, u, state, dynamics, out);
      if (forces_ != nullptr) forces_[a] = f;
    }
    out.external += outside_;
    if (member_.file && !member_.file->ranges.empty()) share_ranges(model, dynamics, out);
  }

 private:
  // The activation that the force of this step is taken with; `since` goes on to the next step.
  static double activate(const Actuator& a, double u, double start, double dt, double& since) {
    const double now = start + since;
    double next = now;
    if (a.activation == ActivationKind::Integrator)
      next += dt * u;  // (act.5)
    else
      next += (u - now) * (a.activation == ActivationKind::Filter ? dt / a.time : -std::expm1(-dt / a.time));
    next = std::clamp(next, a.activation_lower, a.activation_upper);
    since = next - start;
    return a.early ? next : now;
  }

  // Where the range of a joint holds for more than the motor in it:
  //   lower <= tau + pull of frames and tendons + compensation of gravity <= upper     (act.6)
  void share_ranges(const Model& model, const Dynamics& dynamics, Actuation& out) {
    pull_.setZero();
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (body.carried > 0)
        dynamics.add_force(b, dynamics.X_WB(b) * body.carried_at, -body.carried * model.gravity, pull_);
    }
    for (const SharedRange& joint : member_.file->ranges) {
      const double others = outside_[joint.iv] + (joint.carries ? pull_[joint.iv] : 0);
      const double lower = joint.lower - others, upper = joint.upper - others;
      for (VecX* x : {&out.lower, &out.upper}) (*x)[joint.iv] = std::clamp((*x)[joint.iv], lower, upper);
    }
  }

  // Returns the force at the start of the step.
  static double spring(const Body& body, const Actuator& a, double u, const State& state, Actuation& out) {
    const double gear = a.ends[0].gear[0], s = a.bias[1] + a.gain[1] * u, d = a.bias[2] + a.gain[2] * u;
    const double q = state.q[body.iq], v = state.v[body.iv], f0 = a.bias[0] + a.gain[0] * u;
    const int k = body.iv;
    if (s < 0 && gear != 0) {
      out.kp[k] -= gear * gear * s;  // (act.4)
      out.error[k] += -f0 / (gear * s) - q;
    } else {
      out.tau[k] += gear * (f0 + s * gear * q);
    }
    if (d < 0)
      out.kd[k] -= gear * gear * d;  // (act.4)
    else
      out.tau[k] += gear * gear * d * v;
    const double f = force_of(a, u, gear * q, gear * v);
    if (gear == 0) return f;
    out.lower[k] = std::min(gear * a.force_lower, gear * a.force_upper);
    out.upper[k] = std::max(gear * a.force_lower, gear * a.force_upper);
    return f;
  }

  static double force_of(const Actuator& a, double u, double length, double speed) {
    return std::clamp(
        (a.gain[0] + a.gain[1] * length + a.gain[2] * speed) * u + a.bias[0] + a.bias[1] * length + a.bias[2] * speed,
        a.force_lower, a.force_upper);  // (act.2)
  }

  double force(const Model& model, const Actuator& a, double u, const State& state, const Dynamics& dynamics,
               Actuation& out) {
    if (!on_joint(a.ends[0])) {
      const double length = pull_of(model, a.ends[0], state.q, state.kinematic_time(), dynamics, pull_);  // (act.1)
      const double f = force_of(a, u, length, pull_.dot(state.v));
      outside_ += f * pull_;
      return f;
    }
    double length = 0, speed = 0;
    double gear[6];
    for (const ActuatorEnd& end : a.ends) {
      const Body& body = model.bodies[at(end.body)];
      length += gear_of(model, end, state.q, dynamics, gear);  // (act.1)
      for (int k = 0; k < nv_of(body.joint); ++k) speed += gear[k] * state.v[body.iv + k];
    }
    const double f = force_of(a, u, length, speed);
    for (const ActuatorEnd& end : a.ends) {
      const Body& body = model.bodies[at(end.body)];
      gear_of(model, end, state.q, dynamics, gear);
      for (int k = 0; k < nv_of(body.joint); ++k) {
        const double limit = ranged_[at(body.iv + k)] || a.activation != ActivationKind::None
                                 ? inf  // an activation may be beyond the range of its control
                                 : model.joints.effort_limit[body.iv + k];
        out.tau[body.iv + k] += gear[k] * f;  // (act.3)
        out.lower[body.iv + k] = -limit;
        out.upper[body.iv + k] = limit;
      }
    }
    return f;
  }

  Member member_;
  VecX control_, activation_;
  VecX pull_, outside_;  // dl/dq of one motor; what those on frames and tendons give
  int active_ = 0;
  const double* live_ = nullptr;
  double* forces_ = nullptr;
  std::vector<char> implicit_, ranged_;  // by actuator; by velocity: share_ranges has the limits
};

}  // namespace

std::unique_ptr<Controller> make_actuators(const Model& model, const ActuatorOptions& options) {
  return std::make_unique<Actuators>(model, options);
}

}  // namespace tribo
