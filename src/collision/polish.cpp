// The normal at which two convex shapes are nearest, or overlap least, by Newton's method.
//
// The distance is the largest s(n) of (ahead.1). With y_a and y_b the points of the two that lie farthest along n and -n, and
// H_a, H_b how these move with n, it is where y = y_b - y_a has no part across n:
//   (H_a + H_b + s) t = y_T,   n <- (n + t)/|n + t|,   y_T = y - s n,  s = n . y                          (polish.1)
// Of an ellipsoid y = S^2 n/|S n|, H = (S^2 - y y^T)/|S n|; of the rim of a cylinder H = r/|n_xy| t t^T, with t along the rim.
// On a straight side or edge, with direction e, any point is as far: n and t stay across e, and y_T is taken across it.
// Features are those nearest to the points of GJK. n begins as its normal, and where they touch, or that leads nowhere, as that
// of the curved surface and across the edges or rims that cross there. Of the solutions that are points of both shapes the
// largest s counts.
#include "collision/polish.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>

namespace tribo {
namespace {

constexpr double settled = 1e-14;      // a change of the normal that ends it [rad]
constexpr double wild = 0.5;           // and one that gives it up
constexpr double no_direction = 1e-4;  // of the smaller radius: gaps at which the normal of GJK may be any
constexpr double opposed = 1e-9;       // of the smaller radius: what is left of y across the normal

/// A point, a curve or a straight line of a solid, in its frame. Curves: the point farthest along n.
struct Feature {
  Vec3 at = Vec3::Zero();  ///< the point, or the middle of the line
  Vec3 e = Vec3::Zero();   ///< direction of a line, in the world
  double half = 0;         ///< of its length
  bool curved = false;     ///< the point moves with n about `at`
};

struct Features {
  std::array<Feature, 3> items;
  int count = 0;
  void add(const Feature& f) { items[static_cast<std::size_t>(count++)] = f; }
};

double from_segment(const Vec3& x, const Vec3& p, const Vec3& q) {
  const Vec3 d = q - p;
  return (x - p - std::clamp((x - p).dot(d) / d.squaredNorm(), 0.0, 1.0) * d).norm();
}

void add_edge(const PlacedSolid& x, const Vec3& near, Features& out) {
  const Polytope& polytope = *x.solid->polytope;
  double least = HUGE_VAL;
  int first = 0;
  Vec3 from = near, to = near;
  const auto look = [&](int f) {
    const PolytopeFace& face = polytope.faces[at(f)];
    for (std::size_t k = 0; k < face.loop.size(); ++k) {
      const Vec3 &p = polytope.vertices[at(face.loop[k])],
                 &q = polytope.vertices[at(face.loop[(k + 1) % face.loop.size()])];
      const double d = from_segment(near, p, q);
      if (d < least || (d == least && f < first)) least = d, first = f, from = p, to = q;
    }
    return -least;
  };
  polytope.each_face(
      -HUGE_VAL, [&](const TreeNode& node) { return -(1 - 1e-12) * node.corners.distance(near); }, look);
  out.add({0.5 * (from + to), x.X.R * (to - from).normalized(), 0.5 * (to - from).norm(), false});
  out.add({(near - from).squaredNorm() < (near - to).squaredNorm() ? from : to});
}

/// Near a point of the world.
Features features(const PlacedSolid& x, const Vec3& p) {
  Features out;
  const Vec3 near = x.X.R.transpose() * (p - x.X.p), &size = x.solid->size;
  switch (x.solid->kind) {
    case ShapeKind::Point:
    case ShapeKind::Sphere:
    case ShapeKind::Ellipsoid:
      out.add({Vec3::Zero(), Vec3::Zero(), 0, true});
      break;
    case ShapeKind::Capsule:
    case ShapeKind::Cylinder:
      out.add({Vec3(0, 0, near.z() < 0 ? -size.z() : size.z()), Vec3::Zero(), 0, true});
      out.add({Vec3::Zero(), x.X.R.col(2), size.z(), true});
      break;
    case ShapeKind::Box:
    case ShapeKind::Convex:
      add_edge(x, near, out);
      break;
    default:
      break;
  }
  return out;
}

/// The point of a feature that lies farthest along m, in the world, and adds to H how it moves with m.
Vec3 farthest(const PlacedSolid& x, const Feature& f, const Vec3& m_W, Mat3& H) {
  if (!f.curved) return x.X * f.at;
  const Vec3 m = x.X.R.transpose() * m_W, &size = x.solid->size;
  Vec3 y;
  Mat3 slope;
  if (x.solid->kind == ShapeKind::Ellipsoid) {
    const double d = m.cwiseProduct(size).norm();
    y = size.cwiseAbs2().cwiseProduct(m) / d;
    slope = (Mat3(size.cwiseAbs2().asDiagonal()) - y * y.transpose()) / d;
  } else if (x.solid->kind == ShapeKind::Cylinder) {
    const double across = std::hypot(m.x(), m.y());
    const Vec3 u(m.x() / across, m.y() / across, 0), t(-u.y(), u.x(), 0);
    y = size.x() * u;
    slope = size.x() / across * t * t.transpose();
  } else {
    y = x.solid->round * m;
    slope = x.solid->round * (Mat3::Identity() - m * m.transpose());
  }
  H += x.X.R * slope * x.X.R.transpose();
  return x.X * Vec3(f.at + y);
}

struct Found {
  Vec3 n, on_a, on_b;
};

/// (polish.1) from n on; false where it does not settle.
bool turn(const Query& query, const Feature& a, const Feature& b, Found& x) {
  Vec3 n = x.n;
  for (const Vec3& e : {a.e, b.e}) n -= e * e.dot(n);
  if (!a.e.isZero(0) && !b.e.isZero(0)) n = a.e.cross(b.e) * (a.e.cross(b.e).dot(x.n) < 0 ? -1 : 1);
  if (!(n.norm() > 1e-3)) return false;
  n.normalize();
  for (int round = 0; round < 30; ++round) {
    Mat3 H = Mat3::Zero();
    x.on_a = farthest(query.a, a, n, H);
    x.on_b = farthest(query.b, b, -n, H);
    x.n = n;
    if (!a.e.isZero(0) && !b.e.isZero(0)) return true;  // two lines say it
    const Vec3 y = x.on_b - x.on_a, line = a.e + b.e;   // one of them, or none
    H += n.dot(y) * Mat3::Identity();
    const Vec3 first = line.isZero(0) ? n.unitOrthogonal() : n.cross(line), second = n.cross(first);
    Vec3 t;
    if (line.isZero(0)) {
      Eigen::Matrix<double, 3, 2> B;
      B << first, second;
      t = B * (B.transpose() * H * B).inverse() * (B.transpose() * y);
    } else {
      t = first * (first.dot(y) / first.dot(H * first));
    }
    if (!(t.norm() < wild)) return false;
    if (t.norm() < settled) return true;
    n = (n + t).normalized();
  }
  return true;  // by rounding
}

/// Moves the points along their lines to where they are opposite; false where they are not points of the shapes.
bool slide(const Feature& a, const Feature& b, double tolerance, Found& x) {
  Vec3 rest = x.on_b - x.on_a;
  rest -= x.n * x.n.dot(rest);
  const double along = a.e.dot(b.e), det = 1 - along * along;
  double on_a = a.e.dot(rest), on_b = -b.e.dot(rest);
  if (!a.e.isZero(0) && !b.e.isZero(0)) {
    if (!(det > 1e-6)) return false;  // parallel
    const double u = on_a, w = on_b;
    on_a = (u + along * w) / det;
    on_b = (w + along * u) / det;
  }
  if (std::abs(on_a) > a.half || std::abs(on_b) > b.half) return false;
  x.on_a += on_a * a.e;
  x.on_b += on_b * b.e;
  rest = x.on_b - x.on_a;
  return (rest - x.n * x.n.dot(rest)).norm() < tolerance;
}

bool is_curved(const Solid& x) { return x.kind == ShapeKind::Ellipsoid || x.kind == ShapeKind::Cylinder; }

/// (ahead.1)
double parted(const Query& query, const Vec3& n) {
  const PlacedSolid &a = query.a, &b = query.b;
  return n.dot(b.X.p - a.X.p) - reach_along(*a.solid, a.X.R.transpose() * n) -
         reach_along(*b.solid, b.X.R.transpose() * -n);
}

/// Of the curved one of the two, at a point where they touch; from a to b.
Vec3 surface_normal(const Query& query, const Vec3& p) {
  const bool of_a = is_curved(*query.a.solid);
  const PlacedSolid& x = of_a ? query.a : query.b;
  Vec3 n;
  depth_of(*x.solid, x.X.R.transpose() * (p - x.X.p), n);
  return x.X.R * (of_a ? n : Vec3(-n));
}

/// The direction of the rim or edge that passes near p; 0: there is none.
Vec3 along_rim(const PlacedSolid& x, const Features& features, const Vec3& p) {
  if (x.solid->kind != ShapeKind::Cylinder) return x.solid->polytope ? features.items[0].e : Vec3::Zero();
  const Vec3 y = x.X.R.transpose() * (p - x.X.p), t(-y.y(), y.x(), 0);
  return t.isZero(0) ? t : Vec3(x.X.R * t.normalized());
}

}  // namespace

void polish(const Query& query, Separation& x) {
  if (!(is_curved(*query.a.solid) || is_curved(*query.b.solid))) return;
  if (!std::isfinite(x.gap) || !x.n.allFinite() || !x.p.allFinite()) return;
  const double size = std::max(query.a.solid->radius, query.b.solid->radius);
  const Vec3 start = x.n, p = x.p;
  const Features of_a = features(query.a, p - 0.5 * x.gap * start), of_b = features(query.b, p + 0.5 * x.gap * start);
  double best = parted(query, start) - opposed * size;
  bool settled_once = false;
  const auto begin = [&](const Vec3& n) {
    for (int i = 0; i < of_a.count; ++i)
      for (int j = 0; j < of_b.count; ++j) {
        const Feature &a = of_a.items[at(i)], &b = of_b.items[at(j)];
        Found found{n, p, p};
        if (!turn(query, a, b, found) || !slide(a, b, opposed * size, found)) continue;
        const double s = parted(query, found.n);
        if (!(s > best) || std::abs(s - found.n.dot(found.on_b - found.on_a)) > opposed * size) continue;
        best = s;
        settled_once = true;
        x = {s, 0.5 * (found.on_a + found.on_b), found.n};
      }
  };
  const bool touching = std::abs(x.gap) < no_direction * std::min(query.a.solid->radius, query.b.solid->radius);
  begin(start);
  if (!touching && settled_once) return;
  begin(surface_normal(query, p));
  const Vec3 across = along_rim(query.a, of_a, p).cross(along_rim(query.b, of_b, p));
  if (!(across.norm() > 1e-3)) return;
  begin(across.normalized());
  begin(-across.normalized());
}

void add_polished(const Query& query, Separation x, std::uint64_t feature, Touches& out) {
  if (!std::isfinite(x.gap) || !x.n.allFinite() || !x.p.allFinite()) return;
  polish(query, x);
  out.add(query, x.p, x.n, x.gap, feature);
}

}  // namespace tribo
