// Two boxes: separating axes, then the incident face clipped by the reference face, or one point of two edges.
//   s(n) = n . (p_b - p_a) - sum_i h_i |n . a_i| - sum_j k_j |n . b_j|            (box.1)
// is largest, over the 15 axes, at the normal of contact; it is the gap wherever the nearest features are a face and a
// vertex or two crossing edges. Where they are not (a corner beside a corner), the boxes are apart and the nearest pair
// of features is searched.
//
// Faces win over edges, and a over b, unless the other is better by 5 % and a thousandth of the smallest half extent: a
// choice without memory that does not flicker between axes which are equal but for rounding. Where faces lie on each
// other, every pair of their edges gives the same axis but for rounding, and which edges those would be is noise: such
// axes never decide.
#include <algorithm>

#include "collision/narrowphase.hpp"

namespace tribo {
namespace {

constexpr double rounding = 1e-11;  // of the extents: distances that differ by less are equal

// Kinds of feature codes; see add_polygon, add_edges, add_nearest.
constexpr std::uint64_t edge_feature = 0x4000, nearest_feature = 0x6000;

/// b in the frame of a.
struct Boxes {
  Vec3 h, k;  // half extents of a, b
  Mat3 C;     // axes of b as columns
  Vec3 t;     // centre of b
};

struct Axis {
  double s = -HUGE_VAL;
  int i = 0, j = 0;
};

struct FaceFrame {
  int k, u, v;  // normal axis and the two others
  double sign;
};

FaceFrame face_frame(int k, double sign) { return {k, (k + 1) % 3, (k + 2) % 3, sign}; }

/// Cuts the polygon by one side of the reference rectangle: coordinate axis of (x, y) times sign <= half.
int clip(const ClipVertex* in, int n, int side, double half, double tolerance, ClipVertex* out) {
  const bool along_x = side < 2;
  const double sign = side & 1 ? -1 : 1;
  auto outside = [&](const ClipVertex& p) { return sign * (along_x ? p.x : p.y) - half; };
  int m = 0;
  for (int i = 0; i < n; ++i) {
    const ClipVertex& p = in[i];
    const ClipVertex& q = in[i + 1 == n ? 0 : i + 1];
    const double dp = outside(p), dq = outside(q);
    const bool p_in = dp <= tolerance, q_in = dq <= tolerance;
    if (p_in) out[m++] = p;
    if (p_in && dp > 0) (along_x ? out[m - 1].x : out[m - 1].y) = sign * half;
    if (p_in == q_in) continue;
    if ((p_in ? dp : dq) > 0) {  // within the tolerance: it is the end; along a nearly parallel edge a cut lies far off
      if (p_in) out[m - 1].edge = -1 - side;
      continue;
    }
    const double f = dp / (dp - dq);
    ClipVertex cut{p.x + f * (q.x - p.x), p.y + f * (q.y - p.y), p.z + f * (q.z - p.z), 0, p.edge};
    if (p.edge >= 0) {
      cut.code = static_cast<std::uint32_t>(4 + 4 * p.edge + side);  // incident edge on reference side
    } else {
      const int other = -1 - p.edge;  // two reference sides: a reference corner
      const int sx = along_x ? side : other, sy = along_x ? other : side;
      cut.code = static_cast<std::uint32_t>(20 + 2 * (sx & 1) + (sy & 1));
    }
    if (p_in) cut.edge = -1 - side;
    out[m++] = cut;
  }
  return m;
}

struct FaceContact {
  std::array<ClipVertex, 16> polygon;
  int n = 0;
  std::uint64_t faces = 0;  // reference and incident
  double least = HUGE_VAL;  // smallest height over the reference face, infinite when nothing is over it
};

/// The part of the incident face of b that lies over face f of a.
void face_contact(const Boxes& x, const FaceFrame& f, FaceContact& out) {
  int j = 0;
  for (int c = 1; c < 3; ++c)
    if (std::abs(x.C(f.k, c)) > std::abs(x.C(f.k, j))) j = c;
  const double m = x.C(f.k, j) * f.sign > 0 ? -1 : 1;
  const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
  const Vec3 center = x.t + m * x.k[j] * x.C.col(j);
  const Vec3 e1 = x.k[j1] * x.C.col(j1), e2 = x.k[j2] * x.C.col(j2);
  const Vec3 corners[4] = {center + e1 + e2, center - e1 + e2, center - e1 - e2, center + e1 - e2};
  std::array<ClipVertex, 16> other;
  for (int i = 0; i < 4; ++i) {
    const Vec3& p = corners[i];
    out.polygon[static_cast<std::size_t>(i)] = {p[f.u], p[f.v], f.sign * p[f.k] - x.h[f.k],
                                                static_cast<std::uint32_t>(i), i};
  }
  out.n = 4;
  const double tolerance = side_tolerance * std::sqrt(std::min(x.h.squaredNorm(), x.k.squaredNorm()));
  out.n = clip(out.polygon.data(), out.n, 0, x.h[f.u], tolerance, other.data());
  out.n = clip(other.data(), out.n, 1, x.h[f.u], tolerance, out.polygon.data());
  out.n = clip(out.polygon.data(), out.n, 2, x.h[f.v], tolerance, other.data());
  out.n = clip(other.data(), out.n, 3, x.h[f.v], tolerance, out.polygon.data());
  for (int i = 0; i < out.n; ++i) out.least = std::min(out.least, out.polygon[static_cast<std::size_t>(i)].z);
  out.faces = static_cast<std::uint64_t>(2 * f.k + (f.sign > 0)) * 6 + static_cast<std::uint64_t>(2 * j + (m > 0));
}

/// Feature: reference box, its face, the incident face, and the vertex, cut or corner.
void add_polygon(const Query& query, const FaceFrame& f, bool b_first, const FaceContact& found, Touches& out) {
  const Placement& X = b_first ? query.b.X : query.a.X;
  const double h = (b_first ? query.b : query.a).solid->size[f.k];
  const Vec3 outward = f.sign * X.R.col(f.k);
  const Vec3 n = b_first ? Vec3(-outward) : outward;
  for (int i = 0; i < found.n; ++i) {
    const ClipVertex& p = found.polygon[static_cast<std::size_t>(i)];
    const Vec3 mid = X.p + p.x * X.R.col(f.u) + p.y * X.R.col(f.v) + (h + 0.5 * p.z) * outward;
    out.add(query, mid, n, p.z, ((b_first ? 36 : 0) + found.faces) * 32 + p.code);
  }
}

double sign_of(double x) { return x < 0 ? -1 : 1; }

std::uint64_t edge_code(int axis, double s1, double s2) {
  return 4 * static_cast<std::uint64_t>(axis) + (s1 > 0 ? 2 : 0) + (s2 > 0 ? 1 : 0);
}

struct Near {
  double squared = HUGE_VAL;
  Vec3 a, b;
};

/// From a to b.
Vec3 edge_normal(const Boxes& x, const Axis& axis) {
  const Vec3 n = Vec3::Unit(axis.i).cross(x.C.col(axis.j)).normalized();
  return n.dot(x.t) < 0 ? Vec3(-n) : n;
}

/// Nearest points of the crossing edges. False, and nothing added, where the boxes are apart and these points lie
/// beyond an end: then other features are nearer.
bool add_edges(const Query& query, const Boxes& x, const Axis& axis, Touches& out) {
  const Vec3 n = edge_normal(x, axis);
  const int i1 = (axis.i + 1) % 3, i2 = (axis.i + 2) % 3, j1 = (axis.j + 1) % 3, j2 = (axis.j + 2) % 3;
  const double a1 = sign_of(n[i1]), a2 = sign_of(n[i2]);
  const double b1 = -sign_of(n.dot(x.C.col(j1))), b2 = -sign_of(n.dot(x.C.col(j2)));
  Vec3 pa = Vec3::Zero();
  pa[i1] = a1 * x.h[i1];
  pa[i2] = a2 * x.h[i2];
  const Vec3 v = x.C.col(axis.j);
  const Vec3 pb = x.t + b1 * x.k[j1] * x.C.col(j1) + b2 * x.k[j2] * x.C.col(j2);
  const Vec3 d = pb - pa;
  const double c = v[axis.i], du = d[axis.i], dv = d.dot(v), det = 1 - c * c;
  const double s = (du - c * dv) / det, t = (c * du - dv) / det;
  const double ha = x.h[axis.i], hb = x.k[axis.j];
  const bool inside = std::abs(s) <= ha && std::abs(t) <= hb;
  if (!inside && axis.s > 0) return false;
  pa[axis.i] += std::clamp(s, -ha, ha);
  const Vec3 mid = 0.5 * (pa + pb + std::clamp(t, -hb, hb) * v);
  const std::uint64_t code = edge_feature + edge_code(axis.i, a1, a2) * 16 + edge_code(axis.j, b1, b2);
  out.add(query, query.a.X * mid, query.a.X.R * n, axis.s, code);
  return true;
}

void keep(Near& best, const Vec3& a, const Vec3& b) {
  const double d = (b - a).squaredNorm();
  if (d < best.squared) best = {d, a, b};
}

/// Vertices of a box, and which of them may be nearest: no farther than slack behind the one that is foremost along n.
struct BoxCorners {
  std::array<Vec3, 8> p;
  unsigned foremost = 0;  // bits

  BoxCorners(const Vec3& center, const Mat3& axes, const Vec3& n, double slack) {
    double height[8], top = -HUGE_VAL;
    for (unsigned c = 0; c < 8; ++c) {
      p[c] = center + axes * Vec3(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1);
      height[c] = n.dot(p[c]);
      top = std::max(top, height[c]);
    }
    for (unsigned c = 0; c < 8; ++c)
      if (height[c] >= top - slack) foremost |= 1u << c;
  }
  bool has(unsigned c) const { return foremost >> c & 1; }
};

/// The 12 edges by their lower ends: fn(lower, upper, axis) for those with an end that may be nearest.
template <class Fn>
void for_edges(const BoxCorners& corners, Fn fn) {
  for (unsigned axis = 0; axis < 3; ++axis)
    for (unsigned c = 0; c < 8; ++c)
      if (!(c >> axis & 1) && (corners.has(c) || corners.has(c | 1u << axis)))
        fn(c, c | 1u << axis, static_cast<int>(axis));
}

/// Nearest points of boxes that are apart by s along n, if within reach: vertices against the other box, edges against
/// edges. A pair within reach lies within reach - s of the two planes across n that the boxes touch from outside.
Near nearest_points(const Boxes& x, const Vec3& n, double s, double reach) {
  const double slack = reach - s + 1e-9 * (x.h.sum() + x.k.sum());
  const BoxCorners a(Vec3::Zero(), x.h.asDiagonal().toDenseMatrix(), n, slack);
  const BoxCorners b(x.t, x.C * x.k.asDiagonal(), -n, slack);
  Near best;
  for (unsigned c = 0; c < 8; ++c) {
    if (b.has(c)) keep(best, b.p[c].cwiseMax(-x.h).cwiseMin(x.h), b.p[c]);
    if (!a.has(c)) continue;
    const Vec3 y = x.C.transpose() * (a.p[c] - x.t);
    keep(best, a.p[c], x.t + x.C * y.cwiseMax(-x.k).cwiseMin(x.k));
  }
  for_edges(a, [&](unsigned a0, unsigned a1, int i) {
    for_edges(b, [&](unsigned b0, unsigned b1, int j) {
      const double c = x.C(i, j), det = 1 - c * c;
      if (det < 1e-9) return;  // parallel edges: their ends were seen above
      const Vec3 pa = 0.5 * (a.p[a0] + a.p[a1]), pb = 0.5 * (b.p[b0] + b.p[b1]), d = pb - pa;
      const double du = d[i], dv = d.dot(x.C.col(j));
      const double along_a = (du - c * dv) / det, along_b = (c * du - dv) / det;
      if (std::abs(along_a) > x.h[i] || std::abs(along_b) > x.k[j]) return;  // an end is nearer: seen above
      keep(best, pa + along_a * Vec3::Unit(i), pb + along_b * x.C.col(j));
    });
  });
  return best;
}

/// Which vertex, edge or face of the box holds the point: below, inside or at the upper end along each axis.
std::uint64_t place_code(const Vec3& p, const Vec3& h) {
  std::uint64_t code = 0;
  for (int k = 0; k < 3; ++k) code = 3 * code + (p[k] < -(1 - 1e-9) * h[k] ? 0u : p[k] > (1 - 1e-9) * h[k] ? 2u : 1u);
  return code;
}

/// n: the normal where they touch, and the way from one to the other says nothing.
void add_nearest(const Query& query, const Boxes& x, const Near& near, Vec3 n, Touches& out) {
  const double gap = std::sqrt(near.squared);
  if (!(gap < query.reach)) return;
  if (gap > 1e-12 * (x.h.sum() + x.k.sum())) n = (near.b - near.a) / gap;
  const Vec3 y = x.C.transpose() * (near.b - x.t);
  out.add(query, query.a.X * (0.5 * (near.a + near.b)), query.a.X.R * n, gap,
          nearest_feature + 27 * place_code(near.a, x.h) + place_code(y, x.k));
}

/// The best axis of each kind (box.1). False as soon as one separates by more than reach, or the three orthogonal ones
/// of a box do so together: the distance is at least the root of the sum of squares of those that separate.
bool separate(const Boxes& x, double reach, Axis& face_a, Axis& face_b, Axis& edge) {
  const Mat3 A = x.C.cwiseAbs();
  double squares = 0;
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(x.t[i]) - x.h[i] - A.row(i).dot(x.k);
    if (s > 0) squares += s * s;
    if (s > face_a.s) face_a = {s, i, 0};
  }
  if (squares > reach * reach) return false;
  squares = 0;
  for (int j = 0; j < 3; ++j) {
    const double s = std::abs(x.C.col(j).dot(x.t)) - x.k[j] - A.col(j).dot(x.h);
    if (s > 0) squares += s * s;
    if (s > face_b.s) face_b = {s, 0, j};
  }
  if (squares > reach * reach) return false;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const double squared = 1 - x.C(i, j) * x.C(i, j);
      if (squared < 1e-6) continue;  // parallel edges: the faces beside them say the same
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double distance = std::abs(x.t[i2] * x.C(i1, j) - x.t[i1] * x.C(i2, j));
      const double extent = x.h[i1] * A(i2, j) + x.h[i2] * A(i1, j) + x.k[j1] * A(i, j2) + x.k[j2] * A(i, j1);
      const double s = (distance - extent) / std::sqrt(squared);
      if (s > reach) return false;
      if (s > edge.s) edge = {s, i, j};
    }
  }
  return true;
}

}  // namespace

void touch_box_box(const Query& query, Touches& out) {
  const Mat3 Rt = query.a.X.R.transpose();
  const Boxes x{query.a.solid->size, query.b.solid->size, Rt * query.b.X.R, Rt * (query.b.X.p - query.a.X.p)};
  Axis face_a, face_b, edge;
  if (!separate(x, query.reach, face_a, face_b, edge)) return;

  const double tolerance = absolute_preference * std::min(x.h.minCoeff(), x.k.minCoeff());
  const bool b_first = better(face_b.s, face_a.s, tolerance);
  const double face = b_first ? face_b.s : face_a.s;
  if (better(edge.s, face, tolerance)) {
    if (add_edges(query, x, edge, out)) return;
    const Vec3 n = edge_normal(x, edge);
    add_nearest(query, x, nearest_points(x, n, edge.s, query.reach), n, out);
    return;
  }

  FaceContact found;
  FaceFrame f;
  if (b_first) {
    const Boxes flipped{x.k, x.h, x.C.transpose(), -(x.C.transpose() * x.t)};
    f = face_frame(face_b.j, sign_of(flipped.t[face_b.j]));
    face_contact(flipped, f, found);
  } else {
    f = face_frame(face_a.i, sign_of(x.t[face_a.i]));
    face_contact(x, f, found);
  }
  // Apart or touching, and the lowest vertex is not over the face: the nearest features may be others.
  const double s = std::max(face, edge.s), equal = rounding * (x.h.sum() + x.k.sum());
  if (s > -equal && better(found.least, std::max(s, 0.0), tolerance)) {
    const Vec3 outward = b_first ? Vec3(-f.sign * x.C.col(f.k)) : Vec3(f.sign * Vec3::Unit(f.k));
    const Near near = nearest_points(x, outward, face, query.reach);
    if (better(found.least, std::sqrt(near.squared), tolerance)) return add_nearest(query, x, near, outward, out);
  }
  // Overlapping, but not where the two faces meet: the edges do.
  if (s <= -equal && found.least > equal && edge.s > -HUGE_VAL) {
    add_edges(query, x, edge, out);
    return;
  }
  add_polygon(query, f, b_first, found, out);
}

}  // namespace tribo
