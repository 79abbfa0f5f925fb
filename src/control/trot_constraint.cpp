// A trot whose joint velocities are constraints of the step, chosen so that all of them can be met while no stance foot
// slips: velocities of the base and the feet first, those of the joints from them, at the q of the step.
//   base, towards its plan b at the rate w, critically damped and implicit:
//     V = b' + (V_now - b'_last - dt w^2 (x - b)) / (1 + w dt)^2,   b' = (b(t + dt) - b(t))/dt              (trot.4)
//     and the same of its rotation, whose plan is rest
//   stance foot: w_i = 0, or what closes its gap;  swing foot: w_i = (plan(t + dt) + e - p_i)/dt           (trot.5)
//     e what is left of its deviation when it lifted (trot.7)
//   a ball of radius r is held at the point where it touches, not at its centre: it rolls while it stands, and comes down
//     without slip in the tick that it lands in                                                             (trot.8)
//   joints of leg i: J_i v_i = w_i - (velocity of the foot as a point of the base, by V)                    (trot.6)
// The contact solve takes J at the beginning of a step. With (trot.6) at that same J, all stance feet have the velocity
// zero at the same time at every step size, whatever V is; with differences of a joint reference (target.2) they have
// it to the order of dt alone, and torque without limit turns the difference into slip.
#include <Eigen/LU>
#include <cmath>

#include "base/names.hpp"
#include "control/gait.hpp"
#include "control/joints.hpp"

namespace tribo {
namespace {

class TrotConstraint final : public Controller {
 public:
  TrotConstraint(const Model& model, const TrotConstraintOptions& options)
      : options_(options), member_(model.members[static_cast<std::size_t>(options.member)]) {
    const std::string owner = "trot controller of '" + member_.name + "'";
    check_trot(options.trot);
    check_entries(options.q_stand, model.nq, owner, "q_stand");
    check_limits(options.limits, model, member_, owner);
    if (!(options.rate > 0) || !std::isfinite(options.rate))
      throw InvalidInput(owner + ": rate = " + shown(options.rate) + " 1/s, must be finite and > 0");
    joints_ = driven_joints(model, member_, {}, owner);
    Dynamics dynamics(model);
    dynamics.compute(options.q_stand, VecX::Zero(model.nv));
    legs_ = find_legs(model, member_, dynamics, options.q_stand);
    lean_ = find_lean(model, member_, dynamics, legs_);
    home_ = dynamics.X_WB(member_.first_body);
  }

  bool sets_targets() const override { return true; }

  void control(const Model&, const State& state, const Dynamics& dynamics, std::span<double>, Actuation& a) override {
    const Gait gait(options_.trot, lean_, a.dt);
    const double t = state.t, dt = a.dt;
    const Placement& base = dynamics.X_WB(member_.first_body);
    Vec3 v, omega;
    base_velocity(gait, dynamics, t, dt, v, omega);
    for (const Leg& leg : legs_) {
      Vec3 p = dynamics.X_WB(leg.body) * leg.point;
      const Vec3 w = foot_velocity(gait, leg, t, dt, p);
      const Vec3 rates =
          leg_jacobian(dynamics, leg, p).partialPivLu().solve(w - v - omega.cross(p - base.p));  // (trot.6)
      for (std::size_t k = 0; k < 3; ++k) a.target[leg.iv[k]] = rates[static_cast<Eigen::Index>(k)];
    }
    for (const DrivenJoint& joint : joints_) narrow(options_.limits, joint, a);
  }

 private:
  // (trot.5), (trot.8): p comes in as the foot's middle and goes out as the point that has the velocity.
  static Vec3 foot_velocity(const Gait& gait, const Leg& leg, double t, double dt, Vec3& p) {
    const double gap = p.z() - leg.home.z();
    if (gait.stands(leg.diagonal, t) || gait.lands(leg.diagonal, t + dt)) {
      p.z() -= leg.radius + 0.5 * std::min(gap, 0.0);  // the point of contact: the foot's own, or midway in an overlap
      return {0, 0, -std::max(gap, 0.0) / dt};
    }
    const Vec3 off = p - leg.home - gait.foot(leg.diagonal, t).p;
    const double now = gait.deviation(leg.diagonal, t), next = gait.deviation(leg.diagonal, t + dt);
    const Vec3 left = now > 0 ? Vec3(next / now * off) : Vec3::Zero();
    return (leg.home + gait.foot(leg.diagonal, t + dt).p + left - p) / dt;
  }

  // (trot.4)
  void base_velocity(const Gait& gait, const Dynamics& dynamics, double t, double dt, Vec3& v, Vec3& omega) const {
    const Placement& base = dynamics.X_WB(member_.first_body);
    const double w = options_.rate, scale = 1 / ((1 + w * dt) * (1 + w * dt));
    const Vec3 now = gait.base(t).p;
    const Vec3 next = (gait.base(t + dt).p - now) / dt,
               last = t > 0.5 * dt ? Vec3((now - gait.base(t - dt).p) / dt) : Vec3::Zero();
    const Eigen::AngleAxisd turned(base.R * home_.R.transpose());
    v = next +
        scale * (dynamics.point_velocity(member_.first_body, base.p) - last - dt * w * w * (base.p - home_.p - now));
    omega = scale * (dynamics.body_velocity(member_.first_body).ang - dt * w * w * turned.angle() * turned.axis());
  }

  TrotConstraintOptions options_;
  Member member_;
  std::vector<DrivenJoint> joints_;
  std::vector<Leg> legs_;
  Vec3 lean_ = Vec3::Zero();
  Placement home_;
};

}  // namespace

std::unique_ptr<Controller> make_trot_constraint(const Model& model, const TrotConstraintOptions& options) {
  return std::make_unique<TrotConstraint>(model, options);
}

}  // namespace tribo
