#include "collision/lowest_points.hpp"

#include <algorithm>

namespace tribo {
namespace {

void add_rim(const Solid& solid, const Placement& X, const Vec3& up, int rim, LowestPoints& out) {
  const double sine = std::hypot(up.x(), up.y()), r = solid.size.x(), same = equally_low * solid.radius;
  for (double end : {-solid.size.z(), solid.size.z()}) {
    if (up.z() * end > same - std::abs(up.z()) * solid.size.z()) continue;
    if (2 * sine * r > same) {
      out.add(X * Vec3(-r * up.x() / sine, -r * up.y() / sine, end));
      continue;
    }
    for (int k = 0; k < rim; ++k) {
      const double angle = 2 * M_PI * k / rim;
      out.add(X * Vec3(r * std::cos(angle), r * std::sin(angle), end));
    }
  }
}

}  // namespace

LowestPoints lowest_points(const Solid& solid, const Placement& X, const Vec3& n, int rim) {
  const Vec3 up = X.R.transpose() * n;
  const double same = equally_low * solid.radius;
  LowestPoints out;
  switch (solid.kind) {
    case ShapeKind::Ellipsoid: {
      const Vec3 scaled = solid.size.cwiseProduct(up);
      out.add(X * Vec3(-solid.size.cwiseProduct(scaled) / scaled.norm()));
      break;
    }
    case ShapeKind::Capsule:
      for (double end : {-solid.size.z(), solid.size.z()})
        if (up.z() * end <= same - std::abs(up.z()) * solid.size.z()) out.add(X * Vec3(0, 0, end) - solid.round * n);
      break;
    case ShapeKind::Cylinder:
      add_rim(solid, X, up, rim, out);
      break;
    default: {
      const double level = -reach_along(solid, -up) + same;
      for (const Vec3& v : solid.polytope->vertices)
        if (up.dot(v) <= level) out.add(X * v);
    }
  }
  return out;
}

Passing passing(const LowestPoints& points, const Edge& edge, const Vec3& n, double aside) {
  const Vec3 b = n.cross(edge.t);
  Passing out;
  for (int i = 0; i < points.count; ++i) {
    const Vec3 x = points.x[at(i)] - edge.e;
    const double bx = b.dot(x);
    if (std::abs(bx) < aside) out.take(edge.t.dot(x));
    for (int j = 0; j < i; ++j) {
      const Vec3 y = points.x[at(j)] - edge.e;
      const double by = b.dot(y);
      if ((bx < 0) != (by < 0)) out.take((edge.t.dot(y) * bx - edge.t.dot(x) * by) / (bx - by));
    }
  }
  return out;
}

bool over_triangle(const Vec3& x, const Vec3 (&corners)[3], const Vec3& n) {
  for (int k = 0; k < 3; ++k) {
    const Vec3 side = corners[(k + 1) % 3] - corners[k];
    if (n.dot(side.cross(x - corners[k])) < -1e-12 * side.squaredNorm()) return false;
  }
  return true;
}

void add_candidate(const Query& query, const Vec3& p, const Vec3& n, double gap, std::uint64_t feature) {
  if (!(gap < query.reach)) return;
  const Vec3 p_W = query.a.X * Vec3(p + 0.5 * gap * n), n_W = query.a.X.R * n;
  if (!query.listed(p_W, n_W, gap)) return;
  auto& found = query.scratch->candidates;
  const double radius = query.b.solid->radius, same = 1e-14 * radius * radius;
  for (const Touch& t : found)
    if ((t.p - p_W).squaredNorm() < same && t.n.dot(n_W) > 1 - 1e-9) return;
  found.push_back({p_W, n_W, gap, feature});
}

}  // namespace tribo
