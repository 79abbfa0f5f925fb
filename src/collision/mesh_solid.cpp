// Solids on triangle meshes. Corners and ends, as balls, miss what a round side, an edge or a face of the solid meets. With
// s(n) = min n . y over the solid, as on terrain (terrain.3) to (terrain.6):
//   peak at x:                            the signed distance of x from the solid, where (mesh.1) holds
//   face with normal n through a:         gap = s(n) - n . a, where a lowest point of a round solid is over it
//   ridge through e, n turns about it from the normal of one face to that of the other, or to the plane of the face where the
//   mesh ends: gap = max over n of s(n) - n . e, where the lowest points of the solid along that n cross it
// A feature alone does not know where others end: what it tells of an overlap is taken where it is at most four times as deep as
// the feature lies in the solid, and else only if nothing else tells of it.
#include <algorithm>

#include "collision/mesh.hpp"

namespace tribo {
namespace {

constexpr int most_lowest = 64;
constexpr double tie = 1e-6;    // of the radius: heights that differ by less are equally low
constexpr double slope = 1e-5;  // sine by which the mesh may rise from a peak and count as flat
constexpr double too_deep = 4;  // times what the feature itself is inside

struct Points {
  std::array<Vec3, most_lowest> x;
  int count = 0;

  void add(const Vec3& p) {
    if (count < most_lowest) x[at(count++)] = p;
  }
};

/// A solid near a mesh, all in the frame of the mesh.
struct NearMesh {
  explicit NearMesh(const Query& q) : query(q), tree(*q.a.solid->mesh), solid(*q.b.solid), X(q.a.X.inverse() * q.b.X) {
    center = X * solid.box_center;
    half = X.R.cwiseAbs() * solid.box_half + Vec3::Constant(q.reach);
  }
  /// No point of the solid is lower along n.
  double lowest(const Vec3& n) const { return n.dot(X.p) - reach_along(solid, -(X.R.transpose() * n)); }
  double depth(const Vec3& x) const {
    Vec3 n = Vec3::UnitZ();
    return depth_of(solid, X.R.transpose() * (x - X.p), n);
  }
  double small() const { return tie * solid.radius; }

  void add(const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) const {
    if (!(gap < query.reach)) return;
    const Vec3 p_W = query.a.X * Vec3(p + 0.5 * gap * n), n_W = query.a.X.R * n;
    if (!query.listed(p_W, n_W, gap)) return;
    auto& found = query.scratch->candidates;
    const double same = 1e-14 * solid.radius * solid.radius;
    for (const Touch& t : found)
      if ((t.p - p_W).squaredNorm() < same && t.n.dot(n_W) > 1 - 1e-9) return;
    found.push_back({p_W, n_W, gap, feature});
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

void add_rim(const NearMesh& o, const Vec3& up, Points& out) {
  const double sine = std::hypot(up.x(), up.y()), r = o.solid.size.x(), same = o.small();
  for (double end : {-o.solid.size.z(), o.solid.size.z()}) {
    if (up.z() * end > same - std::abs(up.z()) * o.solid.size.z()) continue;
    if (2 * sine * r > same) {
      out.add(o.X * Vec3(-r * up.x() / sine, -r * up.y() / sine, end));
      continue;
    }
    for (int k = 0; k < 24; ++k)
      out.add(o.X * Vec3(r * std::cos(2 * M_PI * k / 24), r * std::sin(2 * M_PI * k / 24), end));
  }
}

/// The lowest points along n, those of a face or an edge by their corners.
Points lowest_points(const NearMesh& o, const Vec3& n) {
  const Solid& solid = o.solid;
  const Vec3 up = o.X.R.transpose() * n;
  Points out;
  if (solid.kind == ShapeKind::Ellipsoid) {
    const Vec3 scaled = solid.size.cwiseProduct(up);
    out.add(o.X * Vec3(-solid.size.cwiseProduct(scaled) / scaled.norm()));
  } else if (solid.kind == ShapeKind::Capsule) {
    for (double end : {-solid.size.z(), solid.size.z()})
      if (up.z() * end <= o.small() - std::abs(up.z()) * solid.size.z())
        out.add(o.X * Vec3(0, 0, end) - solid.round * n);
  } else if (solid.kind == ShapeKind::Cylinder) {
    add_rim(o, up, out);
  } else {
    const double level = -reach_along(solid, -up) + o.small();
    for (const Vec3& v : solid.polytope->vertices)
      if (up.dot(v) <= level) out.add(o.X * v);
  }
  return out;
}

/// Inside a solid with faces, the way out is through one that the peak can press on.
void add_peak(NearMesh& o, int vertex, std::uint64_t feature) {
  const Vec3 &x = o.tree.points[at(vertex)], x_B = o.X.R.transpose() * (x - o.X.p);
  Vec3 n_B = Vec3::UnitZ();
  const double depth = depth_of(o.solid, x_B, n_B);
  if (!(depth < o.query.reach)) return;
  Vec3 n = -(o.X.R * n_B);
  const double turned =
      depth < 0 ? std::min(0.1, -depth / o.solid.box_half.minCoeff()) : 0;  // sinking turns the normal
  if (falls_away(o.tree, x, n, slope + 2 * turned)) return o.add(x, n, depth, feature);
  if (!(depth <= 0) || !o.solid.polytope || o.solid.kind == ShapeKind::Cylinder) {
    if (depth < -o.small()) o.refuse(x, n, depth, feature);
    return;
  }
  double gap = -HUGE_VAL;
  for (const PolytopeFace& face : o.solid.polytope->faces)
    if (const double height = face.n.dot(x_B) - face.offset; height > gap)
      if (const Vec3 out = -(o.X.R * face.n); falls_away(o.tree, x, out, slope)) gap = height, n = out;
  if (gap > too_deep * depth - o.small()) return o.add(x, n, gap, feature);
  if (depth < -o.small() && gap > -HUGE_VAL) o.refuse(x, n, gap, feature);
}

/// Is x over the triangle, seen along its normal?
bool over(const MeshTree& tree, const MeshTriangle& t, const Vec3& x) {
  for (int k = 0; k < 3; ++k) {
    const Vec3 side = tree.point(t, (k + 1) % 3) - tree.point(t, k);
    if (t.n.dot(side.cross(x - tree.point(t, k))) < -1e-12 * side.squaredNorm()) return false;
  }
  return true;
}

void add_face(const NearMesh& o, int index, std::uint64_t feature) {
  const MeshTriangle& t = o.tree.triangles[at(index)];
  const Vec3& a = o.tree.point(t, 0);
  if (o.lowest(t.n) - t.n.dot(a) > o.query.reach) return;
  auto add = [&](const Vec3& x, unsigned which) {
    const double gap = t.n.dot(x - a);
    if (!over(o.tree, t, x)) return;
    if (gap < -o.small()) {
      const MeshPoint near = nearest_point(o.tree, x, -2 * gap);
      const bool here = near.inside && gap > -too_deep * near.distance;
      if (!here && entered(o.tree, o.center, x) != index) return;  // it is another triangle that it went in by
    }
    o.add(x - gap * t.n, t.n, gap, feature + which);
  };
  if (o.solid.kind != ShapeKind::Cylinder) return add(lowest_points(o, t.n).x[0], 0);
  const RimPoints rim = lowest_rim_points(o.X.R.transpose() * t.n, o.solid.size);
  for (int k = 0; k < rim.count; ++k) add(o.X * rim.p[at(k)], rim.feature[at(k)]);
}

/// Golden section between lo and hi for the largest of a function with one maximum there.
template <class Function>
double largest(const Function& f, double lo, double hi, int rounds) {
  constexpr double golden = 0.6180339887498949;
  double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo), fa = f(a), fb = f(b);
  for (int round = 0; round < rounds; ++round) {
    if (fa < fb)
      lo = a, a = b, fa = fb, b = lo + golden * (hi - lo), fb = f(b);
    else
      hi = b, b = a, fb = fa, a = hi - golden * (hi - lo), fa = f(a);
  }
  return fa > fb ? a : b;
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

/// Where along the ridge the lowest points of the solid along n pass it.
struct Passing {
  double from = HUGE_VAL, to = -HUGE_VAL;
  void take(double s) { from = std::min(from, s), to = std::max(to, s); }
};

Passing passing(const NearMesh& o, const Ridge& r, const Vec3& n) {
  const Points low = lowest_points(o, n);
  const Vec3 b = n.cross(r.t);
  Passing out;
  for (int i = 0; i < low.count; ++i) {
    const Vec3 x = low.x[at(i)] - r.e0;
    const double bx = b.dot(x);
    if (std::abs(bx) < 10 * o.small()) out.take(r.t.dot(x));
    for (int j = 0; j < i; ++j) {
      const Vec3 y = low.x[at(j)] - r.e0;
      const double by = b.dot(y);
      if ((bx < 0) != (by < 0)) out.take((r.t.dot(y) * bx - r.t.dot(x) * by) / (bx - by));
    }
  }
  return out;
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
  double u = largest(height, r.turn * std::max(0, best - 1) / pieces, r.turn * std::min(pieces, best + 1) / pieces, 40);
  if (height(r.turn * best / pieces) >= height(u)) u = r.turn * best / pieces;
  const Vec3 n = r.normal(u);
  const double gap = height(u);
  if (!(gap < o.query.reach)) return;
  auto depth = [&](double s) { return o.depth(r.e0 + s * r.t); };
  double inside = 0;  // depth of the side in the solid
  if (gap < -o.small()) {
    inside = depth(largest([&](double s) { return -depth(s); }, 0, r.length, 30));
    if (!(inside < 0)) return;
  }
  Passing pass = passing(o, r, n);
  const double beyond = 2 * std::min(-inside, 0.02 * o.solid.box_half.minCoeff());  // what has sunk may pass the end
  const bool passes = pass.to >= -beyond && pass.from <= r.length + beyond;
  const bool sane = gap > too_deep * inside - o.small();
  if (!passes || !sane) {
    if (inside < -o.small()) o.refuse(r.e0 + std::clamp(pass.from, 0.0, r.length) * r.t, n, gap, feature);
    return;
  }
  auto add = [&](double s, unsigned which) {
    const Vec3 p = r.e0 + s * r.t;
    if (triangle.beyond[at(k)] < 0 && !falls_away(o.tree, p, n, slope)) return;  // it ends on another triangle
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
