#include "diagnosis/motor_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"

namespace tribo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double far_outside = 0.1;        // of a range; grippers are sent a little beyond theirs [rad] or [m]
constexpr double absurd = M_PI / 2;        // of a range: degrees for radians, or worse [rad]
constexpr double absurd_sliding = 0.5;     // [m]
constexpr double gave_way = 0.2;           // [rad]
constexpr double gave_way_sliding = 0.05;  // [m]

bool at_limit(double tau, double limit) {
  return limit > 0 && std::isfinite(limit) && std::abs(tau) >= limit * (1 - 1e-9);
}

// What the motors give at most (nv): the effort limits of the joints, and the ranges of force of MJCF actuators.
VecX motor_limits(const Scene& scene) {
  const Model& model = *scene.model;
  VecX limits = model.joints.effort_limit;
  for (const ControllerSpec& spec : scene.controllers) {
    if (spec.name != "actuators") continue;
    VecX sum = VecX::Zero(model.nv);
    for (const Actuator& a : model.members[at(spec.member)].actuators)
      for (const ActuatorEnd& end : a.ends)
        if (!end.at_frame && end.tendon < 0 && nv_of(model.bodies[at(end.body)].joint) == 1)
          sum[model.bodies[at(end.body)].iv] +=
              std::abs(end.gear[0]) * std::max(std::abs(a.force_lower), std::abs(a.force_upper));
    for (int k = 0; k < model.nv; ++k)
      if (sum[k] > 0) limits[k] = std::min(limits[k], sum[k]);
  }
  return limits;
}

}  // namespace

MotorWatch::MotorWatch(const Scene& scene) : scene_(scene), model_(*scene.model) {
  last_torque_.setZero(model_.nv);
  q_ref_.setConstant(model_.nq, nan);
  first_error_.setConstant(model_.nv, nan);
  error_.setConstant(model_.nv, nan);
  limit_ = motor_limits(scene);
  lost_.setZero(model_.nv);
  flips_.assign(at(model_.nv), 0);
  saturated_.assign(at(model_.nv), 0);
  for (const ControllerSpec& spec : scene.controllers)
    if (spec.pd && !spec.pd->reference)
      q_ref_.segment(model_.members[at(spec.pd->member)].iq, spec.pd->q_ref.size()) = spec.pd->q_ref;
  const VecX said = q_ref_;
  q_ref_.setConstant(nan);
  see_target(said.data(), scene.start.t);
  find_idle();
}

std::string MotorWatch::joint_of(int dof) const {
  for (const Body& b : model_.bodies)
    if (dof >= b.iv && dof < b.iv + nv_of(b.joint)) return "'" + b.name + "'";
  return "?";
}

std::string MotorWatch::who_controls() const {
  std::string names;
  for (const ControllerSpec& spec : scene_.controllers) names += (names.empty() ? "" : ", ") + ("'" + spec.name + "'");
  return names.empty() ? "; a function of the program controls it" : "; controllers of the scene: " + names;
}

void MotorWatch::find_idle() {
  for (const ControllerSpec& spec : scene_.controllers) {
    if (!spec.pd || idle_) continue;
    const Member& member = model_.members[at(spec.pd->member)];
    int idle = 0;
    std::string names;
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
      const Body& body = model_.bodies[at(b)];
      if (nv_of(body.joint) != 1 || !(spec.pd->kp[body.iv - member.iv] > 0) || model_.joints.effort_limit[body.iv] > 0)
        continue;
      if (++idle <= 3) names += (names.empty() ? "'" : ", '") + body.name + "'";
    }
    if (idle > 0)
      idle_ = Finding{Cause::Effort,
                      scene_.start.t,
                      static_cast<double>(idle),
                      0,
                      "joints",
                      names + (idle > 3 ? " and " + std::to_string(idle - 3) + " others" : "") +
                          (idle > 1 ? " have" : " has") + " an effort limit of 0: no motor moves " +
                          (idle > 1 ? "them" : "it") + ", whatever the gains",
                      "effort limits of the motors in the file (<limit effort=...>)"};
  }
}

void MotorWatch::see_target(const double* q_ref, double t) {
  for (const ControllerSpec& spec : scene_.controllers) {
    if (!spec.pd) continue;
    const Member& member = model_.members[at(spec.pd->member)];
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
      const Body& body = model_.bodies[at(b)];
      if (nq_of(body.joint) != 1 || !(spec.pd->kp[body.iv - member.iv] > 0)) continue;
      const double to = q_ref[body.iq];
      if (to == q_ref_[body.iq] || std::isnan(to)) continue;
      q_ref_[body.iq] = to;
      first_error_[body.iv] = nan;
      const double low = model_.joints.lower[body.iv], high = model_.joints.upper[body.iv];
      if (target_ || (to > low - far_outside && to < high + far_outside)) continue;
      target_ = Finding{Cause::Range,
                        t,
                        to,
                        to < low ? low : high,
                        body.joint == JointKind::Revolute ? "rad" : "m",
                        "the reference of '" + body.name + "' is " + shown(to) + " at t = " + shown(t) +
                            " s, outside its range from " + shown(low) + " to " + shown(high) +
                            ": its motor presses against the end",
                        "targets within the ranges (model.lower, model.upper)"};
    }
  }
}

void MotorWatch::see_torque(const VecX& tau, const VecX& v, const StepReport& report) {
  const bool sane = v.cwiseAbs().maxCoeff() < 1e6;  // beyond that it is the motion that ran away
  for (int k = 0; k < model_.nv; ++k) {
    if (!control_ && sane && !std::isfinite(tau[k]))
      control_ = Finding{Cause::Control,
                         report.t,
                         tau[k],
                         0,
                         "N m",
                         "the torque on " + joint_of(k) + " is not finite (" + shown(tau[k]) +
                             ") at t = " + shown(report.t) + " s" + who_controls(),
                         "a controller that returns finite torques: look for 0/0, for logarithms and roots of what is "
                         "below 0, and for q and v that are used before they are set"};
    const double limit = limit_[k], least = std::isfinite(limit) ? 0.05 * limit : 1e-3;
    if (tau[k] * last_torque_[k] < 0 && std::min(std::abs(tau[k]), std::abs(last_torque_[k])) > least) ++flips_[at(k)];
    if (!at_limit(tau[k], limit)) continue;
    ++saturated_[at(k)];
    lost_[k] -= scene_.dt * std::copysign(v[k], tau[k] * v[k]);
    if (!saturation_)
      saturation_ = Finding{Cause::Saturation,
                            report.t,
                            std::abs(tau[k]),
                            limit,
                            "N m",
                            "the actuator of " + joint_of(k) + " is at its limit of " + shown(limit),
                            "a lighter load, a slower motion, or lower gains"};
  }
  last_torque_ = tau;
}

void MotorWatch::see_errors(const State& state) {
  for (const Body& body : model_.bodies) {
    if (nq_of(body.joint) != 1 || std::isnan(q_ref_[body.iq])) continue;
    error_[body.iv] = std::abs(q_ref_[body.iq] - state.q[body.iq]);
    if (std::isnan(first_error_[body.iv])) first_error_[body.iv] = error_[body.iv];
  }
}

void MotorWatch::observe(const Simulation& simulation, const StepReport& report) {
  const VecX& tau = simulation.torque();
  ++steps_;
  if (tau.size() != model_.nv || model_.nv == 0) return;
  see_torque(tau, simulation.state().v, report);
  see_errors(simulation.state());
}

bool MotorWatch::target_absurd() const {
  return target_ && std::abs(target_->value - target_->limit) > (target_->unit == "m" ? absurd_sliding : absurd);
}

std::optional<Finding> MotorWatch::chatter() const {
  if (steps_ < 20) return {};
  for (int k = 0; k < model_.nv; ++k) {
    if (share(flips_[at(k)]) < 0.3 || flips_[at(k)] < 10) continue;
    return Finding{
        Cause::Chatter,
        scene_.dt,
        share(flips_[at(k)]),
        0.3,
        "of all steps",
        "the torque on " + joint_of(k) + " changes its sign at " + shown(std::round(100 * share(flips_[at(k)]))) +
            " % of the steps: the gains of a controller that is evaluated once a step are too high for dt = " +
            shown(scene_.dt) + " s",
        "lower gains, a smaller dt, or the controller 'pd', whose gains the rigid stepper takes implicitly"};
  }
  return {};
}

std::optional<Finding> MotorWatch::weak(const Finding& fall, double work) const {
  // Motors that put in more than it takes to lift all of it are not weak.
  if (!saturation_ || work > model_.mass() * 9.81) return {};
  int worst = 0;
  for (int k = 1; k < model_.nv; ++k)
    if (saturated_[at(k)] > saturated_[at(worst)]) worst = k;
  if (saturation_->t > fall.t || 5 * saturated_[at(worst)] < steps_) return {};
  Finding found = *saturation_;
  found.evidence = "the actuator of " + joint_of(worst) + " is at its limit of " + shown(limit_[worst]) + " N m for " +
                   shown(std::round(100 * share(saturated_[at(worst)]))) +
                   " % of the time, and the robot falls at t = " + shown(fall.t) + " s";
  found.advice = "motors that are strong enough (the effort limits of the file), or a lighter load";
  return found;
}

std::optional<Finding> MotorWatch::overloaded() const {
  if (!saturation_) return {};
  for (const Body& body : model_.bodies) {
    if (nq_of(body.joint) != 1) continue;
    const int k = body.iv;
    const double most = body.joint == JointKind::Revolute ? gave_way : gave_way_sliding;
    const bool carried = error_[k] > first_error_[k] + most;
    if (!(carried || lost_[k] > most) || 2 * saturated_[at(k)] < steps_) continue;
    Finding found = *saturation_;
    found.value = found.limit = limit_[k];
    found.evidence =
        "the actuator of " + joint_of(k) + " is at its limit of " + shown(found.limit) + " for " +
        shown(std::round(100 * share(saturated_[at(k)]))) + " % of the time, and its joint was carried " +
        (carried ? "away to " + shown(error_[k]) + " from its reference" : shown(lost_[k]) + " against its torque");
    found.advice = "a motor that is strong enough (the effort limit of the file), or a lighter load";
    return found;
  }
  return {};
}

}  // namespace tribo
