// Ellipsoids and cylinders near other shapes: gap and normal to rounding, not to what GJK stops at.
//
// Of two convex shapes the signed distance is the largest s(n) = min n . y_b - max n . y_a over unit n, and it is reached at
// the normal. Support functions are written out here; the largest s is looked for by turning n a little every way.
#include <Eigen/Geometry>
#include <random>

#include "collision/narrowphase.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

namespace {

struct Shape {
  ShapeKind kind;
  Vec3 size;
};

const std::vector<Shape> shapes = {
    {ShapeKind::Sphere, {0.05, 0, 0}},          {ShapeKind::Capsule, {0.03, 0, 0.04}},
    {ShapeKind::Box, {0.05, 0.04, 0.03}},       {ShapeKind::Cylinder, {0.04, 0, 0.035}},
    {ShapeKind::Ellipsoid, {0.05, 0.03, 0.04}}, {ShapeKind::Ellipsoid, {0.08, 0.02, 0.03}}};

double support(const Shape& x, const Vec3& n) {
  switch (x.kind) {
    case ShapeKind::Sphere:
      return x.size.x();
    case ShapeKind::Capsule:
      return x.size.x() + x.size.z() * std::abs(n.z());
    case ShapeKind::Box:
      return x.size.dot(n.cwiseAbs());
    case ShapeKind::Cylinder:
      return x.size.x() * std::hypot(n.x(), n.y()) + x.size.z() * std::abs(n.z());
    default:
      return x.size.cwiseProduct(n).norm();
  }
}

}  // namespace

TEST_CASE("collision: curved shapes have the gap and the normal of where they are nearest") {
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> sym(-1, 1);
  Scratch scratch;
  double off = 0, better = 0;
  int found_pairs = 0;
  for (const Shape& shape_a : shapes)
    for (const Shape& shape_b : shapes) {
      const auto curved = [](const Shape& x) {
        return x.kind == ShapeKind::Ellipsoid || x.kind == ShapeKind::Cylinder;
      };
      if (!curved(shape_a) && !curved(shape_b)) continue;
      const auto solid = [](const Shape& x) {
        Geometry g;
        g.kind = x.kind;
        g.size = x.size;
        g.radius = x.size.norm() + (x.kind == ShapeKind::Capsule ? x.size.x() : 0);
        return Solid(g);
      };
      const Solid solid_a = solid(shape_a), solid_b = solid(shape_b);
      for (int k = 0; k < 60; ++k) {
        PlacedSolid a{&solid_a, {random_rotation(rng), Vec3::Zero()}, Vec3::Zero(), Vec3::Zero()};
        PlacedSolid b{&solid_b, {random_rotation(rng), Vec3::Zero()}, Vec3::Zero(), Vec3::Zero()};
        const Vec3 way = Vec3{sym(rng), sym(rng), sym(rng)}.normalized();
        const auto s = [&](const Vec3& n) {
          return n.dot(b.X.p - a.X.p) - support(shape_a, a.X.R.transpose() * n) -
                 support(shape_b, b.X.R.transpose() * n);
        };
        Touches touches;
        const double gap = 1e-3 * sym(rng);  // about: brought there along the way
        b.X.p = 0.3 * way;
        for (int round = 0; round < 30; ++round) {
          touches.count = 0;
          touch({a, b, 1, 0, 1, &scratch}, touches);
          REQUIRE(touches.count > 0);
          double least = touches.items[0].gap;
          for (int i = 1; i < touches.count; ++i)
            least = std::min(least, touches.items[static_cast<std::size_t>(i)].gap);
          if (std::abs(least - gap) < 1e-4) break;
          b.X.p += 0.9 * (gap - least) * way;
        }
        if (touches.count != 1) continue;  // faces: exact by themselves
        const Touch& t = touches.items[0];
        ++found_pairs;
        off = std::max(off, std::abs(s(t.n) - t.gap));
        const Vec3 u = t.n.unitOrthogonal(), v = t.n.cross(u);
        for (int i = 0; i < 16; ++i) {
          const double angle = 2 * M_PI * i / 16;
          for (double tilt : {1e-3, 1e-5}) {
            const Vec3 n = (t.n + tilt * (std::cos(angle) * u + std::sin(angle) * v)).normalized();
            better = std::max(better, s(n) - t.gap);
          }
        }
      }
    }
  MESSAGE(found_pairs << " pairs, off by " << off << ", larger by " << better);
  CHECK(found_pairs > 500);
  CHECK(off < 1e-9);
  CHECK(better < 1e-10);
}

TEST_CASE("collision: rims and edges that cross have the normal of where they touch, however near they are") {
  // Known by construction: with y_a the point of a that lies farthest along n, and y_b that of b along -n, b is moved to where
  // y_b = y_a + gap n. GJK alone has any direction there for a third of the pairs at 3e-8 m, and two thirds of a rim near an edge.
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> sym(-1, 1);
  Scratch scratch;
  const Vec3 size_a(0.04, 0, 0.035), size_b(0.02, 0, 0.05), half(0.05, 0.04, 0.03);
  Geometry can, rod, box;
  can.kind = rod.kind = ShapeKind::Cylinder, box.kind = ShapeKind::Box;
  can.size = size_a, rod.size = size_b, box.size = half;
  can.radius = size_a.norm(), rod.radius = size_b.norm(), box.radius = half.norm();
  const Solid a_solid(can), rod_solid(rod), box_solid(box);
  const auto on_rim = [](const Vec3& size, const Vec3& m) {
    const Vec3 u = Vec3(m.x(), m.y(), 0).normalized();
    return Vec3(size.x() * u.x(), size.x() * u.y(), m.z() > 0 ? size.z() : -size.z());
  };
  int off = 0, pairs = 0;
  double worst = 0;
  for (bool edge : {false, true})
    for (double gap : {1e-3, 1e-5, 3e-8, 1e-9})
      for (int k = 0; k < 200; ++k) {
        PlacedSolid a{&a_solid, {random_rotation(rng), Vec3(0.1, 0.2, 0.3)}, Vec3::Zero(), Vec3::Zero()};
        PlacedSolid b{edge ? &box_solid : &rod_solid, {random_rotation(rng), Vec3::Zero()}, Vec3::Zero(), Vec3::Zero()};
        Vec3 n = Vec3{sym(rng), sym(rng), sym(rng)}.normalized();
        if (edge) n = (n - b.X.R.col(0) * b.X.R.col(0).dot(n)).normalized();
        const Vec3 m = b.X.R.transpose() * -n;
        Vec3 y = on_rim(size_b, m);
        if (edge)
          y = Vec3(0.9 * half.x() * sym(rng), m.y() > 0 ? half.y() : -half.y(), m.z() > 0 ? half.z() : -half.z());
        b.X.p = a.X * on_rim(size_a, a.X.R.transpose() * n) + gap * n - b.X.R * y;
        Touches touches;
        touch({a, b, 0.01, 0, 0.01, &scratch}, touches);
        double nearest = 2, error = 0;
        for (int i = 0; i < touches.count; ++i) {
          const Touch& t = touches.items[static_cast<std::size_t>(i)];
          if ((t.n - n).norm() < nearest) nearest = (t.n - n).norm(), error = std::abs(t.gap - gap);
        }
        ++pairs;
        if (nearest > 1e-6)
          ++off;  // a face that is better by little is taken for what touches: by rule
        else
          worst = std::max(worst, error);
      }
  MESSAGE(off << " of " << pairs << " take a face, else gaps are off by " << worst);
  CHECK(off < pairs / 50);
  CHECK(worst < 1e-12);
}
