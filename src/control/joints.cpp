#include "control/joints.hpp"

#include <cmath>

#include "base/names.hpp"

namespace tribo {
namespace {

std::string joint_name(const Model& model, const Member& member, int j) {
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    if (j + member.iv >= body.iv && j + member.iv < body.iv + nv_of(body.joint)) return body.name;
  }
  return "coordinate " + std::to_string(j);
}

}  // namespace

std::vector<DrivenJoint> driven_joints(const Model& model, const Member& member, const VecX& wanted,
                                       const std::string& owner) {
  if (wanted.size() != 0) check_entries(wanted, member.nv, owner, "driven");
  std::vector<DrivenJoint> joints;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      const int j = k - member.iv;
      const bool able = nv_of(body.joint) == 1 && model.actuated(k);
      const bool asked = wanted.size() == 0 ? able : wanted[j] != 0;
      if (asked && !able)
        throw InvalidInput(owner + ": '" + body.name + "' has no motor that a target could be given to");
      if (asked) joints.push_back({b, k, j});
    }
  }
  if (joints.empty()) throw InvalidInput(owner + ": there is no joint with a motor");
  return joints;
}

void check_entries(const VecX& x, int n, const std::string& owner, const std::string& field) {
  if (x.size() != n)
    throw InvalidInput(owner + ": " + field + " has " + std::to_string(x.size()) + " entries, must have " +
                       std::to_string(n));
  if (!x.allFinite()) throw InvalidInput(owner + ": " + field + " is not finite");
}

void check_reference(const Reference& reference, const Member& member, const std::string& owner) {
  if (reference.nv() != member.nv)
    throw InvalidInput(owner + ": the reference has " + std::to_string(reference.nv()) + " coordinates, must have " +
                       std::to_string(member.nv));
}

void check_limits(const EffortLimits& limits, const Model& model, const Member& member, const std::string& owner) {
  if (limits.lower.size() == 0 && limits.upper.size() == 0) return;
  for (const VecX* x : {&limits.lower, &limits.upper})
    if (x->size() != member.nv)
      throw InvalidInput(owner + ": effort limits have " + std::to_string(x->size()) + " entries, must have " +
                         std::to_string(member.nv));
  for (int j = 0; j < member.nv; ++j) {
    if (limits.lower[j] <= limits.upper[j]) continue;
    throw InvalidInput(owner + ": effort limits of '" + joint_name(model, member, j) + "': lower " +
                       shown(limits.lower[j]) + " is not below upper " + shown(limits.upper[j]));
  }
}

void check_period(double period, const std::string& owner) {
  if (!(period >= 0) || !std::isfinite(period))
    throw InvalidInput(owner + ": period = " + shown(period) + " s, must be finite and >= 0");
}

void narrow(const EffortLimits& limits, const DrivenJoint& joint, Actuation& a) {
  if (limits.lower.size() == 0) return;
  a.lower[joint.iv] = std::max(a.lower[joint.iv], limits.lower[joint.j]);
  a.upper[joint.iv] = std::min(a.upper[joint.iv], limits.upper[joint.j]);
}

void set_joints(const Model& model, const Member& member, const VecX& joints, VecX& q) {
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    if (nv_of(body.joint) != 1) continue;
    const double x = joints[body.iv - member.iv];
    if (body.joint == JointKind::Continuous)
      q.segment<2>(body.iq) << std::cos(x), std::sin(x);
    else
      q[body.iq] = x;
  }
}

double target_velocity(const TargetOptions& options, const Body& body, const DrivenJoint& joint, const JointMotion& now,
                       const JointMotion& next, const VecX& q, double dt) {
  if (options.law == TargetLaw::Velocity) return next.v[joint.j];  // (target.1)
  const double error = joint_error(body, now.q[joint.j], q);
  return (next.q[joint.j] - now.q[joint.j] + options.share * error) / dt;  // (target.2)
}

}  // namespace tribo
