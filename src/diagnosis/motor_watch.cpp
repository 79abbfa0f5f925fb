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
constexpr double turns = 4 * M_PI;         // of a joint without a range: a reference beyond is in degrees [rad]
constexpr double at_an_end = 1e-3;         // [rad]
constexpr double hard = 0.5;               // of what a motor gives
constexpr double long_for = 0.5;           // [s]
constexpr double astray = 0.1;             // from its reference [rad]; a fifth of it [m]
constexpr double arrives = 5;              // what takes longer to arrive is held back [s]
constexpr double followed = 0.3;           // from its reference [rad]; a fifth of it [m]
constexpr double runs_away = 1e3;          // [rad/s]

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
  at_end_.setZero(model_.nv);
  held_back_.setZero(model_.nv);
  flips_.assign(at(model_.nv), 0);
  saturated_.assign(at(model_.nv), 0);
  upright_ = saturated_;
  for (const ControllerSpec& spec : scene.controllers)
    if (spec.pd) see_period(spec.pd->period);
  for (const ControllerSpec& spec : scene.controllers)
    if (spec.pd && !spec.pd->reference)
      q_ref_.segment(model_.members[at(spec.pd->member)].iq, spec.pd->q_ref.size()) = spec.pd->q_ref;
  const VecX said = q_ref_;
  q_ref_.setConstant(nan);
  see_target(said.data(), scene.start.t);
  commanded_ = false;
  find_idle();
}

bool MotorWatch::slides(int dof) const {
  return std::any_of(model_.bodies.begin(), model_.bodies.end(),
                     [&](const Body& b) { return b.iv == dof && b.joint == JointKind::Prismatic; });
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
      idle_joints_.push_back(body.iv);
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
      if (nq_of(body.joint) == 1 && spec.pd->kp[body.iv - member.iv] > 0) see_reference(body, q_ref[body.iq], t, "");
    }
  }
}

// A servo, f = k (u - l), sends its joint to u over the gear.
void MotorWatch::see_controls(const VecX& controls, double t) {
  Eigen::Index next = 0;
  for (const Member& member : model_.members)
    for (const Actuator& a : member.actuators) {
      const double u = next < controls.size() ? controls[next] : nan;
      ++next;
      if (a.ends.size() != 1 || a.ends[0].at_frame || a.ends[0].tendon >= 0 || a.ends[0].gear[0] == 0) continue;
      const Body& body = model_.bodies[at(a.ends[0].body)];
      if (nq_of(body.joint) != 1 || !(a.gain[0] > 0) || std::abs(a.gain[0] + a.bias[1]) > 1e-6 * a.gain[0]) continue;
      const double to = std::clamp(u, a.control_lower, a.control_upper) / a.ends[0].gear[0];
      see_reference(body, to, t, ", as its servo '" + a.name + "' is told,");
    }
}

void MotorWatch::see_reference(const Body& body, double to, double t, const std::string& who) {
  if (to == q_ref_[body.iq] || std::isnan(to)) return;
  commanded_ |= !std::isnan(q_ref_[body.iq]);
  q_ref_[body.iq] = to;
  first_error_[body.iv] = nan;
  const bool turns_on = !std::isfinite(model_.joints.lower[body.iv]) && !std::isfinite(model_.joints.upper[body.iv]) &&
                        body.joint == JointKind::Revolute;
  const double low = turns_on ? -turns : model_.joints.lower[body.iv];
  const double high = turns_on ? turns : model_.joints.upper[body.iv];
  if (target_ || (to > low - far_outside && to < high + far_outside)) return;
  target_ = Finding{Cause::Range,
                    t,
                    to,
                    to < low ? low : high,
                    body.joint == JointKind::Revolute ? "rad" : "m",
                    "the reference of '" + body.name + "'" + who + " is " + shown(to) + " at t = " + shown(t) + " s, " +
                        (turns_on ? shown(std::round(to / (0.2 * M_PI)) / 10) + " turns: is it in degrees?"
                                  : "outside its range from " + shown(low) + " to " + shown(high) +
                                        ": its motor presses against the end"),
                    "targets within the ranges (model.lower, model.upper)"};
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
    const double limit = limit_[k];
    see_flips(k, tau[k]);
    if (!at_limit(tau[k], limit)) continue;
    if (!wild_) {
      ++saturated_[at(k)];
      lost_[k] -= scene_.dt * std::copysign(v[k], tau[k] * v[k]);
    }
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

void MotorWatch::see_flips(int k, double tau) {
  const double before = last_torque_[k], least = std::isfinite(limit_[k]) ? 0.05 * limit_[k] : 1e-3;
  flips_[at(k)] += tau * before < 0 && std::min(std::abs(tau), std::abs(before)) > least;
}

void MotorWatch::see_joints(const State& state, const VecX& tau, double t) {
  for (const Body& body : model_.bodies) {
    if (nq_of(body.joint) != 1) continue;
    const int k = body.iv;
    const double q = state.q[body.iq], to = q_ref_[body.iq];
    if (!std::isnan(to)) {
      error_[k] = std::abs(to - q);
      if (std::isnan(first_error_[k])) first_error_[k] = error_[k];
      see_drag(k, body, tau[k], state.v[k], t);
    }
    see_end(k, body, q, tau[k], t);
  }
}

void MotorWatch::see_end(int k, const Body& body, double q, double tau, double t) {
  const double low = model_.joints.lower[k], high = model_.joints.upper[k], to = q_ref_[body.iq];
  const bool up = q > high - at_an_end && tau > 0 && !(to > high), down = q < low + at_an_end && tau < 0 && !(to < low);
  const bool presses = body.joint == JointKind::Revolute && std::isfinite(limit_[k]) && limit_[k] > 0 && (up || down) &&
                       std::abs(tau) >= hard * limit_[k];
  at_end_[k] = presses ? at_end_[k] + scene_.dt : 0;
  if (pressing_ || at_end_[k] < long_for) return;
  pressing_ = Finding{
      Cause::Actuators,
      std::max(0.0, t - at_end_[k]),
      std::abs(tau),
      hard * limit_[k],
      "N m",
      "the motor of '" + body.name + "' presses it against the end of its range, " + shown(up ? high : low) +
          " rad, with " + shown(std::abs(tau)) + " N m from t = " + shown(std::max(0.0, t - at_end_[k])) + " s on",
      "the sign of its torque in the controller, or of its axis: it moves away from where it should be"};
}

// Torque that dry friction takes up at rest, or damping on the way.
void MotorWatch::see_drag(int k, const Body& body, double tau, double v, double t) {
  const double far = body.joint == JointKind::Revolute ? astray : astray / 5;
  const double dry = model_.joints.friction[k], viscous = model_.joints.damping[k] * std::abs(v);
  const bool slow =
      error_[k] > far && error_[k] < first_error_[k] + far / 2 && std::abs(v) * arrives < error_[k] && tau != 0;
  const bool braked = viscous > dry && viscous > hard * std::abs(tau), stuck = dry > 0 && dry >= hard * std::abs(tau);
  held_back_[k] = slow && (braked || stuck) ? held_back_[k] + scene_.dt : 0;
  if (drag_ || held_back_[k] < long_for) return;
  const char* unit = body.joint == JointKind::Revolute ? " N m" : " N";
  const char* turn = body.joint == JointKind::Revolute ? " s/rad" : " s/m";
  drag_ =
      Finding{Cause::Drag,
              std::max(0.0, t - held_back_[k]),
              braked ? viscous : dry,
              std::abs(tau),
              body.joint == JointKind::Revolute ? "N m" : "N",
              "'" + body.name + "' is held " + shown(error_[k]) + " from its reference by its own " +
                  (braked ? "damping of " + shown(model_.joints.damping[k]) + unit + turn
                          : "dry friction of " + shown(dry) + unit) +
                  ": its motor gives " + shown(std::abs(tau)) + unit,
              braked ? "less damping of the joint ('damping' of [robot], or <dynamics damping=...> of its file)"
                     : "less friction of the joint ('friction' of [robot], or <dynamics friction=...> of its file), or "
                       "higher gains"};
}

void MotorWatch::observe(const Simulation& simulation, const StepReport& report, bool fallen) {
  const VecX& tau = simulation.torque();
  ++steps_;
  if (tau.size() != model_.nv || model_.nv == 0) return;
  wild_ |= !(simulation.state().v.cwiseAbs().maxCoeff() < runs_away);
  see_torque(tau, simulation.state().v, report);
  if (!wild_) see_joints(simulation.state(), tau, report.t);
  if (fallen) return;
  upright_ = saturated_;
  ++upright_steps_;
}

bool MotorWatch::obeyed() const {
  bool any = false;
  for (const Body& body : model_.bodies) {
    if (nq_of(body.joint) != 1 || std::isnan(q_ref_[body.iq])) continue;
    any = true;
    if (!(error_[body.iv] < (body.joint == JointKind::Revolute ? followed : followed / 5))) return false;
  }
  return any;
}

bool MotorWatch::idle_gave_way() const {
  return std::any_of(idle_joints_.begin(), idle_joints_.end(),
                     [&](int k) { return error_[k] > (slides(k) ? gave_way_sliding / 2 : gave_way); });
}

bool MotorWatch::target_absurd() const {
  return target_ && std::abs(target_->value - target_->limit) > (target_->unit == "m" ? absurd_sliding : absurd);
}

// Of a controller that is asked less often than once a step, the torque changes when it is.
std::optional<Finding> MotorWatch::chatter(bool failed) const {
  const bool held = period_ > 1.5 * scene_.dt;
  const std::uint64_t enough = failed ? 4 : 10;
  const double calls = static_cast<double>(steps_) / (held ? std::round(period_ / scene_.dt) : 1);
  if (calls < 2 * static_cast<double>(enough)) return {};
  for (int k = 0; k < model_.nv; ++k) {
    const double share = static_cast<double>(flips_[at(k)]) / calls;
    if (share < 0.3 || flips_[at(k)] < enough) continue;
    return Finding{Cause::Chatter,
                   scene_.dt,
                   share,
                   0.3,
                   held ? "of all calls" : "of all steps",
                   "the torque on " + joint_of(k) + " changes its sign at " + shown(std::round(100 * share)) +
                       " % of the " + (held ? "calls of its controller" : "steps") +
                       ": the gains of a controller that is evaluated " +
                       (held ? "every " + shown(1e3 * period_) + " ms are too high for that"
                             : "once a step are too high for dt = " + shown(scene_.dt) + " s"),
                   std::string("lower gains, ") + (held ? "a shorter period" : "a smaller dt") +
                       ", or the controller 'pd', whose gains the rigid stepper takes implicitly"};
  }
  return {};
}

std::optional<Finding> MotorWatch::weak(const Finding& fall, double work) const {
  // Motors that put in more than it takes to lift all of it are not weak.
  if (!saturation_ || work > model_.mass() * 9.81) return {};
  int worst = 0;
  for (int k = 1; k < model_.nv; ++k)
    if (upright_[at(k)] > upright_[at(worst)]) worst = k;
  if (saturation_->t > fall.t || 5 * upright_[at(worst)] < upright_steps_) return {};
  Finding found = *saturation_;
  found.evidence =
      "the actuator of " + joint_of(worst) + " is at its limit of " + shown(limit_[worst]) + " N m for " +
      shown(std::round(100 * static_cast<double>(upright_[at(worst)]) / static_cast<double>(upright_steps_))) +
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
