#include <doctest/doctest.h>

#include <random>

#include "collision/narrowphase.hpp"

using namespace tribo;

namespace {

Geometry cube(ShapeKind kind) {
  Geometry g;
  g.kind = kind;
  g.size = Vec3::Constant(0.05);
  if (kind == ShapeKind::Box) return g;
  Hull hull;
  for (int k = 0; k < 8; ++k) hull.vertices.push_back(0.05 * Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
  hull.faces = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  hull.radius = g.size.norm();
  g.hull = std::make_shared<const Hull>(std::move(hull));
  return g;
}

Touches touch_at(const Solid& solid, const Placement& a, const Placement& b) {
  static Scratch scratch;
  const PlacedSolid first{&solid, a, Vec3::Zero(), Vec3::Zero()}, second{&solid, b, Vec3::Zero(), Vec3::Zero()};
  Touches out;
  touch(Query{first, second, 0.01, 1e-3, 0.01, &scratch}, out);
  return out;
}

}  // namespace

// Edges that are nearly parallel to a side and nearly on it: the height of a point where they would cross, far away, is
// not a gap. Overlaps are at most 1 mm here, so 1.5 mm leaves room for the slope of a face.
TEST_CASE("clipping: no point lies outside the boxes, and none is deeper than they are") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (ShapeKind kind : {ShapeKind::Box, ShapeKind::Convex}) {
    const Solid solid(cube(kind));
    int contacts = 0;
    for (int trial = 0; trial < 20000; ++trial) {
      const double turn = std::pow(10.0, -4 + 2 * unit(random)), tilt = 1e-3 * unit(random);
      Placement b;
      b.R = (Eigen::AngleAxisd(turn, Vec3::UnitZ()) * Eigen::AngleAxisd(tilt, Vec3::UnitX())).toRotationMatrix();
      b.p = Vec3{1e-5 * unit(random), 0.02 * (trial % 3) + 1e-5 * unit(random), 0.1 - 5e-4 * (1 + unit(random))};
      const Touches found = touch_at(solid, Placement(), b);
      contacts += found.count;
      for (int i = 0; i < found.count; ++i) {
        const Touch& x = found.items[static_cast<std::size_t>(i)];
        REQUIRE(x.gap > -1.5e-3);
        REQUIRE(x.p.cwiseAbs().maxCoeff() < 0.0515);
        REQUIRE((b.R.transpose() * (x.p - b.p)).cwiseAbs().maxCoeff() < 0.0515);
      }
    }
    CHECK(contacts >= 4 * 20000 - 20000);  // a face on a face: four points, or three where the tilt lifts one
  }
}
