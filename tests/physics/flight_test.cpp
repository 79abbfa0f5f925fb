#include <doctest/doctest.h>

#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

struct Momentum {
  Vec3 linear, angular;
};

Momentum momentum(const Simulation& s) {
  Dynamics d(s.model());
  d.compute(s.state().q, s.state().v);
  const Vec3 P = d.linear_momentum(0);
  return {P, d.angular_momentum(0) - d.center_of_mass(0).cross(P)};  // about the mass centre
}

void check_momenta(double dt) {
  auto s = World().gravity(Vec3::Zero()).box({0.1, 0.2, 0.4}, 2, {1, 2, 3}, {0.3, -0.2, 0.5}, {3, 1, -2}).simulate(dt);
  const Momentum before = momentum(s);
  run(s, 1);
  const Momentum after = momentum(s);
  CHECK((after.linear - before.linear).norm() < 1e-12);
  CHECK((after.angular - before.angular).norm() < 1e-12);
}

}  // namespace

TEST_CASE("tumbling box: linear and angular momentum to rounding") {
  for (double dt : {2e-3, 1e-3}) check_momenta(dt);
}

TEST_CASE("Talos thrown with moving joints: both momenta to 1e-12 of their size") {
  for (int i = 0; i < 2; ++i) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = "talos";
    options.contact = "none";
    add_robot(builder, options);
    builder.set_gravity(Vec3::Zero());
    // Limits and friction act inside the tree: such steps are not flights.
    builder.joint_properties().lower.setConstant(-1e9);
    builder.joint_properties().upper.setConstant(1e9);
    builder.joint_properties().friction.setZero();
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, "rigid", {}, i == 0 ? 2e-3 : 1e-3);
    State state = State::neutral(*model);
    for (int k = 0; k < model->nv; ++k) state.v[k] = 0.5 * std::sin(1.0 + 3 * k);
    s.set_state(state);
    const Momentum before = momentum(s);
    run(s, 0.5);
    const Momentum after = momentum(s);
    CHECK((after.linear - before.linear).norm() < 1e-12 * model->mass());
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK((after.angular - before.angular).norm() < 1e-12 * before.angular.norm());
  }
}
