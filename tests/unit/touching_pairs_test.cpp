// Boxes and hulls that touch exactly: where their common region is known by construction.
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
  ShapeKind kind;
  Vec3 h;                            // half extents of a box
  std::shared_ptr<const Hull> body;  // of a box too
  Mat3 R;                            // in the frame of the meeting
  Vec3 p;
  std::size_t face = 0;  // that meets, where it is one

  Vec3 corner(int k) const { return R * body->vertices[static_cast<std::size_t>(k)]; }
  int corners() const { return static_cast<int>(body->vertices.size()); }
  Vec3 normal(std::size_t f) const {
    Vec3 n = Vec3::Zero();
    const std::vector<int>& loop = body->faces[f];
    for (std::size_t k = 0; k < loop.size(); ++k) n += corner(loop[k]).cross(corner(loop[(k + 1) % loop.size()]));
    return n.normalized();
  }
  // The face, edge or vertex that is highest along sign z; of a tilted body the face. Corners seen along n, in order.
  Points top(double sign, bool tilted, const Vec3& n = Vec3::UnitZ()) const {
    Points out;
    const std::vector<int>& loop = body->faces[face];
    for (int k = 0; k < corners(); ++k) {
      const double below = height(sign) - sign * corner(k).z();
      const bool on_face = std::find(loop.begin(), loop.end(), k) != loop.end();
      if (tilted ? on_face : below <= 1e-12) out.push_back(seen(p + corner(k), n));
    }
    return hull(out);
  }
  // Along n, which is nearly z.
  static Point seen(const Vec3& x, const Vec3& n) {
    const Eigen::Matrix<Real, 3, 1> y = x.cast<Real>(), m = n.cast<Real>();
    return {y.x() - m.x() / m.z() * y.z(), y.y() - m.y() / m.z() * y.z()};
  }
  double height(double sign) const {
    double most = -HUGE_VAL;
    for (int k = 0; k < corners(); ++k) most = std::max(most, sign * corner(k).z());
    return most;
  }
  // Half the least extent along its own axes.
  double thin() const {
    Vec3 lo = Vec3::Constant(HUGE_VAL), hi = -lo;
    for (const Vec3& v : body->vertices) lo = lo.cwiseMin(v), hi = hi.cwiseMax(v);
    return 0.5 * (hi - lo).minCoeff();
  }
  // Largest n . x.
  double reach(const Vec3& n) const {
    double most = -HUGE_VAL;
    for (int k = 0; k < corners(); ++k) most = std::max(most, n.dot(p + corner(k)));
    return most;
  }
};

/// The body of the pair: boxes, hulls shaped as boxes, or any hulls.
enum class Made { Box, BoxHull, AnyHull };

class Pairs {
 public:
  explicit Pairs(unsigned seed) : rng_(seed) {}

  double within(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  double tiny() {
    const double size = std::pow(10.0, within(-13, -5));
    return below(2) ? size : -size;
  }

  void place(Meeting meeting, Made body_a, Made body_b, Placed& a, Placed& b) {
    shape(body_a, a);
    shape(body_b, b);
    const bool edges = meeting == Meeting::CrossedEdges || meeting == Meeting::ParallelEdges;
    edges ? show_edge(body_a, 1, a) : show_face(body_a, 1, a);
    if (edges || meeting == Meeting::EdgeOnFace) {
      show_edge(body_b, -1, b);
    } else if (meeting == Meeting::CornerOnFace) {
      b.R = random_rotation(rng_);
    } else {
      show_face(body_b, -1, b);
    }
    if (meeting == Meeting::CrossedEdges)
      b.R = turn(2, within(0.1, 3)) * b.R;
    else
      b.R = turn(2, meeting == Meeting::ParallelEdges ? M_PI * below(2) : angle()) * b.R;
    const bool tilted = meeting == Meeting::Tilted;
    if (tilted) b.R = Eigen::AngleAxisd{tiny(), flat()}.toRotationMatrix() * b.R;
    a.p = Vec3(0, 0, -a.height(1));
    b.p = Vec3(0, 0, b.height(-1));
    // A point of what each shows to the other, anywhere on it or a corner, is brought together.
    const bool rims = !tilted && meeting != Meeting::EdgeOnFace;  // at a rim that is nearly parallel 1e-9 m decide
    const Vec3 at_a = choose(a.top(1, tilted), rims), at_b = choose(b.top(-1, tilted), rims);
    b.p += Vec3(at_a.x() - at_b.x(), at_a.y() - at_b.y(), 0);
  }

  Placement anywhere() {
    const Mat3 R = random_rotation(rng_);
    return {R, Vec3{within(-2, 2), within(-2, 2), within(-2, 2)}};
  }

 private:
  Vec3 size() {
    if (below(4) == 0) return Vec3::Constant(0.1);  // equal ones: sides and corners coincide
    return Vec3{within(0.01, 0.5), within(0.01, 0.5), within(0.01, 0.5)};
  }
  void shape(Made body, Placed& x) {
    x.kind = body == Made::Box ? ShapeKind::Box : ShapeKind::Convex;
    x.h = size();
    x.body = body == Made::AnyHull ? any_hull(x.h) : box_hull(x.h);
  }
  // A frustum of three to seven corners, or the hull of a few points.
  std::shared_ptr<const Hull> any_hull(const Vec3& h) {
    std::vector<Vec3> points;
    if (below(3) == 0) {
      for (int n = 6 + below(8); n > 0; --n) {
        const Vec3 x{within(-1, 1), within(-1, 1), within(-1, 1)};
        points.push_back(h.cwiseProduct(x.normalized()));
      }
      return make_hull(points, "points");
    }
    const int n = 3 + below(5);
    const double narrow = within(0.4, 1), first = within(0, 2 * M_PI);
    for (double end : {-1.0, 1.0})
      for (int k = 0; k < n; ++k) {
        const double t = first + 2 * M_PI * k / n, r = end > 0 ? narrow : 1;
        points.push_back(Vec3(r * h.x() * std::cos(t), r * h.y() * std::sin(t), end * h.z()));
      }
    return make_hull(points, "frustum");
  }
  Vec3 flat() {
    const double t = within(0, 2 * M_PI);
    return {std::cos(t), std::sin(t), 0};
  }
  static Mat3 turn(int axis, double angle) { return Eigen::AngleAxisd(angle, Vec3::Unit(axis)).toRotationMatrix(); }
  // The rotation that takes n to sign z, and where there is one the edge to x.
  static Mat3 bring(const Vec3& n, const Vec3& edge, double sign) {
    Mat3 R;
    R.row(2) = sign * n.transpose();
    R.row(0) = (edge - n * n.dot(edge)).normalized().transpose();
    R.row(1) = R.row(2).cross(R.row(0));
    return R;
  }
  void show_face(Made body, double sign, Placed& x) {
    x.R.setIdentity();
    x.face = static_cast<std::size_t>(below(static_cast<int>(x.body->faces.size())));
    if (body == Made::AnyHull) {
      const std::vector<int>& loop = x.body->faces[x.face];
      x.R = bring(x.normal(x.face), x.corner(loop[1]) - x.corner(loop[0]), sign);
      return;
    }
    x.R = quarter();
    for (std::size_t f = 0; f < x.body->faces.size(); ++f)
      if (sign * x.normal(f).z() > sign * x.normal(x.face).z()) x.face = f;
  }
  // An edge that is not nearly flat, and a normal well between those of its faces.
  void show_edge(Made body, double sign, Placed& x) {
    if (body != Made::AnyHull) {
      const double angle = within(0.2, 1.3);
      x.R = turn(0, angle) * quarter();
      return;
    }
    x.R.setIdentity();
    const std::vector<std::vector<int>>& faces = x.body->faces;
    for (;;) {
      const std::size_t f = static_cast<std::size_t>(below(static_cast<int>(faces.size())));
      const std::size_t k = static_cast<std::size_t>(below(static_cast<int>(faces[f].size())));
      const int from = faces[f][k], to = faces[f][(k + 1) % faces[f].size()];
      const double share = within(0.2, 0.8);
      for (std::size_t g = 0; g < faces.size(); ++g) {
        const auto has = [&](int v) { return std::find(faces[g].begin(), faces[g].end(), v) != faces[g].end(); };
        if (g == f || !has(from) || !has(to) || x.normal(f).dot(x.normal(g)) > 0.9) continue;
        const Vec3 n = (share * x.normal(f) + (1 - share) * x.normal(g)).normalized();
        x.R = bring(n, x.corner(to) - x.corner(from), sign);
        return;
      }
    }
  }
  // One of the turns of a cube: any face may be the one that meets.
  Mat3 quarter() {
    Mat3 R = Mat3::Identity();
    for (int k = 0; k < 3; ++k)
      for (int n = below(4); n > 0; --n) R = (Mat3() << 0, -1, 0, 1, 0, 0, 0, 0, 1).finished() * R, R = cycle(R);
    return R;
  }
  static Mat3 cycle(const Mat3& R) { return (Mat3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished() * R; }
  double angle() {
    switch (below(4)) {
      case 0:
        return 0.5 * M_PI * below(4);
      case 1: {
        const double quarters = 0.5 * M_PI * below(4);
        return quarters + tiny();
      }
      default:
        return within(0, 2 * M_PI);
    }
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
  double along = 0;    // how far the bodies overlap along a normal, which should part them, of the smallest extent

  void take(const Worst& other) {
    pairs += other.pairs;
    none += other.none;
    outside = std::max(outside, other.outside);
    uncovered = std::max(uncovered, other.uncovered);
    gap = std::max(gap, other.gap);
    along = std::max(along, other.along);
  }
};

// Does the polygon stand for a disc? Nearest and farthest corner from the centroid, by triangles from the first corner.
bool is_round(const Points& corners) {
  Point moment = Point::Zero();
  Real area = 0;
  for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
    const Point p = corners[k] - corners[0], q = corners[k + 1] - corners[0];
    area += cross(p, q);
    moment += cross(p, q) / 3 * (p + q);
  }
  const Point middle = corners[0] + moment / area;
  Real near = HUGE_VALL, far = 0;
  for (const Point& x : corners) near = std::min(near, (x - middle).norm()), far = std::max(far, (x - middle).norm());
  return near > 0.94L * far;
}

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
    const Vec3 normal = X.R.transpose() * t.n;
    if (!tilted)
      worst.along = std::max(worst.along, (a.reach(normal) + b.reach(-normal)) / std::min(a.thin(), b.thin()));
    if (t.gap > 2e-11 && !tilted) continue;  // near, but not touching
    const Vec3 x = X.R.transpose() * (t.p - X.p);
    found.push_back(Placed::seen(x, n));
    worst.outside = std::max({worst.outside, distance(found.back(), of_a), distance(found.back(), of_b)});
    if (!tilted) worst.outside = std::max(worst.outside, Real(std::abs(x.z())));
  }
  if (!tilted) worst.gap = std::abs(least);
  const Points covered = hull(found);
  const Points region = common(of_a, of_b);
  if (region.size() > 16 || (region.size() > 8 && is_round(region)))
    return worst;  // patch.cpp keeps six of its corners
  for (const Point& x : region) worst.uncovered = std::max(worst.uncovered, distance(x, covered));
  return worst;
}

std::array<Worst, meetings.size()> survey(int pairs, unsigned seed, Made body_a, Made body_b) {
  Pairs random(seed);
  Scratch scratch;
  std::array<Worst, meetings.size()> worst;
  auto solid = [](const Placed& x) {
    Geometry g;
    g.kind = x.kind;
    g.size = x.h;
    if (x.kind == ShapeKind::Convex) g.hull = x.body;
    for (const Vec3& v : x.body->vertices) g.radius = std::max(g.radius, v.norm());
    return Solid(g);
  };
  for (int k = 0; k < pairs; ++k) {
    const std::size_t which = static_cast<std::size_t>(k) % meetings.size();
    const bool tilted = meetings[which] == Meeting::Tilted;
    Placed a, b;
    random.place(meetings[which], body_a, body_b, a, b);
    const Placement X = random.anywhere();
    const Solid solid_a = solid(a), solid_b = solid(b);
    const PlacedSolid at_a{&solid_a, {X.R * a.R, X * a.p}, Vec3::Zero(), Vec3::Zero()};
    const PlacedSolid at_b{&solid_b, {X.R * b.R, X * b.p}, Vec3::Zero(), Vec3::Zero()};
    const Query query{at_a, at_b, 0.02, 0, 0.02, &scratch};
    Touches touches;
    touch(query, touches);
    worst[which].take(compare(a, b, tilted, touches, X));
  }
  return worst;
}

void check(int pairs, unsigned seed) {
  constexpr std::pair<Made, Made> kinds[] = {{Made::Box, Made::Box},         {Made::Box, Made::BoxHull},
                                             {Made::BoxHull, Made::BoxHull}, {Made::Box, Made::AnyHull},
                                             {Made::AnyHull, Made::Box},     {Made::AnyHull, Made::AnyHull}};
  for (const auto& kind : kinds) {
    const auto worst = survey(pairs, seed, kind.first, kind.second);
    for (std::size_t k = 0; k < worst.size(); ++k) {
      CAPTURE(static_cast<int>(kind.first));
      CAPTURE(static_cast<int>(kind.second));
      CAPTURE(k);  // the meeting
      CHECK(worst[k].pairs >= pairs / static_cast<int>(meetings.size()));
      CHECK(worst[k].none == 0);
      CHECK(worst[k].outside <= 1e-9L);
      CHECK(worst[k].uncovered <= 1e-6L);
      CHECK(worst[k].gap <= 1e-9);
      CHECK(worst[k].along <= 1.1e-3);  // faces win by a thousandth
    }
  }
}

}  // namespace

TEST_CASE("collision: shapes that touch do so in their common region, and in all of it") { check(2000, 1); }

TEST_SUITE("long") {
  TEST_CASE("collision: shapes that touch do so in their common region, a hundred thousand pairs of each kind") {
    check(100000, 2);
  }
}
