#include "collision/touching_features.hpp"

#include <algorithm>

namespace tribo {
namespace {

constexpr int most_edges = 32;
constexpr double same_height = 1e-6;    // of the radius: heights that differ by less are equal
constexpr double parallel = 1e-6;       // sine of the angle between edges below which they have no common normal
constexpr double end_tolerance = 1e-9;  // of an edge: it may be met this far beyond its ends

struct Edges {
  std::array<std::pair<Vec3, Vec3>, most_edges> ends;  // in W
  int count = 0;
};

/// Edges that pass within `near` of p; each is in two faces, and taken from the one where it rises in index.
void list_edges(const PlacedSolid& x, const Vec3& p, double near, std::vector<int>& picked, Edges& out) {
  const Polytope& polytope = *x.solid->polytope;
  const Vec3 p_B = x.X.R.transpose() * (p - x.X.p);
  polytope.faces_near(p_B, 1.01 * near, picked);
  for (const int f : picked) {
    const PolytopeFace& face = polytope.faces[at(f)];
    if (std::abs(face.n.dot(p_B) - face.offset) > 1.01 * near) continue;  // no point of it is as near
    for (std::size_t k = 0; k < face.loop.size() && out.count < most_edges; ++k) {
      const int i = face.loop[k], j = face.loop[(k + 1) % face.loop.size()];
      if (i > j) continue;
      const Vec3 &from = polytope.vertices[at(i)], d = polytope.vertices[at(j)] - from;
      const double s = std::clamp(d.dot(p_B - from) / d.squaredNorm(), 0.0, 1.0);
      if ((from + s * d - p_B).squaredNorm() < near * near)
        out.ends[at(out.count++)] = {x.X * from, x.X * polytope.vertices[at(j)]};
    }
  }
}

/// Midway between the nearest points of two lines that are not parallel; false where that is beyond the ends.
bool crossing(const std::pair<Vec3, Vec3>& a, const std::pair<Vec3, Vec3>& b, Vec3& p) {
  const Vec3 u = a.second - a.first, v = b.second - b.first, d = b.first - a.first;
  const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), det = uu * vv - uv * uv;
  const double s = (vv * u.dot(d) - uv * v.dot(d)) / det, t = (uv * u.dot(d) - uu * v.dot(d)) / det;
  if (std::abs(s - 0.5) > 0.5 + end_tolerance || std::abs(t - 0.5) > 0.5 + end_tolerance) return false;
  p = 0.5 * (a.first + s * u + b.first + t * v);
  return true;
}

}  // namespace

std::size_t facing_face(const PlacedSolid& solid, const Vec3& n) {
  const Polytope& o = *solid.solid->polytope;
  const Vec3 n_O = solid.X.R.transpose() * n;
  const auto height = [&](int k) {  // of the lowest two corners, together
    double first = HUGE_VAL, second = HUGE_VAL;
    for (int i : o.faces[at(k)].loop) {
      const double height = n_O.dot(o.vertices[at(i)]);
      second = std::min(second, std::max(first, height));
      first = std::min(first, height);
    }
    return first + second;
  };
  double least = HUGE_VAL, along = HUGE_VAL;
  int best = 0;
  const auto lower = [&](int k) { return -(least = std::min(least, height(k))); };
  const auto around = [&](auto&& look) {  // where they are likely to be
    if (!o.tree.empty())
      for (int k : o.climb.faces_at(o.climb.highest(-n_O).corner)) look(k);
  };
  around(lower);
  const double slack = 1e-3 * same_height * solid.solid->radius;  // what is lower by less need not be found
  o.each_face(
      -least, [&](const TreeNode& node) { return -2 * node.corners.lowest(n_O) - slack; }, lower);
  // The direction among those that have it.
  constexpr double none = -2;  // below any cosine
  const double enough = least + same_height * solid.solid->radius;
  const auto turned = [&](int k) {
    const double cosine = o.faces[at(k)].n.dot(n_O);
    if ((cosine < along || (cosine == along && k < best)) && height(k) <= enough) along = cosine, best = k;
    return std::max(none, -along);
  };
  around(turned);
  o.each_face(
      std::max(none, -along),
      [&](const TreeNode& node) {
        return 2 * node.corners.lowest(n_O) <= enough ? -node.normals.lowest(n_O) : -HUGE_VAL;
      },
      turned);
  return at(best);
}

Separation part_by_edges(const Query& query, const Vec3& p, double near) {
  Edges of_a, of_b;
  list_edges(query.a, p, near, query.scratch->picked, of_a);
  list_edges(query.b, p, near, query.scratch->picked, of_b);
  const Vec3 way = query.b.X * query.b.solid->box_center - query.a.X * query.a.solid->box_center;
  Separation best{-HUGE_VAL, p, Vec3::Constant(NAN)};
  for (int i = 0; i < of_a.count; ++i)
    for (int j = 0; j < of_b.count; ++j) {
      const auto &a = of_a.ends[at(i)], &b = of_b.ends[at(j)];
      const Vec3 u = a.second - a.first, v = b.second - b.first, cross = u.cross(v);
      const double length = cross.norm();
      if (length < parallel * u.norm() * v.norm()) continue;
      const Vec3 n = (cross.dot(way) < 0 ? -1 / length : 1 / length) * cross;
      const double s = n.dot(query.b.X.p - query.a.X.p) - reach_along(*query.a.solid, query.a.X.R.transpose() * n) -
                       reach_along(*query.b.solid, query.b.X.R.transpose() * -n);
      Vec3 met = p;
      if (s > best.gap && crossing(a, b, met)) best = {s, met, n};
    }
  return best;
}

}  // namespace tribo
