// Cylinders and ellipsoids: contacts against closed forms.
#include "collision/narrowphase.hpp"
#include "shapes_world.hpp"

using namespace shapes_world;

namespace {

double least_gap(std::span<const Contact> contacts) {
  double least = HUGE_VAL;
  for (const Contact& c : contacts) least = std::min(least, c.gap);
  return least;
}

}  // namespace

TEST_CASE("cylinder on a plane: stands on twelve points, lies on two, and its lowest point is exact at any tilt") {
  const double r = 0.2, h = 0.3;
  for (double tilt : {0.0, 1e-4, 0.01, 0.05, 0.3, 1.0, M_PI / 2, 2.0, 3.0, M_PI}) {
    World w;
    w.builder.add_ground({}, 0);
    const double low = h * std::abs(std::cos(tilt)) + r * std::sin(tilt);
    w.add(ShapeKind::Cylinder, Vec3(r, 0, h), turned(Vec3(1, 2, low - 1e-4), Vec3(0.3, 1, 0), tilt));
    const auto contacts = w.detect();
    CAPTURE(tilt);
    // Within the flat tilt of 1e-3 the corners of the rim stand for it: up to 0.3 r 1e-3 above the lowest point.
    const double tolerance = tilt > 1e-3 && tilt < 3.141 ? rounding : 0.3 * r * tilt;
    CHECK(std::abs(least_gap(contacts) + 1e-4) <= rounding + (tilt < 1e-3 ? tolerance : rounding));
    if (tilt == 0 || tilt == M_PI) CHECK(contacts.size() == 12);
    if (tilt == M_PI / 2) CHECK(contacts.size() == 2);
  }
}

TEST_CASE("ellipsoid on a plane: gap = height - |A n|") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 20; ++trial) {
    const Vec3 half(0.1, 0.2, 0.35), axis{u(random), u(random), u(random)};
    const Placement turn = turned(Vec3::Zero(), axis, 3 * u(random));
    const Vec3 n_B = turn.R.transpose() * Vec3::UnitZ();
    World w;
    w.builder.add_ground({}, 0);
    w.add(ShapeKind::Ellipsoid, half, {turn.R, Vec3(0, 0, half.cwiseProduct(n_B).norm() - 2e-4)});
    const auto contacts = w.detect();
    REQUIRE(contacts.size() == 1);
    CHECK(std::abs(contacts[0].gap + 2e-4) < rounding);
    // The point lies on the ellipsoid, half a gap up.
    const Vec3 x = w.bodies[0].X_WB.inverse() * Vec3(contacts[0].p_WC + 0.5 * contacts[0].gap * Vec3::UnitZ());
    CHECK(std::abs(x.cwiseQuotient(half).norm() - 1) < 1e-10);
  }
}

TEST_CASE("cylinder on a box: stands on at least four points over the face, lies on two; a box stands on its cap") {
  const double r = 0.1, h = 0.15;
  SUBCASE("standing in the middle") {
    World w;
    w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), {});
    w.add(ShapeKind::Cylinder, Vec3(r, 0, h), {Mat3::Identity(), Vec3(0.1, 0, 0.5 + h - 1e-4)});
    const auto contacts = w.detect();
    CHECK(contacts.size() >= 4);
    for (const Contact& c : contacts) {
      CHECK(std::abs(c.gap + 1e-4) < 1e-10);
      CHECK((c.R_WC.col(2) - Vec3::UnitZ()).norm() < 1e-10);
      CHECK((c.p_WC.head<2>() - Vec3(0.1, 0, 0).head<2>()).norm() < r + 1e-9);
    }
  }
  SUBCASE("standing over an edge") {
    World w;
    w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), {});
    w.add(ShapeKind::Cylinder, Vec3(r, 0, h), {Mat3::Identity(), Vec3(0.47, 0, 0.5 + h - 1e-4)});
    const auto contacts = w.detect();
    CHECK(contacts.size() >= 3);
    double right = 0;
    for (const Contact& c : contacts) right = std::max(right, c.p_WC.x());
    CHECK(right == doctest::Approx(0.5).epsilon(1e-3));
  }
  SUBCASE("lying") {
    World w;
    w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), {});
    w.add(ShapeKind::Cylinder, Vec3(r, 0, h), turned(Vec3(0, 0, 0.5 + r - 1e-4), Vec3::UnitX(), M_PI / 2));
    const auto contacts = w.detect();
    REQUIRE(contacts.size() == 2);
    for (const Contact& c : contacts) CHECK(std::abs(c.gap + 1e-4) < 1e-10);
    CHECK(std::abs(contacts[0].p_WC.y() - contacts[1].p_WC.y()) == doctest::Approx(2 * h));
  }
  SUBCASE("a small box on the cap") {
    World w;
    w.add(ShapeKind::Cylinder, Vec3(0.4, 0, 0.2), {});
    w.add(ShapeKind::Box, Vec3(0.05, 0.06, 0.07), {Mat3::Identity(), Vec3(0.1, 0, 0.27 - 1e-4)});
    const auto contacts = w.detect();
    CHECK(contacts.size() == 4);
    for (const Contact& c : contacts) CHECK(std::abs(c.gap + 1e-4) < 1e-10);
  }
  SUBCASE("a cylinder on a cylinder") {
    World w;
    w.add(ShapeKind::Cylinder, Vec3(0.4, 0, 0.2), {});
    w.add(ShapeKind::Cylinder, Vec3(0.1, 0, 0.2), {Mat3::Identity(), Vec3(0.1, 0, 0.4 - 1e-4)});
    CHECK(w.detect().size() >= 4);
  }
}

TEST_CASE("cylinders side by side touch at both ends of the common stretch, as a cylinder and a capsule do") {
  for (ShapeKind second : {ShapeKind::Cylinder, ShapeKind::Capsule})
    for (double tilt : {0.0, 5e-3}) {
      World w;
      w.range.margin = 1e-2;
      const double ra = 0.1, rb = 0.2, gap = -1e-3;
      w.add(ShapeKind::Cylinder, Vec3(ra, 0, 1), {});
      w.add(second, Vec3(rb, 0, 1), turned(Vec3(ra + rb + gap, 0, 0.5), Vec3::UnitX(), tilt));
      const auto contacts = w.detect();
      REQUIRE(contacts.size() == 2);
      std::set<int> ends;
      for (const Contact& c : contacts) {
        // Tilted across the line between the axes: they part by the distance of two lines, to second order.
        CHECK(std::abs(c.gap - gap) < 1e-12 + 1e-4 * (tilt > 0));
        // The ends are up to 1 m from the middle of the second: there the axes are tilt x 1 m apart across the line.
        CHECK((c.R_WC.col(2) - Vec3::UnitX()).norm() < 1e-12 + 1.01 * tilt / (ra + rb + gap));
        ends.insert(c.p_WC.z() > 0.25 ? 1 : 0);
        CHECK(std::abs(c.p_WC.z() - (c.p_WC.z() > 0.25 ? 1 : -0.5)) < 1e-12 + tilt);
      }
      CHECK(ends.size() == 2);
    }
}

TEST_CASE("a log of two parallel cylinders carries a third in balance") {
  // Symmetry: the weight of the third is shared equally by the four contacts of the two lines.
  World w;
  w.range.margin = 1e-3;
  const double r = 0.1, apart = 0.105;
  const Vec3 size(r, 0, 0.5);
  auto lying = [](const Vec3& p) { return turned(p, Vec3::UnitX(), M_PI / 2); };
  w.add(ShapeKind::Cylinder, size, lying(Vec3(-apart, 0, r)));
  w.add(ShapeKind::Cylinder, size, lying(Vec3(apart, 0, r)));
  w.add(ShapeKind::Cylinder, size, lying(Vec3(0, 0, r + std::sqrt(4 * r * r - apart * apart))));
  const auto contacts = w.detect();
  REQUIRE(contacts.size() == 4);
  Vec3 middle = Vec3::Zero();
  for (const Contact& c : contacts) {
    CHECK(std::abs(c.gap) < 1e-12);
    CHECK(std::abs(c.R_WC.col(2).z() - std::sqrt(4 * r * r - apart * apart) / (2 * r)) < 1e-12);
    middle += 0.25 * c.p_WC;
  }
  CHECK(std::hypot(middle.x(), middle.y()) < 1e-12);
}

TEST_CASE("sphere and cylinder: signed distance in closed form") {
  const double r = 0.2, h = 0.3, ball = 0.05;
  struct Case {
    Vec3 p;
    double gap;
  };
  for (const Case& c : {Case{{0.2495, 0, 0.1}, 0.2495 - r - ball}, Case{{0.1, 0, -0.3495}, 0.3495 - h - ball},
                        Case{{0, 0.23, 0.34}, 0.05 - ball}, Case{{0.19, 0, 0}, -0.01 - ball}}) {
    World w;
    w.add(ShapeKind::Cylinder, Vec3(r, 0, h), {});
    w.add(ShapeKind::Sphere, Vec3(ball, 0, 0), {Mat3::Identity(), c.p});
    const auto contacts = w.detect();
    REQUIRE(contacts.size() == 1);
    CHECK(std::abs(contacts[0].gap - c.gap) < rounding);
  }
}

TEST_CASE("ellipsoid on a box and against a sphere") {
  const Vec3 half(0.1, 0.2, 0.3);
  World w;
  w.add(ShapeKind::Box, Vec3(0.5, 0.5, 0.5), {});
  w.add(ShapeKind::Ellipsoid, half, turned(Vec3(0.1, 0, 0.5 + 0.2 - 1e-4), Vec3::UnitX(), M_PI / 2));
  const auto on_box = w.detect();
  REQUIRE(on_box.size() == 1);
  CHECK(std::abs(on_box[0].gap + 1e-4) < 1e-10);
  CHECK((on_box[0].R_WC.col(2) - Vec3::UnitZ()).norm() < 1e-10);
  // Along an axis the nearest points are the poles: gap = distance - half axis - radius. GJK ends within 1e-6 m.
  World v;
  v.add(ShapeKind::Ellipsoid, half, {});
  v.add(ShapeKind::Sphere, Vec3(0.1, 0, 0), {Mat3::Identity(), Vec3(0, 0.3005, 0)});
  const auto beside = v.detect();
  REQUIRE(beside.size() == 1);
  CHECK(std::abs(beside[0].gap - 5e-4) < 5e-6);
}
