// Checks of equality constraints and joint springs, as they are added to a model.
#include "tribo/equality.hpp"

#include <cmath>

#include "base/names.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

bool follows(const Body& body) { return body.joint == JointKind::Revolute || body.joint == JointKind::Prismatic; }

}  // namespace

void ModelBuilder::add_equality(Equality e) {
  const std::string owner = "equality '" + e.name + "'";
  for (int body : {e.body_a, e.body_b}) check_body(body, owner);
  if (e.body_a == e.body_b) throw InvalidInput(owner + ": ties a body to itself");
  if (e.kind == EqualityKind::Joint) {
    for (int body : {e.body_a, e.body_b})
      if (body >= 0 && !follows(model_.bodies[static_cast<std::size_t>(body)]))
        throw InvalidInput(owner + ": joint '" + model_.bodies[static_cast<std::size_t>(body)].name +
                           "' is neither revolute nor prismatic");
    if (e.body_a < 0 || e.body_b < -1) throw InvalidInput(owner + ": needs the joint that follows");
    for (double c : e.polynomial)
      if (!std::isfinite(c)) throw InvalidInput(owner + ": a coefficient is not finite");
    if (!std::isfinite(e.center)) throw InvalidInput(owner + ": its center is not finite");
  } else {
    if (e.body_a < 0 && e.body_b < 0) throw InvalidInput(owner + ": neither body is moved by forces");
    if (!e.point_a.allFinite() || !e.point_b.allFinite() || !e.X_AB.p.allFinite() || !e.X_AB.R.allFinite())
      throw InvalidInput(owner + ": its points or pose are not finite");
    if (!(e.X_AB.R.transpose() * e.X_AB.R).isIdentity(1e-6) || e.X_AB.R.determinant() < 0)
      throw InvalidInput(owner + ": its pose is not a rotation");
  }
  model_.equalities.push_back(std::move(e));
}

void ModelBuilder::check_springs() const {
  const JointProperties& p = model_.joints;
  for (const Body& body : model_.bodies) {
    const auto k = p.stiffness.segment(body.iv, nv_of(body.joint));
    const std::string owner = "joint '" + body.name + "'";
    for (double x : k)
      if (!(x >= 0) || !std::isfinite(x))
        throw InvalidInput(owner + ": stiffness = " + shown(x) + ", must be finite and >= 0");
    if (k.isZero(0)) continue;
    if (body.joint == JointKind::Free) throw InvalidInput(owner + ": a free joint has no spring");
    if ((k.array() != k[0]).any()) throw InvalidInput(owner + ": a spherical joint has one stiffness about all axes");
    if (!p.rest.segment(body.iq, nq_of(body.joint)).allFinite())
      throw InvalidInput(owner + ": the rest position of its spring is not finite");
  }
}

}  // namespace tribo
