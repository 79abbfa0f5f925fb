#include "control/gravity_hold.hpp"

#include <limits>
#include <utility>

#include "control/joints.hpp"

namespace tribo {
namespace {

/// The joint frame turned about the joint's axis by the angle of this cosine and sine.
Mat3 turned_about(const Vec3& axis, double c, double s, const Mat3& R) {
  for (int k = 0; k < 3; ++k) {
    if (axis[k] != 1) continue;
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    Mat3 out = R;
    out.col(u) = c * R.col(u) + s * R.col(v);
    out.col(v) = c * R.col(v) - s * R.col(u);
    return out;
  }
  return R * (c * Mat3::Identity() + s * skew(axis) + (1 - c) * axis * axis.transpose());
}

}  // namespace

GravityHold::GravityHold(std::shared_ptr<const Model> model, int member, const VecX& q_ref)
    : model_(std::move(model)), member_(model_->members[at(member)]), q_(model_->neutral()) {
  q_.segment(member_.iq, member_.nq) = q_ref;
  joints_.setConstant(member_.nv, std::numeric_limits<double>::quiet_NaN());  // nothing computed yet
  torque_.setZero(member_.nv);
  links_.resize(at(member_.bodies));
}

const VecX& GravityHold::torque(const VecX& joints) {
  if (joints == joints_) return torque_;
  joints_ = joints;
  set_joints(*model_, member_, joints, q_);
  for (int i = 0; i < member_.bodies; ++i) place(i);
  for (int i = member_.bodies - 1; i >= 0; --i) {
    const Body& body = model_->bodies[at(member_.first_body + i)];
    const Link& link = links_[at(i)];
    carry(body, link);
    if (body.parent < 0) continue;
    Link& parent = links_[at(body.parent - member_.first_body)];
    parent.weight += link.weight;
    parent.moment += link.moment;
  }
  return torque_;
}

// Pose of a link, and its weight with the moment about the world's origin.
void GravityHold::place(int i) {
  const Body& body = model_->bodies[at(member_.first_body + i)];
  const Placement world, &parent = body.parent < 0 ? world : links_[at(body.parent - member_.first_body)].X;
  Link& link = links_[at(i)];
  link.joint = parent * body.X_PJ;
  link.X = link.joint;
  const auto q = [&](int k) { return q_[body.iq + k]; };
  switch (body.joint) {
    case JointKind::Free:
      link.X.p += link.joint.R * Vec3(q(0), q(1), q(2));
      link.X.R *= Quat(q(6), q(3), q(4), q(5)).toRotationMatrix();
      break;
    case JointKind::Spherical:
      link.X.R *= Quat(q(3), q(0), q(1), q(2)).toRotationMatrix();
      break;
    case JointKind::Prismatic:
      link.X.p += q(0) * (link.joint.R * body.axis);
      break;
    case JointKind::Revolute:
      link.X.R = turned_about(body.axis, std::cos(q(0)), std::sin(q(0)), link.joint.R);
      break;
    case JointKind::Continuous:
      link.X.R = turned_about(body.axis, q(0), q(1), link.joint.R);
      break;
  }
  const Vec3 lifted = body.carried * model_->gravity;  // by something else
  link.weight = body.inertia.mass * model_->gravity;
  link.moment = (link.X * body.inertia.com).cross(link.weight) - (link.X * body.carried_at).cross(lifted);
  link.weight -= lifted;
}

// What a joint bears of the links beyond it.                                                              (ff.2)
void GravityHold::carry(const Body& body, const Link& link) {
  const Vec3 moment = link.moment - link.X.p.cross(link.weight);  // about the joint
  const int k = body.iv - member_.iv;
  switch (body.joint) {
    case JointKind::Free:
      torque_.segment<3>(k) = -(link.X.R.transpose() * link.weight);
      torque_.segment<3>(k + 3) = -(link.X.R.transpose() * moment);
      break;
    case JointKind::Spherical:
      torque_.segment<3>(k) = -(link.X.R.transpose() * moment);
      break;
    case JointKind::Prismatic:
      torque_[k] = -(link.joint.R * body.axis).dot(link.weight);
      break;
    case JointKind::Revolute:
    case JointKind::Continuous:
      torque_[k] = -(link.joint.R * body.axis).dot(moment);
      break;
  }
}

}  // namespace tribo
