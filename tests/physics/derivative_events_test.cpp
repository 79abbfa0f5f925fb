// Two equal balls on a line: the first strikes the second, which leaves with its velocity. Where steps end at events the time of
// the impact is part of the derivative, and that of the whole run is known.
#include <doctest/doctest.h>

#include <numbers>

#include "dynamics/group.hpp"
#include "slopes.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/rigid.hpp"

using namespace tribo;

namespace {

constexpr double T = 1, start = 0.52;

StepperOptions divided() {
  RigidOptions own;
  own.touch = true;
  StepperOptions options = slopes::precise();
  options.own = own;
  return options;
}

/// d x_2(T) by (x_1, x_2, v_1, v_2), through all steps up to T.
Eigen::Vector4d by_start(Simulation& simulation) {
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
  // Steps are much shorter than that, or longer: then the contact begins and ends within one of them. Neither does at the end of a step.
  const double K = 2e3, start = 0.5234, tau = std::numbers::pi * std::sqrt(1 / (2 * K));
  SurfacePair surface = worlds::friction(0);
  surface.stiffness = K;
  surface.damping = 0;
  ExponentialOptions own;
  own.events = true;
  StepperOptions options;
  options.own = own;
  for (double dt : {5e-4, 0.01, 0.1, 0.25}) {
    CAPTURE(dt);
    auto simulation = worlds::World(surface)
                          .gravity(Vec3::Zero())
                          .sphere(0.1, 1, Vec3::Zero(), {1, 0, 0})
                          .sphere(0.1, 1, {start, 0, 0})
                          .simulate(dt, options, "exponential");
    const Eigen::Vector4d d = by_start(simulation);
    CHECK(simulation.state().q[7] == doctest::Approx(start + T - (start - 0.2) - tau / 2).epsilon(1e-9));
    CAPTURE(d.transpose());
    CHECK((d - Eigen::Vector4d(1, 0, T - tau / 2, tau / 2)).cwiseAbs().maxCoeff() < 1e-6);
  }
}

TEST_CASE("derivative through an impact: plain steps do not know when it was") {
  // The impact is that of a step, whenever in it the balls meet. After it the second ball has the velocity of the first, and its
  // place is its own: (0, 1, T - t, t), with t the end of the steps before.
  auto simulation = worlds::World(worlds::friction(0, 1))
                        .gravity(Vec3::Zero())
                        .sphere(0.1, 1, Vec3::Zero(), {1, 0, 0})
                        .sphere(0.1, 1, {start + 0.003, 0, 0})
                        .simulate(0.01);
  const Eigen::Vector4d d = by_start(simulation);
  CAPTURE(d.transpose());
  CHECK(d[0] == doctest::Approx(0).scale(1));
  CHECK(d[1] == doctest::Approx(1));
  CHECK(d[2] + d[3] == doctest::Approx(T));
}

TEST_CASE("derivative through an impact: rigid steps that are divided at a touch") {
  SUBCASE("equal balls change their velocities, wherever in a step they meet") {
    // x_2(T) = x_1 + 2 r + v_1 T: where the second one stood does not matter, since the first comes as much later.
    for (double more : {0.0, 0.003, 0.006}) {
      auto simulation = worlds::World(worlds::friction(0, 1))
                            .gravity(Vec3::Zero())
                            .sphere(0.1, 1, Vec3::Zero(), {1, 0, 0})
                            .sphere(0.1, 1, {start + more, 0, 0})
                            .simulate(1.0 / 128, divided());
      const Eigen::Vector4d d = by_start(simulation);
      CAPTURE(d.transpose());
      CHECK((d - Eigen::Vector4d(1, 0, T, 0)).cwiseAbs().maxCoeff() < 1e-6);
    }
  }
  SUBCASE("a ball that falls bounces from where the ground is") {
    // The scheme falls and rises with the mean of a step's velocities, z+ = z + h v', v' = v - g h, and strikes with
    // u = v - g s at s, (z - r) + s u = 0. After it v' = -e u, weight and all, and z+ = r + (h - s) v'.
    const double e = 0.5, h = 0.01, z = 0.105, v = -1, gravity = 9.81;
    auto world = worlds::World(worlds::friction(0, e)).ground().sphere(0.1, 1, {0, 0, z}, {0, 0, v});
    Simulation s = world.simulate(h, divided());
    const auto end = [&](double z0, double v0) {
      const double gap = z0 - 0.1, t = 2 * gap / (std::sqrt(v0 * v0 + 4 * gravity * gap) - v0);
      const double up = -e * (v0 - gravity * t);
      return Eigen::Vector2d(0.1 + (h - t) * up, up);
    };
    Linearization lin;
    s.linearize(lin);
    REQUIRE(lin.method == Linearization::Method::Analytic);
    CHECK(lin.q_next[2] == doctest::Approx(end(z, v)[0]).epsilon(1e-12));
    const double d = 1e-5;
    const Eigen::Vector2d by_z = (end(z + d, v) - end(z - d, v)) / (2 * d),
                          by_v = (end(z, v + d) - end(z, v - d)) / (2 * d);
    CHECK(lin.A(2, 2) == doctest::Approx(by_z[0]).epsilon(1e-7));
    CHECK(lin.A(8, 2) == doctest::Approx(by_z[1]).epsilon(1e-7));
    CHECK(lin.A(2, 8) == doctest::Approx(by_v[0]).epsilon(1e-7));
    CHECK(lin.A(8, 8) == doctest::Approx(by_v[1]).epsilon(1e-7));
  }
  SUBCASE("beside differences: a box comes down on a corner, turning, and slides") {
    auto world =
        worlds::World(worlds::friction(0.4, 0.3)).ground().box({0.1, 0.2, 0.05}, 1, {0, 0, 0.2}, {0.3, 0.1, -0.5});
    Simulation s = world.simulate(0.01, divided());
    State state = s.state();
    state.q.segment<4>(3) = rotation_exponential(Vec3(0.3, 0.5, 0.1)).coeffs();
    state.v.segment<3>(3) = Vec3(0.4, -0.3, 0.2);
    s.set_state(state);
    int compared = 0;  // of steps that are divided
    for (int k = 0; k < 60; ++k) {
      const DerivativeCheck c = s.check_derivatives();
      CAPTURE(k);
      const bool divided = s.step().substeps > 1;
      if (c.linearization.method != Linearization::Method::Analytic || c.linearization.weak > 0) continue;
      compared += divided;
      // A touch is found to 1e-7 m, of which differences over 1e-5 see 1e-2 of what the path bends at it.
      CHECK(c.error < (divided ? 1e-4 : 1e-6));
    }
    CHECK(compared >= 4);
  }
}
