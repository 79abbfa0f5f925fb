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
    case ShapeKind::Mesh:
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
  return solid.polytope->highest(n);
}

namespace {

/// The nearest point to x on the surface, y, has x = y + t grad: y_i = a_i^2 x_i / (a_i^2 + t), with t the largest root of
///   F(t) = sum (a_i x_i / (a_i^2 + t))^2 - 1,                                                            (support.1)
/// which falls and is convex from t = a_k (|x_k| - a_k) on, k the shortest axis: Newton's method from there goes past none.
double ellipsoid_distance(const Vec3& a, const Vec3& x, Vec3& n) {
  int k = 0;
  a.minCoeff(&k);
  const Vec3 squares = a.cwiseAbs2();
  double t = a[k] * (std::abs(x[k]) - a[k]);
  for (int round = 0; round < 40; ++round) {
    double F = -1, slope = 0;
    for (int i = 0; i < 3; ++i) {
      const double w = squares[i] + t;
      if (x[i] == 0 || !(w > 0)) continue;
      const double u = a[i] * x[i] / w;
      F += u * u;
      slope -= 2 * u * u / w;
    }
    if (!(F > 1e-15) || slope == 0) break;
    t -= F / slope;
  }
  // In the middle plane of the shortest axis, near the centre: straight out along that axis.
  Vec3 y = Vec3::Zero();
  double rest = 1;
  for (int i = 0; i < 3; ++i)
    if (squares[i] + t > 0) y[i] = squares[i] * x[i] / (squares[i] + t), rest -= y[i] * y[i] / squares[i];
  if (rest > 1e-12) y[k] = std::copysign(std::sqrt(y[k] * y[k] + rest * squares[k]), x[k]);
  n = y.cwiseQuotient(squares).normalized();
  return n.dot(x - y);
}

/// How far x is from a face that it is over, or from its sides, where that is less than best; out: the way there.
double over_face(const Polytope& p, const PolytopeFace& face, const Vec3& x, double best, Vec3& out) {
  const double height = face.n.dot(x) - face.offset;
  if (!(height > 0) || height >= best) return best;
  bool over = true;
  for (std::size_t k = 0; k < face.loop.size(); ++k) {
    const Vec3& a = p.vertices[at(face.loop[k])];
    const Vec3 side = p.vertices[at(face.loop[(k + 1) % face.loop.size()])] - a;
    if (face.n.dot(side.cross(x - a)) >= 0) continue;
    over = false;
    const Vec3 y = a + std::clamp(side.dot(x - a) / side.squaredNorm(), 0.0, 1.0) * side;
    const double d = (x - y).norm();
    if (d < best && d > 0) best = d, out = (x - y) / d;
  }
  if (over) out = face.n;
  return over ? height : best;
}

/// x is outside: the nearest of the faces that it is over, or of their sides; of equals the first.
double outside_polytope(const Polytope& p, const Vec3& x, Vec3& n) {
  double best = HUGE_VAL;
  int first = 0;
  p.each_face(
      -HUGE_VAL, [&](const TreeNode& node) { return -(1 - 1e-12) * node.corners.distance(x); },
      [&](int k) {
        Vec3 way = Vec3::Zero();
        const double above = k < first ? std::nextafter(best, HUGE_VAL) : best;
        const double d = over_face(p, p.faces[at(k)], x, above, way);
        if (d < above) best = d, n = way, first = k;
        return -best;
      });
  return best;
}

}  // namespace

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
    case ShapeKind::Ellipsoid:
      return ellipsoid_distance(solid.size, x, n);
    case ShapeKind::Cylinder:
      return cylinder_distance(solid.size, x, n);
    default:
      break;
  }
  double s = 0;
  n = solid.polytope->faces[solid.polytope->outermost_face(x, s)].n;
  return s > 0 ? outside_polytope(*solid.polytope, x, n) : s;
}

bool holds_within(const Solid& solid, const Vec3& x, double slack) {
  Vec3 n;
  if (solid.kind == ShapeKind::HalfSpace) return depth_of(solid, x, n) <= slack;
  if (((x - solid.box_center).cwiseAbs() - solid.box_half).maxCoeff() > slack) return false;
  double height = 0;
  const bool faces = solid.kind == ShapeKind::Box || solid.kind == ShapeKind::Convex;
  if (faces && (solid.polytope->outermost_face(x, height), height > slack)) return false;
  return depth_of(solid, x, n) <= slack;
}

}  // namespace tribo
