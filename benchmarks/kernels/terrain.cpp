// What one foot costs on terrain: our query, and Coal's height field in the same run.
#include <coal/collision.h>
#include <coal/hfield.h>
#include <coal/shape/geometric_shapes.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "collision/narrowphase.hpp"
#include "timing.hpp"

using namespace tribo;

namespace {

constexpr int points = 201;
constexpr double spacing = 0.05, height = 0.03;

double z_at(int i, int j) { return height * std::sin(0.31 * i) * std::cos(0.23 * j); }

Geometry land() {
  HeightField field{points, points, spacing, spacing, {}};
  for (int j = 0; j < points; ++j)
    for (int i = 0; i < points; ++i) field.heights.push_back(z_at(i, j));
  Geometry g;
  g.kind = ShapeKind::HeightField;
  g.terrain = std::make_shared<HeightField>(std::move(field));
  g.radius = HUGE_VAL;
  return g;
}

// Feet over many cells, each a millimetre into the ground of its own column.
struct Feet {
  std::vector<Placement> poses;
  explicit Feet(double sole) {
    for (int k = 0; k < 64; ++k) {
      const int i = 20 + (37 * k) % 160, j = 20 + (53 * k) % 160;
      const double x = (i - 0.5 * (points - 1) + 0.37) * spacing, y = (j - 0.5 * (points - 1) + 0.21) * spacing;
      poses.push_back({Mat3::Identity(), Vec3(x, y, z_at(i, j) + sole - 1e-3)});
    }
  }
};

double ours(const Geometry& shape, const Feet& feet, double& contacts) {
  const Solid ground(land()), foot(shape);
  Scratch scratch;
  Touches out;
  PlacedSolid a{&ground, {}, Vec3::Zero(), Vec3::Zero(), 0}, b{&foot, {}, Vec3::Zero(), Vec3::Zero(), 0};
  const Query query{a, b, 1e-3, 1e-3, 1e-3, &scratch};
  contacts = 0;
  for (const Placement& X : feet.poses) {
    b.X = X;
    out.count = 0;
    touch(query, out);
    contacts += out.count / 64.0;
  }
  return bench::least_time(
             [&] {
               for (const Placement& X : feet.poses) {
                 b.X = X;
                 out.count = 0;
                 touch(query, out);
               }
             },
             50) /
         64;
}

double coals(const coal::CollisionGeometry& foot, const Feet& feet) {
  coal::MatrixXs heights(points, points);
  for (int j = 0; j < points; ++j)
    for (int i = 0; i < points; ++i) heights(points - 1 - j, i) = z_at(i, j);
  const double side = (points - 1) * spacing;
  const coal::HeightField<coal::AABB> ground(side, side, heights, -1);
  const coal::CollisionRequest request(coal::CONTACT, 8);
  coal::CollisionResult result;
  return bench::least_time(
             [&] {
               for (const Placement& X : feet.poses) {
                 result.clear();
                 coal::collide(&ground, coal::Transform3s(), &foot, coal::Transform3s(X.R, X.p), request, result);
               }
             },
             5) /
         64;
}

void report(const char* name, ShapeKind kind, const Vec3& size, double sole, const coal::CollisionGeometry* peer) {
  Geometry shape;
  shape.kind = kind;
  shape.size = size;
  shape.radius = size.norm();
  const Feet feet(sole);
  double contacts;
  const double mine = 1e6 * ours(shape, feet, contacts);
  std::printf("%-24s %8.3f us  (%.1f contacts)", name, mine, contacts);
  if (peer != nullptr) std::printf("   Coal %8.1f us", 1e6 * coals(*peer, feet));
  std::printf("\n");
}

}  // namespace

int main() {
  const coal::Sphere ball(0.02), large(0.1);
  const coal::Capsule capsule(0.03, 0.2);
  const coal::Box box(0.1, 0.06, 0.04);
  std::printf("terrain of %d x %d points, %g m apart; CPU time of one foot\n", points, points, spacing);
  report("point", ShapeKind::Point, Vec3::Zero(), 0, nullptr);
  report("ball, radius 0.02 m", ShapeKind::Sphere, Vec3(0.02, 0, 0), 0.02, &ball);
  report("ball, radius 0.1 m", ShapeKind::Sphere, Vec3(0.1, 0, 0), 0.1, &large);
  report("capsule", ShapeKind::Capsule, Vec3(0.03, 0, 0.1), 0.13, &capsule);
  report("box, 0.1 m", ShapeKind::Box, Vec3(0.05, 0.03, 0.02), 0.02, &box);
  return 0;
}
