// A polygon with many corners lies on a ridge along the chord over it, whatever the order of its corners.
#include <doctest/doctest.h>

#include "collision/collision.hpp"
#include "tribo/model.hpp"

using namespace tribo;

namespace {

constexpr double ridge_coin_radius = 0.1;

/// A ridge along y at x = 0, z = 0, and a coin of 32 corners.
Model coin_on_ridge() {
  auto field = std::make_shared<HeightField>();
  field->nx = 3, field->ny = 4;
  field->spacing_x = field->spacing_y = 0.5;
  for (int j = 0; j < field->ny; ++j) field->heights.insert(field->heights.end(), {-0.2, 0.0, -0.2});
  ModelBuilder builder;
  Geometry land;
  land.name = "land";
  land.kind = ShapeKind::HeightField;
  land.terrain = field;
  builder.add_geometry(land);
  builder.begin_member("coin", false, "coin");
  Body body;
  body.name = "coin";
  body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0, 0), 1);
  std::vector<Vec3> corners;
  for (int k = 0; k < 32; ++k)
    for (double z : {-0.01, 0.01})
      corners.push_back({ridge_coin_radius * std::cos(M_PI * k / 16), ridge_coin_radius * std::sin(M_PI * k / 16), z});
  Geometry coin;
  coin.name = "coin";
  coin.kind = ShapeKind::Convex;
  coin.hull = make_hull(corners, "coin");
  coin.body = builder.add_body(body);
  builder.add_geometry(coin);
  return builder.build();
}

}  // namespace

TEST_CASE("terrain: a coin of 32 corners lies on a ridge from rim to rim") {
  const Model model = coin_on_ridge();
  Collision collision(model);
  const double apothem = ridge_coin_radius * std::cos(M_PI / 32);  // the chord is no shorter
  for (int turn = 0; turn < 16; ++turn) {
    CAPTURE(turn);
    BodyMotion motion;
    motion.X_WB = {Eigen::AngleAxisd(0.37 * turn, Vec3::UnitZ()).toRotationMatrix(), Vec3(0, 0, 0.01)};
    collision.detect({&motion, 1}, {}, {});
    double from = 1, to = -1;
    for (const Contact& c : collision.contacts())
      if (std::abs(c.gap) < 1e-9)  // corners over the slopes are listed with gaps
        from = std::min(from, c.p_WC.y()), to = std::max(to, c.p_WC.y());
    CHECK(from < -apothem + 1e-9);
    CHECK(to > apothem - 1e-9);
  }
}
