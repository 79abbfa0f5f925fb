// Solids on terrain. Corners and ends, as balls, miss what a round side or an edge of the solid meets, and what stands
// under its faces. With s(n) = min n . y over the solid, for the unit normals n that a feature of the terrain has:
//   peak at x:                            the signed distance of x from the solid                            (terrain.3)
//   face with normal n through a:         gap = s(n) - n . a, where a lowest point of the solid is over it   (terrain.5)
//   ridge through e between n_1 and n_2:  gap = max over n between them of s(n) - n . e, where the lowest
//                                         points of the solid along that n cross it                          (terrain.6)
#include "collision/terrain.hpp"

#include "collision/lowest_points.hpp"

namespace tribo {
namespace {

constexpr int terrain_cap = 16;  // points that stand for a cap

/// A solid over a terrain, all in the frame of the terrain.
struct OverTerrain {
  explicit OverTerrain(const Query& q)
      : query(q), cells{*q.a.solid->terrain}, solid(*q.b.solid), X(q.a.X.inverse() * q.b.X) {
    center = X * solid.box_center;
    half = X.R.cwiseAbs() * solid.box_half + Vec3::Constant(q.reach);
    i0 = cells.cell_x(center.x() - half.x());
    i1 = cells.cell_x(center.x() + half.x());
    j0 = cells.cell_y(center.y() - half.y());
    j1 = cells.cell_y(center.y() + half.y());
  }
  /// No point of the solid is lower along n.
  double lowest(const Vec3& n) const { return lowest_height(solid, X, n); }
  double bottom() const { return center.z() - half.z(); }
  /// Depth, where it is small beside the solid and is to be allowed for; else zero.
  double allowed(double gap) const { return sunk && gap < 0 && gap > -small() ? -gap : 0; }
  double small() const { return 0.02 * solid.box_half.minCoeff(); }
  /// Is the point x of the solid, at this gap from a face or ridge, not out again on the other side of a steep hill?
  bool below(const Vec3& x, double gap) const {
    Vec3 n;
    return gap > -small() || !cells.over(x) || cells.column(x, n) > x.z();
  }

  void add(const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) const {
    if (gap > -solid.radius) add_candidate(query, p, n, gap, feature);
  }

  const Query& query;
  Cells cells;
  const Solid& solid;
  Placement X;
  Vec3 center, half;
  int i0, i1, j0, j1;           // cells under it
  bool sunk = false;            // features may have passed each other's ends by as much as they overlap
  mutable bool passed = false;  // some that overlap have
};

/// Does the terrain fall away from its point (i, j) along n?
bool in_normal_cone(const Cells& c, int i, int j, const Vec3& n, double tolerance) {
  constexpr int around[6][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};
  const Vec3 x = c.corner(i, j);
  for (const auto& d : around) {
    const int u = i + d[0], v = j + d[1];
    if (u < 0 || v < 0 || u >= c.h.nx || v >= c.h.ny) continue;
    const Vec3 way = c.corner(u, v) - x;
    if (n.dot(way) > tolerance * way.norm()) return false;
  }
  return n.z() > 0;
}

// (terrain.3). Inside a solid with faces, the way out is through one that the peak can press on.
void add_peak(const OverTerrain& o, int i, int j) {
  const Vec3 x = o.cells.corner(i, j), x_B = o.X.R.transpose() * (x - o.X.p);
  const std::uint64_t feature = 0x10000ull + static_cast<unsigned>(o.cells.index(i, j));
  Vec3 n_B = Vec3::UnitZ();
  double gap = depth_of(o.solid, x_B, n_B);
  if (!(gap < o.query.reach)) return;
  const double tolerance = equally_low + 2 * o.allowed(gap) / o.solid.box_half.minCoeff();  // sinking turns the normal
  if (in_normal_cone(o.cells, i, j, -(o.X.R * n_B), tolerance)) return o.add(x, -(o.X.R * n_B), gap, feature);
  o.passed |= gap < 0;
  if (!(gap <= 0) || !o.solid.polytope) return;
  gap = -HUGE_VAL;
  for (const PolytopeFace& face : o.solid.polytope->faces)
    if (const double height = face.n.dot(x_B) - face.offset;
        height > gap && in_normal_cone(o.cells, i, j, -(o.X.R * face.n), equally_low))
      gap = height, n_B = face.n;
  o.add(x, -(o.X.R * n_B), gap, feature);
}

void add_peaks(const OverTerrain& o) {
  for (int j = o.j0; j <= o.j1 + 1; ++j)
    for (int i = o.i0; i <= o.i1 + 1; ++i) {
      const int k = o.cells.index(i, j);
      if (o.cells.terrain.ridge[at(k)] & Terrain::peak && o.cells.z(k) >= o.bottom()) add_peak(o, i, j);
    }
}

// (terrain.5)
void add_face(const OverTerrain& o, const int (&ij)[3][2], std::uint64_t feature) {
  Vec3 p[3];
  for (int k = 0; k < 3; ++k) p[k] = o.cells.corner(ij[k][0], ij[k][1]);
  const Vec3 n = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
  if (o.lowest(n) - n.dot(p[0]) > o.query.reach) return;
  auto add = [&](const Vec3& x, unsigned which) {
    const double gap = n.dot(x - p[0]);
    if (over_triangle(x, p, n) && o.below(x, gap)) o.add(x - gap * n, n, gap, feature + which);
  };
  if (o.solid.kind != ShapeKind::Cylinder) return add(lowest_points(o.solid, o.X, n, terrain_cap).x[0], 0);
  const RimPoints rim = lowest_rim_points(o.X.R.transpose() * n, o.solid.size);
  for (int k = 0; k < rim.count; ++k) add(o.X * rim.p[at(k)], rim.feature[at(k)]);
}

void add_faces(const OverTerrain& o) {
  for (int j = o.j0; j <= o.j1; ++j)
    for (int i = o.i0; i <= o.i1; ++i) {
      const int k = o.cells.index(i, j), nx = o.cells.h.nx;
      if (std::max({o.cells.z(k), o.cells.z(k + 1), o.cells.z(k + nx), o.cells.z(k + nx + 1)}) < o.bottom()) continue;
      const std::uint64_t feature = (1ull << 32) + 64ull * static_cast<unsigned>(k);
      add_face(o, {{i, j}, {i + 1, j}, {i, j + 1}}, feature);
      add_face(o, {{i + 1, j + 1}, {i, j + 1}, {i + 1, j}}, feature + 32);
    }
}

/// The normal between n_1 and n_2 along which the solid is highest over e.
Vec3 highest_between(const OverTerrain& o, const Vec3& e, const Vec3& n1, const Vec3& n2, double& height) {
  auto normal = [&](double u) { return Vec3(((1 - u) * n1 + u * n2).normalized()); };
  auto over_edge = [&](double u) {
    const Vec3 n = normal(u);
    return o.lowest(n) - n.dot(e);
  };
  const Largest found = largest(over_edge, 0, 1, 40);
  height = found.value;
  return normal(found.at);
}

// (terrain.6). The lowest points, seen along n, are a point, a segment or a polygon: where the edge passes over it.
void add_ridge(const OverTerrain& o, const Vec3& e0, const Vec3& e1, const Vec3& n1, const Vec3& n2,
               std::uint64_t feature) {
  const Vec3 middle = (n1 + n2).normalized();
  if (o.lowest(middle) - middle.dot(e0) > o.query.reach || o.lowest(n1) - n1.dot(e0) > o.query.reach ||
      o.lowest(n2) - n2.dot(e0) > o.query.reach)
    return;
  double gap;
  const Vec3 n = highest_between(o, e0, n1, n2, gap);
  if (!(gap < o.query.reach)) return;
  const double length = (e1 - e0).norm();
  const Vec3 t = (e1 - e0) / length;
  auto [from, to] = passing(lowest_points(o.solid, o.X, n, terrain_cap), {e0, t}, n, 10 * equally_low * o.solid.radius);
  const double beyond = 2 * o.allowed(gap);  // what has sunk may cross past the end
  if (!(to >= -beyond && from <= length + beyond)) {
    o.passed |= gap < 0;
    return;
  }
  from = std::clamp(from, 0.0, length);
  to = std::clamp(to, 0.0, length);
  if (!o.below(e0 + 0.5 * (from + to) * t + gap * n, gap)) return;
  o.add(e0 + from * t, n, gap, feature);
  if (to - from > equally_low * o.solid.radius) o.add(e0 + to * t, n, gap, feature + 1);
}

Vec3 normal_of(const Cells& cells, int i, int j, bool second) {
  const int k = cells.index(i, j), nx = cells.h.nx;
  const double dx = second ? cells.z(k + nx + 1) - cells.z(k + nx) : cells.z(k + 1) - cells.z(k);
  const double dy = second ? cells.z(k + nx + 1) - cells.z(k + 1) : cells.z(k + nx) - cells.z(k);
  return Vec3(-dx / cells.h.spacing_x, -dy / cells.h.spacing_y, 1).normalized();
}

void add_ridges(const OverTerrain& o) {
  const Cells& c = o.cells;
  const int nx = c.h.nx, ny = c.h.ny;
  for (int j = o.j0; j <= o.j1 + 1; ++j)
    for (int i = o.i0; i <= o.i1 + 1; ++i) {
      const int k = c.index(i, j);
      const char bits = c.terrain.ridge[at(k)];
      const std::uint64_t feature = (2ull << 32) + 8ull * static_cast<unsigned>(k);
      // On the border the terrain ends: normals turn down to the horizontal.
      if (bits & Terrain::ridge_x && std::max(c.z(k), c.z(k + 1)) >= o.bottom())
        add_ridge(o, c.corner(i, j), c.corner(i + 1, j), j > 0 ? normal_of(c, i, j - 1, true) : Vec3(-Vec3::UnitY()),
                  j + 1 < ny ? normal_of(c, i, j, false) : Vec3(Vec3::UnitY()), feature);
      if (bits & Terrain::ridge_y && std::max(c.z(k), c.z(k + nx)) >= o.bottom())
        add_ridge(o, c.corner(i, j), c.corner(i, j + 1), i > 0 ? normal_of(c, i - 1, j, true) : Vec3(-Vec3::UnitX()),
                  i + 1 < nx ? normal_of(c, i, j, false) : Vec3(Vec3::UnitX()), feature + 2);
      if (bits & Terrain::ridge_diagonal && std::max(c.z(k + 1), c.z(k + nx)) >= o.bottom())
        add_ridge(o, c.corner(i + 1, j), c.corner(i, j + 1), normal_of(c, i, j, false), normal_of(c, i, j, true),
                  feature + 4);
    }
}

/// (terrain.8)
void limit_depths(const OverTerrain& o, double most) {
  const Vec3 up = o.query.a.X.R.col(2);
  for (Touch& t : o.query.scratch->candidates) {
    const double gap = std::max(t.gap, -most * std::max(0.0, up.dot(t.n)));
    t.p += 0.5 * (gap - t.gap) * t.n;
    t.gap = gap;
  }
}

double least_gap(const std::vector<Touch>& found) {
  double least = HUGE_VAL;
  for (const Touch& t : found) least = std::min(least, t.gap);
  return least;
}

}  // namespace

void add_solid(const Query& query) {
  OverTerrain o(query);
  const Terrain& terrain = o.cells.terrain;
  if (o.bottom() > terrain.highest || std::abs(o.center.x()) - o.half.x() > terrain.half_x ||
      std::abs(o.center.y()) - o.half.y() > terrain.half_y)
    return;
  if (o.solid.kind == ShapeKind::Cylinder || o.solid.kind == ShapeKind::Ellipsoid) add_faces(o);
  add_ridges(o);
  add_peaks(o);
  const double least = least_gap(query.scratch->candidates);
  const bool deep = least < -10 * equally_low * o.solid.radius, missed = o.passed && least > 0;
  if (!deep && !missed) return;
  const double most = lift(query);
  if (missed && most > 0) {
    o.sunk = true;
    add_ridges(o);
    add_peaks(o);
  }
  limit_depths(o, most);
}

}  // namespace tribo
