// Round sides along a line: two capsules or cylinders side by side, or one along the edge of a box or hull. Both ends of the
// common stretch touch: one point alone would let the axis turn about it, and jump from end to end.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double parallel =
    1e-4;  // square of the sine between axes: there one point alone would begin to jump from end to end
constexpr double on_the_edge = 1e-3;  // of the rod's radius: how near the touching point lies to the edge
constexpr double same_normal = 0.99;

/// A segment with a radius: the axis of a rod, or an edge.
struct Line {
  Vec3 p, u;  // middle and direction
  double half, r;
};

Line axis_of(const PlacedSolid& x) { return {x.X.p, x.X.R.col(2), x.solid->size.z(), x.solid->size.x()}; }

/// Where on a the common stretch begins and ends.
std::pair<double, double> stretch(const Line& a, const Line& b) {
  const double along = (b.p - a.p).dot(a.u);
  return {std::max(-a.half, along - b.half), std::min(a.half, along + b.half)};
}

bool side_by_side(const Line& a, const Line& b) {
  const double c = a.u.dot(b.u);
  const auto [lo, hi] = stretch(a, b);
  return 1 - c * c < parallel && hi - lo > 1e-6 * (a.half + b.half);
}

void add_ends(const Query& query, const Line& a, const Line& b, std::uint64_t first, Touches& out) {
  const auto [lo, hi] = stretch(a, b);
  const double c = a.u.dot(b.u), from = (b.p - a.p).dot(b.u);
  for (unsigned end = 0; end < 2; ++end) {
    const double s = end ? hi : lo, t = std::clamp(s * c - from, -b.half, b.half);
    const Vec3 x = a.p + s * a.u, d = b.p + t * b.u - x, n = direction(d, across(a.u));
    const double gap = d.dot(n) - a.r - b.r;  // (round.1)
    out.add(query, x + (a.r + 0.5 * gap) * n, n, gap, first + end);
  }
}

/// The edge of a polytope that is parallel to an axis and nearest to y; false where none is near.
bool find_edge(const PlacedSolid& x, const Line& rod, const Vec3& y, Line& edge) {
  const Polytope& polytope = *x.solid->polytope;
  const Vec3 point = x.X.R.transpose() * (y - x.X.p), axis = x.X.R.transpose() * rod.u;
  double least = on_the_edge * rod.r;
  int first = 0;  // the face that it was found in
  bool found = false;
  const auto look = [&](int f) {
    const PolytopeFace& face = polytope.faces[at(f)];
    for (std::size_t k = 0; k < face.loop.size(); ++k) {
      const Vec3 &p = polytope.vertices[at(face.loop[k])],
                 &q = polytope.vertices[at(face.loop[(k + 1) % face.loop.size()])];
      const Vec3 side = q - p;
      const double squared = side.squaredNorm();
      if (!(side.cross(axis).squaredNorm() < parallel * squared)) continue;
      const double distance = (p + std::clamp(side.dot(point - p) / squared, 0.0, 1.0) * side - point).norm();
      if (!(distance < least || (distance == least && f < first && found))) continue;
      least = distance;
      found = true;
      first = f;
      const double length = std::sqrt(squared);
      edge = {x.X * Vec3(0.5 * (p + q)), x.X.R * (side / length), 0.5 * length, 0};
    }
    return -least;
  };
  polytope.each_face(
      -least, [&](const TreeNode& node) { return -(1 - 1e-12) * node.corners.distance(point); }, look);
  return found;
}

}  // namespace

bool touch_parallel(const Query& query, Touches& out) {
  const Line a = axis_of(query.a), b = axis_of(query.b);
  if (!side_by_side(a, b)) return false;
  // Cylinders whose ends overlap less than their sides stand on each other.
  const bool ends = query.a.solid->kind == ShapeKind::Cylinder && query.b.solid->kind == ShapeKind::Cylinder;
  const auto [lo, hi] = stretch(a, b);
  const Vec3 d = b.p - a.p;
  if (ends && (d - d.dot(a.u) * a.u).norm() - a.r - b.r < lo - hi) return false;
  add_ends(query, a, b, 0, out);
  return true;
}

bool touch_along_edge(const Query& query, const Separation& x, Touches& out) {
  const bool first = query.a.solid->kind == ShapeKind::Capsule;
  const PlacedSolid &rod = first ? query.a : query.b, &solid = first ? query.b : query.a;
  const bool edges = solid.solid->kind == ShapeKind::Box || solid.solid->kind == ShapeKind::Convex;
  if (!edges || (!first && rod.solid->kind != ShapeKind::Cylinder) || !std::isfinite(x.gap)) return false;
  const Line axis = axis_of(rod);
  Line edge;
  if (!find_edge(solid, axis, x.p + (first ? 0.5 : -0.5) * x.gap * x.n, edge) || !side_by_side(axis, edge))
    return false;
  Vec3 away = axis.p - edge.p;  // from the edge, across it
  away -= away.dot(edge.u) * edge.u;
  if (away.dot(first ? Vec3(-x.n) : x.n) < same_normal * away.norm()) return false;
  constexpr std::uint64_t feature = 3;  // 1 and 2: a point that GJK found
  if (first)
    add_ends(query, axis, edge, feature, out);
  else
    add_ends(query, edge, axis, feature, out);
  return true;
}

}  // namespace tribo
