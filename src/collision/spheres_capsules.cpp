// Round shapes in closed form: a sphere is a point, a capsule a segment, each with a radius.
//   gap = |x_b - x_a| - r_a - r_b, n = (x_b - x_a) / |x_b - x_a|                  (round.1)
// with x_a, x_b the nearest points of the two cores.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

struct Cores {
  Vec3 a, b;  // nearest points of the cores
  double r_a, r_b;
  Vec3 fallback;  // normal where the cores meet
};

void add_cores(const Query& query, const Cores& c, std::uint64_t feature, Touches& out) {
  const Vec3 d = c.b - c.a;
  const Vec3 n = direction(d, c.fallback);
  const double gap = d.dot(n) - c.r_a - c.r_b;  // (round.1)
  out.add(query, c.a + (c.r_a + 0.5 * gap) * n, n, gap, feature);
}

}  // namespace

void touch_sphere_sphere(const Query& query, Touches& out) {
  add_cores(query, {query.a.X.p, query.b.X.p, query.a.solid->round, query.b.solid->round, Vec3::UnitZ()}, 0, out);
}

void touch_sphere_box(const Query& query, Touches& out) {
  const Placement& X = query.b.X;
  const Vec3& h = query.b.solid->size;
  const double r = query.a.solid->round;
  const Vec3 x = X.R.transpose() * (query.a.X.p - X.p);
  const Vec3 way = x.cwiseMax(-h).cwiseMin(h) - x;  // to the nearest point; however short, it has a direction
  if (!way.isZero(0)) {
    const double square = way.squaredNorm(), length = square > 1e-200 ? std::sqrt(square) : way.stableNorm();
    const double gap = length - r;  // (round.1)
    if (!query.within_reach(gap)) return;
    const Vec3 n = X.R * (way / length);
    out.add(query, query.a.X.p + (r + 0.5 * gap) * n, n, gap, 0);
    return;
  }
  // The centre is inside: out through the nearest face.
  int k;
  const double depth = (h - x.cwiseAbs()).minCoeff(&k);
  const Vec3 n = (x[k] < 0 ? 1.0 : -1.0) * X.R.col(k);
  out.add(query, query.a.X.p + 0.5 * (r - depth) * n, n, -depth - r, 0);
}

// By the signed distance of its centre (support.cpp).
void touch_sphere_solid(const Query& query, Touches& out) {
  const Placement& X = query.b.X;
  const double r = query.a.solid->round;
  Vec3 n_B;
  const double gap = depth_of(*query.b.solid, X.R.transpose() * (query.a.X.p - X.p), n_B) - r;
  const Vec3 n = -(X.R * n_B);
  out.add(query, query.a.X.p + (r + 0.5 * gap) * n, n, gap, 0);
}

void touch_sphere_capsule(const Query& query, Touches& out) {
  const Placement& X = query.b.X;
  const double h = query.b.solid->size.z();
  const Vec3 axis = X.R.col(2);
  const double s = std::clamp(axis.dot(query.a.X.p - X.p), -h, h);
  add_cores(query, {query.a.X.p, X.p + s * axis, query.a.solid->round, query.b.solid->round, X.R.col(0)}, 0, out);
}

void touch_capsule_capsule(const Query& query, Touches& out) {
  if (touch_parallel(query, out)) return;
  const Vec3 u = query.a.X.R.col(2), v = query.b.X.R.col(2);
  const double ha = query.a.solid->size.z(), hb = query.b.solid->size.z();
  const double ra = query.a.solid->round, rb = query.b.solid->round;
  const Vec3 d = query.b.X.p - query.a.X.p;
  const double c = u.dot(v), du = d.dot(u), dv = d.dot(v);
  const double det = 1 - c * c;
  // Nearest points of two segments: the lines' minimum, clamped on one, then on the other, then on the first again.
  double s = det > 1e-12 ? std::clamp((du - c * dv) / det, -ha, ha) : std::clamp(du, -ha, ha);
  const double t = std::clamp(s * c - dv, -hb, hb);
  s = std::clamp(du + t * c, -ha, ha);
  const Vec3 normal = direction(u.cross(v), across(u));
  add_cores(query, {query.a.X.p + s * u, query.b.X.p + t * v, ra, rb, normal}, 2, out);
}

}  // namespace tribo
