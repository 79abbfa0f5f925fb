// Dry friction of joints against closed forms: what it holds does not move at all, what moves slows at a constant rate.
#include <doctest/doctest.h>

#include "slider.hpp"
#include "tribo/scene.hpp"

using namespace worlds;

namespace {

constexpr double g = 9.81;

// A rod of 1 kg and 0.5 m on a hinge, level; gravity turns it by m g l = 2.4525 N m. Without gravity: a wheel.
Simulation rod(double dry, double speed, bool gravity) {
  ModelBuilder builder;
  if (!gravity) builder.set_gravity(Vec3::Zero());
  builder.begin_member("rod", true, "test");
  Body link;
  link.name = "rod";
  link.joint = JointKind::Revolute;
  link.axis = Vec3::UnitY();
  link.inertia = solid_inertia(ShapeKind::Box, {0.25, 0.01, 0.01}, 1);
  link.inertia.com = Vec3(0.25, 0, 0);
  builder.add_body(link);
  builder.joint_properties().friction[0] = dry;
  auto model = std::make_shared<const Model>(builder.build());
  Simulation s(model, "rigid", {}, 1e-3);
  State state = State::neutral(*model);
  state.v[0] = speed;
  s.set_state(state);
  return s;
}

const double inertia = 0.0625 + (0.5 * 0.5 + 0.02 * 0.02) / 12;  // about the hinge [kg m^2]

// A foot of 1 kg on a vertical rail with dry friction, above the ground.
Simulation foot_on_a_rail(double dry, double height) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", friction(0.5)});
  builder.begin_member("rail", true, "test");
  Body body;
  body.name = "foot";
  body.joint = JointKind::Prismatic;
  body.axis = Vec3::UnitZ();
  body.inertia.mass = 1;
  body.inertia.about_com = Mat3::Identity();
  builder.add_body(body);
  builder.joint_properties().friction[0] = dry;
  builder.add_geometry(point_foot(0, Vec3::Zero(), material));
  builder.add_ground({}, material);
  auto model = std::make_shared<const Model>(builder.build());
  Simulation s(model, "rigid", {}, 1e-3);
  State state = State::neutral(*model);
  state.q[0] = height;
  s.set_state(state);
  return s;
}

}  // namespace

TEST_CASE("dry friction above the load holds a joint without any creep") {
  Simulation s = rod(2.5, 0, true);
  run(s, 2);
  CHECK(s.state().q[0] == 0);
  CHECK(s.state().v[0] == 0);
  CHECK(s.audit().unconverged == 0);
}

TEST_CASE("dry friction below the load lets it turn at (m g l - friction) / I") {
  Simulation s = rod(1, 0, true);
  run(s, 0.02);
  CHECK(s.state().v[0] == doctest::Approx(0.02 * (g * 0.25 - 1) / inertia).epsilon(1e-4));
  CHECK(s.audit().ledger_error < 1e-9);
}

// I dw/dt = -friction until it stops, and then nothing: the whole kinetic energy is the work of friction.
TEST_CASE("a joint slows at friction / I, stops at I w / friction and stays, whichever way it turns") {
  for (double speed : {3.0, -3.0}) {
    CAPTURE(speed);
    const double dry = 0.4, slowing = dry / inertia;
    Simulation s = rod(dry, speed, false);
    run(s, 0.5);
    CHECK(s.state().v[0] == doctest::Approx(speed - std::copysign(0.5 * slowing, speed)).epsilon(1e-12));
    run(s, 0.3);
    CHECK(s.state().v[0] == 0);
    CHECK(s.state().q[0] == doctest::Approx(0.5 * speed * std::abs(speed) / slowing).epsilon(2e-3));
    CHECK(s.audit().energy.constraints == doctest::Approx(-0.5 * inertia * speed * speed).epsilon(1e-9));
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

// The limit carried the rod in the last step, and lies 0.5 urad away by rounding. That gap closed would be a speed of
// 5e-4 rad/s, which the friction opposes. Without friction nothing does, and (rigid.2) closes it.
TEST_CASE("a joint with friction that rests at its limit does not close a gap within rounding") {
  constexpr double gap = 5e-7, dt = 1e-3;
  for (const double dry : {0.1, 0.0}) {
    ModelBuilder builder;
    builder.begin_member("rod", true, "test");
    Body link;
    link.name = "rod";
    link.joint = JointKind::Revolute;
    link.axis = Vec3::UnitY();
    link.inertia = solid_inertia(ShapeKind::Box, {0.25, 0.01, 0.01}, 1);
    link.inertia.com = Vec3(0.25, 0, 0);
    builder.add_body(link);
    builder.joint_properties().friction[0] = dry;
    builder.joint_properties().upper[0] = 0;
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, "rigid", {}, dt);
    s.step();  // the limit carries
    State state = s.state();
    REQUIRE_FALSE(state.memory.rows.empty());
    state.q[0] = -gap;
    state.v[0] = 0;
    s.set_state(state);
    CHECK(s.step().status == StepStatus::Ok);
    CAPTURE(dry);
    CHECK(s.state().v[0] == doctest::Approx(dry > 0 ? 0 : gap / dt).epsilon(1e-9));
    CHECK(s.state().q[0] == doctest::Approx(dry > 0 ? -gap : 0).epsilon(1e-9));
  }
}

TEST_CASE("on the ground a joint with friction leaves the contact what it does not carry itself") {
  const double dry = 2;
  Simulation s = foot_on_a_rail(dry, 0.01);
  run(s, 0.03);
  CHECK(s.state().v[0] == doctest::Approx(-0.03 * (g - dry)).epsilon(1e-9));
  run(s, 0.5);
  CHECK(s.state().v[0] == 0);
  CHECK(std::abs(s.state().q[0]) < 1e-6);
  CHECK(s.contacts().size() == 1);
  CHECK(s.contacts()[0].f.z() >= g - dry - 1e-6);
  CHECK(s.contacts()[0].f.z() <= g + dry + 1e-6);
  CHECK(s.audit().unconverged == 0);
}

// Talos has dry friction in 20 joints.
TEST_CASE("a humanoid with dry friction in its joints stands, and every step converges") {
  const Scene scene = load_scene(TRIBO_SCENES "/talos-standing.toml");
  Simulation s = make_simulation(scene);
  int still = 0;
  for (int k = 0; k < 300; ++k) {
    s.step();
    CHECK(s.audit().worst_residual < 1e-8);
  }
  for (int k = 0; k < scene.model->nv; ++k) still += scene.model->joints.friction[k] > 0 && s.state().v[k] == 0;
  CHECK(s.audit().unconverged == 0);
  CHECK(s.audit().ledger_error < 1e-9);
  MESSAGE(still << " joints stand exactly still");
}
