// A trot as a reference of the joints: base and feet of the plan (gait.hpp), the base level.
//   joints: foot in the base = foot of the plan - base of the plan, leg by leg by Newton's method, v from its Jacobian
//                                                                                                              (trot.3)
#include <Eigen/LU>

#include "base/names.hpp"
#include "control/gait.hpp"

namespace tribo {
namespace {

constexpr double knot = 1e-3;  // [s]

// (trot.3): q of the legs at time t; dynamics stands for it afterwards.
bool reach(const std::vector<Leg>& legs, const Gait& gait, double t, const VecX& zero, Dynamics& dynamics, VecX& q) {
  for (int iteration = 0; iteration < 30; ++iteration) {
    dynamics.compute(q, zero);
    double worst = 0;
    for (const Leg& leg : legs) {
      const Vec3 p = dynamics.X_WB(leg.body) * leg.point, miss = leg.home + gait.foot(leg.diagonal, t).p - p;
      const Vec3 step = leg_jacobian(dynamics, leg, p).partialPivLu().solve(miss);
      if (!step.allFinite()) return false;
      worst = std::max(worst, miss.norm());
      for (std::size_t k = 0; k < 3; ++k) q[leg.iq[k]] += step[static_cast<Eigen::Index>(k)];
    }
    if (worst < 1e-11) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const Reference> make_trot(const Model& model, int member_index, const VecX& q_stand,
                                           const Trot& trot) {
  check_trot(trot);
  const Member& member = model.members[static_cast<std::size_t>(member_index)];
  VecX q = q_stand;
  const VecX zero = VecX::Zero(model.nv);
  Dynamics dynamics(model);
  dynamics.compute(q, zero);
  const std::vector<Leg> legs = find_legs(model, member, dynamics, q);
  const Gait gait(trot, find_lean(model, member, dynamics, legs), 0);
  const auto knots = static_cast<Eigen::Index>(std::lround(trot.duration / knot)) + 1;
  SampledMotion motion{knot, MatX::Zero(member.nv, knots), MatX::Zero(member.nv, knots)};
  const int base = model.bodies[static_cast<std::size_t>(member.first_body)].iq;
  for (Eigen::Index n = 0; n < knots; ++n) {
    const double t = static_cast<double>(n) * knot;
    const Gait::Motion b = gait.base(t);
    q.segment<3>(base) = q_stand.segment<3>(base) + b.p;
    if (!reach(legs, gait, t, zero, dynamics, q))
      throw InvalidInput("trot: the feet of '" + member.name + "' cannot follow at " + shown(t) + " s");
    for (const Leg& leg : legs) {
      const Mat3 J = leg_jacobian(dynamics, leg, dynamics.X_WB(leg.body) * leg.point);
      const Vec3 v = J.partialPivLu().solve(gait.foot(leg.diagonal, t).v - b.v);
      for (std::size_t k = 0; k < 3; ++k) {
        motion.q(leg.iv[k] - member.iv, n) = q[leg.iq[k]];
        motion.v(leg.iv[k] - member.iv, n) = v[static_cast<Eigen::Index>(k)];
      }
    }
  }
  return make_sampled(std::move(motion));
}

}  // namespace tribo
