#include "dynamics/actuator_length.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/tendons.hpp"

namespace tribo {
namespace {

// Rotation vector of a unit quaternion.
Vec3 log_of(const Quat& q) {
  const double sign = q.w() < 0 ? -1 : 1, s = q.vec().norm();
  if (s < 1e-12) return 2 * sign * q.vec();
  return 2 * sign * std::atan2(s, sign * q.w()) / s * q.vec();
}

Placement place(const Model& model, int body, const Placement& X, const KinematicTime& time, const Dynamics& dynamics) {
  if (body >= 0) return dynamics.X_WB(body) * X;
  return body == -1 ? X : kinematic_pose(model, kinematic_index(body), time) * X;
}

}  // namespace

double gear_of(const Model& model, const ActuatorEnd& end, const VecX& q, const Dynamics& dynamics, double* gear) {
  const Body& body = model.bodies[at(end.body)];
  gear[0] = end.gear[0];
  if (nv_of(body.joint) == 1) return end.gear[0] * q[body.iq];
  const bool free = body.joint == JointKind::Free;
  const Quat turn(Eigen::Vector4d(q.segment<4>(body.iq + (free ? 3 : 0))));
  Eigen::Map<Vec3> moment(gear + (free ? 3 : 0));
  moment = Eigen::Map<const Vec3>(end.gear.data() + (free ? 3 : 0));
  if (end.in_parent) moment = turn.conjugate() * Vec3(moment);
  if (!free) return moment.dot(log_of(turn));
  Eigen::Map<Vec3> force(gear);
  force = dynamics.X_WB(end.body).R.transpose() * Eigen::Map<const Vec3>(end.gear.data());
  return 0;
}

double pull_of(const Model& model, const ActuatorEnd& end, const VecX& q, const KinematicTime& time,
               const Dynamics& dynamics, VecX& pull) {
  pull.setZero(model.nv);
  if (end.tendon >= 0) {
    const Tendon& tendon = model.tendons[at(end.tendon)];
    add_tendon_force(model, tendon, end.gear[0], dynamics, pull);
    return end.gear[0] * tendon_length(model, tendon, q, dynamics);
  }
  const Eigen::Map<const Vec3> force(end.gear.data()), moment(end.gear.data() + 3);
  const Placement X = place(model, end.body, end.X_BF, time, dynamics);
  const Placement R = end.against ? place(model, end.other, end.X_OR, time, dynamics) : X;
  const Vec3 f = R.R * force, n = R.R * moment;
  if (end.body >= 0) {
    dynamics.add_force(end.body, X.p, f, pull);
    dynamics.add_torque(end.body, n, pull);
  }
  if (!end.against) return 0;
  if (end.other >= 0) {
    dynamics.add_force(end.other, R.p, -f, pull);
    dynamics.add_torque(end.other, -n, pull);
  }
  if (end.body >= 0 && end.other >= 0) {  // what carries both is not turned
    const std::vector<int>&a = model.bodies[at(end.body)].chain, &b = model.bodies[at(end.other)].chain;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()) && a[k] == b[k]; ++k) pull[a[k]] = 0;
  }
  return force.dot(R.R.transpose() * (X.p - R.p)) + moment.dot(log_of(Quat(Mat3(R.R.transpose() * X.R))));
}

ActuatorLength length_of(const Model& model, const Actuator& actuator, const VecX& q, const VecX& v,
                         const KinematicTime& time, const Dynamics& dynamics) {
  ActuatorLength sum;
  VecX pull;
  for (const ActuatorEnd& end : actuator.ends) {
    if (on_joint(end)) {
      double gear[6];
      const Body& body = model.bodies[at(end.body)];
      sum.length += gear_of(model, end, q, dynamics, gear);
      for (int k = 0; k < nv_of(body.joint); ++k) sum.speed += gear[k] * v[body.iv + k];
    } else {
      sum.length += pull_of(model, end, q, time, dynamics, pull);
      sum.speed += pull.dot(v);
    }
  }
  return sum;
}

}  // namespace tribo
