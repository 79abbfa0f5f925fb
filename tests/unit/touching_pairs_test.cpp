// Boxes, and hulls shaped as boxes, that touch exactly: where their common region is known by construction.
//
// In a frame whose z is the normal, a lies below the plane z = 0 and b above it; each meets the plane with a face, an
// edge or a vertex. The common region is the intersection of those two, found in long double by listing every vertex of
// one inside the other and every crossing of their sides: no clipping, no separating axes, no GJK.
#include <algorithm>
#include <array>

#include "collision/narrowphase.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

namespace {

using Real = long double;
using Point = Eigen::Matrix<Real, 2, 1>;
using Points = std::vector<Point>;

constexpr Real slack = 1e-13L;  // of points that lie on a side, with poses of order 1 m in double

Real cross(const Point& a, const Point& b) { return a.x() * b.y() - a.y() * b.x(); }

// Corners in order, by Andrew's monotone chain.
Points hull(Points p) {
  std::sort(p.begin(), p.end(),
            [](const Point& a, const Point& b) { return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y()); });
  Points out;
  for (int side = 0; side < 2; ++side) {
    const std::size_t first = out.size();
    for (const Point& x : p) {
      while (out.size() >= first + 2 && cross(out.back() - out[out.size() - 2], x - out.back()) <= 0) out.pop_back();
      out.push_back(x);
    }
    if (p.size() > 1) out.pop_back();
    std::reverse(p.begin(), p.end());
  }
  return out;
}

Real to_segment(const Point& x, const Point& a, const Point& b) {
  const Point d = b - a;
  const Real square = d.squaredNorm();
  const Real t = square > 0 ? std::clamp((x - a).dot(d) / square, Real(0), Real(1)) : 0;
  return (x - a - t * d).norm();
}

// Distance from the polygon, segment or point with these corners in order, 0 inside.
Real distance(const Point& x, const Points& corners) {
  Real nearest = HUGE_VALL;
  bool inside = corners.size() > 2;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const Point &a = corners[k], &b = corners[(k + 1) % corners.size()];
    nearest = std::min(nearest, to_segment(x, a, b));
    inside = inside && cross(b - a, x - a) >= 0;
  }
  return inside ? 0 : nearest;
}

Points common(const Points& a, const Points& b) {
  Points found;
  for (const Point& x : a)
    if (distance(x, b) <= slack) found.push_back(x);
  for (const Point& x : b)
    if (distance(x, a) <= slack) found.push_back(x);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Point d = a[(i + 1) % a.size()] - a[i], e = b[(j + 1) % b.size()] - b[j], s = b[j] - a[i];
      const Real det = cross(d, e);
      if (det == 0) continue;
      const Point x = a[i] + cross(s, e) / det * d;
      if (distance(x, a) <= slack && distance(x, b) <= slack) found.push_back(x);
    }
  return hull(found);
}

/// Tilted: flush but for 1e-5 rad or less.
enum class Meeting { Flush, Tilted, EdgeOnFace, CornerOnFace, CrossedEdges, ParallelEdges };
constexpr std::array meetings = {Meeting::Flush,        Meeting::Tilted,       Meeting::EdgeOnFace,
                                 Meeting::CornerOnFace, Meeting::CrossedEdges, Meeting::ParallelEdges};

struct Placed {
  Vec3 h;  // half extents
  Mat3 R;  // in the frame of the meeting
  Vec3 p;

  Vec3 corner(int k) const { return R * h.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)); }
  // The face, edge or vertex that is highest along sign z; of a tilted box the face. Corners seen along n, in order.
  Points top(double sign, bool tilted, const Vec3& n = Vec3::UnitZ()) const {
    int face = 0;
    R.row(2).cwiseAbs().maxCoeff(&face);
    Points out;
    for (int k = 0; k < 8; ++k) {
      const double below = height() - sign * corner(k).z();
      const bool on_face = (k >> face & 1) == (sign * R(2, face) > 0);
      if (tilted ? on_face : below <= 1e-12) out.push_back(seen(p + corner(k), n));
    }
    return hull(out);
  }
  // Along n, which is nearly z.
  static Point seen(const Vec3& x, const Vec3& n) {
    const Eigen::Matrix<Real, 3, 1> y = x.cast<Real>(), m = n.cast<Real>();
    return {y.x() - m.x() / m.z() * y.z(), y.y() - m.y() / m.z() * y.z()};
  }
  double height() const { return h.dot(R.row(2).cwiseAbs().transpose()); }
};

class Pairs {
 public:
  explicit Pairs(unsigned seed) : rng_(seed) {}

  double within(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  double tiny() {
    const double size = std::pow(10.0, within(-13, -5));
    return below(2) ? size : -size;
  }

  void place(Meeting meeting, Placed& a, Placed& b) {
    a.h = size(), b.h = size();
    a.R = b.R = quarter();
    a.R = quarter();
    if (meeting == Meeting::CrossedEdges || meeting == Meeting::ParallelEdges) {
      a.R = turn(0, within(0.2, 1.3)) * a.R;
      b.R = turn(0, within(0.2, 1.3)) * b.R;
      b.R = turn(2, meeting == Meeting::CrossedEdges ? within(0.1, 3) : M_PI * below(2)) * b.R;
    } else {
      if (meeting == Meeting::EdgeOnFace) b.R = turn(0, within(0.1, 1.4)) * b.R;
      if (meeting == Meeting::CornerOnFace) b.R = random_rotation(rng_);
      b.R = turn(2, angle()) * b.R;
      if (meeting == Meeting::Tilted) b.R = Eigen::AngleAxisd(tiny(), flat()).toRotationMatrix() * b.R;
    }
    a.p = Vec3(0, 0, -a.height());
    b.p = Vec3(0, 0, b.height());
    // A point of what each shows to the other, anywhere on it or a corner, is brought together.
    const bool tilted = meeting == Meeting::Tilted;
    const bool rims = !tilted && meeting != Meeting::EdgeOnFace;  // at a rim that is nearly parallel 1e-9 m decide
    const Vec3 shift = choose(a.top(1, tilted), rims) - choose(b.top(-1, tilted), rims);
    b.p += Vec3(shift.x(), shift.y(), 0);
  }

  Placement anywhere() { return {random_rotation(rng_), Vec3(within(-2, 2), within(-2, 2), within(-2, 2))}; }

 private:
  Vec3 size() {
    if (below(4) == 0) return Vec3::Constant(0.1);  // equal ones: sides and corners coincide
    return {within(0.01, 0.5), within(0.01, 0.5), within(0.01, 0.5)};
  }
  Vec3 flat() {
    const double t = within(0, 2 * M_PI);
    return {std::cos(t), std::sin(t), 0};
  }
  static Mat3 turn(int axis, double angle) { return Eigen::AngleAxisd(angle, Vec3::Unit(axis)).toRotationMatrix(); }
  // One of the turns of a cube: any face may be the one that meets.
  Mat3 quarter() {
    Mat3 R = Mat3::Identity();
    for (int k = 0; k < 3; ++k)
      for (int n = below(4); n > 0; --n) R = (Mat3() << 0, -1, 0, 1, 0, 0, 0, 0, 1).finished() * R, R = cycle(R);
    return R;
  }
  static Mat3 cycle(const Mat3& R) { return (Mat3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished() * R; }
  double angle() {
    const int kind = below(4);
    return kind == 0 ? 0.5 * M_PI * below(4) : kind == 1 ? 0.5 * M_PI * below(4) + tiny() : within(0, 2 * M_PI);
  }
  Vec3 choose(const Points& corners, bool rims) {
    Point sum = Point::Zero();
    Real total = 0;
    const bool rim = rims && below(4) == 0;
    const int one = below(static_cast<int>(corners.size()));
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Real w = rim ? (static_cast<int>(k) == one ? 1 : 0) : Real(within(0.05, 1));
      sum += w * corners[k];
      total += w;
    }
    sum /= total;
    return {double(sum.x()), double(sum.y()), 0};
  }

  std::mt19937 rng_;
};

struct Worst {
  int pairs = 0, none = 0;
  Real outside = 0;    // of either body's part in the meeting [m]
  Real uncovered = 0;  // of the common region [m]
  double gap = 0;      // that should be 0 [m]

  void take(const Worst& other) {
    pairs += other.pairs;
    none += other.none;
    outside = std::max(outside, other.outside);
    uncovered = std::max(uncovered, other.uncovered);
    gap = std::max(gap, other.gap);
  }
};

Worst compare(const Placed& a, const Placed& b, bool tilted, const Touches& touches, const Placement& X) {
  Worst worst{1, touches.count == 0};
  if (worst.none) return worst;
  Vec3 n = X.R.transpose() * touches.items[0].n;
  if (!tilted || n.z() < 0.5) n = Vec3::UnitZ();  // at a corner any normal will do
  const Points of_a = a.top(1, tilted, n), of_b = b.top(-1, tilted, n);
  Points found;
  double least = HUGE_VAL;
  for (int k = 0; k < touches.count; ++k) {
    const Touch& t = touches.items[static_cast<std::size_t>(k)];
    least = std::min(least, t.gap);
    if (t.gap > 2e-11 && !tilted) continue;  // near, but not touching
    const Vec3 x = X.R.transpose() * (t.p - X.p);
    found.push_back(Placed::seen(x, n));
    worst.outside = std::max({worst.outside, distance(found.back(), of_a), distance(found.back(), of_b)});
    if (!tilted) worst.outside = std::max(worst.outside, Real(std::abs(x.z())));
  }
  if (!tilted) worst.gap = std::abs(least);
  const Points covered = hull(found);
  for (const Point& x : common(of_a, of_b)) worst.uncovered = std::max(worst.uncovered, distance(x, covered));
  return worst;
}

std::array<Worst, meetings.size()> survey(int pairs, unsigned seed, ShapeKind kind_a, ShapeKind kind_b) {
  Pairs random(seed);
  Scratch scratch;
  std::array<Worst, meetings.size()> worst;
  auto solid = [](ShapeKind kind, const Vec3& h) {
    Geometry g;
    g.kind = kind;
    g.size = h;
    g.radius = h.norm();
    if (kind == ShapeKind::Convex) g.hull = box_hull(h);
    return Solid(g);
  };
  for (int k = 0; k < pairs; ++k) {
    const std::size_t which = static_cast<std::size_t>(k) % meetings.size();
    const bool tilted = meetings[which] == Meeting::Tilted;
    Placed a, b;
    random.place(meetings[which], a, b);
    const Placement X = random.anywhere();
    const Solid solid_a = solid(kind_a, a.h), solid_b = solid(kind_b, b.h);
    const PlacedSolid at_a{&solid_a, {X.R * a.R, X * a.p}, Vec3::Zero(), Vec3::Zero()};
    const PlacedSolid at_b{&solid_b, {X.R * b.R, X * b.p}, Vec3::Zero(), Vec3::Zero()};
    const Query query{at_a, at_b, 0.02, 0, 0.02, &scratch};
    Touches touches;
    touch(query, touches);
    worst[which].take(compare(a, b, tilted, touches, X));
  }
  return worst;
}

}  // namespace

namespace {

void check(int pairs, unsigned seed) {
  constexpr ShapeKind box = ShapeKind::Box, convex = ShapeKind::Convex;
  for (const auto& kinds : {std::pair{box, box}, {box, convex}, {convex, convex}}) {
    const ShapeKind kind_a = kinds.first, kind_b = kinds.second;
    const auto worst = survey(pairs, seed, kind_a, kind_b);
    for (std::size_t k = 0; k < worst.size(); ++k) {
      CAPTURE(static_cast<int>(kind_a));
      CAPTURE(static_cast<int>(kind_b));
      CAPTURE(k);  // the meeting
      CHECK(worst[k].pairs >= pairs / static_cast<int>(meetings.size()));
      CHECK(worst[k].none == 0);
      CHECK(worst[k].outside <= 1e-9L);
      CHECK(worst[k].uncovered <= 1e-6L);
      CHECK(worst[k].gap <= 1e-9);
    }
  }
}

}  // namespace

TEST_CASE("collision: shapes that touch do so in their common region, and in all of it") { check(3000, 1); }

TEST_SUITE("long") {
  TEST_CASE("collision: shapes that touch do so in their common region, a hundred thousand pairs of each kind") {
    check(100000, 2);
  }
}
