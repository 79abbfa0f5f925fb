// Which routine looks at which pair of kinds.
#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

/// Order of kinds in which the routines take their arguments.
int rank(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::HalfSpace:
    case ShapeKind::HeightField:
    case ShapeKind::Mesh:
      return 0;
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      return 1;
    case ShapeKind::Capsule:
      return 2;
    case ShapeKind::Ellipsoid:
      return 3;
    case ShapeKind::Box:
      return 4;
    case ShapeKind::Convex:
      return 5;
    case ShapeKind::Cylinder:
      return 6;
  }
  return 0;
}

void touch_sphere(const Query& query, Touches& out) {
  const ShapeKind b = query.b.solid->kind;
  switch (b) {
    case ShapeKind::Capsule:
      return touch_sphere_capsule(query, out);
    case ShapeKind::Box:
      return touch_sphere_box(query, out);
    case ShapeKind::Ellipsoid:
    case ShapeKind::Convex:
    case ShapeKind::Cylinder:
      return touch_sphere_solid(query, out);
    default:
      if (query.a.solid->kind != ShapeKind::Point || b != ShapeKind::Point) touch_sphere_sphere(query, out);
  }
}

void touch_ranked(const Query& query, Touches& out) {
  const ShapeKind a = query.a.solid->kind, b = query.b.solid->kind;
  switch (rank(a)) {
    case 0:
      if (a == ShapeKind::Mesh) return touch_mesh(query, out);
      return a == ShapeKind::HalfSpace ? touch_half_space(query, out) : touch_terrain(query, out);
    case 1:
      return touch_sphere(query, out);
    case 2:
      if (b == ShapeKind::Capsule) return touch_capsule_capsule(query, out);
      if (b == ShapeKind::Ellipsoid) return touch_smooth(query, out);
      if (b == ShapeKind::Cylinder && touch_parallel(query, out)) return;
      return touch_capsule_polytope(query, out);
    case 3:
      if (b == ShapeKind::Ellipsoid) return touch_smooth(query, out);
      return touch_ellipsoid_polytope(query, out);
    default:
      if (b == ShapeKind::Box) return touch_box_box(query, out);
      if (a == ShapeKind::Cylinder && touch_parallel(query, out)) return;
      return touch_polytope_polytope(query, out);
  }
}

}  // namespace

void touch(const Query& query, Touches& out) {
  if (rank(query.a.solid->kind) <= rank(query.b.solid->kind)) return touch_ranked(query, out);
  const int first = out.count;
  touch_ranked({query.b, query.a, query.margin, query.dt, query.reach, query.scratch, query.bend, query.ring}, out);
  for (int i = first; i < out.count; ++i) out.items[static_cast<std::size_t>(i)].n *= -1;
}

}  // namespace tribo
