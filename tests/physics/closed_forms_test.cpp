// Laws with closed forms, at default settings. Where the scheme is exact on its own grid, the expectation is the
// discrete value and the tolerance is rounding; elsewhere the tolerance is the scheme's order.
#include <doctest/doctest.h>

#include "worlds.hpp"

using namespace worlds;

TEST_CASE("free fall: semi-implicit Euler's own sum, to rounding") {
  auto s = World().sphere(0.1, 2, {0, 0, 100}, {1, 0, 3}).simulate(1e-3);
  run(s, 2);
  const double n = 2000, dt = 1e-3, g = 9.81;
  CHECK(position(s).z() == doctest::Approx(100 + 3 * 2 - g * dt * dt * n * (n + 1) / 2).epsilon(1e-13));
  CHECK(velocity(s).z() == doctest::Approx(3 - g * 2).epsilon(1e-13));
  CHECK(position(s).x() == doctest::Approx(2).epsilon(1e-13));
}

TEST_CASE("sliding cube: stop distance is the ideal discrete one") {
  const double mu = 0.4, g = 9.81, dt = 1e-3, v0 = 3;
  double v = v0, x = 0;  // v+ = max(0, v - mu g dt), x+ = x + dt v+
  while (v > 0) {
    v = std::max(0.0, v - mu * g * dt);
    x += dt * v;
  }
  CHECK(x == doctest::Approx(v0 * v0 / (2 * mu * g)).epsilon(3e-3));  // O(dt) from the continuous law
  for (double tolerance : {1e-8, 1e-13}) {
    CAPTURE(tolerance);
    StepperOptions options;
    options.contact.tolerance.rel = tolerance;
    auto s = World(friction(mu)).ground().box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1}, {v0, 0, 0}).simulate(dt, options);
    double highest = 0;
    for (int k = 0; k < 1200; ++k) {
      s.step();
      highest = std::max(highest, position(s).z() - 0.1);
    }
    // Forces of the step before are kept where they hold to the tolerance, for each of two laws; or rounding.
    const double speed = std::max(2 * tolerance * (g + mu * g) * dt, 1e-12);
    CHECK(position(s).x() == doctest::Approx(x).epsilon(1e-9));  // rounding over 800 steps
    CHECK(velocity(s).norm() < speed);
    CHECK(std::abs(position(s).y()) < speed);
    CHECK(highest < 1e-9);  // no lift-off while it slides
  }
}

TEST_CASE("breakaway: sticks below mu N, slides above, within 1e-4") {
  const double mu = 0.5, limit = mu * 9.81;
  for (double share : {1 - 1e-4, 1 + 1e-4}) {
    auto s = World(friction(mu)).ground().box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1}).simulate(1e-3);
    s.add_push({.force = {share * limit, 0, 0}, .force_end = {share * limit, 0, 0}, .duration = 10});
    run(s, 1);
    if (share < 1)  // creep within the solver tolerance: 1e-8 of g dt a step
      CHECK(std::abs(position(s).x()) < 1e-8);
    else  // half of (share - 1) mu g t^2; 1 % for the O(dt) of the scheme
      CHECK(position(s).x() == doctest::Approx(0.5 * 1e-4 * limit).epsilon(0.01));
  }
}

TEST_CASE("cube pushed by a ramp from 0 to 20 N: the ideal discrete error against Coulomb") {
  // Semi-implicit Euler with exact Coulomb friction and the force of the start of each step is off the continuous
  // solution 1.73115 m by -0.0014, -0.0368, -0.0784 mm at 1, 4, 10 ms.
  struct Case {
    double dt, error_mm;
  };
  for (const Case& c : {Case{1e-3, -0.0014}, Case{4e-3, -0.0368}, Case{1e-2, -0.0784}}) {
    auto s = World(friction(0.4)).ground().box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1}).simulate(c.dt);
    s.add_push({.force_end = {20, 0, 0}, .duration = 1});
    double drift = 0;
    for (int k = 0; k < std::lround(1 / c.dt); ++k) {
      s.step();
      if (s.state().t < 0.1501) drift = std::abs(position(s).x());
    }
    // a(t) = 20 t - mu g from t0 = mu g / 20 on.
    const double t0 = 0.4 * 9.81 / 20, truth = 20 * std::pow(1 - t0, 3) / 6;
    MESSAGE("dt " << c.dt << " error " << (position(s).x() - truth) * 1e3 << " mm, drift " << drift * 1e6 << " um");
    CHECK(drift < 1e-9);
    CHECK(std::abs((position(s).x() - truth) * 1e3 - c.error_mm) < 1e-4);
  }
}

TEST_CASE("incline: holds up to atan(mu), slides beyond with g (sin - mu cos)") {
  const double mu = 0.5, g = 9.81;
  for (double offset : {-1e-3, 1e-3, 0.1}) {
    const double a = std::atan(mu) + offset;
    auto s = World(friction(mu))
                 .gravity({g * std::sin(a), 0, -g * std::cos(a)})
                 .ground()
                 .box({0.2, 0.1, 0.05}, 3, {0, 0, 0.05})
                 .simulate(1e-3);
    run(s, 1);
    if (offset < 0) {
      CHECK(std::abs(position(s).x()) < 1e-10);
    } else {
      const double acceleration = g * (std::sin(a) - mu * std::cos(a));
      // Exact in v for a constant acceleration, but for the solver's tolerance: 1e-8 of g.
      CHECK(velocity(s).x() == doctest::Approx(acceleration).epsilon(1e-8 * g / acceleration));
    }
  }
}

TEST_CASE("discs held just below their angle of friction creep within the tolerance, and no farther") {
  // At a share s of the limit a creep at |v| over a step leaves m g cos(a) mu (1 - s) |v|/dt of complementarity, of which the
  // judge allows each of twelve points the tolerance times m g and the accelerations, 2 g at most.
  const double g = 9.81, dt = 1e-3, r = 0.05;
  for (double tolerance : {1e-8, 1e-12})
    for (double mu : {0.2, 1.0})
      for (double share : {0.99, 0.9995, 0.9999})
        for (double half : {0.005, 0.02}) {
          const double a = std::atan(mu * share), way = 0.3 + half;
          StepperOptions options;
          options.contact.tolerance.rel = tolerance;
          auto s = World(friction(mu))
                       .gravity(g * Vec3(std::sin(a) * std::cos(way), std::sin(a) * std::sin(way), -std::cos(a)))
                       .ground()
                       .object(ShapeKind::Cylinder, {r, 0, half}, 1, {0, 0, half}, Vec3::Zero(), Vec3::Zero())
                       .simulate(dt, options);
          double fastest = 0;
          for (int k = 0; k < 1000; ++k) {
            s.step();
            fastest = std::max(fastest, velocity(s).norm());
          }
          CAPTURE(tolerance);
          CAPTURE(mu);
          CAPTURE(share);
          CHECK(fastest < 12 * tolerance * 2 * g * dt / (mu * std::cos(a) * (1 - share)));
          CHECK(position(s).head<2>().norm() < (tolerance > 1e-10 ? 1e-6 : 1e-9));
          CHECK(s.audit().unconverged == 0);
        }
}

TEST_CASE("sliding sphere ends rolling at 5/7 of its speed") {
  const double v0 = 2, r = 0.1;
  auto s = World(friction(0.3)).ground().sphere(r, 1, {0, 0, r}, {v0, 0, 0}).simulate(1e-4);
  run(s, 1);
  // Angular momentum about the contact point is kept by friction: exact but for the step in which slip turns to stick.
  CHECK(velocity(s).x() == doctest::Approx(5.0 / 7 * v0).epsilon(1e-6));
  const double before = position(s).x(), speed = velocity(s).x();
  run(s, 1);
  CHECK(velocity(s).x() == doctest::Approx(speed).epsilon(1e-9));  // rolls on without loss
  CHECK(position(s).x() - before == doctest::Approx(speed).epsilon(1e-6));
}

TEST_CASE("four-legged table: forces carry the weight and are symmetric") {
  World world(friction(0.5));
  world.ground();
  const int m = world.builder.begin_member("table", false, "test");
  (void)m;
  Body body;
  body.name = "table";
  body.inertia = solid_inertia(ShapeKind::Box, {0.5, 0.4, 0.05}, 12);
  const int b = world.builder.add_body(body);
  for (int k = 0; k < 4; ++k) {
    Geometry foot;
    foot.name = "foot" + std::to_string(k);
    foot.body = b;
    foot.kind = ShapeKind::Point;
    foot.X_BG.p = Vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.4 : -0.4, -0.7);
    world.builder.add_geometry(foot);
  }
  world.starts.push_back({{0, 0, 0.7}, Vec3::Zero(), Vec3::Zero()});
  auto s = world.simulate(1e-3);
  run(s, 1);
  double sum = 0, largest = 0, least = 1e9;
  for (const ContactReport& c : s.contacts()) {
    sum += c.f.z();
    largest = std::max(largest, c.f.z());
    least = std::min(least, c.f.z());
  }
  REQUIRE(s.contacts().size() == 4);
  CHECK(sum == doctest::Approx(12 * 9.81).epsilon(1e-9));
  CHECK(largest - least < 1e-6 * sum);  // least norm: a quarter each
}

TEST_CASE("stack of ten cubes stands for 10 s") {
  World world(friction(0.5));
  world.ground();
  for (int k = 0; k < 10; ++k) world.box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1 + 0.2 * k});
  auto s = world.simulate(1e-3);
  run(s, 10);
  for (int k = 0; k < 10; ++k) {
    CHECK((position(s, k) - Vec3(0, 0, 0.1 + 0.2 * k)).norm() < 1e-6);
    CHECK(velocity(s, k).norm() < 1e-6);
  }
  CHECK(s.audit().unconverged == 0);
}

TEST_CASE("1000 kg on 1 g: the light cube carries the heavy one") {
  World world(friction(0.4));
  world.ground().box({0.1, 0.1, 0.1}, 1e-3, {0, 0, 0.1}).box({0.1, 0.1, 0.1}, 1000, {0, 0, 0.3});
  auto s = world.simulate(1e-3);
  run(s, 2);
  CHECK(std::abs(position(s, 1).z() - 0.3) < 1e-4);
  CHECK(std::abs(position(s, 0).z() - 0.1) < 1e-4);
  CHECK(s.audit().unconverged == 0);
}

TEST_CASE("drop from 1 m without restitution: no penetration, no rebound") {
  auto s = World(friction(0.4)).ground().box({0.1, 0.1, 0.1}, 1, {0, 0, 1.1}).simulate(1e-3);
  double lowest = 1, highest_after = 0;
  bool landed = false;
  for (int k = 0; k < 1500; ++k) {
    s.step();
    const double z = position(s).z() - 0.1;
    lowest = std::min(lowest, z);
    if (landed) highest_after = std::max(highest_after, z);
    landed |= z < 1e-9;
  }
  REQUIRE(landed);
  CHECK(lowest > -1e-6);
  CHECK(highest_after < 1e-9);
}
