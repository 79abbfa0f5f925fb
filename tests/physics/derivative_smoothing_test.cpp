// Derivatives of the smoothed law (smooth.1) beside its closed form for one ball, and their limit.
#include <doctest/doctest.h>

#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

Linearization linearized(Simulation& simulation, double smoothing) {
  Linearization lin;
  lin.smoothing = smoothing;
  simulation.linearize(lin);
  CHECK(lin.method == Linearization::Method::Analytic);
  CHECK(lin.finite);
  return lin;
}

/// Errors at s, s/10, s/100 beside the exact one, over its largest entry: each is a tenth of the one before.
void check_limit(Simulation& simulation, double smoothing) {
  const Linearization exact = linearized(simulation, 0);
  REQUIRE(exact.weak == 0);
  double before = 0;
  for (int k = 0; k < 3; ++k, smoothing /= 10) {
    const Linearization lin = linearized(simulation, smoothing);
    const double error = (lin.A - exact.A).cwiseAbs().maxCoeff() / exact.A.cwiseAbs().maxCoeff();
    if (k > 0) {
      const double order = std::log10(before / error);
      CAPTURE(order);
      CHECK(order > 0.9);
      CHECK(order < 1.1);
    }
    before = error;
    CHECK(lin.q_next == exact.q_next);  // the motion is that of hard contact
    CHECK(lin.v_next == exact.v_next);
  }
}

}  // namespace

TEST_CASE("smoothed derivative: a ball over the ground feels it before it touches") {
  // Along the normal f (f/m + a) = kappa with a = ((v - g dt) + gap/dt)/dt: f = (-a + sqrt(a^2 + 4 kappa/m)) m/2, and
  // v' = v - g dt + dt f/m has dv'/dz = (a/sqrt(a^2 + 4 kappa/m) - 1)/(2 dt): it rises less where it begins higher.
  const double dt = 1e-3, m = 2, gap = 1e-4, smoothing = 1e-3;
  auto simulation = worlds::World(worlds::friction(0)).ground().sphere(0.1, m, {0, 0, 0.1 + gap}).simulate(dt);
  const double a = -9.81 + gap / (dt * dt), kappa = smoothing * (m * 9.81) * 9.81;  // by weight and g
  const Linearization exact = linearized(simulation, 0), lin = linearized(simulation, smoothing);
  CHECK(exact.A(8, 2) == doctest::Approx(0).scale(1));
  CHECK(lin.A(8, 2) == doctest::Approx((a / std::sqrt(a * a + 4 * kappa / m) - 1) / (2 * dt)).epsilon(1e-9));
  CHECK(lin.A(8, 2) < -0.01);
  CHECK(lin.v_next == exact.v_next);
}

TEST_CASE("smoothed derivative: it tends to the exact one, with order one") {
  SUBCASE("a ball that sticks, and one that slips") {
    for (double w : {0.0, 20.0}) {
      auto simulation = worlds::World(worlds::friction(0.5)).ground().sphere(0.1, 1, Vec3::Zero()).simulate(1e-3);
      State state = simulation.state();
      state.q[2] = 0.1;
      state.v << 0.002, 0.001, -0.5, 0.01, w, 0.3;
      simulation.set_state(state);
      check_limit(simulation, 1e-4);
    }
  }
  SUBCASE("a robot on four feet") {
    Scene scene = load_scene(TRIBO_SCENES "/solo-standing.toml");
    scene.stepper_options.contact.tolerance.rel = 1e-12;
    scene.stepper_options.contact.recovery_time = 0;
    Simulation simulation = make_simulation(scene);
    for (int k = 0; k < 100; ++k) simulation.step();
    check_limit(simulation, 1e-6);
  }
}

TEST_CASE("smoothed derivative: where there is none") {
  Scene scene = load_scene(TRIBO_SCENES "/cube.toml");
  scene.set_stepper("exponential");
  Simulation simulation = make_simulation(scene);
  Linearization lin;
  lin.smoothing = 1e-3;
  CHECK_THROWS_AS(simulation.linearize(lin), InvalidInput);
}
