#include "collision/face_clip.hpp"

#include <algorithm>

#include "collision/touching_features.hpp"

namespace tribo {

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

namespace {

/// Cuts scratch.polygon (closed, or an open segment of two) by the side of the loop from corner s on.
void clip_side(const PlacedSolid& f, const FacePlane& plane, const PolytopeFace& face, int s, bool closed,
               double tolerance, Scratch& work) {
  const std::vector<Vec3>& x = f.solid->polytope->vertices;
  const ClipVertex c = in_plane(plane, f.X * x[at(face.loop[at(s)])], 0, 0);
  const ClipVertex d = in_plane(plane, f.X * x[at(face.loop[at(s + 1) % face.loop.size()])], 0, 0);
  const double length = std::hypot(d.x - c.x, d.y - c.y);
  auto outside = [&](const ClipVertex& p) {
    return length > 0 ? ((p.x - c.x) * (d.y - c.y) - (p.y - c.y) * (d.x - c.x)) / length : -1.0;
  };
  const std::vector<ClipVertex>& in = work.polygon;
  std::vector<ClipVertex>& out = work.clipped;
  out.clear();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const ClipVertex& p = in[i];
    const double dp = outside(p);
    const bool p_in = dp <= tolerance;
    if (p_in) out.push_back(p);
    if (p_in && dp > 0) {
      out.back().x -= dp * (d.y - c.y) / length;
      out.back().y += dp * (d.x - c.x) / length;
    }
    if (!closed && i + 1 == in.size()) break;
    const ClipVertex& q = in[(i + 1) % in.size()];
    const double dq = outside(q);
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
    std::uint32_t code = (other >= 0 ? clipped_code : 2 * clipped_code) | (hi & 0x7fff) << 15 | (lo & 0x7fff);
    if (!closed) code = (p_in ? q : p).code;
    out.push_back({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z), code, p_in ? -1 - s : p.edge});
  }
  work.polygon.swap(work.clipped);
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

void list_face(const PlacedSolid& other, const FacePlane& plane, std::size_t k, std::vector<ClipVertex>& polygon) {
  const Polytope& o = *other.solid->polytope;
  const std::vector<int>& loop = o.faces[k].loop;
  polygon.clear();
  for (std::size_t i = 0; i < loop.size(); ++i)
    polygon.push_back(
        in_plane(plane, other.X * o.vertices[at(loop[i])], static_cast<std::uint32_t>(loop[i]), static_cast<int>(i)));
}

/// The candidates from `first` on without those that stand before them already.
void drop_twins(std::vector<Touch>& found, std::size_t first, double apart) {
  std::size_t kept = first;
  for (std::size_t i = first; i < found.size(); ++i) {
    const auto twin = [&](const Touch& t) { return (t.p - found[i].p).squaredNorm() < apart * apart; };
    if (std::none_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), twin)) found[kept++] = found[i];
  }
  found.resize(kept);
}

}  // namespace

void clip_by_face(const Query& query, const PlacedSolid& f, const FacePlane& plane, const PolytopeFace& face,
                  bool closed) {
  Scratch& work = *query.scratch;
  const double tolerance = side_tolerance * std::min(query.a.solid->radius, query.b.solid->radius);
  for (int s = 0; s < static_cast<int>(face.loop.size()) && !work.polygon.empty(); ++s)
    clip_side(f, plane, face, s, closed, tolerance, work);
}

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
  list_face(other, plane, incident, polygon);
  return true;
}

void list_polygon(const Query& query, const FacePlane& plane, double round, const Vec3& n, Faces faces) {
  for (const ClipVertex& p : query.scratch->polygon) {
    const double gap = p.z - round;
    const Vec3 mid = plane.origin + p.x * plane.u + p.y * plane.v + 0.5 * gap * plane.n;
    const std::uint64_t name = p.code < clipped_code ? faces.corners : faces.pair;
    if (query.listed(mid, n, gap)) query.scratch->candidates.push_back({mid, n, gap, name << 32 | p.code});
  }
}

Faces FaceOver::faces(std::size_t k) const { return {(code | k) + 1, (code | 0x7fff) + 1}; }

void list_other_faces(const Query& query, const FaceOver& x) {
  constexpr double same = 1e-9;  // of the smaller radius
  const Polytope& o = *x.other.solid->polytope;
  const Vec3 n = x.flip ? Vec3(-x.plane.n) : x.plane.n, down = x.other.X.R.transpose() * x.plane.n;
  const double apart = same * std::min(query.a.solid->radius, query.b.solid->radius);
  std::vector<double>& near = query.scratch->spread;  // does a corner come near the plane?
  near.clear();
  for (const Vec3& v : o.vertices) {
    const Vec3 p = x.other.X * v;
    const double gap = x.plane.n.dot(p - x.plane.origin);
    near.push_back(query.listed(p - 0.5 * gap * x.plane.n, n, gap));
  }
  for (std::size_t k = 0; k < o.faces.size(); ++k) {
    const std::vector<int>& loop = o.faces[k].loop;
    const auto is_near = [&](int i) { return near[at(i)] > 0; };
    if (k == x.incident || !(o.faces[k].n.dot(down) < 0) || std::none_of(loop.begin(), loop.end(), is_near)) continue;
    list_face(x.other, x.plane, k, query.scratch->polygon);
    clip_by_face(query, x.f, x.plane, x.face, true);
    const std::size_t first = query.scratch->candidates.size();
    list_polygon(query, x.plane, 0, n, x.faces(k));
    drop_twins(query.scratch->candidates, first, apart);
  }
}

}  // namespace tribo
