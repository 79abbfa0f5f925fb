// Tendons, carried weights, limits of ball joints, dry friction of free joints and a fluid, against closed forms.
#include <doctest/doctest.h>

#include <cmath>

#include "worlds.hpp"

using namespace worlds;

namespace {

// Two masses on vertical sliders.
struct Sliders {
  ModelBuilder builder;
  Sliders(double m0, double m1) {
    builder.add_material({});
    builder.begin_member("w", true, "test");
    for (double mass : {m0, m1}) {
      Body body;
      body.name = "w/" + std::to_string(builder.model().bodies.size());
      body.joint = JointKind::Prismatic;
      body.X_PJ.p = Vec3(static_cast<double>(builder.model().bodies.size()), 0, 0);
      body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.05, 0, 0), mass);
      builder.add_body(body);
    }
  }
  Tendon over(double c0, double c1) const {
    Tendon t;
    t.name = "w/t";
    t.joints = {{0, c0}, {1, c1}};
    return t;
  }
  Simulation simulate(double dt) { return Simulation(std::make_shared<const Model>(builder.build()), "rigid", {}, dt); }
};

void run_for(Simulation& sim, double time) {
  for (int k = 0; k < static_cast<int>(std::lround(time / sim.dt())); ++k) REQUIRE(sim.step().status == StepStatus::Ok);
}

constexpr double g = 9.81;

// A sphere of 1 kg as a free body.
Simulation sphere(double dt, const std::function<void(ModelBuilder&)>& more) {
  ModelBuilder builder;
  builder.add_material({});
  builder.add_object("ball", ShapeKind::Sphere, Vec3(0.1, 0, 0), 1, 0);
  more(builder);
  return Simulation(std::make_shared<const Model>(builder.build()), "rigid", {}, dt);
}

}  // namespace

TEST_CASE("tendons: Atwood's machine") {
  Sliders world(3, 1);
  Tendon rope = world.over(-1, -1);  // the heights sum to no less than 0
  rope.upper = 0;
  world.builder.add_tendon(rope);
  Simulation sim = world.simulate(1e-3);
  run_for(sim, 0.5);
  const double a = g * (3 - 1) / (3 + 1);
  CHECK(sim.state().v[0] == doctest::Approx(-0.5 * a).epsilon(1e-9));
  CHECK(sim.state().v[1] == doctest::Approx(0.5 * a).epsilon(1e-9));
  CHECK(std::abs(sim.state().q.sum()) < 1e-9);
  CHECK(sim.audit().ledger_error < 1e-9);
}

TEST_CASE("tendons: a tie moves two joints as one, with a lever") {
  Sliders world(2, 1);
  world.builder.add_tendon({.name = "w/a", .joints = {{0, 1}}, .path = {}});
  world.builder.add_tendon({.name = "w/b", .joints = {{1, 1}}, .path = {}});
  TendonTie tie;
  tie.name = "w/tie";
  tie.tendon_a = 0;
  tie.tendon_b = 1;
  tie.polynomial = {0, -0.5, 0, 0, 0};  // q0 = -q1 / 2
  world.builder.add_tie(tie);
  Simulation sim = world.simulate(1e-3);
  run_for(sim, 0.3);
  // With x1 = -2 x0: (m0 + 4 m1) x0'' = -(m0 - 2 m1) g = 0: balanced.
  CHECK(std::abs(sim.state().v[0]) < 1e-9);
  CHECK(std::abs(sim.state().q[0] + 0.5 * sim.state().q[1]) < 1e-12);
}

TEST_CASE("tendons: springs sag by m g / k, dampers let down at m g / b, friction holds up to its bound") {
  for (const double dt : {1e-3, 1e-2}) {
    Sliders spring(2, 2);
    Tendon t = spring.over(1, 0);
    t.stiffness = 1e5;  // stiff beside m / dt^2
    t.damping = 300;
    t.rest_lower = -0.01;
    t.rest_upper = 0.02;
    spring.builder.add_tendon(t);
    Tendon slow = spring.over(0, 1);
    slow.name = "w/s";
    slow.damping = 40;
    spring.builder.add_tendon(slow);
    Simulation sim = spring.simulate(dt);
    run_for(sim, 3);
    CHECK(sim.state().q[0] == doctest::Approx(-0.01 - 2 * g / 1e5).epsilon(1e-6));
    CHECK(sim.state().v[1] == doctest::Approx(-2 * g / 40).epsilon(1e-6));
    CHECK(sim.audit().ledger_error < 1e-9);
  }
  Sliders rubs(2, 3);
  Tendon t = rubs.over(1, 0);
  t.friction = 20;  // more than 2 g
  rubs.builder.add_tendon(t);
  Tendon less = rubs.over(0, 1);
  less.name = "w/l";
  less.friction = 20;  // less than 3 g
  rubs.builder.add_tendon(less);
  Simulation sim = rubs.simulate(1e-3);
  run_for(sim, 0.4);
  CHECK(std::abs(sim.state().q[0]) < 1e-12);
  CHECK(sim.state().v[1] == doctest::Approx(-0.4 * (g - 20.0 / 3)).epsilon(1e-9));
}

TEST_CASE("tendons: a ball hangs on a string, and swings on it") {
  auto hang = [](ModelBuilder& builder) {
    Tendon string;
    string.name = "string";
    string.path = {{-1, 0, Vec3(0, 0, 2), Vec3(0, 0, 0.1), 1}};
    string.upper = 0.9;
    builder.add_tendon(string);
  };
  Simulation sim = sphere(1e-3, hang);
  State state = sim.state();
  state.q.head<3>() = Vec3(0, 0, 1.3);  // slack by 0.3 m
  sim.set_state(state);
  run_for(sim, 2);
  CHECK(sim.state().q[2] == doctest::Approx(2 - 0.9 - 0.1).epsilon(1e-6));
  CHECK(sim.state().v.norm() < 1e-6);
  // A point mass on a massless string of 1 m to its centre, small swings: T = 2 pi sqrt(L / g).
  Simulation swing = sphere(2e-4, [](ModelBuilder& builder) {
    Tendon string;
    string.name = "string";
    string.path = {{-1, 0, Vec3(0, 0, 2), Vec3::Zero(), 1}};
    string.upper = 1;
    builder.add_tendon(string);
  });
  state = swing.state();
  const double angle = 0.05;
  state.q.head<3>() = Vec3(std::sin(angle), 0, 2 - std::cos(angle));
  swing.set_state(state);
  double crossed = 0, last = state.q[0];
  for (int k = 0; crossed == 0; ++k) {
    swing.step();
    if (swing.state().q[0] < 0)
      crossed = swing.state().t - swing.dt() * swing.state().q[0] / (swing.state().q[0] - last);
    last = swing.state().q[0];
  }
  CHECK(crossed == doctest::Approx(0.5 * M_PI * std::sqrt(1 / g) * (1 + angle * angle / 16)).epsilon(1e-3));
}

TEST_CASE("a ball joint stops at its largest angle") {
  ModelBuilder builder;
  builder.add_material({});
  builder.begin_member("arm", true, "test");
  Body body;
  body.name = "arm/rod";
  body.joint = JointKind::Spherical;
  body.X_PJ.p = Vec3(0, 0, 1);
  body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.2, 0.02, 0.02), 1);
  body.inertia.com = Vec3(0.2, 0, 0);
  builder.add_body(body);
  builder.joint_properties().upper[0] = 0.4;
  builder.joint_properties().damping.setConstant(0.05);
  Simulation sim(std::make_shared<const Model>(builder.build()), "rigid", {}, 1e-3);
  run_for(sim, 3);
  const Quat q(Eigen::Vector4d(sim.state().q));
  CHECK(2 * std::atan2(q.vec().norm(), q.w()) == doctest::Approx(0.4).epsilon(1e-6));
  CHECK(q.y() == doctest::Approx(std::sin(0.2)).epsilon(1e-6));  // about y, under its weight
  CHECK(sim.state().v.norm() < 1e-6);
}

TEST_CASE("dry friction of a free joint acts along the axes of the world, however the body is turned") {
  Simulation sim = sphere(1e-3, [](ModelBuilder& builder) {
    builder.set_gravity(Vec3::Zero());
    builder.joint_properties().friction.segment<3>(0).setConstant(2);
  });
  State state = sim.state();
  const Mat3 R = Eigen::AngleAxisd(0.9, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  state.q.segment<4>(3) = Quat(R).coeffs();
  state.v.head<3>() = R.transpose() * Vec3(1, 0.3, 0);
  sim.set_state(state);
  run_for(sim, 0.1);
  const Vec3 v = R * Vec3(sim.state().v.head<3>());
  CHECK((v - Vec3(1 - 0.2, 0.3 - 0.2, 0)).norm() < 1e-9);  // 2 N on 1 kg, along each axis that moves
  run_for(sim, 1);
  CHECK(sim.state().v.head<3>().norm() < 1e-9);
}

TEST_CASE("a carried weight does not fall, and what is not carried falls by its share") {
  for (const double share : {1.0, 0.25, 1.5}) {
    ModelBuilder builder;
    builder.add_material({});
    builder.begin_member("b", true, "test");
    Body body;
    body.name = "b/b";
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 2);
    body.carried = share * 2;
    builder.add_body(body);
    Simulation sim(std::make_shared<const Model>(builder.build()), "rigid", {}, 1e-3);
    run_for(sim, 0.5);
    CHECK(sim.state().v[2] == doctest::Approx(-0.5 * g * (1 - share)).epsilon(1e-9));
    CHECK(sim.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("a ball sinks at the speed at which the fluid carries it") {
  Medium medium;
  medium.viscosity = 5;
  medium.boxes = {{0, {}, Vec3(0.1, 0.2, 0.3)}};
  Simulation stokes = sphere(1e-3, [&](ModelBuilder& builder) { builder.set_medium(medium); });
  run_for(stokes, 5);
  CHECK(stokes.state().v[2] == doctest::Approx(-g / (3 * M_PI * 0.2 * 5)).epsilon(1e-6));
  medium.viscosity = 0;
  medium.density = 1000;
  medium.wind = Vec3(0, 0, 0.3);
  Simulation drag = sphere(1e-3, [&](ModelBuilder& builder) { builder.set_medium(medium); });
  run_for(drag, 5);
  CHECK(drag.state().v[2] == doctest::Approx(0.3 - std::sqrt(g / (0.5 * 1000 * 0.1 * 0.2))).epsilon(1e-6));
}
