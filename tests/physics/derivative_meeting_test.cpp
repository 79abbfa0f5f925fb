// The derivative of steps within which shapes meet: contacts that move with velocities too. Beside central differences (lin.2).
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "slopes.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"

using namespace tribo;
using slopes::check, slopes::precise, slopes::Seen;

namespace {

struct Shape {
  ShapeKind kind;
  Vec3 size;
};

const Shape shapes[] = {{ShapeKind::Sphere, {0.06, 0, 0}},
                        {ShapeKind::Capsule, {0.04, 0, 0.05}},
                        {ShapeKind::Cylinder, {0.05, 0, 0.05}},
                        {ShapeKind::Ellipsoid, {0.05, 0.07, 0.06}},
                        {ShapeKind::Box, {0.05, 0.07, 0.04}}};

Vec3 drawn(Random& random, double size) {
  Vec3 x;
  for (int k = 0; k < 3; ++k) x[k] = size * (2 * random.uniform() - 1);
  return x;
}

bool presses(const Simulation& simulation) {
  for (const ContactReport& r : simulation.contacts())
    if (r.f.z() > 0) return true;
  return false;
}

/// Two bodies that turn, the second one on its way to the first: they meet within the step.
Simulation meeting(const Shape& a, const Shape& b, double mu, double e, double dt, Random& random) {
  auto simulation = worlds::World(worlds::friction(mu, e))
                        .object(a.kind, a.size, 1, Vec3::Zero(), Vec3::Zero(), drawn(random, 3))
                        .object(b.kind, b.size, 2, Vec3::Zero(), Vec3::Zero(), drawn(random, 3))
                        .simulate(dt, precise());
  State state = simulation.state();
  for (int body = 0; body < 2; ++body) {
    const Quat R = rotation_exponential(drawn(random, 2));
    state.q.segment<4>(7 * body + 3) = R.coeffs();
  }
  const Vec3 way = drawn(random, 1).normalized();
  const double speed = 0.5 + 1.5 * random.uniform();
  const Quat R(state.q[13], state.q[10], state.q[11], state.q[12]);
  state.v.segment<3>(6) = R.conjugate() * Vec3(-speed * way + drawn(random, 0.3));
  double near = 0, far = 0.5;  // how far off the step just reaches it
  for (int round = 0; round < 20; ++round) {
    const double middle = 0.5 * (near + far);
    state.q.segment<3>(7) = middle * way;
    simulation.set_state(state);
    simulation.step();
    (presses(simulation) ? near : far) = middle;
  }
  state.q.segment<3>(7) = (near - (0.1 + 0.7 * random.uniform()) * dt * speed) * way;
  simulation.set_state(state);
  return simulation;
}

}  // namespace

TEST_CASE("derivative: two bodies that turn meet within the step") {
  Random random;
  Seen seen;
  for (const Shape& a : shapes)
    for (const Shape& b : shapes)
      for (double e : {0.0, 0.5}) {
        CAPTURE(static_cast<int>(a.kind));
        CAPTURE(static_cast<int>(b.kind));
        CAPTURE(e);
        auto simulation = meeting(a, b, e > 0 ? 0.9 : 0.3, e, 1e-2, random);
        check(simulation, seen);
      }
  CHECK(seen.compared >= 42);  // of 50: others have two points at an edge of their mode, or share an impact
  CHECK(seen.columns > 20 * seen.compared);
}

TEST_CASE("derivative: what an impact sends off meets what was not listed") {
  // The first ball strikes the second, which then meets a box beyond the margin: on the way that the first solve gives it.
  auto simulation = worlds::World(worlds::friction(0.4))
                        .sphere(0.1, 2, {-0.01, 0.02, 0}, {3, 0.2, 0.1}, {1, 2, 3})
                        .sphere(0.1, 1, {0.199, 0, 0.01}, {0, 0.1, 0}, {0, 4, -2})
                        .box({0.1, 0.2, 0.2}, 1, {0.41, 0, 0.05}, {0.1, 0, 0}, {0.3, 0.2, -0.1})
                        .simulate(1e-2, precise());
  Seen seen;
  check(simulation, seen);
  CHECK(seen.compared == 1);
  CHECK(seen.columns == 36);
  const State start = simulation.state();
  simulation.step();
  int pressed = 0, sent = 0;
  for (const ContactReport& r : simulation.contacts()) {
    pressed += r.f.z() > 0;
    sent += r.f.z() > 0 && r.gap > 5e-3 && !(r.c_start.z() * simulation.dt() < -r.gap);
  }
  CHECK(pressed == 2);
  CHECK(sent == 1);  // by its speed at the start it would not have met
}

namespace {

/// A body that turns on its way down to a ground, which it meets within the step.
Simulation falling(const std::string& ground, const std::string& shape, double e, Random& random) {
  const double dt = 5e-3;
  Scene scene = parse_scene(ground + "[[object]]\nname = \"body\"\n" + shape +
                                "mass = 2\n[material.default]\nmu = 0.4\nrestitution = " + std::to_string(e) +
                                "\n[stepper]\ndt = 0.005\nduration = 1\n",
                            "test");
  scene.stepper_options.contact.tolerance.rel = 1e-12;
  Simulation simulation = make_simulation(scene);
  State state = simulation.state();
  const Quat R = rotation_exponential(drawn(random, 2));
  const Vec3 v = drawn(random, 0.5) - Vec3(0, 0, 1.2);
  state.q.segment<2>(0) = drawn(random, 0.2).head<2>();
  state.q.segment<4>(3) = R.coeffs();
  state.v.segment<3>(0) = R.conjugate() * v;
  state.v.segment<3>(3) = drawn(random, 4);
  double near = 0, far = 0.5;
  for (int round = 0; round < 20; ++round) {
    const double middle = 0.5 * (near + far);
    state.q[2] = middle;
    simulation.set_state(state);
    simulation.step();
    (presses(simulation) ? near : far) = middle;
  }
  state.q[2] = near + (0.1 + 0.7 * random.uniform()) * dt * v.z();
  simulation.set_state(state);
  return simulation;
}

}  // namespace

TEST_CASE("derivative: a body that turns meets planes, walls, what is driven, terrain and triangles within the step") {
  const std::string none = "[ground]\nnone = true\n";
  Random random;
  Seen seen;
  for (const std::string& ground :
       {std::string("[ground]\nnormal = [0.1, 0.2, 1]\n"),
        none + "[[wall]]\nsize = [1, 1, 0.2]\nposition = [0, 0, -0.1]\n",
        none + "[[kinematic]]\nsize = [1, 1, 0.2]\nposition = [0, 0, -0.1]\nvelocity = [0.1, 0.2, "
               "0.3]\nangular_velocity = [0.5, 0.3, 1]\n",
        none + "[[terrain]]\nspacing = 0.1\npoints = [41, 41]\namplitude = 0.02\nlength = [0.8, 0.6]\nseed = 3\n",
        none + "[[terrain]]\nvertices = [[-1, -1, -0.02], [1, -1, 0.03], [1, 1, 0], [-1, 1, 0.05]]\ntriangles = [[0, "
               "1, 2], [0, 2, 3]]\n"})
    for (const std::string& shape : {std::string("shape = \"box\"\nsize = [0.1, 0.14, 0.08]\n"),
                                     std::string("shape = \"capsule\"\nradius = 0.04\nlength = 0.1\n"),
                                     std::string("shape = \"cylinder\"\nradius = 0.05\nlength = 0.1\n")})
      for (double e : {0.0, 0.5}) {
        CAPTURE(ground);
        CAPTURE(shape);
        CAPTURE(e);
        auto simulation = falling(ground, shape, e, random);
        check(simulation, seen);
      }
  CHECK(seen.compared >= 26);  // of 30
  CHECK(seen.columns > 10 * seen.compared);
}
