#include "control/gravity_hold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dynamics/turns.hpp"
#include "linalg/clones.hpp"
#include "linalg/sines.hpp"

namespace tribo {

GravityHold::GravityHold(std::shared_ptr<const Model> model, int member, const VecX& q_ref)
    : model_(std::move(model)), member_(model_->members[at(member)]), q_(q_ref) {
  joints_.setConstant(member_.nv, std::numeric_limits<double>::quiet_NaN());  // nothing computed yet
  torque_.setZero(member_.nv);
  links_.resize(at(member_.bodies));
}

const VecX& GravityHold::torque(const VecX& joints) {
  if (joints == joints_) return torque_;
  joints_ = joints;
  for (int i = 0; i < member_.bodies; i += 4) place_four(i);
  carry_all();
  return torque_;
}

// Their angles first, all at once.
TRIBO_CLONES void GravityHold::place_four(int first) {
  const int count = std::min(4, member_.bodies - first);
  double angle[4] = {}, sine[4], cosine[4];
  for (int i = 0; i < count; ++i) {
    const Body& body = model_->bodies[at(member_.first_body + first + i)];
    if (body.joint == JointKind::Revolute || body.joint == JointKind::Continuous)
      angle[i] = joints_[body.iv - member_.iv];
  }
  sines(angle, 4, sine, cosine);
  for (int i = 0; i < count; ++i) place(first + i, sine[i], cosine[i]);
}

// Pose of a link, and its weight with the moment about the world's origin.
TRIBO_CLONES void GravityHold::place(int i, double sine, double cosine) {
  const Body& body = model_->bodies[at(member_.first_body + i)];
  const double* const J = body.X_PJ.R.data();
  const double* const q = q_.data() + (body.iq - member_.iq);
  Link& link = links_[at(i)];
  Columns R{given(J), given(J + 3), given(J + 6)};
  Quad p = given(body.X_PJ.p.data());
  if (body.parent >= 0) {
    const Link& parent = links_[at(body.parent - member_.first_body)];
    const Columns P = load_columns(parent.R);
    R = product(P, J);
    p = load(parent.p) + times(P, body.X_PJ.p.data());
  }
  const double* const a = body.axis.data();
  const Quad axis = times(R, a);
  double turn[9];
  switch (body.joint) {
    case JointKind::Free:
      p += times(R, q);
      rotation(q + 3, turn);
      R = product(R, turn);
      break;
    case JointKind::Spherical:
      rotation(q, turn);
      R = product(R, turn);
      break;
    case JointKind::Prismatic:
      p += joints_[body.iv - member_.iv] * axis;
      break;
    case JointKind::Revolute:
    case JointKind::Continuous:
      if (a[0] == 1 || a[1] == 1 || a[2] == 1) {
        turn_about(a[0] == 1 ? 0 : a[1] == 1 ? 1 : 2, cosine, sine, R);
      } else {
        rotation_about(body.axis, cosine, sine, turn);
        R = product(R, turn);
      }
  }
  const Quad g = given(model_->gravity.data()), weight = body.inertia.mass * g;
  const Quad lifted = body.carried * g;  // by something else
  const Quad com = p + times(R, body.inertia.com.data()), carried_at = p + times(R, body.carried_at.data());
  store_columns(link.R, R);
  store(link.p, p);
  store(link.axis, axis);
  store(link.weight, weight - lifted);
  store(link.moment, cross(com, weight) - cross(carried_at, lifted));
}

// From the last link to the first, and what a joint bears of the links beyond it.                           (ff.2)
TRIBO_CLONES void GravityHold::carry_all() {
  for (int i = member_.bodies - 1; i >= 0; --i) {
    const Body& body = model_->bodies[at(member_.first_body + i)];
    const Link& link = links_[at(i)];
    const Quad weight = load(link.weight), moment = load(link.moment);
    const Quad here = moment - cross(load(link.p), weight);  // about the joint
    double* const torque = torque_.data() + (body.iv - member_.iv);
    const Columns R = load_columns(link.R);
    const auto along = [&](const Quad& x) __attribute__((always_inline)) {
      return sums(R.x * x, R.y * x, R.z * x, Quad{});
    };
    switch (body.joint) {
      case JointKind::Free:
        store_three(torque, -along(weight));
        store_three(torque + 3, -along(here));
        break;
      case JointKind::Spherical:
        store_three(torque, -along(here));
        break;
      case JointKind::Prismatic:
        torque[0] = -sum(load(link.axis) * weight);
        break;
      case JointKind::Revolute:
      case JointKind::Continuous:
        torque[0] = -sum(load(link.axis) * here);
    }
    if (body.parent < 0) continue;
    Link& parent = links_[at(body.parent - member_.first_body)];
    store(parent.weight, load(parent.weight) + weight);
    store(parent.moment, load(parent.moment) + moment);
  }
}

}  // namespace tribo
