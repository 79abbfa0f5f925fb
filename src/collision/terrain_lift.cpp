// How far a solid has to be lifted to be free of a terrain. Both are graphs over (x, y): with h the height of the terrain
// and l that of the underside of the solid,
//   H = max over (x, y) of h - l                                                                        (terrain.7)
// l is convex and h flat on each triangle, so the largest is found triangle by triangle: in its plane where the solid's
// lowest point is over it, along its sides, at its corners. Since lifting by H is a way out, no contact may ask for more:
//   gap >= -H n_z                                                                                       (terrain.8)
// A feature alone does not know where others end, and where a solid has sunk past its end may tell far too deep.
#include <algorithm>

#include "collision/ray.hpp"
#include "collision/terrain.hpp"

namespace tribo {
namespace {

struct Underside {
  explicit Underside(const Query& q)
      : cells{*q.a.solid->terrain}, solid(*q.b.solid), X(q.a.X.inverse() * q.b.X), up(X.R.transpose().col(2)) {
    center = X * solid.box_center;
    half = X.R.cwiseAbs() * solid.box_half;
    below = center.z() - half.z() - solid.radius;
  }
  void take(double overlap) { most = std::max(most, overlap); }
  /// The terrain's point x: how far it is above the underside.
  double over(const Vec3& x) const {
    const Ray ray{X.R.transpose() * (Vec3(x.x(), x.y(), below) - X.p), up};
    return x.z() - below - enters(solid, ray);  // minus infinity where it misses
  }
  /// The solid's point x: how far it is below the terrain.
  void take_point(const Vec3& x) {
    Vec3 n;
    if (cells.over(x)) take(cells.column(x, n) - x.z());
  }
  bool beside(const Vec3& lo, const Vec3& hi) const {
    return (lo - center - half).head<2>().maxCoeff() > 0 || (center - half - hi).head<2>().maxCoeff() > 0 ||
           hi.z() < center.z() - half.z() + most;
  }

  Cells cells;
  const Solid& solid;
  Placement X;
  Vec3 up, center, half;
  double below, most = 0;
};

/// Where the segments cross, seen from above: how far that of the terrain is above the other.
double crossing(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = d - c, r = c - a;
  const double det = u.x() * v.y() - u.y() * v.x();
  if (std::abs(det) < 1e-14 * u.norm() * v.norm()) return -HUGE_VAL;
  const double s = (r.x() * v.y() - r.y() * v.x()) / det, t = (r.x() * u.y() - r.y() * u.x()) / det;
  if (s < 0 || s > 1 || t < 0 || t > 1) return -HUGE_VAL;
  return (a + s * u).z() - (c + t * v).z();
}

void take_edges(Underside& o, const Vec3& a, const Vec3& b) {
  const Polytope& p = *o.solid.polytope;
  for (const PolytopeFace& face : p.faces)
    for (std::size_t k = 0; k < face.loop.size(); ++k) {
      const int i = face.loop[k], j = face.loop[(k + 1) % face.loop.size()];
      if (i < j) o.take(crossing(a, b, o.X * p.vertices[at(i)], o.X * p.vertices[at(j)]));
    }
}

/// The part of the segment over the bounding box; false: none.
bool clip_to_box(const Underside& o, Vec3& a, Vec3& b) {
  double from = 0, to = 1;
  const Vec3 d = b - a;
  for (int k = 0; k < 2; ++k) {
    if (d[k] == 0) continue;
    const double s = (o.center[k] - o.half[k] - a[k]) / d[k], t = (o.center[k] + o.half[k] - a[k]) / d[k];
    from = std::max(from, std::min(s, t));
    to = std::min(to, std::max(s, t));
  }
  b = a + to * d;
  a += from * d;
  return from < to;
}

/// Along a side of a triangle, over which the overlap is concave.
void take_side(Underside& o, Vec3 a, Vec3 b) {
  constexpr int parts = 16, rounds = 24;
  if (o.beside(a.cwiseMin(b), a.cwiseMax(b))) return;
  if (o.solid.kind == ShapeKind::Box || o.solid.kind == ShapeKind::Convex) return take_edges(o, a, b);
  if (!clip_to_box(o, a, b)) return;
  auto over = [&](double s) { return o.over(a + s * (b - a)); };
  int best = 0;
  double most = -HUGE_VAL;
  for (int k = 0; k <= parts; ++k)
    if (const double x = over(static_cast<double>(k) / parts); x > most) most = x, best = k;
  o.take(most);
  if (most == -HUGE_VAL) return;
  constexpr double golden = 0.6180339887498949;
  double lo = std::max(0, best - 1) / static_cast<double>(parts), hi = std::min(parts, best + 1) / double(parts);
  double s = hi - golden * (hi - lo), t = lo + golden * (hi - lo), fs = over(s), ft = over(t);
  for (int k = 0; k < rounds; ++k) {
    if (fs < ft)
      lo = s, s = t, fs = ft, t = lo + golden * (hi - lo), ft = over(t);
    else
      hi = t, t = s, ft = fs, s = hi - golden * (hi - lo), fs = over(s);
  }
  o.take(std::max(fs, ft));
}

/// The lowest point along the normal of the triangle, where it is over the terrain there, whichever triangle that is.
void take_face(Underside& o, const Vec3& p, const Vec3& q, const Vec3& r) {
  const Vec3 n = (q - p).cross(r - p).normalized();
  const Vec3 low = o.X.R.transpose() * n, &size = o.solid.size;
  const double side = std::hypot(low.x(), low.y());
  Vec3 x = Vec3::Zero();
  if (o.solid.kind == ShapeKind::Ellipsoid)
    x = -size.cwiseProduct(size.cwiseProduct(low)) / size.cwiseProduct(low).norm();
  else if (o.solid.kind == ShapeKind::Cylinder)
    x = Vec3(side > 0 ? -size.x() * low.x() / side : 0, side > 0 ? -size.x() * low.y() / side : 0,
             low.z() > 0 ? -size.z() : size.z());
  else if (o.solid.kind == ShapeKind::Capsule)
    x = Vec3(0, 0, low.z() > 0 ? -size.z() : size.z()) - o.solid.round * low;
  else
    return;  // corners: taken already
  o.take_point(o.X * x);
}

}  // namespace

double lift(const Query& query) {
  Underside o(query);
  if (o.solid.polytope && o.solid.kind != ShapeKind::Cylinder)
    for (const Vec3& v : o.solid.polytope->vertices) o.take_point(o.X * v);
  const Cells& c = o.cells;
  const int i0 = c.cell_x(o.center.x() - o.half.x()), i1 = c.cell_x(o.center.x() + o.half.x());
  const int j0 = c.cell_y(o.center.y() - o.half.y()), j1 = c.cell_y(o.center.y() + o.half.y());
  for (int j = j0; j <= j1 + 1; ++j)
    for (int i = i0; i <= i1 + 1; ++i) o.take(o.over(c.corner(i, j)));
  for (int j = j0; j <= j1; ++j)
    for (int i = i0; i <= i1; ++i) {
      const Vec3 p = c.corner(i, j), q = c.corner(i + 1, j), r = c.corner(i, j + 1), s = c.corner(i + 1, j + 1);
      if (std::max({p.z(), q.z(), r.z(), s.z()}) < o.center.z() - o.half.z() + o.most) continue;
      take_face(o, p, q, r);
      take_face(o, s, r, q);
      take_side(o, p, q);
      take_side(o, p, r);
      take_side(o, q, r);
      if (j == j1) take_side(o, r, s);
      if (i == i1) take_side(o, q, s);
    }
  return o.most;
}

}  // namespace tribo
