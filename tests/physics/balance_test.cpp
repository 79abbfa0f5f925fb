// What must not open the energy balance, and what bounds the effort of a step.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

// A carriage of 1e-9 kg that dry friction holds, and on it one of 10 kg that slides along: what a solve leaves of the velocity of the
// first is rounding of its own momentum, and none of the 10 N s behind it (dry.3).
TEST_CASE("a joint that friction holds stops without taking energy from what it carries") {
  for (double carriage : {1e-9, 1e-6, 1e-3, 1.0}) {
    ModelBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.begin_member("rail", true, "test");
    for (int k = 0; k < 2; ++k) {
      Body body;
      body.name = k == 0 ? "rail/carriage" : "rail/load";
      body.parent = k - 1;
      body.joint = JointKind::Prismatic;
      body.axis = Vec3::UnitX();
      body.inertia.mass = k == 0 ? carriage : 10;
      body.inertia.about_com = body.inertia.mass * Mat3::Identity();
      builder.add_body(body);
      if (k == 0) builder.joint_properties().friction[0] = 5;
      if (k == 1) builder.joint_properties().damping[0] = 1;  // it pulls at the carriage with 1 N and less
    }
    Simulation s(std::make_shared<const Model>(builder.build()), "rigid", {}, 1e-3);
    State state = s.state();
    state.v[1] = 1;
    s.set_state(state);
    while (s.state().t < 0.5) s.step();
    CAPTURE(carriage);
    CHECK(std::abs(s.state().v[0]) < 1e-9);
    CHECK(std::abs(s.state().q[0]) < 1e-9);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

// A hull of many corners that begins in springy ground: the audit counts the springs that the first step begins with, which
// are other ones the longer the step is.
TEST_CASE("the energy at the start is that of the springs of the first step") {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::string vertices;
  for (int k = 0; k < 120; ++k) {
    Vec3 x;
    for (int i = 0; i < 3; ++i) x[i] = normal(random);
    x *= 0.1 / x.norm();
    char text[100];
    std::snprintf(text, sizeof text, "%s[%.17g, %.17g, %.17g]", k ? ", " : "", x.x(), x.y(), 0.5 * x.z());
    vertices += text;
  }
  for (double dt : {1e-3, 1e-2}) {
    Scene scene = parse_scene(
        "[stepper]\nname = \"exponential\"\n[material.default]\nstiffness = 1e5\ndamping = 100\nmu = 0.5\n[[object]]\n"
        "name = \"stone\"\nshape = \"hull\"\nmass = 1\nposition = [0, 0, 0.045]\nvelocity = [0.5, 0, -0.4]\n"
        "angular_velocity = [1, 4, 2]\nvertices = [" +
            vertices + "]\n",
        "stone.toml");
    scene.dt = dt;
    Simulation s = make_simulation(scene);
    s.step();
    CAPTURE(dt);
    CHECK(s.audit().energy_start > 0.1);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

// A step is divided where something touches, but not one in which a body goes 100 m: that has run away, and passes
// what there is.
TEST_CASE("a step in which a body goes more than 100 m is not divided") {
  const double dt = 1e-2;
  for (double way : {99.0, 101.0}) {
    worlds::World world(worlds::friction(0.5));
    world.gravity(Vec3::Zero()).ground().sphere(1, 1, Vec3(0, 0, 51), Vec3(0, 0, -way / dt));
    RigidOptions own;
    own.touch = true;
    StepperOptions options;
    options.own = own;
    Simulation s = world.simulate(dt, options);
    const StepReport report = s.step();
    CAPTURE(way);
    CHECK(report.substeps == (way < 100 ? 2 : 1));
    if (way < 100) CHECK(s.body_pose(0).p.z() > 1 - 1e-6);
  }
}
