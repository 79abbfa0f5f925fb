// Every feature of a model that steppers may use or refuse.
#include "tribo/features.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "dynamics/tendons.hpp"
#include "tribo/stepper.hpp"

namespace tribo {
namespace {

// First joint whose property differs from its neutral value; of free joints from `first` on.
std::string joint_with(const Model& model, const VecX& x, const char* what, int first = 0) {
  for (const Body& b : model.bodies)
    for (int k = b.iv + (b.joint == JointKind::Free ? first : 0); k < b.iv + nv_of(b.joint); ++k)
      if (x[k] > 0) return "joint '" + b.name + "': " + what + " = " + shown(x[k]);
  return "";
}

std::string limits(const Model& model) {
  for (const Body& b : model.bodies) {
    if (b.joint != JointKind::Revolute && b.joint != JointKind::Prismatic) continue;
    if (std::isfinite(model.joints.lower[b.iv]) || std::isfinite(model.joints.upper[b.iv]))
      return "joint '" + b.name + "': limits";
  }
  return "";
}

std::string tendon_that_acts(const Model& model) {
  if (!model.ties.empty()) return "tie of tendons '" + model.ties[0].name + "'";
  for (const Tendon& t : model.tendons)
    if (acts(t)) return "tendon '" + t.name + "'";
  return "";
}

std::string ball_limits(const Model& model) {
  for (const Body& b : model.bodies)
    if (b.joint == JointKind::Spherical && std::isfinite(model.joints.upper[b.iv]))
      return "joint '" + b.name + "': limit";
  return "";
}

std::string free_friction(const Model& model) {
  for (const Body& b : model.bodies)
    if (b.joint == JointKind::Free && !model.joints.friction.segment<3>(b.iv).isZero(0))
      return "free joint '" + b.name + "': friction = " + shown(model.joints.friction[b.iv]);
  return "";
}

std::string equality_of(const Model& model, EqualityKind kind) {
  for (const Equality& e : model.equalities)
    if (e.kind == kind) return "equality '" + e.name + "'";
  return "";
}

std::string shape_of(const Model& model, ShapeKind kind) {
  for (const Geometry& g : model.geometries)
    if (g.kind == kind) return "geometry '" + g.name + "'";
  return "";
}

std::string surface_with(const Model& model, double SurfacePair::*field, const char* what) {
  for (int i = 0; i < model.surfaces(); ++i)
    if (const double x = model.surface(i).*field; x > 0) return model.surface_name(i) + ": " + what + " = " + shown(x);
  return "";
}

}  // namespace

const std::vector<FeatureEntry>& features() {
  static const std::vector<FeatureEntry> table = {
      {Feature::JointLimits, "joint limits", "ranges of revolute and prismatic joints", limits},
      {Feature::JointDamping, "joint damping", "viscous friction in joints",
       [](const Model& m) { return joint_with(m, m.joints.damping, "damping"); }},
      {Feature::JointFriction, "joint friction", "dry friction in joints",
       [](const Model& m) { return joint_with(m, m.joints.friction, "friction", 3); }},
      {Feature::JointStiffness, "joint stiffness", "springs in joints towards a rest position",
       [](const Model& m) { return joint_with(m, m.joints.stiffness, "stiffness"); }},
      {Feature::Connect, "connect", "a point of a body stays on a point of another: loop closures",
       [](const Model& m) { return equality_of(m, EqualityKind::Connect); }},
      {Feature::Weld, "weld", "the relative pose of two bodies stays",
       [](const Model& m) { return equality_of(m, EqualityKind::Weld); }},
      {Feature::JointEquality, "joint equality", "a joint follows another, or is held: mimic joints",
       [](const Model& m) { return equality_of(m, EqualityKind::Joint); }},
      {Feature::KinematicBodies, "kinematic bodies", "bodies whose motion is given: platforms, conveyors",
       [](const Model& m) { return m.kinematic.empty() ? "" : "kinematic body '" + m.kinematic[0].name + "'"; }},
      {Feature::Restitution, "restitution", "rebound as a share of the speed of impact",
       [](const Model& m) { return surface_with(m, &SurfacePair::restitution, "restitution"); }},
      {Feature::NormalCompliance, "compliance", "normal displacement of a surface for a force",
       [](const Model& m) { return surface_with(m, &SurfacePair::compliance, "compliance"); }},
      {Feature::TorsionalFriction, "torsional friction",
       "torque about the normal, up to a length times the normal force",
       [](const Model& m) { return surface_with(m, &SurfacePair::torsional, "torsional"); }},
      {Feature::RollingFriction, "rolling friction", "torque along the surface, up to a length times the normal force",
       [](const Model& m) { return surface_with(m, &SurfacePair::rolling, "rolling"); }},
      {Feature::Cylinders, "cylinders", "shapes that are true cylinders",
       [](const Model& m) { return shape_of(m, ShapeKind::Cylinder); }},
      {Feature::Ellipsoids, "ellipsoids", "shapes that are true ellipsoids",
       [](const Model& m) { return shape_of(m, ShapeKind::Ellipsoid); }},
      {Feature::Terrain, "terrain", "height fields and triangle meshes",
       [](const Model& m) {
         const std::string field = shape_of(m, ShapeKind::HeightField);
         return field.empty() ? shape_of(m, ShapeKind::Mesh) : field;
       }},
      {Feature::Tendons, "tendons", "limits, springs, dampers, dry friction and ties of lengths", tendon_that_acts},
      {Feature::BallLimits, "ball-joint limits", "largest angles of spherical joints", ball_limits},
      {Feature::FreeFriction, "friction of free joints", "dry friction along the axes of the world", free_friction},
  };
  return table;
}

namespace {

bool uses(const StepperEntry& stepper, Feature feature) {
  return std::find(stepper.uses.begin(), stepper.uses.end(), feature) != stepper.uses.end();
}

/// Why a family leaves a feature out; "" where the page says it all.
std::string why_not(Feature feature) {
  switch (feature) {
    case Feature::Restitution:
      return " (it would be a second law for the same impact, beside stiffness and damping or a plastic one)";
    case Feature::NormalCompliance:
      return " (contacts that are springs have 'stiffness' = 1 / compliance and 'damping' = relaxation_time / "
             "compliance)";
    case Feature::Connect:
    case Feature::Weld:
      return " (its passes are those of trees, and relaxed impulses would leave a loop open)";
    case Feature::TorsionalFriction:
    case Feature::RollingFriction:
      return " (a contact there is one point with one force, and has no moment)";
    case Feature::Tendons:
      return " (a tendon pulls at several joints and bodies at once: the program of contacts there has rows of single "
             "joints and of joints that follow one another)";
    case Feature::BallLimits:
      return " (the angle of a turn about any axis is no single coordinate that its program could hold)";
    case Feature::FreeFriction:
      return " (it acts along the axes of the world, which turn against the coordinates of the body)";
    default:
      return "";
  }
}

}  // namespace

void refuse_unused_features(const std::string& name, const Model& model) {
  const auto& all = steppers();
  const auto stepper = std::find_if(all.begin(), all.end(), [&](const StepperEntry& s) { return s.name == name; });
  for (const FeatureEntry& entry : features()) {
    if (uses(*stepper, entry.feature)) continue;
    const std::string found = entry.found(model);
    if (found.empty()) continue;
    std::string others;
    for (const StepperEntry& s : all)
      if (uses(s, entry.feature)) others += (others.empty() ? "" : ", ") + s.name;
    throw InvalidInput(found + ": the stepper '" + name + "' does not use " + entry.name + why_not(entry.feature) +
                       "; " + (others.empty() ? "no stepper does yet" : "these do: " + others));
  }
}

namespace {

constexpr const char* ways = R"(
## In each family's own way
| | rigid | exponential, explicit-euler, implicit-euler, runge-kutta | momentum, relaxed, macroscopic | microscopic |
|---|---|---|---|---|
| gains of drives | in M + h kd + h^2 kp | exponential: exactly, with the contacts; Euler: in M + h kd + h^2 kp; runge-kutta: at its stages, explicitly, so that its order stays | in M + h kd + h^2 kp, then held | as momentum |
| velocity targets | rows of the contact problem | a drive of the gain 1000 M_kk / h, within its limits | the same | the same |
| joint friction | rows | a slider in series with a spring and a damper, which give by `friction_deflection` | rows of the program | by speed, as in contacts: a joint creeps |
| joint stiffness | in M + h^2 k | as gains | in M + h^2 k, then held | as momentum |
| equalities of joints | rows, and q is corrected | springs and dampers, `closure_stiffness`, `closure_damping` | rows of the program, errors taken back over five steps | springs and dampers |
| connect, weld | rows, and q is corrected | springs and dampers, as above | refused | refused |
| tendons, ball-joint limits, friction of free joints | rows; a tendon's spring and damper in the row, with its length at the end of the step | springs and dampers: a tendon's own; ranges and angles by `limit_stiffness`, `limit_damping` where they are passed, ties by those of closures; dry friction as in joints | refused | refused |
| torsional, rolling friction | discs of the contact problem | by the speed of turning, full from 0.05 rad/s on, with f_N of the start of the step: slower turns creep | refused | refused |

What is refused:

- restitution, outside of rigid: a visco-elastic contact rebounds by its stiffness and damping, a momentum-level one is plastic by its law: `restitution` would be a
  second law for the same impact. A mass m on one contact with damping = 2 z sqrt(stiffness m), z < 1, rebounds by e = exp(-2 z acos(z) / sqrt(1 - z^2)).
- compliance, outside of rigid: in the visco-elastic families and microscopic it is `stiffness` = 1 / compliance and `damping` = relaxation_time / compliance, which is what
  `softness = "file"` gives them; the rest of the momentum family brings points to rest, without a length that a load would press them in by.
- loops (connect, weld) in the momentum family: its articulated-body passes are those of trees, and its relaxed impulses would leave a loop open.
- torsional and rolling friction in the momentum family: its program has one point force a contact, without moments.
- tendons, limits of ball joints and friction of free joints in the momentum family: they are rows along several coordinates, which its program does not have.
- more than 64 separate bodies, macroscopic with singular = "pivoting": it keeps a dense A.
)";

}  // namespace

std::string feature_page() {
  std::string text =
      "# Features of a model, and which stepper uses them\n"
      "A stepper that does not use a feature refuses a model that has it, by name, before the first step. This page "
      "is\n"
      "printed by `tribo list features --page`; a test keeps it true. Velocity limits of joints are ratings of motors: "
      "controllers\n"
      "may keep to them, no stepper enforces them. What runs under which stepper: [matrix.md](matrix.md).\n\n";
  std::string rule = "|---|";
  text += "| feature |";
  for (const StepperEntry& s : steppers()) {
    text += " " + s.name + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const FeatureEntry& entry : features()) {
    text += "| " + entry.name + ": " + entry.summary + " |";
    for (const StepperEntry& s : steppers()) text += uses(s, entry.feature) ? " used |" : " refused |";
    text += "\n";
  }
  return text + ways;
}

}  // namespace tribo
