// Pairs with flat faces: GJK says which features meet, the faces themselves say where.
//
// The normal and the gap of a face come from the face, not from the iteration, so they are exact and steady; only what
// touches at edges and vertices takes the normal of GJK (convex.cpp; curved shapes: polish.cpp). Faces win as in box_box.cpp.
#include <algorithm>

#include "collision/polish.hpp"
#include "collision/touching_features.hpp"

namespace tribo {
namespace {

constexpr double touching = 1e-4;  // of the smaller radius: gaps at which GJK's normal says little

double smallest(const Solid& solid) { return solid.round > 0 ? solid.round : solid.box_half.minCoeff(); }

/// Lowest height of the other shape over a face; n and offset in the frame of the other shape. corner: of a polytope, there.
double lowest(const Solid& solid, const Vec3& n, double offset, int& corner) {
  if (solid.kind == ShapeKind::Ellipsoid) return -n.cwiseProduct(solid.size).norm() - offset;
  const double along = std::abs(n.z()) * solid.size.z();
  if (solid.kind == ShapeKind::Cylinder) return -along - std::hypot(n.x(), n.y()) * solid.size.x() - offset;
  if (!solid.polytope) return -along - solid.round - offset;
  return -solid.polytope->highest(-n, &corner) - offset;
}

struct FaceChoice {
  int face = -1;
  double s = -HUGE_VAL;  // separation along its normal
};

/// The face of f that separates best from the other shape, among those that GJK points at: the one most along n, and
/// those through the witness point; among all of them where EPA failed. n from f outward, p the witness, both in W.
FaceChoice choose_face(const PlacedSolid& f, const PlacedSolid& other, const Vec3& p, const Vec3& n, double gap,
                       std::vector<int>& through) {
  const Polytope& polytope = *f.solid->polytope;
  const std::vector<PolytopeFace>& faces = polytope.faces;
  const Vec3 n_F = f.X.R.transpose() * n, p_F = f.X.R.transpose() * (p - f.X.p);
  const double near = 1e-4 * f.solid->radius;
  const double cosine = std::abs(gap) < near ? -2.0 : 0.8;  // close to zero gap the normal of GJK says little
  const int aligned = static_cast<int>(polytope.face_along(n_F));
  const Mat3 R_OF = other.X.R.transpose() * f.X.R;
  const Vec3 p_FO = f.X.R.transpose() * (other.X.p - f.X.p);
  const bool all = !std::isfinite(gap);
  polytope.faces_through(p_F, all ? HUGE_VAL : near, n_F, all ? -HUGE_VAL : cosine, through);
  if (!std::binary_search(through.begin(), through.end(), aligned)) through.insert(through.begin(), aligned);
  FaceChoice best;
  int corner = -1;  // the lowest of the other shape over the face before: what it is over this one, none is higher
  for (const int k : through) {
    const PolytopeFace& face = faces[at(k)];
    const Vec3 n_O = R_OF * face.n;
    const double offset = face.offset - face.n.dot(p_FO);
    if (corner >= 0 && n_O.dot(other.solid->polytope->vertices[at(corner)]) - offset < best.s) continue;
    const double s = lowest(*other.solid, n_O, offset, corner);
    if (s > best.s || (s == best.s && k < best.face)) best = {k, s};
  }
  return best;
}

/// The plane of a face with two axes in it; the first along the first edge.
struct FacePlane {
  Vec3 origin, u, v, n;  // in W
};

FacePlane face_plane(const PlacedSolid& f, const PolytopeFace& face) {
  const std::vector<Vec3>& x = f.solid->polytope->vertices;
  const Vec3 n = f.X.R * face.n;
  const Vec3 edge = f.X.R * (x[at(face.loop[1])] - x[at(face.loop[0])]);
  const Vec3 u = (edge - n * n.dot(edge)).normalized();
  return {f.X * x[at(face.loop[0])], u, n.cross(u), n};
}

ClipVertex in_plane(const FacePlane& plane, const Vec3& p, std::uint32_t code, int edge) {
  const Vec3 d = p - plane.origin;
  return {plane.u.dot(d), plane.v.dot(d), plane.n.dot(d), code, edge};
}

/// Where what is clipped lies in the plane: no point of it is farther than radius from (x, y).
struct Circle {
  double x, y, radius;
};

Circle circle_around(const std::vector<ClipVertex>& polygon) {
  double x_lo = HUGE_VAL, x_hi = -HUGE_VAL, y_lo = HUGE_VAL, y_hi = -HUGE_VAL, squared = 0;
  for (const ClipVertex& p : polygon) {
    x_lo = std::min(x_lo, p.x), x_hi = std::max(x_hi, p.x);
    y_lo = std::min(y_lo, p.y), y_hi = std::max(y_hi, p.y);
  }
  const double x = 0.5 * (x_lo + x_hi), y = 0.5 * (y_lo + y_hi);
  for (const ClipVertex& p : polygon) squared = std::max(squared, (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y));
  return {x, y, std::sqrt(squared)};
}

/// A side of the face in its plane, from c to d. What is outside has a positive moment about it.
struct Side {
  double x, y, dx, dy;
  double moment(double px, double py) const { return (px - x) * dy - (py - y) * dx; }
};

/// Cuts scratch.polygon (closed, or an open segment of two) by side s.
void clip_side(const Side& side, int s, bool closed, double tolerance, Scratch& work) {
  const double length = std::hypot(side.dx, side.dy);
  auto outside = [&](const ClipVertex& p) { return side.moment(p.x, p.y) / length; };
  const std::vector<ClipVertex>& in = work.polygon;
  std::vector<ClipVertex>& out = work.clipped;
  out.clear();
  double next = outside(in[0]);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const ClipVertex& p = in[i];
    const double dp = next;
    const bool p_in = dp <= tolerance;
    if (p_in) out.push_back(p);
    if (p_in && dp > 0) {
      out.back().x -= dp * side.dy / length;
      out.back().y += dp * side.dx / length;
    }
    if (!closed && i + 1 == in.size()) break;
    const ClipVertex& q = in[i + 1 < in.size() ? i + 1 : 0];
    const double dq = next = outside(q);
    if (p_in == (dq <= tolerance)) continue;
    if (std::min(dp, dq) > 0) {  // within the tolerance: it is the end; along a nearly parallel edge a cut lies far off
      if (p_in) out.back().edge = -1 - s;
      continue;
    }
    const double t = dp / (dp - dq);
    // A segment keeps the codes of its ends; a polygon names the two edges that cross.
    const int other = p.edge;
    const std::uint32_t lo = static_cast<std::uint32_t>(other >= 0 ? other : s);
    const std::uint32_t hi = static_cast<std::uint32_t>(other >= 0 ? s : -1 - other);
    std::uint32_t code = (other >= 0 ? 1u << 30 : 2u << 30) | (hi & 0x7fff) << 15 | (lo & 0x7fff);
    if (!closed) code = (p_in ? q : p).code;
    out.push_back({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z), code, p_in ? -1 - s : p.edge});
  }
  work.polygon.swap(work.clipped);
}

void clip_by_face(const Query& query, const PlacedSolid& f, const FacePlane& plane, const PolytopeFace& face,
                  bool closed) {
  Scratch& work = *query.scratch;
  const double tolerance = side_tolerance * std::min(query.a.solid->radius, query.b.solid->radius);
  const std::vector<Vec3>& x = f.solid->polytope->vertices;
  work.sides.clear();
  for (const int i : face.loop) work.sides.push_back(in_plane(plane, f.X * x[at(i)], 0, 0));
  const Circle around = circle_around(work.polygon);
  const double far = (1 + 1e-9) * around.radius + tolerance;
  const int n = static_cast<int>(work.sides.size());
  for (int s = 0; s < n && !work.polygon.empty(); ++s) {
    const ClipVertex &c = work.sides[at(s)], &d = work.sides[at(s + 1 < n ? s + 1 : 0)];
    const Side side{c.x, c.y, d.x - c.x, d.y - c.y};
    const double middle = side.moment(around.x, around.y);
    if (middle < 0 && middle * middle > far * far * (side.dx * side.dx + side.dy * side.dy)) continue;
    if (std::none_of(work.polygon.begin(), work.polygon.end(),
                     [&](const ClipVertex& p) { return side.moment(p.x, p.y) > 0; }))
      continue;
    clip_side(side, s, closed, tolerance, work);
  }
}

/// The cap of a standing cylinder, with the lowest point of its rim; of a lying one, its lowest line.
bool list_cylinder(const PlacedSolid& other, const FacePlane& plane, const Vec3& n_O, std::vector<ClipVertex>& polygon,
                   std::size_t incident) {
  const double sine = std::hypot(n_O.x(), n_O.y()), r = other.solid->size.x(), h = other.solid->size.z();
  const Vec3 low = sine > 0 ? Vec3(-r * n_O.x() / sine, -r * n_O.y() / sine, 0) : Vec3(r, 0, 0);
  if (sine > 0.1) {
    for (int cap = 0; cap < 2; ++cap)
      polygon.push_back(in_plane(plane, other.X * Vec3(low.x(), low.y(), cap ? h : -h), cap ? 1 : 0, 0));
    return false;
  }
  const PolytopeFace& face = other.solid->polytope->faces[incident];
  const double turn = std::atan2(low.y(), low.x()) / (2 * M_PI) * cap_corners;
  const int before = static_cast<int>(std::floor(turn + cap_corners)) % cap_corners;
  for (std::size_t k = 0; k < face.loop.size(); ++k) {
    const int corner = face.loop[k];
    const Vec3& x = other.solid->polytope->vertices[at(corner)];
    const ClipVertex listed = in_plane(plane, other.X * x, static_cast<std::uint32_t>(corner), static_cast<int>(k));
    // Seen from outside, the lower cap runs backwards: its rim point comes before the corner, not after.
    const bool here = sine > 1e-3 && corner % cap_corners == before;
    const ClipVertex rim =
        in_plane(plane, other.X * Vec3(low.x(), low.y(), x.z()), 2 * cap_corners, static_cast<int>(k));
    if (here && incident == 0) polygon.push_back(rim);
    polygon.push_back(listed);
    if (here && incident == 1) polygon.push_back(rim);
  }
  return true;
}

/// What of the other shape faces the plane, in scratch.polygon; false: an open segment.
bool list_incident(const PlacedSolid& other, const FacePlane& plane, std::vector<ClipVertex>& polygon,
                   std::size_t& incident) {
  const Polytope& o = *other.solid->polytope;
  polygon.clear();
  if (other.solid->kind == ShapeKind::Cylinder) {
    const Vec3 n_O = other.X.R.transpose() * plane.n;
    incident = o.faces[1].n.dot(n_O) < o.faces[0].n.dot(n_O) ? 1 : 0;
    if (list_cylinder(other, plane, n_O, polygon, incident)) return true;
    incident = 0;  // it lies: which cap faces the plane more is rounding
    return false;
  }
  incident = facing_face(other, plane.n);
  const std::vector<int>& loop = o.faces[incident].loop;
  for (std::size_t k = 0; k < loop.size(); ++k)
    polygon.push_back(
        in_plane(plane, other.X * o.vertices[at(loop[k])], static_cast<std::uint32_t>(loop[k]), static_cast<int>(k)));
  return true;
}

double least_height(const Scratch& work) {
  double least = HUGE_VAL;
  for (const ClipVertex& p : work.polygon) least = std::min(least, p.z);
  return least;
}

/// scratch.polygon as contacts; flip: the reference face is on b.
void add_polygon(const Query& query, const FacePlane& plane, double round, bool flip, std::uint64_t faces,
                 Touches& out) {
  const Vec3 n = flip ? Vec3(-plane.n) : plane.n;
  auto& found = query.scratch->candidates;
  found.clear();
  for (const ClipVertex& p : query.scratch->polygon) {
    const double gap = p.z - round;
    const Vec3 mid = plane.origin + p.x * plane.u + p.y * plane.v + 0.5 * gap * plane.n;
    if (query.listed(mid, n, gap)) found.push_back({mid, n, gap, faces << 32 | p.code});
  }
  if (!add_patch(query, out)) add_spread(query, out);
}

Separation repaired(const Query& query, Separation x) {
  // EPA failed: overlap for sure, so the best face decides.
  if (!x.n.allFinite() || !x.p.allFinite())
    x = {-HUGE_VAL, 0.5 * (query.a.X.p + query.b.X.p), direction(query.b.X.p - query.a.X.p, Vec3::UnitZ())};
  return x;
}

// Of a solid without faces (a) near a polytope (b).
struct Nearness {
  Separation x;
  double tolerance = 0;  ///< gaps that differ by less count as equal [m]
  FaceChoice choice;     ///< the face of b that separates best
};

// False where they are out of reach.
bool nearness(const Query& query, Nearness& near) {
  near.x = separation(query);
  if (!query.within_reach(near.x.gap)) return false;
  near.x = repaired(query, near.x);
  near.tolerance = absolute_preference * std::min(smallest(*query.b.solid), smallest(*query.a.solid));
  const double half = std::isfinite(near.x.gap) ? 0.5 * near.x.gap : 0;
  near.choice = choose_face(query.b, query.a, near.x.p + half * near.x.n, -near.x.n, near.x.gap, query.scratch->picked);
  return true;
}

}  // namespace

// Over a face, the ends of the part of the axis that lies over it; else one point.
void touch_capsule_polytope(const Query& query, Touches& out) {
  const PlacedSolid &f = query.b, &capsule = query.a;
  Nearness near;
  if (!nearness(query, near)) return;
  const auto& [x, tolerance, choice] = near;
  if (!better(x.gap, choice.s, tolerance)) {
    const PolytopeFace& face = f.solid->polytope->faces[at(choice.face)];
    const FacePlane plane = face_plane(f, face);
    const Vec3 axis = capsule.solid->size.z() * capsule.X.R.col(2);
    auto& polygon = query.scratch->polygon;
    polygon.assign({in_plane(plane, capsule.X.p - axis, 0, 0), in_plane(plane, capsule.X.p + axis, 1, 0)});
    clip_by_face(query, f, plane, face, false);
    const double r = capsule.solid->round;
    if (!polygon.empty() && !better(least_height(*query.scratch) - r, std::max(x.gap, choice.s), tolerance)) {
      add_polygon(query, plane, r, true, 0, out);
      return;
    }
  }
  if (!touch_along_edge(query, x, out)) add_polished(query, x, 2, out);
}

void touch_polytope_polytope(const Query& query, Touches& out) {
  Separation x = separation(query);
  if (!query.within_reach(x.gap)) return;
  x = repaired(query, x);
  const double tolerance = absolute_preference * std::min(smallest(*query.a.solid), smallest(*query.b.solid));
  const double half = std::isfinite(x.gap) ? 0.5 * x.gap : 0;
  const FaceChoice on_a = choose_face(query.a, query.b, x.p - half * x.n, x.n, x.gap, query.scratch->picked);
  const FaceChoice on_b = choose_face(query.b, query.a, x.p + half * x.n, -x.n, x.gap, query.scratch->picked);
  const bool b_first = better(on_b.s, on_a.s, tolerance);
  const FaceChoice& choice = b_first ? on_b : on_a;
  if (!better(x.gap, choice.s, tolerance)) {
    const PlacedSolid &f = b_first ? query.b : query.a, &other = b_first ? query.a : query.b;
    const PolytopeFace& face = f.solid->polytope->faces[at(choice.face)];
    const FacePlane plane = face_plane(f, face);
    auto& polygon = query.scratch->polygon;
    std::size_t incident = 0;
    const bool closed = list_incident(other, plane, polygon, incident);
    clip_by_face(query, f, plane, face, closed);
    if (!polygon.empty() && !better(least_height(*query.scratch), std::max(x.gap, choice.s), tolerance)) {
      const std::uint64_t faces = (b_first ? 1u << 30 : 0u) | static_cast<std::uint64_t>(choice.face) << 15 | incident;
      add_polygon(query, plane, 0, b_first, faces + 1, out);
      return;
    }
  }
  // Where they touch, the way from one to the other is no direction, and the edges say it; and where EPA failed.
  const double near = touching * std::min(query.a.solid->radius, query.b.solid->radius);
  const bool edges = query.a.solid->kind != ShapeKind::Cylinder && query.b.solid->kind != ShapeKind::Cylinder;
  if (edges && !(std::abs(x.gap) > near)) {
    const Separation parted = part_by_edges(query, x.p, near);
    if (!better(x.gap, parted.gap, 1e-3 * near)) x = parted;
  } else if (edges && !std::isfinite(x.gap)) {
    x = part_by_edges(query, x.p, HUGE_VAL);
  }
  if (!touch_along_edge(query, x, out)) add_polished(query, x, 1, out);
}

// Over a face, the point whose normal is that of the face; else what GJK says.
void touch_ellipsoid_polytope(const Query& query, Touches& out) {
  const PlacedSolid &f = query.b, &e = query.a;
  Nearness near;
  if (!nearness(query, near)) return;
  const auto& [x, tolerance, choice] = near;
  if (!better(x.gap, choice.s, tolerance)) {
    const PolytopeFace& face = f.solid->polytope->faces[at(choice.face)];
    const FacePlane plane = face_plane(f, face);
    const Vec3 scaled = e.solid->size.cwiseProduct(e.X.R.transpose() * plane.n);
    auto& polygon = query.scratch->polygon;
    polygon.assign({in_plane(plane, e.X * Vec3(-e.solid->size.cwiseProduct(scaled) / scaled.norm()), 0, 0)});
    clip_by_face(query, f, plane, face, false);
    if (!polygon.empty()) return add_polygon(query, plane, 0, true, 0, out);
  }
  add_polished(query, x, 0, out);
}

void touch_smooth(const Query& query, Touches& out) {
  const Separation x = separation(query);
  if (query.within_reach(x.gap)) add_polished(query, x, 0, out);
}

}  // namespace tribo
