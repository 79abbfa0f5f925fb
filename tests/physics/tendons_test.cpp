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
  Simulation simulate(double dt, const std::string& stepper = "rigid") {
    return Simulation(std::make_shared<const Model>(builder.build()), stepper, {}, dt);
  }
};

void run_for(Simulation& sim, double time) {
  for (int k = 0; k < static_cast<int>(std::lround(time / sim.dt())); ++k) REQUIRE(sim.step().status == StepStatus::Ok);
}

constexpr double g = 9.81;

// A sphere of 1 kg as a free body.
Simulation sphere(double dt, const std::function<void(ModelBuilder&)>& more, const std::string& stepper = "rigid") {
  ModelBuilder builder;
  builder.add_material({});
  builder.add_object("ball", ShapeKind::Sphere, Vec3(0.1, 0, 0), 1, 0);
  more(builder);
  return Simulation(std::make_shared<const Model>(builder.build()), stepper, {}, dt);
}

const std::vector<std::string> visco_elastic = {"exponential", "implicit-euler", "explicit-euler", "runge-kutta"};

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

// Limits give way as limit_stiffness says (1e3 N/m here), dry friction by 1 mm before it slips.
TEST_CASE("tendons under visco-elastic steppers: springs, dampers, ranges and friction end where closed forms say") {
  for (const std::string& stepper : visco_elastic) {
    CAPTURE(stepper);
    Sliders world(2, 3);
    Tendon t = world.over(1, 0);
    t.stiffness = 1000;
    t.damping = 60;
    t.rest_lower = -0.01;
    t.rest_upper = 0.02;
    world.builder.add_tendon(t);
    Tendon slow = world.over(0, 1);
    slow.name = "w/s";
    slow.damping = 40;
    world.builder.add_tendon(slow);
    Simulation sim = world.simulate(1e-3, stepper);
    run_for(sim, 1.5);
    CHECK(sim.state().q[0] == doctest::Approx(-0.01 - 2 * g / 1000).epsilon(1e-6));
    CHECK(sim.state().v[1] == doctest::Approx(-3 * g / 40).epsilon(1e-6));
    CHECK(sim.audit().ledger_error < 1e-6);

    Sliders atwood(3, 1);
    Tendon rope = atwood.over(-1, -1);
    rope.upper = 0;
    atwood.builder.add_tendon(rope);
    Tendon rubs = atwood.over(0.5, -0.5);  // rubs on the pulley
    rubs.name = "w/r";
    rubs.friction = 4;
    atwood.builder.add_tendon(rubs);
    Simulation falls = atwood.simulate(1e-3, stepper);
    run_for(falls, 0.5);
    // Without friction 2 g / 4; 4 N along (x0 - x1) / 2 takes 2 N off each side.
    CHECK(falls.state().v[0] == doctest::Approx(-0.5 * (2 * g - 4) / 4).epsilon(0.02));

    Sliders holds(1, 1);
    Tendon brake = holds.over(1, 0);
    brake.friction = 20;  // more than g
    holds.builder.add_tendon(brake);
    Simulation still = holds.simulate(1e-3, stepper);
    run_for(still, 2);
    CHECK(still.state().q[0] == doctest::Approx(-1e-3 * g / 20).epsilon(1e-3));
    CHECK(std::abs(still.state().v[0]) < 1e-9);
  }
}

// A ball on an elastic string that stays taut, for a second: what its energy has changed by.
double drift(const std::string& stepper, double dt) {
  const double k = 200, length = 0.8;
  const auto hang = [&](ModelBuilder& builder) {
    Tendon string;
    string.name = "string";
    string.path = {{-1, 0, Vec3(0, 0, 2), Vec3(0, 0, 0.1), 1}};
    string.stiffness = k;
    string.rest_lower = string.rest_upper = length;
    builder.add_tendon(string);
  };
  Simulation sim = sphere(dt, hang, stepper);
  State state = sim.state();
  state.q.head<3>() = Vec3(0.6, 0, 1.2);
  state.v.head<3>() = Vec3(0, 0.8, 0);
  sim.set_state(state);
  auto energy = [&] {
    const State& s = sim.state();
    const Mat3 R = Quat(Eigen::Vector4d(s.q.segment<4>(3))).toRotationMatrix();
    const Vec3 top = Vec3(s.q.head<3>()) + R * Vec3(0, 0, 0.1);
    const double d = (top - Vec3(0, 0, 2)).norm() - length;
    return 0.5 * s.v.head<3>().squaredNorm() + 0.5 * 0.4 * 0.01 * s.v.tail<3>().squaredNorm() + g * s.q[2] +
           0.5 * k * d * d;
  };
  const double before = energy();
  run_for(sim, 1);
  CHECK(sim.audit().ledger_error < 1e-2);
  return std::abs(energy() - before);
}

TEST_CASE("tendons under visco-elastic steppers: a swing on an elastic string keeps its energy to their order") {
  CHECK(drift("runge-kutta", 1e-3) < 1e-6);
  for (const std::string stepper : {"exponential", "implicit-euler", "explicit-euler"}) {
    CAPTURE(stepper);
    CHECK(drift(stepper, 5e-4) < 0.6 * drift(stepper, 1e-3));
  }
}

TEST_CASE("ties, largest angles and friction of free joints under visco-elastic steppers") {
  for (const std::string& stepper : visco_elastic) {
    CAPTURE(stepper);
    Sliders world(2, 1);
    world.builder.add_tendon({.name = "w/a", .joints = {{0, 1}}, .path = {}});
    world.builder.add_tendon({.name = "w/b", .joints = {{1, 1}}, .path = {}});
    TendonTie tie;
    tie.name = "w/tie";
    tie.tendon_a = 0;
    tie.tendon_b = 1;
    tie.polynomial = {0, -0.5, 0, 0, 0};  // q0 = -q1 / 2: balanced
    world.builder.add_tie(tie);
    Simulation tied = world.simulate(2e-4, stepper);
    run_for(tied, 0.3);
    // The spring of 1e5 N/m sags by the force in it, 2 g.
    CHECK(tied.state().q[0] + 0.5 * tied.state().q[1] == doctest::Approx(-2 * g / 1e5).epsilon(0.02));

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
    builder.joint_properties().damping.setConstant(0.5);
    Simulation sim(std::make_shared<const Model>(builder.build()), stepper, {}, 1e-3);
    run_for(sim, 2);
    const Quat q(Eigen::Vector4d(sim.state().q));
    const double angle = 2 * std::atan2(q.vec().norm(), q.w());
    // 1e3 N m/rad against the weight at its lever.
    CHECK(angle == doctest::Approx(0.4 + 0.2 * g * std::cos(angle) / 1e3).epsilon(1e-4));

    Simulation slides = sphere(
        1e-3,
        [](ModelBuilder& b) {
          b.set_gravity(Vec3::Zero());
          b.joint_properties().friction.segment<3>(0).setConstant(2);
        },
        stepper);
    State state = slides.state();
    const Mat3 R = Eigen::AngleAxisd(0.9, Vec3(1, 2, 3).normalized()).toRotationMatrix();
    state.q.segment<4>(3) = Quat(R).coeffs();
    state.v.head<3>() = R.transpose() * Vec3(1, 0.3, 0);
    slides.set_state(state);
    run_for(slides, 0.1);
    const Vec3 v = R * Vec3(slides.state().v.head<3>());
    CHECK((v - Vec3(1 - 0.2, 0.3 - 0.2, 0)).norm() < 0.02);
    run_for(slides, 1);
    CHECK(slides.state().v.head<3>().norm() < 1e-6);
  }
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
