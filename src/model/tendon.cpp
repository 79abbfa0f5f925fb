// Checks of tendons, their ties and the fluid, as they are added to a model.
#include "tribo/tendon.hpp"

#include <cmath>

#include "base/names.hpp"
#include "tribo/model.hpp"

namespace tribo {
namespace {

void require(bool good, const std::string& owner, const char* field, double value, const char* bound) {
  if (!good) throw InvalidInput(owner + ": " + field + " = " + shown(value) + ", must be " + bound);
}

void check_numbers(const Tendon& t, const std::string& owner) {
  for (const auto& [value, field] :
       {std::pair{t.stiffness, "stiffness"}, {t.damping, "damping"}, {t.friction, "friction"}})
    require(value >= 0 && std::isfinite(value), owner, field, value, "finite and >= 0");
  for (const auto& [value, field] : {std::pair{t.rest_lower, "rest_lower"}, {t.rest_upper, "rest_upper"}})
    require(std::isfinite(value), owner, field, value, "finite");
  require(t.rest_lower <= t.rest_upper, owner, "rest_lower", t.rest_lower, "at most rest_upper");
  require(t.lower <= t.upper, owner, "lower", t.lower, "at most upper");
}

}  // namespace

int ModelBuilder::add_tendon(Tendon t) {
  const std::string owner = "tendon '" + t.name + "'";
  check_numbers(t, owner);
  if (t.joints.empty() == t.path.empty()) throw InvalidInput(owner + ": needs joints or a path, and not both");
  for (const TendonJoint& joint : t.joints) {
    check_body(joint.body, owner);
    if (joint.body < 0) throw InvalidInput(owner + ": runs over the joint of a body that has none");
    const Body& body = model_.bodies[at(joint.body)];
    if (body.joint != JointKind::Revolute && body.joint != JointKind::Prismatic)
      throw InvalidInput(owner + ": joint '" + body.name + "' is neither revolute nor prismatic");
    require(std::isfinite(joint.coefficient), owner, "coefficient", joint.coefficient, "finite");
  }
  for (const TendonSegment& s : t.path) {
    for (int body : {s.body_a, s.body_b}) {
      check_body(body, owner);
      if (body < -1) throw InvalidInput(owner + ": its path has a point on a kinematic body");
    }
    if (!s.point_a.allFinite() || !s.point_b.allFinite()) throw InvalidInput(owner + ": a point is not finite");
    require(s.divisor > 0 && std::isfinite(s.divisor), owner, "divisor", s.divisor, "finite and > 0");
  }
  model_.tendons.push_back(std::move(t));
  return static_cast<int>(model_.tendons.size()) - 1;
}

void ModelBuilder::add_tie(TendonTie tie) {
  const std::string owner = "tie '" + tie.name + "'";
  const int n = static_cast<int>(model_.tendons.size());
  if (tie.tendon_a < 0 || tie.tendon_a >= n || tie.tendon_b < -1 || tie.tendon_b >= n || tie.tendon_a == tie.tendon_b)
    throw InvalidInput(owner + ": tendons " + std::to_string(tie.tendon_a) + " and " + std::to_string(tie.tendon_b) +
                       ", must be two of the " + std::to_string(n) + " that were added, or -1 for none as the second");
  for (double c : tie.polynomial) require(std::isfinite(c), owner, "a coefficient", c, "finite");
  require(std::isfinite(tie.center), owner, "center", tie.center, "finite");
  model_.ties.push_back(std::move(tie));
}

void ModelBuilder::set_medium(Medium medium) {
  const std::string owner = "fluid";
  require(medium.density >= 0 && std::isfinite(medium.density), owner, "density", medium.density, "finite and >= 0");
  require(medium.viscosity >= 0 && std::isfinite(medium.viscosity), owner, "viscosity", medium.viscosity,
          "finite and >= 0");
  if (!medium.wind.allFinite()) throw InvalidInput(owner + ": its wind is not finite");
  for (const FluidBox& box : medium.boxes) {
    check_body(box.body, owner);
    if (box.body < 0 || !box.size.allFinite() || !(box.size.minCoeff() >= 0))
      throw InvalidInput(owner + ": a box has no body, or a size that is not finite and >= 0");
  }
  model_.medium = std::move(medium);
}

}  // namespace tribo
