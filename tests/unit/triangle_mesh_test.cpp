// Triangle meshes against every shape. The expectation is the distance to every triangle by another route: a distance from a
// convex solid is a convex function of the point, so its least value over a triangle is found by golden sections within golden
// sections, with closed forms of the distance from each solid. No trees, support functions, ridges or normals.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "collision/collision.hpp"
#include "collision/ray.hpp"

using namespace tribo;

namespace {

using Triangles = std::vector<std::array<int, 3>>;

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

struct Soup {
  std::vector<Vec3> points;
  Triangles triangles;

  void quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const int n = static_cast<int>(points.size());
    for (const Vec3& x : {a, b, c, d}) points.push_back(x);
    triangles.push_back({n, n + 1, n + 2});
    triangles.push_back({n, n + 2, n + 3});
  }
  void box(const Vec3& lo, const Vec3& hi) {
    auto p = [&](int k) { return Vec3(k & 1 ? hi.x() : lo.x(), k & 2 ? hi.y() : lo.y(), k & 4 ? hi.z() : lo.z()); };
    for (const auto& f : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4},
                          std::array{2, 6, 7, 3}, std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}})
      quad(p(f[0]), p(f[1]), p(f[2]), p(f[3]));
  }
};

double draw(std::mt19937& random) { return 2.0 * static_cast<double>(random()) / 4294967296.0 - 1; }

// A bumpy closed ball, hollows and spikes: an octahedron that was divided, its points moved in and out.
Soup potato(std::mt19937& random, double rough) {
  Soup soup;
  for (int k = 0; k < 3; ++k)
    for (int sign : {1, -1}) soup.points.push_back(sign * Vec3::Unit(k));
  for (int sx : {0, 1})
    for (int sy : {2, 3})
      for (int sz : {4, 5}) {
        const bool even = (sx + sy + sz) % 2 == 0;
        soup.triangles.push_back(even ? std::array{sx, sy, sz} : std::array{sy, sx, sz});
      }
  for (int round = 0; round < 2; ++round) {
    Triangles finer;
    std::map<std::pair<int, int>, int> middles;
    auto middle = [&](int a, int b) {
      const auto key = std::minmax(a, b);
      if (!middles.count(key)) {
        middles[key] = static_cast<int>(soup.points.size());
        soup.points.push_back((soup.points[idx(a)] + soup.points[idx(b)]).normalized());
      }
      return middles[key];
    };
    for (const auto& [a, b, c] : soup.triangles) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      for (const auto& t :
           {std::array{a, ab, ca}, std::array{ab, b, bc}, std::array{ca, bc, c}, std::array{ab, bc, ca}})
        finer.push_back(t);
    }
    soup.triangles = finer;
  }
  for (Vec3& p : soup.points) p *= 0.5 * (1 + rough * draw(random));
  return soup;
}

// Two steps of a stair, a slab on legs and a hollow, closed solids that do not touch.
Soup furniture() {
  Soup soup;
  soup.box({-0.6, -0.5, -0.3}, {0.0, 0.5, 0.0});
  soup.box({0.01, -0.5, -0.3}, {0.4, 0.5, 0.12});
  soup.box({-0.3, -0.2, 0.2}, {0.2, 0.3, 0.24});
  return soup;
}

struct Shape {
  ShapeKind kind;
  Vec3 size;
  std::shared_ptr<const Hull> hull;
};

std::vector<Shape> shapes(std::mt19937& random) {
  std::vector<Vec3> cloud;
  for (int k = 0; k < 14; ++k) {
    const double x = draw(random), y = draw(random), z = draw(random);
    cloud.push_back(0.16 * Vec3(x, y, z).normalized());
  }
  return {{ShapeKind::Sphere, {0.1, 0, 0}, nullptr},       {ShapeKind::Capsule, {0.05, 0, 0.12}, nullptr},
          {ShapeKind::Box, {0.12, 0.08, 0.05}, nullptr},   {ShapeKind::Convex, Vec3::Zero(), make_hull(cloud, "hull")},
          {ShapeKind::Cylinder, {0.09, 0, 0.07}, nullptr}, {ShapeKind::Ellipsoid, {0.15, 0.1, 0.06}, nullptr}};
}

// Distance to a segment, and to a triangle: the foot on its plane where that lies inside, else the nearest side.
double to_segment(const Vec3& x, const Vec3& a, const Vec3& b) {
  return (x - a - std::clamp((x - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0) * (b - a)).norm();
}

double to_triangle(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 n = (b - a).cross(c - a).normalized(), foot = x - n.dot(x - a) * n;
  const bool inside =
      n.dot((b - a).cross(foot - a)) >= 0 && n.dot((c - b).cross(foot - b)) >= 0 && n.dot((a - c).cross(foot - c)) >= 0;
  if (inside) return std::abs(n.dot(x - a));
  return std::min({to_segment(x, a, b), to_segment(x, b, c), to_segment(x, c, a)});
}

// Distance of a point from an ellipsoid, 0 inside: the Lagrange multiplier by bisection.
double to_ellipsoid(const Vec3& a, const Vec3& x) {
  if (x.cwiseQuotient(a).squaredNorm() <= 1) return 0;
  auto F = [&](double t) { return (a.cwiseProduct(x).array() / (a.array().square() + t)).square().sum() - 1; };
  double lo = 0, hi = a.maxCoeff() * x.norm();
  for (int k = 0; k < 100; ++k) (F(0.5 * (lo + hi)) > 0 ? lo : hi) = 0.5 * (lo + hi);
  const Vec3 y = a.array().square() * x.array() / (a.array().square() + lo);
  return (x - y).norm();
}

// Distance of a point from a solid in its frame, 0 inside.
double from_solid(const Shape& s, const Vec3& x) {
  switch (s.kind) {
    case ShapeKind::Sphere:
      return std::max(0.0, x.norm() - s.size.x());
    case ShapeKind::Capsule:
      return std::max(0.0, to_segment(x, {0, 0, -s.size.z()}, {0, 0, s.size.z()}) - s.size.x());
    case ShapeKind::Box:
      return (x.cwiseAbs() - s.size).cwiseMax(0.0).norm();
    case ShapeKind::Cylinder:
      return std::hypot(std::max(0.0, std::hypot(x.x(), x.y()) - s.size.x()),
                        std::max(0.0, std::abs(x.z()) - s.size.z()));
    case ShapeKind::Ellipsoid:
      return to_ellipsoid(s.size, x);
    default:
      break;
  }
  double least = HUGE_VAL;
  bool outside = false;
  for (const std::vector<int>& face : s.hull->faces) {
    auto p = [&](std::size_t k) { return s.hull->vertices[idx(face[k])]; };
    const Vec3 n = (p(1) - p(0)).cross(p(2) - p(0));
    outside |= n.dot(x - p(0)) > 0;
    for (std::size_t k = 1; k + 1 < face.size(); ++k) least = std::min(least, to_triangle(x, p(0), p(k), p(k + 1)));
  }
  return outside ? least : 0;
}

template <class F>
double least_between(const F& f, double lo, double hi, int rounds) {
  constexpr double golden = 0.6180339887498949;
  double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo), fa = f(a), fb = f(b);
  double least = std::min({f(lo), f(hi), fa, fb});
  for (int k = 0; k < rounds; ++k) {
    if (fa > fb)
      lo = a, a = b, fa = fb, b = lo + golden * (hi - lo), fb = f(b);
    else
      hi = b, b = a, fb = fa, a = hi - golden * (hi - lo), fa = f(a);
    least = std::min({least, fa, fb});
  }
  return least;
}

double brute_force(const Soup& soup, const Shape& s, const Placement& X) {
  double least = HUGE_VAL;
  const double radius = s.hull ? s.hull->radius : s.size.lpNorm<1>();
  for (const auto& t : soup.triangles) {
    Vec3 p[3];
    for (int k = 0; k < 3; ++k) p[k] = X.R.transpose() * (soup.points[idx(t[idx(k)])] - X.p);
    if (to_triangle(Vec3::Zero(), p[0], p[1], p[2]) - radius > least) continue;
    auto at_v = [&](double u) {
      auto f = [&](double v) { return from_solid(s, p[0] + u * (p[1] - p[0]) + v * (p[2] - p[0])); };
      return least_between(f, 0, 1 - u, 24);
    };
    least = std::min(least, least_between(at_v, 0, 1, 24));
  }
  return least;
}

// The solid angle of all triangles seen from x is 4 pi inside and 0 outside.
bool inside(const Soup& soup, const Vec3& x) {
  double angle = 0;
  for (const auto& t : soup.triangles) {
    const Vec3 a = soup.points[idx(t[0])] - x, b = soup.points[idx(t[1])] - x, c = soup.points[idx(t[2])] - x;
    const double A = a.norm(), B = b.norm(), C = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), A * B * C + a.dot(b) * C + b.dot(c) * A + c.dot(a) * B);
  }
  return angle > 2 * M_PI;
}

double to_soup(const Soup& soup, const Vec3& x) {
  double least = HUGE_VAL;
  for (const auto& t : soup.triangles)
    least = std::min(least, to_triangle(x, soup.points[idx(t[0])], soup.points[idx(t[1])], soup.points[idx(t[2])]));
  return least;
}

struct World {
  World(const Soup& soup, const Placement& X, const Shape& s) {
    Geometry g;
    g.name = "mesh";
    g.kind = ShapeKind::Mesh;
    g.mesh = make_triangle_mesh(soup.points, soup.triangles, "mesh");
    g.X_BG = X;
    builder.add_geometry(g);
    builder.begin_member("object", false, "object");
    Body body;
    body.name = "object";
    body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0, 0), 1);
    Geometry shape;
    shape.name = "object";
    shape.kind = s.kind;
    shape.size = s.size;
    shape.hull = s.hull;
    shape.body = builder.add_body(body);
    builder.add_geometry(shape);
    model = std::make_unique<Model>(builder.build());
    collision = std::make_unique<Collision>(*model);
    bodies.resize(1);
    range.margin = 0.25;
  }
  double least(const Placement& X) {
    bodies[0].X_WB = X;
    collision->detect(bodies, range, {});
    double out = HUGE_VAL;
    for (const Contact& c : collision->contacts()) out = std::min(out, c.gap);
    return out;
  }
  const Contact& nearest() const {
    const auto all = collision->contacts();
    return *std::min_element(all.begin(), all.end(), [](const Contact& a, const Contact& b) { return a.gap < b.gap; });
  }

  ModelBuilder builder;
  std::unique_ptr<Model> model;
  std::unique_ptr<Collision> collision;
  std::vector<BodyMotion> bodies;
  DetectionRange range;
};

Placement random_pose(std::mt19937& random, double far) {
  Vec3 axis, p;
  for (int k = 0; k < 3; ++k) axis[k] = draw(random);
  for (int k = 0; k < 3; ++k) p[k] = far * draw(random);
  const double angle = 3 * draw(random);
  return {Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(), p};
}

}  // namespace

TEST_CASE("triangle mesh: the least gap of every shape is the distance by brute force") {
  std::mt19937 random(11);
  const Placement X_W{Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix(), Vec3(0.2, -0.4, 1.3)};
  for (const Soup& soup : {potato(random, 0.0), potato(random, 0.15), potato(random, 0.4), furniture()})
    for (const Shape& s : shapes(random)) {
      World world(soup, X_W, s);
      int seen = 0;
      for (int k = 0; k < 20; ++k) {
        const Placement X = random_pose(random, 0.7);
        const double expected = brute_force(soup, s, X);
        if (expected < 1e-4 || expected > 0.24) continue;
        if (inside(soup, X.p)) continue;
        ++seen;
        CAPTURE(static_cast<int>(s.kind));
        CAPTURE(k);
        CHECK(world.least(X_W * X) == doctest::Approx(expected).epsilon(1e-5 / expected));
      }
      CHECK(seen > 2);
    }
}

TEST_CASE("triangle mesh: signed distances of points, inside and outside, by brute force") {
  std::mt19937 random(5);
  const Placement X_W{Eigen::AngleAxisd(-0.4, Vec3(3, 2, 1).normalized()).toRotationMatrix(), Vec3(0.1, 0.3, -0.2)};
  for (const Soup& soup : {potato(random, 0.0), potato(random, 0.4), furniture()}) {
    World world(soup, X_W, {ShapeKind::Point, Vec3::Zero(), nullptr});
    int within = 0;
    for (int k = 0; k < 500; ++k) {
      const Placement X = random_pose(random, 0.6);
      const bool below = inside(soup, X.p);
      const double expected = (below ? -1 : 1) * to_soup(soup, X.p);
      if (std::abs(expected) > 0.24) continue;
      within += below;
      CAPTURE(k);
      CHECK(std::abs(world.least(X_W * X) - expected) < 1e-11);  // rounding of some hundred operations
    }
    CHECK(within > 30);
  }
}

TEST_CASE("triangle mesh: what has sunk in a little is told to be as deep") {
  std::mt19937 random(23);
  constexpr double sunk = 1e-4;
  for (const Soup& soup : {potato(random, 0.0), potato(random, 0.15), furniture()})
    for (const Shape& s : shapes(random)) {
      World world(soup, {}, s);
      int seen = 0;
      for (int k = 0; k < 25; ++k) {
        Placement X = random_pose(random, 0.7);
        const double gap = world.least(X);
        if (inside(soup, X.p) || !(gap > 1e-4 && gap < 0.24)) continue;
        // Moved along the normal of the nearest contact until it has sunk in: that contact is then as deep, unless others met
        // it before, which are no deeper.
        const Vec3 n = world.nearest().R_WC.col(2);
        X.p -= (gap + sunk) * n;
        ++seen;
        CAPTURE(static_cast<int>(s.kind));
        CAPTURE(k);
        const double deep = world.least(X);
        CHECK(deep < 0);  // along the normals of faces less than along that of two corners
        CHECK(deep > -4 * sunk);
      }
      CHECK(seen > 5);
    }
}

TEST_CASE("triangle mesh: rays meet the first triangle that faces them") {
  std::mt19937 random(3);
  const Soup soup = potato(random, 0.3);
  Geometry g;
  g.kind = ShapeKind::Mesh;
  g.mesh = make_triangle_mesh(soup.points, soup.triangles, "mesh");
  int hits = 0;
  for (int k = 0; k < 500; ++k) {
    const Vec3 p = random_pose(random, 1.2).p, d = (random_pose(random, 0.4).p - p).normalized();
    double expected = HUGE_VAL;
    for (const auto& t : soup.triangles) {
      const Vec3 a = soup.points[idx(t[0])], n = (soup.points[idx(t[1])] - a).cross(soup.points[idx(t[2])] - a);
      const double s = n.dot(a - p) / n.dot(d);
      if (n.dot(d) < 0 && s >= 0 && s < expected &&
          to_triangle(p + s * d, a, soup.points[idx(t[1])], soup.points[idx(t[2])]) < 1e-12)
        expected = s;
    }
    if (inside(soup, p)) expected = 0;
    const double found = cast(g, {p, d}, 10).distance;
    CAPTURE(k);
    if (std::isfinite(expected)) {
      ++hits;
      CHECK(found == doctest::Approx(expected).epsilon(1e-10));
    } else {
      CHECK(!std::isfinite(found));
    }
  }
  CHECK(hits > 100);
}

TEST_CASE("triangle mesh: the sides of triangles in one plane are not met, joined or not") {
  // Points that lie on sides of neighbours, twice the same triangle, and corners that were not joined.
  Soup floor;
  floor.quad({-1, -1, 0}, {0, -1, 0}, {0, 1, 0}, {-1, 1, 0});
  floor.quad({0, -1, 0}, {1, -1, 0}, {1, -0.3, 0}, {0, -0.3, 0});
  floor.quad({0, -0.3, 0}, {1, -0.3, 0}, {1, 1, 0}, {0, 1, 0});
  floor.triangles.push_back(floor.triangles[0]);
  std::mt19937 random(9);
  for (const Shape& s : shapes(random)) {
    World world(floor, {}, s);
    for (int k = 0; k < 40; ++k) {
      Placement X = random_pose(random, 0.3);
      if (k % 2) X.R = Eigen::AngleAxisd(0.1 * k, Vec3::UnitZ()).toRotationMatrix();
      X.p.z() = 0.2;
      X.p.z() -= world.least(X) - 1e-6;
      world.range.margin = 1e-3;
      CHECK(std::abs(world.least(X) - 1e-6) < 1e-12);
      for (const Contact& c : world.collision->contacts()) CHECK(c.R_WC(2, 2) > 1 - 1e-12);
      world.range.margin = 0.25;
    }
  }
}

TEST_CASE("triangle mesh: what is no surface is refused, with its place") {
  auto message = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::vector<Vec3> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  CHECK(message([&] { make_triangle_mesh(points, {{0, 1, 4}}, "m"); }).find("point 4 of 4") != std::string::npos);
  CHECK(message([&] { make_triangle_mesh(points, {{0, 1, 1}}, "m"); }).find("an area") != std::string::npos);
  CHECK(message([&] {
          make_triangle_mesh(points, {{0, 1, 2}, {1, 2, 3}}, "m");
        }).find("opposite ways") != std::string::npos);
  ModelBuilder builder;
  builder.begin_member("object", false, "object");
  Body body;
  body.name = "object";
  body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0, 0), 1);
  Geometry g;
  g.name = "mesh";
  g.kind = ShapeKind::Mesh;
  g.body = builder.add_body(body);
  g.mesh = make_triangle_mesh(points, {{0, 1, 2}}, "m");
  CHECK(message([&] { builder.add_geometry(g); }).find("world or to a kinematic body") != std::string::npos);
}
