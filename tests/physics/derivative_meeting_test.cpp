// The derivative of steps within which shapes meet: contacts that move with velocities too. Beside central differences (lin.2).
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double tolerance = 1e-6;

struct Shape {
  ShapeKind kind;
  Vec3 size;
};

const Shape shapes[] = {{ShapeKind::Sphere, {0.06, 0, 0}},
                        {ShapeKind::Capsule, {0.04, 0, 0.05}},
                        {ShapeKind::Cylinder, {0.05, 0, 0.05}},
                        {ShapeKind::Ellipsoid, {0.05, 0.07, 0.06}},
                        {ShapeKind::Box, {0.05, 0.07, 0.04}}};

StepperOptions precise() {
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  return options;
}

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

struct Seen {
  int compared = 0, columns = 0, by_differences = 0;
};

/// One step: told analytic, and right.
void check(Simulation& simulation, Seen& seen) {
  const DerivativeCheck c = simulation.check_derivatives();
  const Linearization& lin = c.linearization;
  CAPTURE(std::string(lin.reason));
  REQUIRE(lin.finite);
  if (lin.method == Linearization::Method::Differences) {
    ++seen.by_differences;
    return;
  }
  if (!lin.unique || lin.weak > 0) return;
  CAPTURE(c.row);
  CAPTURE(c.column);
  CHECK(c.error < tolerance);
  ++seen.compared;
  seen.columns += c.columns;
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
  // The first ball strikes the second, which then meets the third beyond the margin: with the velocity of the first solve.
  for (double e : {0.0, 0.5}) {
    CAPTURE(e);
    auto simulation = worlds::World(worlds::friction(0.4, e))
                          .sphere(0.1, 2, {-0.01, 0.02, 0}, {3, 0.2, 0.1}, {1, 2, 3})
                          .sphere(0.1, 1, {0.199, 0, 0.01}, {0, 0.1, 0}, {0, 4, -2})
                          .box({0.1, 0.2, 0.2}, 1, {0.42, 0, 0.05}, {0.1, 0, 0}, {0.3, 0.2, -0.1})
                          .simulate(1e-2, precise());
    Seen seen;
    check(simulation, seen);
    CHECK(seen.compared == 1);
    CHECK(seen.columns == 36);
    int pressed = 0;
    simulation.step();
    for (const ContactReport& r : simulation.contacts()) pressed += r.f.z() > 0;
    CHECK(pressed == 2);
  }
}
