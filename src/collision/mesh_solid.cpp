// Solids on triangle meshes. Corners and ends, as balls, miss what a round side, an edge or a face of the solid meets. With
// s(n) = min n . y over the solid, as on terrain (terrain.3) to (terrain.6):
//   peak at x:                            the signed distance of x from the solid, where (mesh.1) holds
//   face with normal n through a:         gap = s(n) - n . a, where a lowest point of a round solid is over it
//   ridge through e, n turns about it from the normal of one face to that of the other, or to the plane of the face where the
//   mesh ends: gap = max over n of s(n) - n . e, where the lowest points of the solid along that n cross it
// A feature alone does not know where others end: what it tells of an overlap is taken where it is at most four times as deep as
// the feature lies in the solid, and else only if nothing else tells of it.
#include <algorithm>

#include "collision/lowest_points.hpp"
#include "collision/mesh.hpp"

namespace tribo {
namespace {

constexpr int mesh_cap = 24;      // points that stand for a cap
constexpr double at_peak = 1e-5;  // sine by which the mesh may rise from a peak and count as flat
constexpr double too_deep = 4;    // times what the feature itself is inside

/// A solid near a mesh, all in the frame of the mesh.
struct NearMesh {
  explicit NearMesh(const Query& q) : query(q), tree(*q.a.solid->mesh), solid(*q.b.solid), X(q.a.X.inverse() * q.b.X) {
    center = X * solid.box_center;
    half = X.R.cwiseAbs() * solid.box_half + Vec3::Constant(q.reach);
  }
  /// No point of the solid is lower along n.
  double lowest(const Vec3& n) const { return lowest_height(solid, X, n); }
  double depth(const Vec3& x) const {
    Vec3 n = Vec3::UnitZ();
    return depth_of(solid, X.R.transpose() * (x - X.p), n);
  }
  double small() const { return equally_low * solid.radius; }

  void add(const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) const {
    add_candidate(query, p, n, gap, feature);
  }
  /// A feature that lies in the solid and has no contact to tell of.
  void refuse(const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) {
    if (gap > refused.gap) refused = {p, n, gap, feature};
  }

  const Query& query;
  const MeshTree& tree;
  const Solid& solid;
  Placement X;
  Vec3 center, half;
  Touch refused{Vec3::Zero(), Vec3::UnitZ(), -HUGE_VAL, 0};
};

/// Inside a solid with faces, the way out is through one that the peak can press on.
void add_peak(NearMesh& o, int vertex, std::uint64_t feature) {
  const Vec3 &x = o.tree.points[at(vertex)], x_B = o.X.R.transpose() * (x - o.X.p);
  Vec3 n_B = Vec3::UnitZ();
  const double depth = depth_of(o.solid, x_B, n_B);
  if (!(depth < o.query.reach)) return;
  Vec3 n = -(o.X.R * n_B);
  const double turned =
      depth < 0 ? std::min(0.1, -depth / o.solid.box_half.minCoeff()) : 0;  // sinking turns the normal
  if (falls_away(o.tree, x, n, at_peak + 2 * turned)) return o.add(x, n, depth, feature);
  if (!(depth <= 0) || !o.solid.polytope || o.solid.kind == ShapeKind::Cylinder) {
    if (depth < -o.small()) o.refuse(x, n, depth, feature);
    return;
  }
  double gap = -HUGE_VAL;
  for (const PolytopeFace& face : o.solid.polytope->faces)
    if (const double height = face.n.dot(x_B) - face.offset; height > gap)
      if (const Vec3 out = -(o.X.R * face.n); falls_away(o.tree, x, out, at_peak)) gap = height, n = out;
  if (gap > too_deep * depth - o.small()) return o.add(x, n, gap, feature);
  if (depth < -o.small() && gap > -HUGE_VAL) o.refuse(x, n, gap, feature);
}

void add_face(const NearMesh& o, int index, std::uint64_t feature) {
  const MeshTriangle& t = o.tree.triangles[at(index)];
  const Vec3& a = o.tree.point(t, 0);
  if (o.lowest(t.n) - t.n.dot(a) > o.query.reach) return;
  auto add = [&](const Vec3& x, unsigned which) {
    const double gap = t.n.dot(x - a);
    if (!over_triangle(x, {a, o.tree.point(t, 1), o.tree.point(t, 2)}, t.n)) return;
    if (gap < -o.small()) {
      const MeshPoint near = nearest_point(o.tree, x, -2 * gap);
      const bool here = near.inside && gap > -too_deep * near.distance;
      if (!here && entered(o.tree, o.center, x) != index) return;  // it is another triangle that it went in by
    }
    o.add(x - gap * t.n, t.n, gap, feature + which);
  };
  if (o.solid.kind != ShapeKind::Cylinder) return add(lowest_points(o.solid, o.X, t.n, mesh_cap).x[0], 0);
  const RimPoints low = lowest_rim_points(o.X.R.transpose() * t.n, o.solid.size);
  for (int k = 0; k < low.count; ++k) add(o.X * low.p[at(k)], low.feature[at(k)]);
}

/// A side where two faces meet or one ends; its normals are cos u n + sin u out, from u = 0 to turn.
struct Ridge {
  Vec3 e0, t, n, out;
  double length, turn;
  Vec3 normal(double u) const { return std::cos(u) * n + std::sin(u) * out; }
};

Ridge ridge_of(const MeshTree& tree, const MeshTriangle& triangle, int k) {
  Ridge r;
  r.e0 = tree.point(triangle, k);
  r.t = tree.point(triangle, (k + 1) % 3) - r.e0;
  r.length = r.t.norm();
  r.t /= r.length;
  r.n = triangle.n;
  r.out = r.t.cross(r.n);
  r.turn = 0.5 * M_PI;
  if (const int other = triangle.beyond[at(k)]; other >= 0) {
    const Vec3& m = tree.triangles[at(other)].n;
    r.turn = m.dot(r.n) < 0 && m.dot(r.out) <= 0 ? M_PI : std::atan2(m.dot(r.out), m.dot(r.n));
  }
  return r;
}

/// Does the side come so near to the bounding box of the solid that it can be touched?
bool near_box(const NearMesh& o, const Ridge& r) {
  const Vec3 a = o.X.R.transpose() * (r.e0 - o.X.p) - o.solid.box_center, b = a + o.X.R.transpose() * (r.length * r.t);
  const Vec3 half = o.solid.box_half + Vec3::Constant(o.query.reach);
  return !((a.cwiseMin(b).array() > half.array()).any() || (a.cwiseMax(b).array() < -half.array()).any());
}

void add_ridge(NearMesh& o, const MeshTriangle& triangle, int k, std::uint64_t feature) {
  const Ridge r = ridge_of(o.tree, triangle, k);
  if (!near_box(o, r)) return;
  auto height = [&](double u) {
    const Vec3 n = r.normal(u);
    return o.lowest(n) - n.dot(r.e0);
  };
  const int pieces = 1 + static_cast<int>(r.turn / 0.3);
  int best = 0;
  double most = -HUGE_VAL;
  for (int i = 0; i <= pieces; ++i)
    if (const double h = height(r.turn * i / pieces); h > most) most = h, best = i;
  if (!(most < o.query.reach)) return;
  double u =
      largest(height, r.turn * std::max(0, best - 1) / pieces, r.turn * std::min(pieces, best + 1) / pieces, 40).at;
  if (height(r.turn * best / pieces) >= height(u)) u = r.turn * best / pieces;
  const Vec3 n = r.normal(u);
  const double gap = height(u);
  if (!(gap < o.query.reach)) return;
  auto depth = [&](double s) { return o.depth(r.e0 + s * r.t); };
  double inside = 0;  // depth of the side in the solid
  if (gap < -o.small()) {
    inside = -largest([&](double s) { return -depth(s); }, 0, r.length, 30).value;
    if (!(inside < 0)) return;
  }
  const Passing pass = passing(lowest_points(o.solid, o.X, n, mesh_cap), {r.e0, r.t}, n, 10 * o.small());
  const double beyond = 2 * std::min(-inside, 0.02 * o.solid.box_half.minCoeff());  // what has sunk may pass the end
  const bool passes = pass.to >= -beyond && pass.from <= r.length + beyond;
  const bool sane = gap > too_deep * inside - o.small();
  if (!passes || !sane) {
    if (inside < -o.small()) o.refuse(r.e0 + std::clamp(pass.from, 0.0, r.length) * r.t, n, gap, feature);
    return;
  }
  auto add = [&](double s, unsigned which) {
    const Vec3 p = r.e0 + s * r.t;
    if (triangle.beyond[at(k)] < 0 && !falls_away(o.tree, p, n, at_peak)) return;  // it ends on another triangle
    o.add(p, n, gap, feature + which);
  };
  const double from = std::clamp(pass.from, 0.0, r.length), to = std::clamp(pass.to, 0.0, r.length);
  add(from, 0);
  if (to - from > o.small()) add(to, 1);
}

}  // namespace

void add_mesh_solid(const Query& query) {
  NearMesh o(query);
  const bool round = o.solid.kind == ShapeKind::Cylinder || o.solid.kind == ShapeKind::Ellipsoid;
  o.tree.visit(o.center - o.half, o.center + o.half, [&](int i) {
    const MeshTriangle& t = o.tree.triangles[at(i)];
    const std::uint64_t feature = (1ull << 32) + 64ull * static_cast<unsigned>(i);
    if (round) add_face(o, i, feature);
    for (int k = 0; k < 3; ++k) {
      if (t.ridge[at(k)]) add_ridge(o, t, k, feature + 32 + 2 * static_cast<unsigned>(k));
      if (t.peak[at(k)]) add_peak(o, t.corner[at(k)], feature + 40 + static_cast<unsigned>(k));
    }
    return true;
  });
  const auto& found = query.scratch->candidates;
  const bool told = std::any_of(found.begin(), found.end(), [](const Touch& t) { return t.gap < 0; });
  if (!told && o.refused.gap > -HUGE_VAL) o.add(o.refused.p, o.refused.n, o.refused.gap, o.refused.feature);
}

}  // namespace tribo
