// Height fields against balls and solids. The expectation is the distance to every triangle, by another route.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "collision/collision.hpp"

using namespace tribo;

namespace {

constexpr double rounding = 1e-11;  // sizes of order 1 m, some hundred operations

struct Land {
  HeightField field;
  Placement X;

  Vec3 corner(int i, int j) const {
    return {(i - 0.5 * (field.nx - 1)) * field.spacing_x, (j - 0.5 * (field.ny - 1)) * field.spacing_y,
            field.heights[static_cast<std::size_t>(j * field.nx + i)]};
  }
};

Land rough_land(std::mt19937& random, double height) {
  std::uniform_real_distribution<double> u(-1, 1);
  Land land;
  land.field.nx = 9;
  land.field.ny = 7;
  land.field.spacing_x = 0.1;
  land.field.spacing_y = 0.13;
  for (int k = 0; k < 63; ++k) land.field.heights.push_back(height * u(random));
  land.X = {Eigen::AngleAxisd(0.4, Vec3(0.1, 0.2, 1).normalized()).toRotationMatrix(), Vec3(0.3, -0.2, 0.7)};
  return land;
}

// Distance to a segment, and to a triangle: the foot on its plane where that lies inside, else the nearest edge.
double to_segment(const Vec3& x, const Vec3& a, const Vec3& b) {
  return (x - a - std::clamp((x - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0) * (b - a)).norm();
}

double to_triangle(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 n = (b - a).cross(c - a).normalized();
  const Vec3 foot = x - n.dot(x - a) * n;
  const bool inside =
      n.dot((b - a).cross(foot - a)) >= 0 && n.dot((c - b).cross(foot - b)) >= 0 && n.dot((a - c).cross(foot - c)) >= 0;
  if (inside) return std::abs(n.dot(x - a));
  return std::min({to_segment(x, a, b), to_segment(x, b, c), to_segment(x, c, a)});
}

// Least signed distance over every triangle; x in the frame of the terrain, over the grid.
double brute_force(const Land& land, const Vec3& x) {
  double least = HUGE_VAL;
  bool below = false;
  for (int j = 0; j + 1 < land.field.ny; ++j)
    for (int i = 0; i + 1 < land.field.nx; ++i)
      for (int half = 0; half < 2; ++half) {
        const Vec3 a = half ? land.corner(i + 1, j + 1) : land.corner(i, j);
        const Vec3 b = half ? land.corner(i, j + 1) : land.corner(i + 1, j);
        const Vec3 c = half ? land.corner(i + 1, j) : land.corner(i, j + 1);
        least = std::min(least, to_triangle(x, a, b, c));
        Eigen::Matrix2d E;
        E << b.x() - a.x(), c.x() - a.x(), b.y() - a.y(), c.y() - a.y();
        const Eigen::Vector2d w = E.inverse() * Eigen::Vector2d(x.x() - a.x(), x.y() - a.y());
        if (w.x() >= -1e-9 && w.y() >= -1e-9 && w.x() + w.y() <= 1 + 1e-9)  // no column falls between two
          below |= x.z() < a.z() + w.x() * (b.z() - a.z()) + w.y() * (c.z() - a.z());
      }
  return below ? -least : least;
}

struct World {
  explicit World(const Land& land) {
    Geometry g;
    g.name = "land";
    g.kind = ShapeKind::HeightField;
    g.terrain = std::make_shared<HeightField>(land.field);
    g.X_BG = land.X;
    builder.add_geometry(g);
  }
  void add(ShapeKind kind, const Vec3& size) {
    builder.add_object("object", kind, size, 1, 0);
    model = std::make_unique<Model>(builder.build());
    collision = std::make_unique<Collision>(*model);
    bodies.resize(1);
  }
  void add_point() {
    builder.begin_member("object", false, "object");
    Body body;
    body.name = "object";
    body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0, 0), 1);
    Geometry g;
    g.name = "foot";
    g.kind = ShapeKind::Point;
    g.body = builder.add_body(body);
    builder.add_geometry(g);
    model = std::make_unique<Model>(builder.build());
    collision = std::make_unique<Collision>(*model);
    bodies.resize(1);
  }
  std::span<const Contact> detect(const Placement& X) {
    bodies[0].X_WB = X;
    collision->detect(bodies, range, {});
    return collision->contacts();
  }

  ModelBuilder builder;
  std::unique_ptr<Model> model;
  std::unique_ptr<Collision> collision;
  std::vector<BodyMotion> bodies;
  DetectionRange range;
};

}  // namespace

TEST_CASE("terrain: no ball is missed, at cell edges, corners and elsewhere, against brute force") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (double height : {0.0, 0.02, 0.15})
    for (double radius : {0.0, 0.03, 0.12}) {
      const Land land = rough_land(random, height);
      World world(land);
      if (radius > 0)
        world.add(ShapeKind::Sphere, Vec3(radius, 0, 0));
      else
        world.add_point();
      int listed = 0;
      for (int trial = 0; trial < 1500; ++trial) {
        // Near the surface: over a random place, an edge between cells, the diagonal, or a corner.
        double x = 3.5 * 0.1 * u(random), y = 2.5 * 0.13 * u(random);
        if (trial % 4 == 1) x = 0.1 * std::round(x / 0.1);
        if (trial % 4 == 2) x = 0.1 * std::round(x / 0.1), y = 0.13 * std::round(y / 0.13);
        if (trial % 4 == 3) y = -0.13 / 0.1 * (x - 0.1 * std::round(x / 0.1)) + 0.065 * (trial % 8 == 3);
        Vec3 p(x, y, 0);
        const double sink = radius > 0 ? 0.3 * radius : 2e-3;
        for (int k = 0; k < 40; ++k) p.z() += std::clamp(radius - brute_force(land, p), -0.05, 0.05);
        p.z() += sink * u(random) + (trial % 3 ? 0 : 1e-3);
        const double gap = brute_force(land, p) - radius;
        const auto contacts = world.detect({Mat3::Identity(), land.X * p});
        double least = HUGE_VAL, nearest = HUGE_VAL;
        std::set<std::uint64_t> ids;
        for (const Contact& c : contacts) {
          least = std::min(least, c.gap);
          nearest = std::min(nearest, std::abs(c.gap - gap));
          ids.insert(c.id);
          CHECK(c.R_WC.col(2).norm() == doctest::Approx(1).epsilon(1e-12));
        }
        CHECK(ids.size() == contacts.size());
        if (gap < world.range.margin) {
          ++listed;
          CAPTURE(p.transpose());
          CHECK(nearest < rounding);
          CHECK(least > gap - 1.01e-6);  // faces of a valley that the centre sank into as deep stay beside the nearest
        } else {
          CHECK(contacts.empty());
        }
      }
      CHECK(listed > 500);
    }
}

TEST_CASE("terrain: a foot that slides over cells keeps its id and meets no inner edges") {
  Land land;
  land.field = {21, 21, 0.05, 0.05, std::vector<double>(441, 0.0)};
  for (int k = 0; k < 441; ++k) land.field.heights[static_cast<std::size_t>(k)] = 0.2 * 0.05 * (k % 21);  // a plane
  World world(land);
  world.add(ShapeKind::Sphere, Vec3(0.04, 0, 0));
  const Vec3 n = Vec3(-0.2, 0, 1).normalized();
  std::set<std::uint64_t> ids;
  for (int k = 0; k <= 600; ++k) {
    const double x = -0.3 + 0.001 * k;
    const Vec3 on(x, 0.3 * x, 0.2 * (x + 0.5));
    const auto contacts = world.detect({Mat3::Identity(), on + (0.04 - 1e-5) * n});
    REQUIRE(contacts.size() == 1);
    ids.insert(contacts[0].id);
    CHECK(contacts[0].gap == doctest::Approx(-1e-5).epsilon(1e-6));
    CHECK((contacts[0].R_WC.col(2) - n).norm() < 1e-9);
  }
  CHECK(ids.size() == 1);
}

TEST_CASE("terrain: a peak under the middle of a face is found") {
  Land land;
  land.field = {5, 5, 0.1, 0.1, std::vector<double>(25, 0.0)};
  land.field.heights[12] = 0.05;
  for (ShapeKind kind : {ShapeKind::Box, ShapeKind::Cylinder, ShapeKind::Capsule, ShapeKind::Ellipsoid}) {
    World world(land);
    const Vec3 size(0.15, 0.15, 0.1);
    world.add(kind, size);
    const double below = kind == ShapeKind::Capsule ? 0.25 : 0.1;  // lowest point of the shape under its centre
    const auto contacts = world.detect({Mat3::Identity(), Vec3(0, 0, 0.05 + below - 1e-4)});
    CAPTURE(static_cast<int>(kind));
    double least = HUGE_VAL;
    for (const Contact& c : contacts) {
      if (c.gap > least) continue;
      least = c.gap;
      CHECK((c.R_WC.col(2) - Vec3::UnitZ()).norm() < 1e-6);
    }
    CHECK(least == doctest::Approx(-1e-4).epsilon(1e-6));
  }
}

TEST_CASE("terrain: a box, a cylinder and a hull stand on flat cells as on a plane") {
  Land land;
  land.field = {11, 11, 0.07, 0.07, std::vector<double>(121, 0.0)};
  for (ShapeKind kind : {ShapeKind::Box, ShapeKind::Cylinder}) {
    World world(land);
    world.add(kind, Vec3(0.1, 0.12, 0.05));
    const auto contacts = world.detect({Mat3::Identity(), Vec3(0.01, 0.02, 0.05 - 1e-5)});
    CHECK(contacts.size() == (kind == ShapeKind::Box ? 4 : 12));
    for (const Contact& c : contacts) {
      CHECK(c.gap == doctest::Approx(-1e-5).epsilon(1e-9));
      CHECK((c.R_WC.col(2) - Vec3::UnitZ()).norm() < 1e-12);
    }
  }
}
