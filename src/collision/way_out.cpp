// Which way a point or ball leaves a box or hull that it has sunk into: by the nearest face, but by none that stands on the ground
// or against another solid. It did not come through there, and would be pressed into what stands behind.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double beyond = 1e-6;  // of the solid: how far behind a face a point looks

bool is_ball(const PlacedSolid& x) { return x.solid->kind == ShapeKind::Point || x.solid->kind == ShapeKind::Sphere; }

/// Is a place taken by a solid that keeps its place to x?
bool taken(const PlacedSolid& x, std::span<const PlacedSolid> all, const Query& query, const Vec3& p) {
  return std::any_of(all.begin(), all.end(), [&](const PlacedSolid& other) {
    if (&other == &query.a || &other == &query.b || !other.solid->convex_or_flat()) return false;
    if (other.body != -1 && other.body != x.body) return false;
    if (other.solid->kind == ShapeKind::HalfSpace) return other.X.R.col(2).dot(p - other.X.p) < 0;
    Vec3 n;
    return depth_of(*other.solid, other.X.R.transpose() * (p - other.X.p), n) < 0;
  });
}

}  // namespace

void leave_by_free_face(const Query& query, std::span<const PlacedSolid> all, Touch& touch) {
  const bool first = is_ball(query.a);
  const PlacedSolid &ball = first ? query.a : query.b, &x = first ? query.b : query.a;
  const bool faces = x.solid->kind == ShapeKind::Box || x.solid->kind == ShapeKind::Convex;
  if (!faces || (!first && !is_ball(query.b))) return;
  const Vec3 center = x.X.R.transpose() * (ball.X.p - x.X.p);
  const double r = ball.solid->round, behind = std::max(r, beyond * x.solid->radius);
  double least = HUGE_VAL;
  Touch found = touch;
  const std::vector<PolytopeFace>& all_faces = x.solid->polytope->faces;
  for (std::size_t k = 0; k < all_faces.size(); ++k) {
    const PolytopeFace& face = all_faces[k];
    const double depth = face.offset - face.n.dot(center);
    if (depth < 0) return;  // outside
    const Vec3 out = x.X.R * face.n;
    if (depth >= least || taken(x, all, query, ball.X.p + (depth + behind) * out)) continue;
    least = depth;
    const double gap = -depth - r;
    found = {ball.X.p - (r + 0.5 * gap) * out, first ? Vec3(-out) : out, gap, k};
  }
  if (found.n.dot(touch.n) < 0.999) touch = found;
}

}  // namespace tribo
