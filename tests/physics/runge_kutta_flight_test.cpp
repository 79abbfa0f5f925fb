// smooth = "runge-kutta": flights of order four, whose energy balance closes.
#include <doctest/doctest.h>

#include <cmath>

#include "tribo/rigid.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// A tumbling body with two links, damped and sprung, in a fluid where it is asked for.
std::shared_ptr<const Model> tumbler(bool fluid) {
  ModelBuilder builder;
  builder.add_material({});
  builder.begin_member("t", true, "test");
  for (int i = 0; i < 3; ++i) {
    Body body;
    body.name = "t/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = i == 0 ? JointKind::Free : JointKind::Revolute;
    body.axis = Vec3(i, 1, 0.3).normalized();
    body.X_PJ.p = i == 0 ? Vec3(Vec3::Zero()) : Vec3(0.2, 0.1, 0);
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.04, 0.06), 1.0 / (1 + i));
    body.inertia.com = Vec3(0.1, 0, 0.02);
    builder.add_body(body);
  }
  builder.joint_properties().damping.tail<2>().setConstant(0.02);
  builder.joint_properties().stiffness.tail<2>().setConstant(0.5);
  builder.add_object("ball", ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 1, 0);
  if (fluid) {
    Medium medium;
    medium.viscosity = 0.5;  // without density: |v| v bends where v turns its sign
    for (int i = 0; i < 4; ++i) medium.boxes.push_back({i, {}, Vec3(0.1, 0.2, 0.15)});
    builder.set_medium(medium);
  }
  return std::make_shared<const Model>(builder.build());
}

struct End {
  VecX q, v;
  double ledger;
};

End fly(const std::shared_ptr<const Model>& model, double dt, SmoothScheme smooth) {
  StepperOptions options;
  options.own.as<RigidOptions>().smooth = smooth;
  Simulation sim(model, "rigid", options, dt);
  State state = sim.state();
  state.q[2] = 5;
  state.q.tail<7>().head<3>() = Vec3(3, 0, 5);
  for (int k = 0; k < model->nv; ++k) state.v[k] = std::sin(1.0 + k);
  sim.set_state(state);
  for (int k = 0; k < static_cast<int>(std::lround(0.4 / dt)); ++k) REQUIRE(sim.step().status == StepStatus::Ok);
  return {sim.state().q, sim.state().v, sim.audit().ledger_error};
}

double between(const End& a, const End& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("flights by Runge-Kutta are of order four, in a fluid too") {
  for (const bool fluid : {false, true}) {
    CAPTURE(fluid);
    const auto model = tumbler(fluid);
    const End exact = fly(model, 2.5e-4, SmoothScheme::RungeKutta);
    const End coarse = fly(model, 8e-3, SmoothScheme::RungeKutta), fine = fly(model, 4e-3, SmoothScheme::RungeKutta);
    const double slope = std::log2(between(coarse, exact) / between(fine, exact));
    CHECK(slope == doctest::Approx(4).epsilon(0.08));
    // Independent: another scheme tends to the same, slower. In a fluid that is the one of order one, since midpoint takes the
    // stages of Runge-Kutta there.
    const SmoothScheme slower = fluid ? SmoothScheme::Euler : SmoothScheme::Midpoint;
    const End other = fly(model, 2.5e-4, slower);
    CHECK(between(other, exact) < (fluid ? 2e-3 : 2e-6));
    CHECK(between(fine, exact) < 1e-2 * between(fly(model, 4e-3, slower), exact));
    CHECK(coarse.ledger < 1e-6);
  }
}

TEST_CASE("stiff dampers fly as before, since stages would not be stable") {
  ModelBuilder builder;
  builder.add_material({});
  builder.begin_member("p", true, "test");
  Body body;
  body.name = "p/rod";
  body.joint = JointKind::Revolute;
  body.axis = Vec3::UnitY();
  body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.2, 0.02, 0.02), 0.1);
  body.inertia.com = Vec3(0.2, 0, 0);
  builder.add_body(body);
  builder.joint_properties().damping[0] = 100;
  const auto model = std::make_shared<const Model>(builder.build());
  StepperOptions options;
  options.own.as<RigidOptions>().smooth = SmoothScheme::RungeKutta;
  Simulation sim(model, "rigid", options, 1e-2);
  run(sim, 1.0);
  CHECK(std::abs(sim.state().v[0] - 0.1 * 9.81 * 0.2 / 100) < 1e-6);  // it creeps at m g l / D
}
