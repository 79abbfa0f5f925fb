// Two equal balls on a line: the first strikes the second, which leaves with its velocity. Where steps end at events the time of
// the impact is part of the derivative, and that of the whole run is known.
#include <doctest/doctest.h>

#include <numbers>

#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double T = 1, start = 0.52;

/// d x_2(T) by (x_1, x_2, v_1, v_2), through all steps.
Eigen::Vector4d slopes(Simulation simulation) {
  MatX dx = MatX::Zero(24, 4);
  dx(0, 0) = dx(6, 1) = dx(12, 2) = dx(18, 3) = 1;
  Linearization lin;
  const long steps = std::lround(T / simulation.dt());
  for (long k = 0; k < steps; ++k) {
    simulation.linearize(lin);
    REQUIRE(lin.finite);
    dx = lin.A * dx;
    simulation.step();
  }
  return dx.row(6);
}

}  // namespace

TEST_CASE("derivative through an impact: two balls, and springs that end steps where they touch and let go") {
  // Springs of stiffness K: they touch for tau = pi sqrt(m/2K). By symmetry both balls move on by half of what comes in
  // during that time: (1, 0, T - tau/2, tau/2).
  // Events are found to 1e-12 m at this dt, which differences over 1e-5 see as 1e-7.
  const double K = 2e3, dt = 5e-4, tau = std::numbers::pi * std::sqrt(1 / (2 * K));
  SurfacePair surface = worlds::friction(0);
  surface.stiffness = K;
  surface.damping = 0;
  ExponentialOptions own;
  own.events = true;
  StepperOptions options;
  options.own = own;
  auto simulation = worlds::World(surface)
                        .gravity(Vec3::Zero())
                        .sphere(0.1, 1, Vec3::Zero(), {1, 0, 0})
                        .sphere(0.1, 1, {start, 0, 0})
                        .simulate(dt, options, "exponential");
  const Eigen::Vector4d d = slopes(std::move(simulation));
  const Eigen::Vector4d expected(1, 0, T - tau / 2, tau / 2);
  CAPTURE(d.transpose());
  CHECK((d - expected).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("derivative through an impact: plain steps do not know when it was") {
  // The impact is that of a step, whenever in it the balls meet. After it the second ball has the velocity of the first, and its
  // place is its own: (0, 1, T - t, t), with t the end of the steps before.
  auto simulation = worlds::World(worlds::friction(0, 1))
                        .gravity(Vec3::Zero())
                        .sphere(0.1, 1, Vec3::Zero(), {1, 0, 0})
                        .sphere(0.1, 1, {start + 0.003, 0, 0})
                        .simulate(0.01);
  const Eigen::Vector4d d = slopes(std::move(simulation));
  CAPTURE(d.transpose());
  CHECK(d[0] == doctest::Approx(0).scale(1));
  CHECK(d[1] == doctest::Approx(1));
  CHECK(d[2] + d[3] == doctest::Approx(T));
}
