#include "dynamics/clearance.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {

double lowest_point(const Geometry& g, const Placement& X_WG, const Vec3& up) {
  const Vec3 d = X_WG.R.transpose() * up;
  const double middle = up.dot(X_WG.p);
  switch (g.kind) {
    case ShapeKind::Point:
      return middle;
    case ShapeKind::Sphere:
      return middle - g.size.x();
    case ShapeKind::Box:
      return middle - d.cwiseAbs().dot(g.size);
    case ShapeKind::Capsule:
      return middle - g.size.x() - std::abs(d.z()) * g.size.z();
    case ShapeKind::Convex: {
      double low = inf;
      for (const Vec3& v : g.hull->vertices) low = std::min(low, d.dot(v));
      return middle + low;
    }
    case ShapeKind::Cylinder:
      return middle - g.size.x() * std::hypot(d.x(), d.y()) - std::abs(d.z()) * g.size.z();
    case ShapeKind::Ellipsoid:
      return middle - d.cwiseProduct(g.size).norm();
    case ShapeKind::HalfSpace:
    case ShapeKind::HeightField:
    case ShapeKind::Mesh:
      break;
  }
  return inf;
}

Lowest lowest_points(const Model& model, const VecX& q, int member, const Vec3& up) {
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  return lowest_points(model, dynamics, member, up);
}

Lowest lowest_points(const Model& model, const Dynamics& dynamics, int member, const Vec3& up) {
  Lowest low{inf, inf};
  for (const Geometry& g : model.geometries) {
    if (g.member != member) continue;
    if (g.body >= 0)
      low.moving = std::min(low.moving, lowest_point(g, dynamics.X_WB(g.body) * g.X_BG, up));
    else if (g.body == -1)
      low.fixed = std::min(low.fixed, lowest_point(g, g.X_BG, up));
  }
  return low;
}

namespace {

constexpr double robot_share = 0.01, object_share = 0.1;

/// What a member may overlap with others: a share of the box around its shapes [m].
double allowed_overlap(const Model& model, const Dynamics& dynamics, int member) {
  Vec3 edges;
  for (int k = 0; k < 3; ++k) {
    const Lowest low = lowest_points(model, dynamics, member, Vec3::Unit(k));
    const Lowest high = lowest_points(model, dynamics, member, -Vec3::Unit(k));
    edges[k] = -std::min(low.moving, low.fixed) - std::min(high.moving, high.fixed);
  }
  if (!edges.allFinite()) return inf;
  const bool robot = model.members[at(member)].robot;
  return std::max(least_allowed_overlap, robot ? robot_share * edges.maxCoeff() : object_share * edges.minCoeff());
}

}  // namespace

std::vector<double> allowed_overlaps(const Model& model, const VecX& q) {
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  std::vector<double> of_members, allowed;
  for (int m = 0; m < static_cast<int>(model.members.size()); ++m)
    of_members.push_back(allowed_overlap(model, dynamics, m));
  for (const Geometry& g : model.geometries) allowed.push_back(g.member < 0 ? inf : of_members[at(g.member)]);
  return allowed;
}

}  // namespace tribo
