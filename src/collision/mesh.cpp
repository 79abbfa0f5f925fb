// Triangle meshes against everything. As on terrain (terrain.1, terrain.2), a ball meets every triangle that is a local minimum
// of the distance to its centre x; but a mesh is no graph, so x is behind it where the nearest point says so: n . (x - p) < 0,
// with n the normal there, of sides the sum of two, of corners the sum weighted by angle [Baerentzen2005]. A point p of a side
// or corner is a local minimum along n where the mesh falls away from it:
//   n . (y - p) <= 0 for every point y of the triangles that p lies on                                   (mesh.1)
// What slides over triangles of one plane meets none of their sides; nor where corners of some lie on sides of others.
#include "collision/mesh.hpp"

#include <algorithm>

#include "collision/lowest_points.hpp"

namespace tribo {
namespace {

constexpr double on_it = 1e-7;  // of the size of the mesh: distance of a point that lies on a triangle
constexpr double slope = 1e-6;  // sine by which the mesh may rise and count as flat
constexpr std::size_t most_points = 12;

/// What a ball with its centre at x, in the frame of the mesh, knows.
struct Ball {
  const Query& query;
  const MeshTree& tree;
  Vec3 x;
  double r, reach;
  MeshPoint nearest;
};

void add(const Ball& ball, const MeshTriangle& t) {
  const TrianglePoint foot = nearest_point(ball.tree, t, ball.x);
  const Vec3 way = ball.x - foot.p;
  const double d = way.norm();
  if (!(d <= ball.reach)) return;
  const bool inside = ball.nearest.inside, face = foot.part == 0 || d < 1e-12 * ball.tree.size;
  const double s = t.n.dot(way);
  if (inside && !(d <= ball.nearest.distance + sunk_slop && s <= 0)) return;
  if (!inside && foot.part == 0 && s < -sunk_slop) return;
  const Vec3 n = face ? t.n : Vec3((inside ? -1 : 1) / d * way);
  auto& found = ball.query.scratch->candidates;
  if (!face && !inside) {
    if (t.n.dot(n) < -slope && ends_mesh(t, foot.part)) return;  // behind a mesh that is open there
    if (!falls_away(ball.tree, foot.p, n, slope)) return;
  }
  const double gap = (face ? s : inside ? -d : d) - ball.r;
  const Placement& X = ball.query.a.X;
  const Vec3 n_W = X.R * n, p_W = X * Vec3(foot.p + 0.5 * gap * n);
  if (ball.query.listed(p_W, n_W, gap)) found.push_back({p_W, n_W, gap, 0});
}

/// The ball is out again behind the mesh, or nearer to that side of it than to the side where the middle of its solid is.
bool went_through(const Ball& ball, const Vec3& middle, std::uint64_t first) {
  const Vec3 out = ball.x - ball.nearest.foot.p;
  const bool far_side = ball.nearest.inside ? out.dot(middle - ball.nearest.foot.p) > 0 : true;
  if (!far_side || (middle - ball.x).squaredNorm() == 0) return false;
  const int i = entered(ball.tree, middle, ball.x);
  if (i < 0) return false;
  const MeshTriangle& t = ball.tree.triangles[at(i)];
  const double s = t.n.dot(ball.x - ball.tree.point(t, 0)), gap = s - ball.r;
  if (s > -sunk_slop) return false;
  const Placement& X = ball.query.a.X;
  const Vec3 n_W = X.R * t.n, p_W = X * Vec3(ball.x - (s - 0.5 * gap) * t.n);
  if (ball.query.listed(p_W, n_W, gap)) ball.query.scratch->candidates.push_back({p_W, n_W, gap, 4 * first});
  return true;
}

}  // namespace

bool falls_away(const MeshTree& tree, const Vec3& p, const Vec3& n, double rise) {
  const double near = on_it * tree.size;
  bool falls = true;
  tree.visit(p - Vec3::Constant(near), p + Vec3::Constant(near), [&](int i) {
    const MeshTriangle& t = tree.triangles[at(i)];
    if ((nearest_point(tree, t, p).p - p).squaredNorm() > near * near) return true;
    for (int k = 0; k < 3 && falls; ++k) {
      const Vec3 way = tree.point(t, k) - p;
      falls = n.dot(way) <= rise * way.norm() + near;  // (mesh.1)
    }
    return falls;
  });
  return falls;
}

bool ends_mesh(const MeshTriangle& t, unsigned part) {
  for (int k = 0; k < 3; ++k)
    if (t.beyond[at(k)] < 0 && (part & 1u << k || part & 1u << (k + 1) % 3)) return true;
  return false;
}

void add_mesh_ball(const Query& query, const Vec3& x_W, const BallSearch& search, std::uint64_t first) {
  const MeshTree& tree = *query.a.solid->mesh;
  const Placement& X = query.a.X;
  Ball ball{query, tree, X.R.transpose() * (x_W - X.p), search.r, search.r + query.reach, {}};
  ball.nearest = nearest_point(tree, ball.x, std::max(ball.reach, search.deepest));
  if (ball.nearest.triangle < 0) return;
  if (went_through(ball, X.R.transpose() * (search.middle - X.p), first)) return;
  if (!ball.nearest.inside && ball.nearest.distance > ball.reach) return;
  if (ball.nearest.inside) ball.reach = ball.nearest.distance + sunk_slop;
  auto& found = query.scratch->candidates;
  const std::size_t begin = found.size();
  const Vec3 half = Vec3::Constant(ball.reach);
  tree.visit(ball.x - half, ball.x + half, [&](int i) {
    add(ball, tree.triangles[at(i)]);
    return true;
  });
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(begin), found.end(), [](const Touch& a, const Touch& b) {
    return a.gap != b.gap ? a.gap < b.gap
                          : std::lexicographical_compare(a.n.begin(), a.n.end(), b.n.begin(), b.n.end());
  });
  const double apart = 1e-9 * tree.size;
  std::size_t kept = begin;  // one of those that several triangles tell of
  for (std::size_t i = begin; i < found.size(); ++i) {
    bool again = false;
    for (std::size_t k = begin; k < kept && !again; ++k)
      again = (found[k].p - found[i].p).squaredNorm() < apart * apart && found[k].n.dot(found[i].n) > 1 - 1e-9;
    if (again) continue;
    found[kept] = found[i];
    found[kept].feature = 4 * first + std::min<std::uint64_t>(kept - begin, 3);
    ++kept;
  }
  found.resize(kept);
}

namespace {

/// How far behind the mesh a point is looked for. What lies behind an open one may as well have come there around it.
double deepest_of(const Query& query) {
  const double size = query.b.solid->radius > 0 ? query.b.solid->radius : 50 * query.margin;
  return query.a.solid->mesh->closed ? size : 0.1 * size;
}

/// A point inside.
Vec3 middle_of(const Solid& solid) {
  if (solid.kind != ShapeKind::Convex) return Vec3::Zero();
  Vec3 sum = Vec3::Zero();
  for (const Vec3& x : solid.polytope->vertices) sum += x;
  return sum / static_cast<double>(solid.polytope->vertices.size());
}

}  // namespace

void touch_mesh(const Query& query, Touches& out) {
  const Solid& solid = *query.b.solid;
  if (endless(solid.kind)) return;
  const BallSearch search{solid.round, deepest_of(query), query.b.X * middle_of(solid)};
  query.scratch->candidates.clear();
  for_each_ball(query.b, [&](const Vec3& x, unsigned k) { add_mesh_ball(query, x, search, k); });
  if (solid.kind != ShapeKind::Point && solid.kind != ShapeKind::Sphere) add_mesh_solid(query);
  add_spread(query, out, most_points, solid.radius);
}

}  // namespace tribo
