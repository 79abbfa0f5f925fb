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
