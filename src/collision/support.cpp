// How far a solid reaches in a direction, and how deep a point lies in it.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {

double reach_along(const Solid& solid, const Vec3& n) {
  const Vec3& size = solid.size;
  switch (solid.kind) {
    case ShapeKind::HalfSpace:
      return std::hypot(n.x(), n.y()) <= 1e-12 * std::abs(n.z()) && n.z() > 0 ? 0 : HUGE_VAL;
    case ShapeKind::HeightField:
      return HUGE_VAL;
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      return solid.round;
    case ShapeKind::Capsule:
      return std::abs(n.z()) * size.z() + solid.round;
    case ShapeKind::Box:
      return n.cwiseAbs().dot(size);
    case ShapeKind::Cylinder:
      return std::abs(n.z()) * size.z() + std::hypot(n.x(), n.y()) * size.x();
    case ShapeKind::Ellipsoid:
      return n.cwiseProduct(size).norm();
    case ShapeKind::Convex:
      break;
  }
  double most = -HUGE_VAL;
  for (const Vec3& x : solid.polytope->vertices) most = std::max(most, n.dot(x));
  return most;
}

double depth_of(const Solid& solid, const Vec3& x, Vec3& n) {
  switch (solid.kind) {
    case ShapeKind::HalfSpace:
      n = Vec3::UnitZ();
      return x.z();
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      n = direction(x, Vec3::UnitZ());
      return x.norm() - solid.round;
    case ShapeKind::Capsule: {
      const Vec3 d = x - Vec3(0, 0, std::clamp(x.z(), -solid.size.z(), solid.size.z()));
      n = direction(d, Vec3::UnitX());
      return d.norm() - solid.round;
    }
    case ShapeKind::Ellipsoid: {  // first order, exact on the surface
      const Vec3 u = x.cwiseQuotient(solid.size), g = u.cwiseQuotient(solid.size);
      n = direction(g, Vec3::UnitZ());
      const double length = u.norm();
      return length * (length - 1) / std::max(g.norm(), 1e-12);
    }
    case ShapeKind::Cylinder:
      return cylinder_distance(solid.size, x, n);
    default:
      break;
  }
  double s = -HUGE_VAL;
  for (const PolytopeFace& face : solid.polytope->faces)
    if (const double height = face.n.dot(x) - face.offset; height > s) s = height, n = face.n;
  return s;
}

}  // namespace tribo
