// What a model may have beside bodies and contacts, under every family of steppers, against closed forms.
#include <doctest/doctest.h>

#include <algorithm>

#include "slider.hpp"
#include "tribo/scene.hpp"

using namespace worlds;

namespace {

constexpr double g = 9.81;

double step_of(const StepperEntry& stepper) { return stepper.explicit_contact ? 1e-4 : 1e-3; }

bool uses(const StepperEntry& stepper, Feature feature) {
  return std::find(stepper.uses.begin(), stepper.uses.end(), feature) != stepper.uses.end();
}

Body rail(const std::string& name, double mass) {
  Body body;
  body.name = name;
  body.joint = JointKind::Prismatic;
  body.axis = Vec3::UnitX();
  body.inertia.mass = mass;
  body.inertia.about_com = Mat3::Identity();
  return body;
}

// A body of one shape on the ground, pressed into it by its weight so that no impact begins the run.
Simulation on_ground(const StepperEntry& stepper, ShapeKind kind, const Vec3& size, double mass, double height,
                     const SurfacePair& surface, const Vec3& v, const Vec3& w) {
  World world(surface);
  world.ground();
  const int points = kind == ShapeKind::Box ? 4 : 1;
  const bool springs = stepper.memory == MemoryFamily::Compliant || stepper.name == "microscopic";
  const double sunk = springs ? mass * g / (points * surface.stiffness) : 0;
  world.object(kind, size, mass, Vec3(0, 0, height - sunk), v, w);
  return world.simulate(step_of(stepper), {}, stepper.name);
}

}  // namespace

TEST_CASE("a joint spring swings at sqrt(k/m) under every stepper") {
  // From 0.1 m at rest: q = 0.1 cos(w t). Schemes of order one err by w dt/2 of the amplitude over a swing or so.
  const double m = 2, k = 50, w = std::sqrt(k / m), t = 1;
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    ModelBuilder builder;
    builder.begin_member("mass", true, "test");
    builder.add_body(rail("mass", m));
    builder.joint_properties().stiffness[0] = k;
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, stepper.name, {}, 1e-3);
    State state = State::neutral(*model);
    state.q[0] = 0.1;
    s.set_state(state);
    run(s, t);
    CHECK(std::abs(s.state().q[0] - 0.1 * std::cos(w * t)) < 0.1 * 0.02);
    CHECK(s.audit().ledger_error < 1e-9);
    if (stepper.name == "exponential") CHECK(std::abs(s.state().q[0] - 0.1 * std::cos(w * t)) < 1e-12);
  }
}

TEST_CASE("dry friction of a joint takes F/m from its speed under every stepper") {
  const double m = 2, F = 4, v = 1, t = 0.25;
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    ModelBuilder builder;
    builder.begin_member("mass", true, "test");
    builder.add_body(rail("mass", m));
    builder.joint_properties().friction[0] = F;
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, stepper.name, {}, step_of(stepper));
    State state = State::neutral(*model);
    state.v[0] = v;
    s.set_state(state);
    run(s, t);
    CHECK(s.state().v[0] == doctest::Approx(v - F / m * t).epsilon(0.02));
    CHECK(s.audit().ledger_error < 1e-9);
    run(s, 1);
    CHECK(std::abs(s.state().v[0]) < 1e-3);
  }
}

TEST_CASE("velocity targets are met within a thousandth, and torques stay within their limits") {
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    REQUIRE(stepper.targets);
    ModelBuilder builder;
    builder.begin_member("mass", true, "test");
    builder.add_body(rail("mass", 2));
    builder.joint_properties().effort_limit[0] = 10;
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, stepper.name, {}, 1e-3);
    struct Target final : Controller {
      bool sets_targets() const override { return true; }
      void control(const Model&, const State&, const Dynamics&, std::span<double>, Actuation& a) override {
        a.target[0] = 0.5;
      }
    };
    s.add_controller(std::make_unique<Target>());
    run(s, 0.05);
    CHECK(s.state().v[0] == doctest::Approx(10.0 / 2 * 0.05).epsilon(1e-6));  // the limit, from rest
    CHECK(s.torque()[0] == doctest::Approx(10).epsilon(1e-9));
    run(s, 0.1);
    CHECK(s.state().v[0] == doctest::Approx(0.5).epsilon(2e-3));
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("a conveyor takes a box along: mu g until they go together") {
  const double mu = 0.3, speed = 0.5;
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    SurfacePair surface = spring(1e4, 100, mu);
    World world(surface);
    KinematicBody belt;
    belt.name = "belt";
    belt.motion.velocity = Vec3(speed, 0, 0);
    Geometry top;
    top.name = "top";
    top.kind = ShapeKind::Box;
    top.size = Vec3(5, 1, 0.1);
    top.X_BG.p = Vec3(0, 0, -0.1);
    top.body = world.builder.add_kinematic_body(belt);
    top.material = world.material;
    world.builder.add_geometry(top);
    const bool springs = stepper.memory == MemoryFamily::Compliant || stepper.name == "microscopic";
    world.box(Vec3(0.1, 0.1, 0.05), 1, Vec3(0, 0, 0.05 - (springs ? g / 4e4 : 0)));
    Simulation s = world.simulate(step_of(stepper), {}, stepper.name);
    run(s, 0.1);
    CHECK(velocity(s).x() == doctest::Approx(0.1 * mu * g).epsilon(0.03));
    run(s, 0.6);
    CHECK(velocity(s).x() == doctest::Approx(speed).epsilon(0.02));
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK(s.audit().energy.external > 0);  // the belt has done it
  }
}

TEST_CASE("equalities: a mimic joint follows, a pinned loop moves as the rigid one does") {
  for (const StepperEntry& stepper : steppers()) {
    if (!uses(stepper, Feature::JointEquality)) continue;
    CAPTURE(stepper.name);
    ModelBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.begin_member("two", true, "test");
    builder.add_body(rail("one", 1));
    builder.add_body(rail("other", 3));
    Equality mimic;
    mimic.name = "mimic";
    mimic.kind = EqualityKind::Joint;
    mimic.body_a = 1;
    mimic.body_b = 0;
    mimic.polynomial = {0, 0.5, 0, 0, 0};
    builder.add_equality(mimic);
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, stepper.name, {}, step_of(stepper));
    PdOptions pd;
    pd.q_ref = model->neutral();
    pd.kp = pd.kd = VecX::Zero(2);
    pd.tau_ff = Eigen::Vector2d(7, 0);
    s.add_controller(make_pd(*model, pd));
    run(s, 0.4);
    // With q_b = q_a / 2 the mass is 1 + 3/4.
    CHECK(s.state().q[0] == doctest::Approx(0.5 * 7 / 1.75 * 0.16).epsilon(1e-2));
    const double stiffness = stepper.name == "microscopic" ? 1e4 : 1e5;  // 6 N are on the row
    CHECK(std::abs(s.state().q[1] - 0.5 * s.state().q[0]) < 1.2 * 6 / stiffness);
    CHECK(s.audit().ledger_error < 1e-9);
  }
  Scene scene = load_scene(TRIBO_SCENES "/four-bar.toml");
  Simulation rigid = make_simulation(scene);
  run(rigid, 0.3);
  for (const StepperEntry& stepper : steppers()) {
    if (!uses(stepper, Feature::Connect) || stepper.name == "rigid") continue;
    CAPTURE(stepper.name);
    Scene other = scene;
    other.set_stepper(stepper.name);
    other.dt = step_of(stepper);
    Simulation s = make_simulation(other);
    run(s, 0.3);
    CHECK((s.state().q - rigid.state().q).cwiseAbs().maxCoeff() < 0.02);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("torsional friction slows a spin by r f_N / I, rolling friction a ball by 5/7 r g / R") {
  const double m = 1, R = 0.1;
  for (const StepperEntry& stepper : steppers()) {
    if (!uses(stepper, Feature::TorsionalFriction)) continue;
    CAPTURE(stepper.name);
    SurfacePair twist = spring(1e4, 100, 0.5);
    twist.torsional = 0.004;
    Simulation spin = on_ground(stepper, ShapeKind::Sphere, Vec3(R, 0, 0), m, R, twist, Vec3::Zero(), Vec3(0, 0, 20));
    run(spin, 0.2);
    const double slowing = 0.004 * m * g / (0.4 * m * R * R);
    CHECK(spin.state().v[5] == doctest::Approx(20 - 0.2 * slowing).epsilon(0.01));
    CHECK(spin.audit().ledger_error < 1e-9);
    SurfacePair roll = spring(1e4, 100, 0.5);
    roll.rolling = 0.004;
    Simulation ball =
        on_ground(stepper, ShapeKind::Sphere, Vec3(R, 0, 0), m, R, roll, Vec3(1, 0, 0), Vec3(0, 1 / R, 0));
    run(ball, 0.2);
    CHECK(velocity(ball).x() == doctest::Approx(1 - 0.2 * 5.0 / 7 * 0.004 * g / R).epsilon(0.01));
    CHECK(ball.audit().ledger_error < 1e-9);
  }
}

TEST_CASE(
    "a visco-elastic contact rebounds by exp(-2 z acos z / sqrt(1 - z^2)) of the speed, as docs/features.md has it") {
  // The contact ends where its force does: at the phase 2 acos z of the damped swing.
  const double m = 1, K = 1e4, z = 0.2, e = std::exp(-2 * z * std::acos(z) / std::sqrt(1 - z * z));
  for (const StepperEntry& stepper : steppers()) {
    if (stepper.memory != MemoryFamily::Compliant && stepper.name != "microscopic") continue;
    CAPTURE(stepper.name);
    World world(spring(K, 2 * z * std::sqrt(K * m)));
    world.gravity(Vec3::Zero()).ground().sphere(0.1, m, Vec3(0, 0, 0.11), Vec3(0, 0, -1));
    Simulation s = world.simulate(1e-5, {}, stepper.name);
    run(s, 0.08);
    CHECK(velocity(s).z() == doctest::Approx(e).epsilon(5e-3));
  }
}

TEST_CASE("static friction holds a box up to its own angle, and dynamic friction is what it slides with beyond") {
  // mu_s = 1: 45 degrees. Put down without load, it settles on its springs first. Beyond, a = g (sin - 0.4 cos).
  for (const StepperEntry& stepper : steppers()) {
    if (stepper.name == "microscopic") continue;  // friction by speed: it always creeps
    CAPTURE(stepper.name);
    for (double degrees : {30.0, 44.0, 44.8, 47.0}) {
      CAPTURE(degrees);
      SurfacePair surface;
      surface.mu_static = 1;
      surface.mu_dynamic = 0.4;
      const double a = degrees * M_PI / 180;
      World world(surface);
      world.gravity(g * Vec3(std::sin(a), 0, -std::cos(a))).ground().box(Vec3(0.2, 0.2, 0.05), 1, Vec3(0, 0, 0.05));
      Simulation s = world.simulate(step_of(stepper), {}, stepper.name);
      run(s, 1);
      if (degrees < 45)
        CHECK(velocity(s).norm() < 1e-4);
      else
        CHECK(velocity(s).x() == doctest::Approx(g * (std::sin(a) - 0.4 * std::cos(a))).epsilon(0.03));
    }
  }
}
