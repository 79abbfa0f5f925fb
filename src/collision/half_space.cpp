// A half-space against everything: the points of the other shape that are deepest along its normal.
//   gap = n . (x - p) - r                                                        (half_space.1)
// A box lists its corners, a capsule its two ends, a hull its vertices, a cylinder points of its rims, an ellipsoid the
// point where its normal is -n. Features are their indices.
#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

struct Plane {
  Vec3 n, p;
};

void add_point(const Query& query, const Plane& plane, const Vec3& x, double r, std::uint64_t feature, Touches& out) {
  const double gap = plane.n.dot(x - plane.p) - r;  // (half_space.1)
  out.add(query, x - (r + 0.5 * gap) * plane.n, plane.n, gap, feature);
}

void add_box(const Query& query, const Plane& plane, Touches& out) {
  const Placement& X = query.b.X;
  const Mat3 axes = X.R * query.b.solid->size.asDiagonal();
  for (unsigned k = 0; k < 8; ++k) {
    const Vec3 corner(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    add_point(query, plane, X.p + axes * corner, 0, k, out);
  }
}

void list_vertex(const Query& query, const Plane& plane, std::size_t k, double gap) {
  const Vec3 p = query.b.X * query.b.solid->polytope->vertices[k] - 0.5 * gap * plane.n;
  if (query.listed(p, plane.n, gap)) query.scratch->candidates.push_back({p, plane.n, gap, k});
}

/// The face that lies on the plane, if one does: a hull that stands on it has no other points there.
const PolytopeFace* face_on(const Vec3& n_B, const Polytope& polytope) {
  constexpr double flat = 1e-4;  // sine of the tilt up to which it lies on it
  const PolytopeFace& face = polytope.faces[polytope.face_along(-n_B)];
  return face.n.dot(n_B) < 0 && face.n.cross(n_B).squaredNorm() < flat * flat ? &face : nullptr;
}

void add_hull(const Query& query, const Plane& plane, Touches& out) {
  const Placement& X = query.b.X;
  const Vec3 n_B = X.R.transpose() * plane.n;
  const double offset = plane.n.dot(X.p - plane.p);
  const Polytope& polytope = *query.b.solid->polytope;
  auto gap = [&](std::size_t k) { return n_B.dot(polytope.vertices[k]) + offset; };  // (half_space.1)
  auto& found = query.scratch->candidates;
  found.clear();
  const double slack = 1e-12 * query.b.solid->radius;  // of rounding: the gap decides
  polytope.corners_below(n_B, query.reach - offset + slack, query.scratch->picked);
  for (const int k : query.scratch->picked)
    if (gap(at(k)) < query.reach) list_vertex(query, plane, at(k), gap(at(k)));
  if (found.size() <= patch_corners) return add_spread(query, out);
  const PolytopeFace* face = face_on(n_B, polytope);
  if (face && face->loop.size() > patch_corners) {
    found.clear();
    for (int k : face->loop) list_vertex(query, plane, at(k), gap(at(k)));
    if (add_patch(query, out)) return;
    found.clear();
    for (std::size_t k = 0; k < polytope.vertices.size(); ++k) list_vertex(query, plane, k, gap(k));
  }
  add_spread(query, out);
}

}  // namespace

void touch_half_space(const Query& query, Touches& out) {
  const Plane plane{query.a.X.R.col(2), query.a.X.p};
  const Placement& X = query.b.X;
  const Solid& solid = *query.b.solid;
  switch (solid.kind) {
    case ShapeKind::HalfSpace:
    case ShapeKind::HeightField:
    case ShapeKind::Mesh:
      break;
    case ShapeKind::Point:
    case ShapeKind::Sphere:
      add_point(query, plane, X.p, solid.round, 0, out);
      break;
    case ShapeKind::Capsule:
      add_point(query, plane, X.p - solid.size.z() * X.R.col(2), solid.round, 0, out);
      add_point(query, plane, X.p + solid.size.z() * X.R.col(2), solid.round, 1, out);
      break;
    case ShapeKind::Box:
      add_box(query, plane, out);
      break;
    case ShapeKind::Convex:
      add_hull(query, plane, out);
      break;
    case ShapeKind::Cylinder: {
      const RimPoints rim = lowest_rim_points(X.R.transpose() * plane.n, solid.size, query.ring);
      for (std::size_t k = 0; k < static_cast<std::size_t>(rim.count); ++k)
        add_point(query, plane, X * rim.p[k], 0, rim.feature[k], out);
      break;
    }
    case ShapeKind::Ellipsoid: {
      const Vec3 scaled = solid.size.cwiseProduct(X.R.transpose() * plane.n);
      add_point(query, plane, X * Vec3(-solid.size.cwiseProduct(scaled) / scaled.norm()), 0, 0, out);
      break;
    }
  }
}

void add_spread(const Query& query, Touches& out, std::size_t most, double turn) {
  const auto& found = query.scratch->candidates;
  if (found.size() <= most) {
    for (const Touch& t : found) out.add(query, t.p, t.n, t.gap, t.feature);
    return;
  }
  auto& distance = query.scratch->spread;
  distance.assign(found.size(), HUGE_VAL);
  std::size_t next = 0;
  for (std::size_t k = 1; k < found.size(); ++k)
    if (found[k].gap < found[next].gap) next = k;
  for (std::size_t chosen = 0; chosen < most; ++chosen) {
    const Touch& t = found[next];
    out.add(query, t.p, t.n, t.gap, t.feature);
    std::size_t farthest = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      double apart = (found[k].p - t.p).squaredNorm();
      if (turn > 0) apart += turn * turn * (found[k].n - t.n).squaredNorm();
      distance[k] = std::min(distance[k], apart);
      if (distance[k] > distance[farthest]) farthest = k;
    }
    next = farthest;
  }
}

}  // namespace tribo
