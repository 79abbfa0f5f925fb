#include "model/coal_shapes.hpp"

#include <coal/BVH/BVH_model.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <cmath>

namespace tribo {
namespace {

// Cones have no kind of their own: they are hulls of 16-sided pyramids, whose corners lie on the circle, so that the
// shape is at most 2 % of the radius smaller.
constexpr int sides = 16;

void add_circle(double radius, double z, std::vector<Vec3>& points) {
  for (int k = 0; k < sides; ++k) {
    const double a = 2 * M_PI * (k + 0.5) / sides;
    points.emplace_back(radius * std::cos(a), radius * std::sin(a), z);
  }
}

void set_hull(const std::vector<Vec3>& points, Geometry& geometry) {
  geometry.kind = ShapeKind::Convex;
  geometry.hull = make_hull(points, "geometry '" + geometry.name + "'");
}

}  // namespace

void convert_shape(const coal::CollisionGeometry& shape, Geometry& geometry) {
  std::vector<Vec3> points;
  switch (shape.getNodeType()) {
    case coal::GEOM_SPHERE:
      geometry.kind = ShapeKind::Sphere;
      geometry.size = Vec3(static_cast<const coal::Sphere&>(shape).radius, 0, 0);
      return;
    case coal::GEOM_BOX:
      geometry.kind = ShapeKind::Box;
      geometry.size = static_cast<const coal::Box&>(shape).halfSide;
      return;
    case coal::GEOM_CAPSULE: {
      const auto& capsule = static_cast<const coal::Capsule&>(shape);
      geometry.kind = ShapeKind::Capsule;
      geometry.size = Vec3(capsule.radius, 0, capsule.halfLength);
      return;
    }
    case coal::GEOM_CYLINDER: {
      const auto& cylinder = static_cast<const coal::Cylinder&>(shape);
      geometry.kind = ShapeKind::Cylinder;
      geometry.size = Vec3(cylinder.radius, 0, cylinder.halfLength);
      return;
    }
    case coal::GEOM_ELLIPSOID:
      geometry.kind = ShapeKind::Ellipsoid;
      geometry.size = static_cast<const coal::Ellipsoid&>(shape).radii;
      return;
    case coal::GEOM_CONE: {
      const auto& cone = static_cast<const coal::Cone&>(shape);
      add_circle(cone.radius, -cone.halfLength, points);
      points.emplace_back(0, 0, cone.halfLength);
      return set_hull(points, geometry);
    }
    case coal::GEOM_CONVEX: {
      const auto& convex = static_cast<const coal::ConvexBase&>(shape);
      points.assign(convex.points->begin(), convex.points->begin() + convex.num_points);
      return set_hull(points, geometry);
    }
    default:
      break;
  }
  const auto* mesh = dynamic_cast<const coal::BVHModelBase*>(&shape);
  if (mesh == nullptr || mesh->vertices == nullptr || mesh->num_vertices == 0)
    throw InvalidInput("geometry '" + geometry.name +
                       "': its shape is none of sphere, box, capsule, cylinder, ellipsoid, cone, mesh");
  points.assign(mesh->vertices->begin(), mesh->vertices->begin() + mesh->num_vertices);
  set_hull(points, geometry);
}

}  // namespace tribo
