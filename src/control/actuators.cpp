// The motors of a robot file, each under its own control: see tribo/actuator.hpp for the equations.
//
// Where a motor is alone on a joint of one coordinate, its springs and dampers are gains that steppers may take
// implicitly: with s = b1 + g1 u and d = b2 + g2 u,
//   kp = -gear^2 s,  kd = -gear^2 d,  error = (b0 + g0 u) / (-gear s) - q            (act.4)
// The others act explicitly, each within its own range.
#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "control/live_controls.hpp"
#include "tribo/controller.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

// Rotation vector of a unit quaternion.
Vec3 log_of(const Quat& q) {
  const double sign = q.w() < 0 ? -1 : 1, s = q.vec().norm();
  if (s < 1e-12) return 2 * sign * q.vec();
  return 2 * sign * std::atan2(s, sign * q.w()) / s * q.vec();
}

class Actuators final : public Controller, public LiveControls {
 public:
  const VecX& controls() const override { return control_; }
  void follow(const double* row) override { live_ = row; }

  Actuators(const Model& model, const ActuatorOptions& options)
      : member_(model.members[at(options.member)]), control_(options.control) {
    const std::string owner = "actuators of '" + member_.name + "'";
    if (member_.actuators.empty()) throw InvalidInput(owner + ": its file describes none");
    if (control_.size() != static_cast<Eigen::Index>(member_.actuators.size()))
      throw InvalidInput(owner + ": control has " + std::to_string(control_.size()) + " entries, must have " +
                         std::to_string(member_.actuators.size()));
    std::vector<int> pulls(model.bodies.size());
    for (std::size_t a = 0; a < member_.actuators.size(); ++a) {
      const Actuator& actuator = member_.actuators[a];
      double& u = control_[static_cast<Eigen::Index>(a)];
      if (!std::isfinite(u)) throw InvalidInput(owner + ": control of '" + actuator.name + "' is not finite");
      u = std::clamp(u, actuator.control_lower, actuator.control_upper);
      for (const ActuatorEnd& end : actuator.ends) ++pulls[at(end.body)];
    }
    for (const Actuator& actuator : member_.actuators) {
      const int body = actuator.ends[0].body;
      implicit_.push_back(actuator.ends.size() == 1 && pulls[at(body)] == 1 &&
                          nv_of(model.bodies[at(body)].joint) == 1);
    }
  }

  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double>,
               Actuation& out) override {
    for (std::size_t a = 0; a < member_.actuators.size(); ++a) {
      const Actuator& actuator = member_.actuators[a];
      const double u = live_ == nullptr ? control_[static_cast<Eigen::Index>(a)]
                                        : std::clamp(live_[a], actuator.control_lower, actuator.control_upper);
      if (implicit_[a])
        spring(model.bodies[at(actuator.ends[0].body)], actuator, u, state, out);
      else
        force(model, actuator, u, state, dynamics, out);
    }
  }

 private:
  static void spring(const Body& body, const Actuator& a, double u, const State& state, Actuation& out) {
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
    if (gear == 0) return;
    out.lower[k] = std::min(gear * a.force_lower, gear * a.force_upper);
    out.upper[k] = std::max(gear * a.force_lower, gear * a.force_upper);
  }

  // Gear of an end along the velocities of its joint, and the length along it.
  static double gear_of(const Model& model, const ActuatorEnd& end, const State& state, const Dynamics& dynamics,
                        double* gear) {
    const Body& body = model.bodies[at(end.body)];
    gear[0] = end.gear[0];
    if (nv_of(body.joint) == 1) return end.gear[0] * state.q[body.iq];
    const bool free = body.joint == JointKind::Free;
    const Quat q(Eigen::Vector4d(state.q.segment<4>(body.iq + (free ? 3 : 0))));
    Eigen::Map<Vec3> moment(gear + (free ? 3 : 0));
    moment = Eigen::Map<const Vec3>(end.gear.data() + (free ? 3 : 0));
    if (end.in_parent) moment = q.conjugate() * Vec3(moment);
    if (!free) return moment.dot(log_of(q));
    Eigen::Map<Vec3> force(gear);
    force = dynamics.X_WB(end.body).R.transpose() * Eigen::Map<const Vec3>(end.gear.data());
    return 0;
  }

  static void force(const Model& model, const Actuator& a, double u, const State& state, const Dynamics& dynamics,
                    Actuation& out) {
    double length = 0, speed = 0;
    double gear[6];
    for (const ActuatorEnd& end : a.ends) {
      const Body& body = model.bodies[at(end.body)];
      length += gear_of(model, end, state, dynamics, gear);  // (act.1)
      for (int k = 0; k < nv_of(body.joint); ++k) speed += gear[k] * state.v[body.iv + k];
    }
    const double f = std::clamp(
        (a.gain[0] + a.gain[1] * length + a.gain[2] * speed) * u + a.bias[0] + a.bias[1] * length + a.bias[2] * speed,
        a.force_lower, a.force_upper);  // (act.2)
    for (const ActuatorEnd& end : a.ends) {
      const Body& body = model.bodies[at(end.body)];
      gear_of(model, end, state, dynamics, gear);
      for (int k = 0; k < nv_of(body.joint); ++k) {
        const double limit = model.joints.effort_limit[body.iv + k];
        out.tau[body.iv + k] += gear[k] * f;  // (act.3)
        out.lower[body.iv + k] = -limit;
        out.upper[body.iv + k] = limit;
      }
    }
  }

  Member member_;
  VecX control_;
  const double* live_ = nullptr;
  std::vector<char> implicit_;
};

}  // namespace

std::unique_ptr<Controller> make_actuators(const Model& model, const ActuatorOptions& options) {
  return std::make_unique<Actuators>(model, options);
}

}  // namespace tribo
