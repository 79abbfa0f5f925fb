#include "diagnosis/motor_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/names.hpp"

namespace tribo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double far_outside = 0.1;        // of a range; grippers are sent a little beyond theirs [rad] or [m]
constexpr double gave_way = 0.2;           // [rad]
constexpr double gave_way_sliding = 0.05;  // [m]

bool at_limit(double tau, double limit) {
  return limit > 0 && std::isfinite(limit) && std::abs(tau) >= limit * (1 - 1e-9);
}

}  // namespace

MotorWatch::MotorWatch(const Scene& scene) : scene_(scene), model_(*scene.model) {
  last_torque_.setZero(model_.nv);
  q_ref_.setConstant(model_.nq, nan);
  first_error_.setConstant(model_.nv, nan);
  error_.setConstant(model_.nv, nan);
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

void MotorWatch::see_torque(const VecX& tau, const StepReport& report, bool sane) {
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
    const double limit = model_.joints.effort_limit[k], least = std::isfinite(limit) ? 0.05 * limit : 1e-3;
    if (tau[k] * last_torque_[k] < 0 && std::min(std::abs(tau[k]), std::abs(last_torque_[k])) > least) ++flips_[at(k)];
    if (!at_limit(tau[k], limit)) continue;
    ++saturated_[at(k)];
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
  // Beyond that it is the motion that ran away.
  see_torque(tau, report, simulation.state().v.cwiseAbs().maxCoeff() < 1e6);
  see_errors(simulation.state());
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
  found.evidence = "the actuator of " + joint_of(worst) + " is at its limit of " +
                   shown(model_.joints.effort_limit[worst]) + " N m for " +
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
    if (!(error_[k] > first_error_[k] + most) || 2 * saturated_[at(k)] < steps_) continue;
    Finding found = *saturation_;
    found.value = found.limit = model_.joints.effort_limit[k];
    found.evidence = "the actuator of " + joint_of(k) + " is at its limit of " + shown(found.limit) + " for " +
                     shown(std::round(100 * share(saturated_[at(k)]))) +
                     " % of the time, and its joint was carried away to " + shown(error_[k]) + " from its reference";
    found.advice = "a motor that is strong enough (the effort limit of the file), or a lighter load";
    return found;
  }
  return {};
}

}  // namespace tribo
