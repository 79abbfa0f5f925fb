#include "model/sizes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tribo/model.hpp"

using namespace tribo;

TEST_CASE("sizes: a hull is as large wherever its file puts the origin") {
  for (double away : {0.0, 0.3, -7.0}) {
    std::vector<Vec3> corners;
    for (int k = 0; k < 8; ++k)
      corners.emplace_back(away + (k & 1 ? 0.03 : -0.03), (k & 2 ? 0.04 : -0.04) - away, k & 4 ? 0.12 : -0.12);
    Geometry hull;
    hull.kind = ShapeKind::Convex;
    hull.hull = make_hull(corners, "hull");
    for (const Vec3& x : corners) hull.radius = std::max(hull.radius, x.norm());
    hull.name = "hull";
    ModelBuilder builder;
    hull.material = builder.add_material({"surface", {}});
    builder.add_geometry(hull);
    const Model model = builder.build();
    CAPTURE(away);
    CHECK(std::abs(Sizes(model)[0] - 0.13) < 1e-14);
  }
}
