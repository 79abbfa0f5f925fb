// Terrain (a height field) against everything.
//
// A ball of radius r (a point, a sphere, an end of a capsule, a corner) meets every triangle that is a local minimum of
// the distance to its centre x:
//   face:           gap = n . (x - a) - r,   n the normal of the triangle            (terrain.1)
//   edge or vertex: gap = |x - p| - r,       n = (x - p) / |x - p|                   (terrain.2)
// An edge or vertex counts where no triangle at it comes nearer, so that a foot that slides over flat cells meets no
// inner edges. Terrain is a graph: x is inside where it is below the surface in its own column. What corners and ends
// miss is in terrain_solid.cpp.
#include <algorithm>
#include <bit>

#include "collision/lowest_points.hpp"
#include "collision/terrain.hpp"

namespace tribo {

Terrain::Terrain(std::shared_ptr<const HeightField> heights) : field(std::move(heights)) {
  const HeightField& h = *field;
  const auto [low, high] = std::minmax_element(h.heights.begin(), h.heights.end());
  lowest = *low;
  highest = *high;
  half_x = 0.5 * (h.nx - 1) * h.spacing_x;
  half_y = 0.5 * (h.ny - 1) * h.spacing_y;
  ridge.assign(h.heights.size(), 0);
  const double least = 1e-6 * std::min(h.spacing_x, h.spacing_y);
  auto z = [&](int i, int j) { return h.heights[at(j) * at(h.nx) + at(i)]; };
  // Higher than the middle of two opposite neighbours; the border counts where its one neighbour is lower.
  constexpr int directions[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
  for (int j = 0; j < h.ny; ++j)
    for (int i = 0; i < h.nx; ++i) {
      char& bits = ridge[at(j) * at(h.nx) + at(i)];
      for (const auto& d : directions) {
        const bool inside = i >= d[0] && i + d[0] < h.nx && j >= std::abs(d[1]) && j + std::abs(d[1]) < h.ny;
        if (inside && z(i, j) > 0.5 * (z(i - d[0], j - d[1]) + z(i + d[0], j + d[1])) + least) bits |= peak;
      }
      // An edge is a ridge where the corner of one triangle is below the plane of the other.
      const bool east = i + 1 < h.nx, north = j + 1 < h.ny;
      if (east && (j == 0 || !north || z(i, j) + z(i + 1, j) > z(i, j + 1) + z(i + 1, j - 1) + least)) bits |= ridge_x;
      if (north && (i == 0 || !east || z(i, j) + z(i, j + 1) > z(i + 1, j) + z(i - 1, j + 1) + least)) bits |= ridge_y;
      if (east && north && z(i + 1, j) + z(i, j + 1) > z(i, j) + z(i + 1, j + 1) + least) bits |= ridge_diagonal;
    }
}

namespace {

constexpr double same_distance = 1e-12;  // relative to the grid: two triangles that share the nearest point

// The barycentric regions of a triangle, as in [Ericson2005, sec. 5.1.5].
void nearest_in_triangle(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c, NearTriangle& out) {
  const Vec3 ab = b - a, ac = c - a, ax = x - a;
  const double d1 = ab.dot(ax), d2 = ac.dot(ax);
  const Vec3 bx = x - b, cx = x - c;
  const double d3 = ab.dot(bx), d4 = ac.dot(bx), d5 = ab.dot(cx), d6 = ac.dot(cx);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0)
    out.p = a, out.part = 1;
  else if (d3 >= 0 && d4 <= d3)
    out.p = b, out.part = 2;
  else if (d6 >= 0 && d5 <= d6)
    out.p = c, out.part = 4;
  else if (vc <= 0 && d1 >= 0 && d3 <= 0)
    out.p = a + d1 / (d1 - d3) * ab, out.part = 3;
  else if (vb <= 0 && d2 >= 0 && d6 <= 0)
    out.p = a + d2 / (d2 - d6) * ac, out.part = 5;
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    out.p = b + (d4 - d3) / (d4 - d3 + d5 - d6) * (c - b), out.part = 6;
  else
    out.p = x - out.s * out.n, out.part = 0;
  out.d2 = (x - out.p).squaredNorm();
}

void add_triangle(const Cells& cells, const Vec3& x, const int (&ij)[3][2], double reach2,
                  std::vector<NearTriangle>& out) {
  NearTriangle near;
  Vec3 p[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = cells.corner(ij[k][0], ij[k][1]);
    near.corner[k] = cells.index(ij[k][0], ij[k][1]);
  }
  near.n = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
  near.s = near.n.dot(x - p[0]);
  if (near.s * near.s > reach2) return;
  nearest_in_triangle(x, p[0], p[1], p[2], near);
  if (near.d2 <= reach2) out.push_back(near);
}

/// Triangles within reach of x.
void find_triangles(const Cells& cells, const Vec3& x, double reach, std::vector<NearTriangle>& out) {
  out.clear();
  const HeightField& h = cells.h;
  if (std::abs(x.x()) > cells.terrain.half_x + reach || std::abs(x.y()) > cells.terrain.half_y + reach) return;
  const int i0 = cells.cell_x(x.x() - reach), i1 = cells.cell_x(x.x() + reach);
  const int j0 = cells.cell_y(x.y() - reach), j1 = cells.cell_y(x.y() + reach);
  const double reach2 = reach * reach;
  for (int j = j0; j <= j1; ++j) {
    const double y0 = j * h.spacing_y - cells.terrain.half_y;
    const double dy = std::max({0.0, y0 - x.y(), x.y() - y0 - h.spacing_y});
    for (int i = i0; i <= i1; ++i) {
      const double x0 = i * h.spacing_x - cells.terrain.half_x;
      const double dx = std::max({0.0, x0 - x.x(), x.x() - x0 - h.spacing_x});
      const int k = cells.index(i, j);
      const auto [low, high] = std::minmax({cells.z(k), cells.z(k + 1), cells.z(k + h.nx), cells.z(k + h.nx + 1)});
      const double dz = std::max({0.0, x.z() - high, low - x.z()});
      if (dx * dx + dy * dy + dz * dz > reach2) continue;
      add_triangle(cells, x, {{i, j}, {i + 1, j}, {i, j + 1}}, reach2, out);
      add_triangle(cells, x, {{i + 1, j + 1}, {i, j + 1}, {i + 1, j}}, reach2, out);
    }
  }
}

/// Does the triangle have all corners of the other's edge or vertex?
bool shares(const NearTriangle& triangle, const NearTriangle& other) {
  for (int k = 0; k < 3; ++k) {
    if (!(other.part >> k & 1)) continue;
    const int c = other.corner[k];
    if (c != triangle.corner[0] && c != triangle.corner[1] && c != triangle.corner[2]) return false;
  }
  return true;
}

// They are found cell by cell, so this does not fall along the list.
int lowest_corner(const NearTriangle& near) { return std::min({near.corner[0], near.corner[1], near.corner[2]}); }

/// No triangle at the edge or vertex comes nearer, and none before has told of the same point. Of the triangles at a corner
/// c the lowest corners are c - nx, c - nx + 1, c - 1 and c.
bool local_minimum(const std::vector<NearTriangle>& all, std::size_t i, int nx, double tolerance) {
  const NearTriangle& near = all[i];
  if (near.part == 0) return true;
  const int c = near.corner[std::countr_zero(near.part)];
  for (int first : {c - nx, c - 1}) {
    auto other = std::lower_bound(all.begin(), all.end(), first,
                                  [](const NearTriangle& t, int corner) { return lowest_corner(t) < corner; });
    for (; other != all.end() && lowest_corner(*other) <= first + 1; ++other) {
      if (&*other == &near || !shares(*other, near)) continue;
      if (other->d2 < near.d2 - tolerance || (&*other < &near && other->part != 0)) return false;
      if (other->part == 0) return false;  // its foot is the same point
    }
  }
  return true;
}

/// One ball; features 4 first, 4 first + 1 … from the nearest on.
void add_ball(const Query& query, const Vec3& x_W, double r, std::uint64_t first) {
  const Cells cells{*query.a.solid->terrain};
  const Placement& X = query.a.X;
  const Vec3 x = X.R.transpose() * (x_W - X.p);
  if (x.z() - r - cells.terrain.highest > query.reach) return;
  Vec3 n;
  double reach = r + query.reach, depth = 0;
  const bool inside = cells.over(x) && (depth = cells.column(x, n) - x.z()) > 0;
  if (inside) reach = std::max(reach, depth * (1 + 1e-9));  // the surface is no farther than straight up
  auto& all = query.scratch->triangles;
  find_triangles(cells, x, reach, all);
  const double tolerance = same_distance * (cells.h.spacing_x * cells.h.spacing_x + x.squaredNorm());
  double nearest = HUGE_VAL;
  for (const NearTriangle& near : all) nearest = std::min(nearest, near.d2);
  nearest = std::sqrt(nearest);
  auto& found = query.scratch->candidates;
  const std::size_t begin = found.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NearTriangle& near = all[i];
    const double d = std::sqrt(near.d2);
    const bool least = d <= nearest + 1e-15;
    const bool on_face = near.part == 0;
    if (inside ? !least && !(on_face && near.s > -(nearest + sunk_slop)) : on_face && near.s < -sunk_slop) continue;
    if (!local_minimum(all, i, cells.h.nx, tolerance)) continue;
    const bool face = on_face || d < 1e-12;
    const double signed_d = face ? (inside && least ? -d : near.s) : inside ? -d : d;
    const Vec3 normal = face ? near.n : Vec3((inside ? -1 : 1) / d * (x - near.p));
    const double gap = signed_d - r;  // (terrain.1), (terrain.2)
    const Vec3 n_W = X.R * normal, p_W = X * Vec3(near.p + 0.5 * gap * normal);
    if (query.listed(p_W, n_W, gap)) found.push_back({p_W, n_W, gap, 4 * first});
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(begin), found.end(),
            [](const Touch& a, const Touch& b) { return a.gap < b.gap; });
  for (std::size_t i = begin; i < found.size(); ++i) found[i].feature += std::min<std::uint64_t>(i - begin, 3);
}

}  // namespace

// A triangle T is convex: it stays behind the plane with normal n_T through its point nearest to the ball. With the distance s_T
// between the two, the speed c_T at which the ball closes along n_T and the most that turning adds to it, a = |w|^2 |arm|,
// the ball is free as long as
//   c_T t + a t^2 / 2 < s_T                                                                           (terrain.9)
double free_time(const Query& query) {
  const PlacedSolid& ball = query.b;
  const Placement& X = query.a.X;
  const Cells cells{*query.a.solid->terrain};
  const Vec3 x = X.R.transpose() * (ball.X.p - X.p), v = X.R.transpose() * ball.v;
  const double r = ball.solid->round, a = ball.w.squaredNorm() * ball.arm.norm();
  auto& all = query.scratch->triangles;
  find_triangles(cells, x, r + query.reach, all);
  double least = HUGE_VAL;
  for (const NearTriangle& near : all) {
    const double d = std::sqrt(near.d2), s = d - r;
    const Vec3 n = d > 0 ? Vec3((x - near.p) / d) : near.n;
    const double c = -n.dot(v), root = std::sqrt(c * c + 2 * a * std::max(s, 0.0));
    const double t = c > 0 ? 2 * s / (c + root) : a > 0 ? (root - c) / a : HUGE_VAL;
    least = std::min(least, t);
  }
  return least;
}

void touch_terrain(const Query& query, Touches& out) {
  const Solid& solid = *query.b.solid;
  if (endless(solid.kind)) return;
  query.scratch->candidates.clear();
  for_each_ball(query.b, [&](const Vec3& x, unsigned k) { add_ball(query, x, solid.round, k); });
  if (solid.kind != ShapeKind::Point && solid.kind != ShapeKind::Sphere) add_solid(query);
  add_spread(query, out, solid.kind == ShapeKind::Cylinder ? 2 * patch_corners : 8);
}

}  // namespace tribo
