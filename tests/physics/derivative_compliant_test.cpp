// Derivatives of compliant steps, with what contacts remember as a part of the state, beside central differences of the same step.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double tolerance = 1e-6;

struct Seen {
  int analytic = 0, differences = 0, compared = 0, columns = 0, stick = 0, slip = 0, open = 0;
  double error = 0;
  std::string reason;
};

void check(Simulation& simulation, Seen& seen) {
  const DerivativeCheck c = simulation.check_derivatives();
  REQUIRE(c.linearization.finite);
  if (c.linearization.method != Linearization::Method::Analytic) {
    ++seen.differences;
    seen.reason = c.linearization.reason;
    return;
  }
  ++seen.analytic;
  if (c.linearization.weak > 0) return;
  CAPTURE(c.row);
  CAPTURE(c.column);
  CAPTURE(c.disturbed);
  CAPTURE(c.linearization.margin);
  std::string modes;
  for (const LinearizedContact& contact : c.linearization.contacts) modes += contact.mode == ContactMode::Stick ? 'k' : contact.mode == ContactMode::Slip ? 's' : 'o';
  CAPTURE(modes);
  CHECK(c.error < tolerance);
  ++seen.compared;
  seen.columns += c.columns;
  seen.error = std::max(seen.error, c.error);
  for (const LinearizedContact& contact : c.linearization.contacts) {
    seen.stick += contact.mode == ContactMode::Stick;
    seen.slip += contact.mode == ContactMode::Slip;
    seen.open += contact.mode == ContactMode::Open;
  }
}

Seen run(Simulation simulation, int steps, int every = 1) {
  Seen seen;
  for (int k = 0; k < steps; ++k) {
    simulation.step();
    CAPTURE(k);
    if (k % every == 0) check(simulation, seen);
  }
  return seen;
}

SurfacePair soft(double mu) {
  SurfacePair surface = worlds::friction(mu);
  surface.stiffness = 1e4;
  surface.damping = 30;
  return surface;
}

}  // namespace

TEST_CASE("compliant derivative: implicit Euler, a box that slides and comes to rest") {
  for (double mu : {0.0, 0.4}) {
    auto world = worlds::World(soft(mu)).ground().box({0.1, 0.2, 0.05}, 1, {0, 0, 0.0495}, {0.3, 0.1, 0});
    const Seen seen = run(world.simulate(2e-3, {}, "implicit-euler"), 60);
    MESSAGE(seen.analytic << " analytic, " << seen.differences << " " << seen.reason << ", compared " << seen.compared << ", columns " << seen.columns << ", stick " << seen.stick << ", slip " << seen.slip << ", worst " << seen.error);
    CHECK(seen.compared > 10);
  }
}

TEST_CASE("compliant derivative: exponential, a box that slides and comes to rest") {
  for (double mu : {0.0, 0.4}) {
    auto world = worlds::World(soft(mu)).ground().box({0.1, 0.2, 0.05}, 1, {0, 0, 0.0495}, {0.3, 0.1, 0});
    const Seen seen = run(world.simulate(2e-3, {}, "exponential"), 60);
    MESSAGE(seen.analytic << " analytic, " << seen.differences << " " << seen.reason << ", compared " << seen.compared << ", columns " << seen.columns << ", stick " << seen.stick << ", slip " << seen.slip << ", worst " << seen.error);
    CHECK(seen.compared > 10);
  }
}

TEST_CASE("compliant derivative: exponential, balls") {
  auto world = worlds::World(soft(0.3))
                   .ground()
                   .sphere(0.1, 1, {0, 0, 0.0995}, {0.5, 0.1, 0})
                   .sphere(0.1, 0.7, {0.05, 0.02, 0.2895}, {0, 0.1, 0});
  const Seen seen = run(world.simulate(2e-3, {}, "exponential"), 40);
  MESSAGE(seen.analytic << " analytic, " << seen.differences << " " << seen.reason << ", compared " << seen.compared << ", columns " << seen.columns << ", stick " << seen.stick << ", slip " << seen.slip << ", worst " << seen.error);
  CHECK(seen.compared > 10);
}

TEST_CASE("compliant derivative: implicit Euler, balls") {
  auto world = worlds::World(soft(0.3))
                   .ground()
                   .sphere(0.1, 1, {0, 0, 0.0995}, {0.5, 0.1, 0})
                   .sphere(0.1, 0.7, {0.05, 0.02, 0.2895}, {0, 0.1, 0});
  const Seen seen = run(world.simulate(2e-3, {}, "implicit-euler"), 40);
  MESSAGE(seen.analytic << " analytic, " << seen.differences << " " << seen.reason << ", compared " << seen.compared << ", columns " << seen.columns << ", stick " << seen.stick << ", slip " << seen.slip << ", worst " << seen.error);
  CHECK(seen.compared > 10);
}
