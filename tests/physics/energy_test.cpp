#include <doctest/doctest.h>

#include "tribo/rigid.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

Simulation double_pendulum(double dt, SmoothScheme smooth = SmoothScheme::Euler) {
  ModelBuilder builder;
  builder.begin_member("pendulum", true, "test");
  for (int k = 0; k < 2; ++k) {
    Body link;
    link.name = "link" + std::to_string(k);
    link.parent = k - 1;
    link.joint = JointKind::Revolute;
    link.axis = Vec3::UnitY();
    link.X_PJ.p = k == 0 ? Vec3(0, 0, 2) : Vec3(0, 0, -0.5);
    link.inertia = solid_inertia(ShapeKind::Box, {0.02, 0.03, 0.25}, 1 + 0.5 * k);
    link.inertia.com = Vec3(0, 0, -0.25);
    builder.add_body(link);
  }
  auto model = std::make_shared<const Model>(builder.build());
  StepperOptions options;
  options.own.as<RigidOptions>().smooth = smooth;
  Simulation s(model, "rigid", options, dt);
  State state = State::neutral(*model);
  state.q << 1.2, 0.4;
  s.set_state(state);
  return s;
}

}  // namespace

TEST_CASE("double pendulum: the ledger closes and the integrator's line is O(dt^2)") {
  double line[2];
  for (int i = 0; i < 2; ++i) {
    auto s = double_pendulum(i == 0 ? 2e-3 : 1e-3);
    run(s, 1);
    CHECK(s.audit().ledger_error < 1e-9);
    line[i] = s.audit().energy.integrator;
  }
  CHECK(line[0] / line[1] == doctest::Approx(4).epsilon(0.1));
}

TEST_CASE("double pendulum by the midpoint rule: energy to 1e-4 over 10 s, of second order, and the ledger closes") {
  double drift[2];
  for (int i = 0; i < 2; ++i) {
    auto s = double_pendulum(i == 0 ? 2e-3 : 1e-3, SmoothScheme::Midpoint);
    const EnergyLines first = s.step().energy;
    const double start = first.kinetic + first.potential;
    // From hanging straight down: what there is to swing with.
    const double swing = start + 9.81 * (1 * (-2 + 0.25) + 1.5 * (-2 + 0.75));
    run(s, 10);
    const EnergyLines last = s.step().energy;
    drift[i] = std::abs(last.kinetic + last.potential - start) / swing;
    CHECK(s.audit().ledger_error < 1e-9);
  }
  CHECK(drift[1] < 1e-4);
  CHECK(drift[0] > 3 * drift[1]);
}

TEST_CASE("a tumbling, landing, sliding box: the ledger closes, contacts only take energy") {
  World world(friction(0.4, 0.3));
  world.ground().box({0.1, 0.15, 0.2}, 1.5, {0, 0, 0.8}, {2, 0.5, 0}, {3, -2, 5});
  auto s = world.simulate(1e-3);
  run(s, 3);
  const Audit& a = s.audit();
  CHECK(a.ledger_error < 1e-9);
  CHECK(a.energy.contacts < 0);
  CHECK(a.unconverged == 0);
}
