#include <doctest/doctest.h>

#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

TEST_CASE("a cube that starts inside the floor comes out quietly") {
  for (double depth : {1e-4, 1e-3, 1e-2}) {
    auto s = World(friction(0.4)).ground().box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1 - depth}).simulate(1e-3);
    double previous = depth, fastest = 0, highest = -1;
    for (int k = 0; k < 200; ++k) {
      s.step();
      const double now = 0.1 - position(s).z();
      CHECK(now <= previous + 1e-15);
      previous = now;
      fastest = std::max(fastest, s.state().v.norm());
      highest = std::max(highest, -now);
    }
    CAPTURE(depth);
    CHECK(fastest < 1e-9);
    CHECK(highest < 1e-9);
    CHECK(previous < 0.1 * depth);
    CHECK(position(s).head<2>().norm() < 1e-12);
    CHECK(s.audit().energy.recovery == doctest::Approx(9.81 * (depth - previous)).epsilon(1e-9));
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("a cube wedged between two walls stays where it is and is flagged") {
  World world(friction(0.4));
  Placement left, right;  // solid below z = 0 of the frame: normals +x at x = -0.09 and -x at x = 0.09
  left.R.col(2) = Vec3::UnitX(), left.R.col(0) = Vec3::UnitY(), left.R.col(1) = Vec3::UnitZ();
  left.p = Vec3(-0.09, 0, 0);
  right.R.col(2) = -Vec3::UnitX(), right.R.col(0) = Vec3::UnitZ(), right.R.col(1) = Vec3::UnitY();
  right.p = Vec3(0.09, 0, 0);
  world.ground().ground(left).ground(right).box({0.1, 0.1, 0.1}, 1, {0, 0, 0.1});
  auto s = world.simulate(1e-3);
  run(s, 1);
  CHECK(position(s).allFinite());
  CHECK(position(s).head<2>().norm() < 0.02);
  CHECK(s.state().v.norm() < 0.1);
  CHECK(s.audit().wedged + s.audit().infeasible > 0);
}

TEST_CASE("what no motion opens carries nothing: a slide inside the floor goes on, and is flagged") {
  Simulation s = make_simulation(parse_scene(R"(
[stepper]
name = "rigid"
dt = 0.001
[material.default]
mu = 0.8
[[robot]]
name = "cart"
[[robot.link]]
name = "slide"
parent = "world"
joint = "prismatic"
axis = [1, 0, 0]
mass = 1.0
shape = "box"
size = [0.2, 0.2, 0.2]
speed = 1.0
)",
                                             "slide.toml"));
  int most = 0;
  for (int k = 0; k < 100; ++k) {
    const StepReport report = s.step();
    CHECK(report.status == StepStatus::Wedged);
    for (const ContactReport& c : s.contacts()) CHECK(c.f.isZero(0));
    most = std::max(most, static_cast<int>(s.contacts().size()));
  }
  CHECK(most >= 4);
  CHECK(s.state().v[0] == doctest::Approx(1).epsilon(1e-12));
  CHECK(s.state().q[0] == doctest::Approx(0.1).epsilon(1e-12));
}

namespace {

// A ball of 50 mm on a hinged rod of 450 mm; com: where the ball is, from the hinge.
Simulation rod(double com, double height, double angle) {
  return make_simulation(parse_scene(R"(
gravity = [0, 0, 0]
[stepper]
name = "rigid"
dt = 0.001
[contact]
recovery_time = 0.05
[material.default]
mu = 0
[[robot]]
name = "rod"
[[robot.link]]
name = "ball"
parent = "world"
axis = [0, 1, 0]
mass = 1.0
com = [0, 0, )" + std::to_string(com) + R"(]
shape = "sphere"
radius = 0.05
position = [0, 0, )" + std::to_string(height) +
                                         "]\nangle = " + std::to_string(angle) + "\n",
                                     "rod.toml"));
}

}  // namespace

// The ball hangs 10 mm inside the floor: a turn x opens it by j x, j = l sin(tilt), and slides it by s x, s = l cos(tilt) + r, more
// than the r x of a turn at its own distance. Where it would slide by more than twice what is asked, a, it slides by 2 a, and by
// more than three times, it gives way: x = a j/(j^2 + (s/4)^2), which slides it by 2 a at most (rigid.18).
TEST_CASE("removal of overlap: what opens only by sliding far gives way, and slides by twice what is asked at most") {
  for (const double tilt : {1e-3, 0.1, 0.2, 0.3, 0.4, 0.8}) {
    const double l = 0.45, r = 0.05, height = l * std::cos(tilt) + r - 0.01;
    Simulation s = rod(-l, height, tilt);
    const double before = s.state().q[0];
    s.step();
    const double asked = (1 - std::exp(-0.001 / 0.05)) * (0.01 - 1e-6 * r);
    const double lever = l * std::sin(tilt), free = asked / lever;
    const double slides = l * std::cos(tilt) + r - 0.005;  // a contact lies midway between what overlaps
    const double gives_way = asked * lever / (lever * lever + slides * slides / 16);
    CAPTURE(tilt);
    CHECK(s.state().v[0] == 0);
    const double turns = slides * free > 3 * asked ? gives_way : std::min(free, 2 * asked / slides);
    CHECK((s.state().q[0] - before) / turns == doctest::Approx(1).epsilon(1e-3));
  }
}

// The ball stands on the rod, 10 mm inside the floor when upright, which is the least that a turn leaves: it comes to stand
// there, and is not thrown from side to side.
TEST_CASE("removal of overlap: at its least it comes to rest") {
  Simulation s = rod(0.45, 0.05 - 0.01 - 0.45, 0.02);
  double before = std::abs(s.state().q[0]), farthest = 0;
  for (int k = 0; k < 2000; ++k) {
    s.step();
    farthest = std::max(farthest, std::abs(s.state().q[0]) - before);
    before = std::abs(s.state().q[0]);
  }
  CHECK(farthest <= 0);
  CHECK(before < 1e-6);  // where its lever is none: l x = 1e-6 (l - r)
}

// Sweeps spread what a row of cubes needs from its ends inwards: its middle is the last to open.
TEST_CASE("removal of overlap: in a heap that moves what is deepest opens by 70 % of its share at least") {
  const double half = 0.05, overlap = 1e-4, time = 0.05;
  World world(friction(0));
  world.ground();
  const int cubes = 16;
  for (int i = 0; i < cubes; ++i)
    world.box(Vec3::Constant(half), 1, {i * (2 * half - overlap), 0, half}, Vec3::UnitX());
  StepperOptions options;
  options.contact.recovery_time = time;
  auto s = world.simulate(1e-3, options);
  const double share = 1 - std::exp(-1e-3 / time);
  const auto deepest = [&] {
    double most = 0;
    for (int i = 0; i + 1 < cubes; ++i) most = std::max(most, 2 * half - (position(s, i + 1) - position(s, i)).norm());
    return most;
  };
  double before = deepest();
  CHECK(before == doctest::Approx(overlap).epsilon(1e-9));
  for (int k = 0; k < 20; ++k) {
    s.step();
    const double now = deepest();
    CHECK(before - now > 0.699 * share * (before - 1e-6 * half));
    before = now;
  }
}
