#include "scene/model_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/names.hpp"
#include "dynamics/articulated.hpp"
#include "linalg/decompositions.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/workspace.hpp"

namespace tribo {
namespace {

std::string joint_of(const Model& model, int iv) {
  for (const Body& body : model.bodies)
    if (iv >= body.iv && iv < body.iv + nv_of(body.joint)) return "'" + body.name + "'";
  return "";
}

// URDF files whose inertias are left out are made for a reader that takes them from the shapes.
std::string shapes_give(const Model& model, int iv) {
  for (const Member& member : model.members) {
    const bool urdf = member.source.size() > 5 && member.source.substr(member.source.size() - 5) == ".urdf";
    if (urdf && iv >= member.iv && iv < member.iv + member.nv)
      return "; inertia = \"shapes\" in [robot] takes it from the collision shapes";
  }
  return "";
}

// Of each velocity coordinate: a smaller inertia is rounding beside that of its tree.
std::vector<double> least_inertia(const Model& model, const Dynamics& dynamics) {
  std::vector<double> least(at(model.nv), 0);
  for (const Tree& tree : model.trees) {
    double largest = 0;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) largest = std::max(largest, dynamics.inertia(k));
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) least[at(k)] = 1e-15 * largest;
  }
  return least;
}

}  // namespace

VecX effective_inertia(const Model& model, const Dynamics& dynamics) {
  ArticulatedBody bodies(model);
  bodies.factor(dynamics, VecX::Zero(model.nv));
  VecX inertia;
  bodies.inverse_diagonal(inertia);
  inertia = inertia.cwiseInverse();
  return inertia;
}

std::vector<std::string> find_errors(const Model& model, const State& start) {
  std::vector<std::string> errors;
  if (!start.q.allFinite() || !start.v.allFinite()) errors.emplace_back("the state at the start is not finite");
  const JointProperties& p = model.joints;
  for (int k = 0; k < model.nv; ++k) {
    const std::string owner = "joint " + joint_of(model, k) + ": ";
    if (p.lower[k] > p.upper[k])
      errors.push_back(owner + "limits are reversed: lower " + shown(p.lower[k]) + " is above upper " +
                       shown(p.upper[k]));
    for (const auto& [x, name] :
         {std::pair{&p.damping, "damping"}, std::pair{&p.armature, "armature"}, std::pair{&p.friction, "friction"}})
      if (!((*x)[k] >= 0) || std::isinf((*x)[k]))
        errors.push_back(owner + name + " = " + shown((*x)[k]) + ", must be finite and >= 0");
  }
  if (!errors.empty()) return errors;
  // A joint that moves nothing has no inertia to solve for: its pivot in the factor of M vanishes.
  Dynamics dynamics(model);
  dynamics.compute(start.q, VecX::Zero(model.nv));
  dynamics.factor(VecX::Zero(model.nv));
  const VecX inertia = effective_inertia(model, dynamics);
  const std::vector<double> least = least_inertia(model, dynamics);
  for (int k = 0; k < model.nv; ++k) {
    if (inertia[k] > 1e-13 * dynamics.inertia(k) && inertia[k] > least[at(k)]) continue;
    // Alone it moves something, and together with its neighbours nothing: they turn masses that have no size.
    const bool alone = !(dynamics.inertia(k) > least[at(k)]);
    std::string error = "joint " + joint_of(model, k) +
                        (alone ? " moves nothing that has inertia about its axis: give the body a mass and an inertia"
                               : " and its neighbours turn bodies that have mass and no moments of inertia, so that "
                                 "together they can move without inertia: give the bodies an inertia") +
                        ", or the joint an armature" + shapes_give(model, k);
    if (errors.empty() || errors.back() != error) errors.push_back(std::move(error));  // once for a joint
  }
  return errors;
}

std::vector<std::string> find_doubts(const Model& model) {
  std::vector<std::string> doubts;
  for (const Body& body : model.bodies) {
    const Mat3& I = body.inertia.about_com;
    const Vec3 p = principal_axes(0.5 * (I + I.transpose())).values;
    const double size = p.cwiseAbs().maxCoeff();
    if (size <= 1e-15 * body.inertia.mass) continue;  // a point, to rounding
    if (p[0] < -1e-6 * size)
      doubts.push_back("body '" + body.name + "': its inertia is not positive: principal moments " + shown(p[0]) +
                       ", " + shown(p[1]) + ", " + shown(p[2]) + " kg m^2");
    else if (p[2] > (p[0] + p[1]) * (1 + 1e-3) + 1e-12 * body.inertia.mass)
      doubts.push_back("body '" + body.name + "': its inertia breaks the triangle inequality: " + shown(p[2]) +
                       " is above " + shown(p[0]) + " + " + shown(p[1]) + " kg m^2");
  }
  return doubts;
}

std::vector<std::string> find_beyond_ranges(const Model& model, const State& start) {
  constexpr double slack = 1e-3;  // rounding of files [rad] or [m]
  std::vector<std::pair<double, std::string>> list;
  for (const Body& body : model.bodies) {
    if (body.joint != JointKind::Revolute && body.joint != JointKind::Prismatic) continue;
    const double q = start.q[body.iq], lower = model.joints.lower[body.iv], upper = model.joints.upper[body.iv];
    const double beyond = std::max(lower - q, q - upper);
    const char* unit = body.joint == JointKind::Revolute ? " rad" : " m";
    if (beyond > slack)
      list.emplace_back(beyond, "joint '" + body.name + "' starts at " + shown(q) + unit + ", " + shown(beyond) + unit +
                                    " beyond its range [" + shown(lower) + ", " + shown(upper) +
                                    "]: choose another pose");
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  lines.reserve(list.size());
  for (const auto& [beyond, line] : list) lines.push_back(line);
  return lines;
}

std::vector<std::string> find_overlaps(const Model& model, const State& start) {
  Workspace work(model);
  work.dynamics.compute(start.q, VecX::Zero(model.nv));
  fill_motions(model, work.dynamics, start.kinematic_time(), 0, work.motions);
  const std::size_t most = 20'000 + 60 * model.geometries.size();  // a dense packing of boxes has 13 each
  if (work.collision.crowded(work.motions, most))
    throw InvalidInput("more than " + std::to_string(most) + " pairs of shapes overlap at the start: place them apart");
  work.collision.detect(work.motions, {-1, 0}, {});
  std::map<std::pair<int, int>, double> deepest;
  for (const Contact& c : work.collision.contacts())
    if (c.gap < -1e-4) {
      double& depth = deepest[{c.geometry_a, c.geometry_b}];
      depth = std::max(depth, -c.gap);
    }
  std::vector<std::pair<double, std::string>> list;
  list.reserve(deepest.size());
  for (const auto& [pair, depth] : deepest)
    list.emplace_back(depth, "'" + model.geometries[at(pair.first)].name + "' and '" +
                                 model.geometries[at(pair.second)].name + "' overlap at the start by " +
                                 shown(1000 * depth) + " mm");
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  lines.reserve(list.size());
  for (const auto& [depth, line] : list) lines.push_back(line);
  for (const auto& [a, b] : work.collision.joined())
    lines.push_back("'" + model.geometries[at(a)].name + "' and '" + model.geometries[at(b)].name +
                    "' overlap whatever the joint between them does: contact between them is left out");
  return lines;
}

std::vector<OpenLoop> find_open_loops(const Model& model, const State& start) {
  Dynamics dynamics(model);
  dynamics.compute(start.q, VecX::Zero(model.nv));
  std::vector<Row> rows;
  Closures::list(model, start.q, dynamics, start.kinematic_time(), 0, rows);
  std::vector<OpenLoop> loops;
  for (std::size_t k = 0; k < model.equalities.size(); ++k) {
    const Equality& equality = model.equalities[k];
    const bool joint = equality.kind == EqualityKind::Joint;
    double way = 0, turn = 0;  // squares
    for (const Row& row : rows)
      if (const EqualityPart* part = row.as<EqualityPart>(); part && part->element == static_cast<int>(k))
        (std::holds_alternative<BodyTurns>(row.along) ? turn : way) += row.error * row.error;
    const bool turned = std::sqrt(way) <= OpenLoop::least;
    const double gap = std::sqrt(turned ? turn : way);
    if (!(gap > OpenLoop::least)) continue;
    const bool angle = turned || (joint && model.bodies[at(equality.body_a)].joint == JointKind::Revolute);
    loops.push_back({gap, angle ? "rad" : "m",
                     "constraint '" + equality.name + "' does not hold at the start: it is open by " +
                         (angle ? shown(gap) + " rad" : shown(1e3 * gap) + " mm")});
  }
  return loops;
}

}  // namespace tribo
