// Which routine looks at which pair of kinds.
#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

/// Order of kinds in which the routines take their arguments.
int rank(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::HalfSpace:
      return 0;
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      return 1;
    case ShapeKind::Capsule:
      return 2;
    case ShapeKind::Box:
      return 3;
    case ShapeKind::Convex:
      return 4;
    case ShapeKind::Cylinder:
    case ShapeKind::Ellipsoid:
    case ShapeKind::HeightField:
      return 5;
  }
  return 0;
}

void touch_ranked(const Query& query, Touches& out) {
  const ShapeKind a = query.a.solid->kind, b = query.b.solid->kind;
  switch (rank(a)) {
    case 0:
      return touch_half_space(query, out);
    case 1:
      if (rank(b) == 1) {
        if (a == ShapeKind::Point && b == ShapeKind::Point) return;
        return touch_sphere_sphere(query, out);
      }
      if (b == ShapeKind::Capsule) return touch_sphere_capsule(query, out);
      if (b == ShapeKind::Box) return touch_sphere_box(query, out);
      return touch_sphere_polytope(query, out);
    case 2:
      if (b == ShapeKind::Capsule) return touch_capsule_capsule(query, out);
      return touch_capsule_polytope(query, out);
    default:
      if (b == ShapeKind::Box) return touch_box_box(query, out);
      return touch_polytope_polytope(query, out);
  }
}

}  // namespace

void touch(const Query& query, Touches& out) {
  if (rank(query.a.solid->kind) <= rank(query.b.solid->kind)) return touch_ranked(query, out);
  const int first = out.count;
  touch_ranked({query.b, query.a, query.margin, query.dt, query.reach, query.scratch}, out);
  for (int i = first; i < out.count; ++i) out.items[static_cast<std::size_t>(i)].n *= -1;
}

}  // namespace tribo
