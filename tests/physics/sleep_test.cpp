// Sleep: what rests for the time that was asked for is not solved, keeps its place to the bit, and wakes.
#include <doctest/doctest.h>

#include "tribo/rigid.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

constexpr double dt = 1e-3, half = 0.05, mass = 0.5;

StepperOptions sleepy(double time) {
  StepperOptions options;
  RigidOptions own;
  own.sleep = time;
  options.own = own;
  return options;
}

// Two stacks of two cubes, far from each other, and a cube that comes down on the first after 0.8 s.
World stacks(bool comes) {
  World world(friction(0.5));
  world.ground();
  for (double x : {0.0, 1.0})
    for (int k = 0; k < 2; ++k) world.box(Vec3::Constant(half), mass, {x, 0, half + 2 * half * k});
  const double fall = 0.5 * 9.81 * 0.8 * 0.8;
  if (comes) world.box(Vec3::Constant(half), mass, {0.01, 0, 5 * half + fall});
  return world;
}

VecX places(const Simulation& s, int first, int count) { return s.state().q.segment(7 * first, 7 * count); }

double carried(const Simulation& s) {
  double sum = 0;
  for (const ContactReport& c : s.contacts())
    if (c.geometry_a == 0) sum += (c.R_WC * c.f).z();
  return sum;
}

}  // namespace

TEST_CASE("sleep: stacks keep their places to the bit and their forces, and one wakes by touch") {
  Simulation s = stacks(true).simulate(dt, sleepy(0.3));
  run(s, 0.6);
  CHECK(s.audit().sleeping == 4);
  CHECK(s.state().v.head(24).isZero(0));
  CHECK(carried(s) == doctest::Approx(4 * mass * 9.81).epsilon(1e-6));
  const VecX first = places(s, 0, 2), second = places(s, 2, 2);
  run(s, 0.15);
  CHECK(places(s, 0, 2) == first);
  run(s, 0.1);  // the fifth has come down
  CHECK(places(s, 0, 2) != first);
  CHECK(s.audit().sleeping == 2);
  CHECK(places(s, 2, 2) == second);
  run(s, 1);  // three on each other rest anew
  CHECK(s.audit().sleeping == 5);
  CHECK(places(s, 2, 2) == second);
  CHECK(carried(s) == doctest::Approx(5 * mass * 9.81).epsilon(1e-6));
  const LawResiduals& laws = s.audit().laws;
  CHECK(std::max({laws.signorini, laws.coulomb, laws.dissipation}) < 1e-6);
}

TEST_CASE("sleep: it is off unless asked for, and then changes what rests by less than it moves") {
  Simulation awake = stacks(false).simulate(dt), asleep = stacks(false).simulate(dt, sleepy(0.3));
  run(awake, 1);
  run(asleep, 1);
  CHECK(awake.audit().sleeping == 0);
  CHECK(asleep.audit().sleeping == 4);
  CHECK((awake.state().q - asleep.state().q).cwiseAbs().maxCoeff() < 1e-8);
}

TEST_CASE("sleep: a push wakes, and so does what is taken away from below") {
  Simulation s = stacks(false).simulate(dt, sleepy(0.3));
  Push push;
  push.body = 1;
  push.force = {1.5, 0, 0};
  push.start = 0.8;
  push.duration = 0.1;
  s.add_push(push);
  run(s, 0.79);
  CHECK(s.audit().sleeping == 4);
  run(s, 0.05);
  CHECK(s.audit().sleeping == 2);
  run(s, 0.6);
  REQUIRE(s.audit().sleeping == 4);
  State state = s.state();
  state.q[14] += 1;  // the lower cube of the second stack
  s.set_state(state);
  s.step();
  CHECK(s.audit().sleeping == 2);
  run(s, 0.1);
  CHECK(position(s, 3).z() < 2 * half);  // fell by 49 mm
}

TEST_CASE("sleep: a state that is restored sleeps on, bit for bit") {
  Simulation s = stacks(true).simulate(dt, sleepy(0.3)), other = stacks(true).simulate(dt, sleepy(0.3));
  run(s, 0.6);
  other.set_state(s.state());
  for (int k = 0; k < 400; ++k) {  // beyond the touch
    s.step();
    CHECK(other.step().sleeping == s.audit().sleeping);
    REQUIRE(hash(s.state()) == hash(other.state()));
  }
}
