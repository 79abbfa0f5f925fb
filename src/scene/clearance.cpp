#include "scene/clearance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
      double low = std::numeric_limits<double>::infinity();
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
  return std::numeric_limits<double>::infinity();
}

Lowest lowest_points(const Model& model, const VecX& q, int member, const Vec3& up) {
  Dynamics dynamics(model);
  dynamics.compute(q, VecX::Zero(model.nv));
  return lowest_points(model, dynamics, member, up);
}

Lowest lowest_points(const Model& model, const Dynamics& dynamics, int member, const Vec3& up) {
  Lowest low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const Geometry& g : model.geometries) {
    if (g.member != member) continue;
    if (g.body >= 0)
      low.moving = std::min(low.moving, lowest_point(g, dynamics.X_WB(g.body) * g.X_BG, up));
    else if (g.body == -1)
      low.fixed = std::min(low.fixed, lowest_point(g, g.X_BG, up));
  }
  return low;
}

}  // namespace tribo
