// Kinematic bodies that are commanded: their way in closed form, and the command as part of the state.
#include <doctest/doctest.h>

#include <cmath>

#include "scratch_folder.hpp"
#include "tribo/batch.hpp"
#include "tribo/stepper.hpp"

using namespace tribo;

namespace {

/// A box on a plate above the ground that the model swings, and a plate beside it.
Scene plates(const std::string& stepper) {
  return parse_scene(R"(
[[kinematic]]
name = "plate"
size = [1, 1, 0.1]
position = [0, 0, 0.45]
amplitude = [0.02, 0, 0]
frequency = 2

[[kinematic]]
name = "side"
size = [0.2, 1, 0.1]
position = [2, 0, -0.05]

[[object]]
name = "box"
size = 0.1
mass = 0.5
position = [0, 0, 0.55]

[material.default]
mu = 0.8

[stepper]
name = ")" + stepper + "\"\ndt = 1e-3\n",
                     "plates");
}

Placement turned(double angle, const Vec3& p) {
  return {Eigen::AngleAxisd(angle, Vec3(1, 2, 2) / 3).toRotationMatrix(), p};
}

}  // namespace

TEST_CASE("kinematic command: a steady way from pose to pose, then rest") {
  const KinematicCommand c{0, 2, 6, turned(0.2, {1, 2, 3}), turned(1.0, {3, 2, -1})};
  const auto close = [](const Placement& a, const Placement& b) {
    return (a.R - b.R).norm() < 1e-14 && (a.p - b.p).norm() < 1e-14;
  };
  CHECK(close(c.pose(0), c.from));
  CHECK(close(c.pose(3), turned(0.4, {1.5, 2, 2})));  // a quarter of the way, about one axis
  CHECK(close(c.pose(6), c.to));
  CHECK(close(c.pose(9), c.to));
  const Twist on = c.mean_twist(3, 0.5), across = c.mean_twist(5.5, 1), after = c.mean_twist(6, 1);
  CHECK((on.v - Vec3(0.5, 0, -1)).norm() < 1e-14);
  CHECK((on.w - 0.2 * Vec3(1, 2, 2) / 3).norm() < 1e-14);
  CHECK((across.v - 0.5 * on.v).norm() < 1e-14);  // it arrives in the middle of the step
  CHECK(after.v.isZero(0));
  CHECK(after.w.isZero(0));
}

TEST_CASE("kinematic command: kept, restored and hashed with the state, under every stepper; the model stays") {
  ScratchFolder folder;
  for (const std::string stepper : {"rigid", "exponential", "implicit-euler", "runge-kutta"}) {
    CAPTURE(stepper);
    const Scene scene = plates(stepper);
    const std::uint64_t model = scene.model->hash();
    Simulation s(scene.model, scene.stepper, scene.stepper_options, scene.dt);
    s.set_state(scene.start);
    for (int i = 0; i < 10; ++i) s.step();
    const std::uint64_t before = hash(s.state());
    const Placement start = kinematic_pose(*scene.model, 0, s.state().kinematic_time());
    const Placement to{Mat3::Identity(), start.p + Vec3(0.04, 0.08, 0)};
    s.move_kinematic(1, turned(0.3, {2, 0, 0}), 0.5);
    s.move_kinematic(0, to, 0.3);  // 0.3 m/s, from 0.25 along x
    CHECK(s.state().kinematic.size() == 2);
    CHECK(hash(s.state()) != before);
    for (int i = 0; i < 100; ++i) s.step();
    save_state(s.state(), folder.file("s"));
    const State kept = s.state();
    for (int i = 0; i < 250; ++i) s.step();
    const std::uint64_t end = hash(s.state());
    CHECK((kinematic_pose(*scene.model, 0, s.state().kinematic_time()).p - to.p).norm() == 0);
    s.set_state(kept);
    for (int i = 0; i < 250; ++i) s.step();
    CHECK(hash(s.state()) == end);
    Simulation other(scene.model, scene.stepper, scene.stepper_options, scene.dt);
    other.set_state(load_state(*scene.model, folder.file("s")));
    for (int i = 0; i < 250; ++i) other.step();
    CHECK(hash(other.state()) == end);
    CHECK(scene.model->hash() == model);
    CHECK(s.model().hash() == model);
    // The box went with it, less what it slipped: 2.5 mm while the plate swung for 10 ms, then at each of the two jerks
    // by 0.3 m/s at most v^2 / (2 mu g).
    CHECK((s.state().q.head<2>() - to.p.head<2>()).norm() < 0.0025 + 2 * 0.3 * 0.3 / (2 * 0.8 * 9.81));
  }
}

TEST_CASE("kinematic command: a world of a batch is bit-equal to the same world alone") {
  const Scene scene = plates("rigid");
  Batch batch(scene, 3, 2);
  Simulation alone(scene.model, scene.stepper, scene.stepper_options, scene.dt);
  alone.set_state(scene.start);
  const Placement to{Mat3::Identity(), Vec3(0.01, 0.02, 0.45)};
  const int moved[] = {0, 2};
  batch.move_kinematic(moved, 0, to, 0.03);
  batch.step(20);
  const State middle = batch.state(2);
  batch.step(20);
  alone.move_kinematic(0, to, 0.03);
  for (int i = 0; i < 40; ++i) alone.step();
  CHECK(batch.hash(0) == hash(alone.state()));
  CHECK(batch.hash(2) == hash(alone.state()));
  CHECK(batch.hash(1) != hash(alone.state()));
  batch.set_state(1, middle);
  const int one[] = {1};
  batch.step(one, 20);
  CHECK(batch.hash(1) == hash(alone.state()));
  batch.reset(2);
  CHECK(batch.state(2).kinematic.empty());
}

TEST_CASE("kinematic command: what cannot be done is refused, and changes nothing") {
  const Scene scene = plates("rigid");
  State state = scene.start;
  const Placement home;
  Placement sheared, nowhere;
  sheared.R(0, 1) = 0.5;
  nowhere.p.x() = std::nan("");
  const auto refused = [&](int k, const Placement& to, double time) {
    CHECK_THROWS_AS(state.move_kinematic(*scene.model, k, to, time, 1e-3), InvalidInput);
    CHECK(state.kinematic.empty());
  };
  refused(2, home, 1);
  refused(-1, home, 1);
  refused(0, sheared, 1);
  refused(0, nowhere, 1);
  refused(0, home, -1);
  refused(0, home, HUGE_VAL);
  Simulation s(scene.model, scene.stepper, scene.stepper_options, scene.dt);
  state.kinematic = {{2, 0, 1, home, home}};
  CHECK_THROWS_AS(s.set_state(state), InvalidInput);
  state.kinematic = {{1, 0, 1, home, home}, {0, 0, 1, home, home}};
  CHECK_THROWS_AS(s.set_state(state), InvalidInput);
  state.kinematic = {{1, 0, 0, home, home}};
  CHECK_THROWS_AS(s.set_state(state), InvalidInput);
  CHECK(s.state().kinematic.empty());
}
