// Worlds in SIMD lanes: each step beside that of the scalar stepper from the same state, for every kernel of the machine.
#include "lane_checks.hpp"

using namespace tribo;

namespace {

// Every joint, shape and law that lanes cover: a floating base of a box, legs of boxes, capsules and balls, one of them
// prismatic, with dry friction, rotor inertia, damping, ranges and limits of effort that are met, on a tilted plane.
const char* walker = R"(
[ground]
normal = [0.03, -0.02, 1]
[material.default]
mu_static = 0.5
mu_dynamic = 0.4
[contact]
tolerance = 1e-13
[stepper]
dt = 0.002
[robot]
position = [0, 0, 0.41]
[[robot.link]]
name = "trunk"
joint = "free"
shape = "box"
size = [0.4, 0.2, 0.1]
mass = 6
[[robot.link]]
name = "thigh1"
parent = "trunk"
position = [0.18, 0.1, 0]
mass = 0.8
com = [0, 0, -0.1]
shape = "capsule"
radius = 0.02
length = 0.16
friction = 0.4
armature = 0.01
effort_limit = 12
[[robot.link]]
name = "foot1"
parent = "thigh1"
position = [0, 0, -0.2]
mass = 0.3
com = [0, 0, -0.18]
shape = "sphere"
radius = 0.03
effort_limit = 12
damping = 0.05
range = [-0.3, 0.3]
[[robot.link]]
name = "thigh2"
parent = "trunk"
axis = [0.6, 0.8, 0]
position = [-0.18, 0.1, 0]
rpy = [0, 0, 0.3]
mass = 0.8
com = [0, 0, -0.1]
shape = "box"
size = [0.04, 0.04, 0.2]
effort_limit = 12
friction = 0.2
[[robot.link]]
name = "foot2"
joint = "prismatic"
axis = [0, 0, -1]
parent = "thigh2"
position = [0, 0, -0.2]
mass = 0.3
com = [0, 0, -0.15]
shape = "sphere"
radius = 0.03
effort_limit = 60
friction = 3
range = [-0.02, 0.03]
[[robot.link]]
name = "leg3"
parent = "trunk"
position = [0, -0.1, 0]
mass = 0.9
com = [0, 0, -0.2]
shape = "box"
size = [0.1, 0.06, 0.4]
effort_limit = 25
[controller]
kp = 150
kd = 2
)";

Scene solved_closely(const std::string& name) {
  return load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml", {{"contact.tolerance", "1e-13"}});
}

}  // namespace

// Both are solved to 1e-13 of the accelerations of the step, some 1e4 m/s^2 under jumping targets, over 1 ms: 1e-12.
TEST_CASE("lanes: a step is that of the scalar stepper") {
  for (const lanes::Kernel* kernel : kernels()) {
    CAPTURE(kernel->name);
    for (const char* name : {"solo-standing", "go2-standing"}) {
      CAPTURE(name);
      const Difference d = compare(solved_closely(name), *kernel, 5, 60, 0.3);
      CHECK(d.q < 1e-12);
      CHECK(d.v < 5e-12);
      CHECK(d.force < 1e-9);
      CHECK(d.moved > 0.9 * d.steps);
    }
  }
}

// Solo jumps, and lands on feet that were not listed with the velocities of the start in some steps of a thousand.
TEST_CASE("lanes: what an impact leads to is listed within the lane") {
  for (const lanes::Kernel* kernel : kernels()) {
    CAPTURE(kernel->name);
    const Difference d = compare(solved_closely("solo-standing"), *kernel, 9, 120, 0.6);
    CHECK(d.v < 1e-11);
    CHECK(d.moved == d.steps);
  }
}

TEST_CASE("lanes: every joint, shape and law that they cover") {
  const Scene scene = parse_scene(walker, "walker");
  for (const lanes::Kernel* kernel : kernels()) {
    CAPTURE(kernel->name);
    const Difference d = compare(scene, *kernel, 5, 150, 0.2);
    CHECK(d.q < 1e-12);
    CHECK(d.v < 1e-11);
    CHECK(d.force < 1e-8);
    CHECK(d.moved > 0.5 * d.steps);
  }
}

namespace {

Scene named(const std::string& name) { return load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml"); }

}  // namespace

TEST_CASE("lanes: the same bits for any number of threads and any place in the batch") {
  for (const Scene& scene : {named("solo-standing"), named("g1-standing"), parse_scene(walker, "walker")}) {
    const std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, other{7, 3, 10, 0, 5, 1, 9, 2, 8, 6, 4};
    const std::vector<std::uint64_t> hashes = play(scene, order, 1, 0.5);
    for (int threads : {2, 3, 8}) CHECK(play(scene, order, threads, 0.5) == hashes);
    CHECK(play(scene, other, 2, 0.5) == hashes);
    CHECK(play(scene, {0}, 1, 0.5)[0] == hashes[0]);  // alone in its pack
  }
}

TEST_CASE("lanes: drives that stay at their limits of effort and come back from them") {
  const Scene scene = load_scene(std::string(TRIBO_SCENES) + "/solo-standing.toml",
                                 {{"contact.tolerance", "1e-13"}, {"robot.effort_limit", "1.2"}});
  for (const lanes::Kernel* kernel : kernels()) {
    CAPTURE(kernel->name);
    const Difference d = compare(scene, *kernel, 9, 80, 0.3);
    CHECK(d.limited > 0.02 * 12 * d.steps);
    CHECK(d.limited < 0.9 * 12 * d.steps);
    CHECK(d.q < 1e-12);
    CHECK(d.v < 1e-11);
    CHECK(d.moved > 0.8 * d.steps);
  }
}

TEST_CASE("lanes: a poisoned lane does not disturb its neighbours") {
  const Scene scene = named("solo-standing");
  Batch sound(scene, 4, 1, {}, {}, true), poisoned(scene, 4, 1, {}, {}, true);
  for (Batch* batch : {&sound, &poisoned}) batch->step(5);
  const std::size_t nq = sound.q().size() / 4;
  for (std::size_t k = 7; k < nq; ++k) poisoned.target()[nq + k] = 1e308;  // its torque is not finite
  for (Batch* batch : {&sound, &poisoned}) batch->step(20);
  for (int w : {0, 2, 3}) CHECK(sound.hash(w) == poisoned.hash(w));
  CHECK(sound.hash(1) != poisoned.hash(1));
}

// Under a wrench no lane moves: states go to the simulations and back, and no bit is lost on the way.
TEST_CASE("lanes: a world that leaves its lane is the world run alone") {
  const Scene scene = parse_scene(walker, "walker");
  Batch alone(scene, 3, 1), in_lanes(scene, 3, 1, {}, {}, true);
  in_lanes.step(20);
  for (int w = 0; w < 3; ++w) alone.set_state(w, in_lanes.state(w));
  for (Batch* batch : {&alone, &in_lanes}) {
    for (double& x : batch->wrench()) x = 0.1;
    batch->step(30);
  }
  CHECK(in_lanes.lane_steps(0) == 20);
  for (int w = 0; w < 3; ++w) CHECK(alone.hash(w) == in_lanes.hash(w));
  for (double& x : in_lanes.wrench()) x = 0;
  in_lanes.step(1);
  CHECK(in_lanes.lane_steps(0) == 21);
}

TEST_CASE("lanes: a state that is kept goes on with the same bits in another world") {
  const Scene scene = named("go2-standing");
  Batch batch(scene, 6, 2, {}, {}, true);
  for (int w = 0; w < 6; ++w) aim(batch, w, w, 0, 0.2);
  batch.step(40);
  batch.set_state(1, batch.state(4));
  batch.reset(5);
  CHECK(batch.hash(1) == batch.hash(4));
  for (int w : {1, 4}) aim(batch, w, 3, 1, 0.2);
  batch.step(25);
  CHECK(batch.hash(1) == batch.hash(4));
  CHECK(batch.t()[5] == doctest::Approx(25 * scene.dt));
}

TEST_CASE("lanes: a linearisation is that of the state in the lane") {
  const Scene scene = named("solo-standing");
  Batch batch(scene, 5, 3, {}, {}, true), alone(scene, 5, 1);
  for (int w = 0; w < 5; ++w) aim(batch, w, w, 0, 0.1);
  batch.step(10);
  const auto ours = batch.linearize();  // no state has been asked for before
  for (int w = 0; w < 5; ++w) alone.set_state(w, batch.state(w));
  std::copy(batch.target().begin(), batch.target().end(), alone.target().begin());
  const auto theirs = alone.linearize();
  for (std::size_t w = 0; w < 5; ++w) CHECK(ours[w].A == theirs[w].A);
}

TEST_CASE("lanes: each world has its own masses, friction and gains") {
  const Scene scene = named("solo-standing");
  Batch alone(scene, 4, 1), in_lanes(scene, 4, 1, {}, {}, true);
  for (Batch* batch : {&alone, &in_lanes}) {
    for (int w = 0; w < 4; ++w)
      batch->set_parameters(w, {.mass = 1 + 0.3 * w, .friction = 0.2 + 0.3 * w, .gains = 1.2 - 0.2 * w});
    for (int w = 0; w < 4; ++w) aim(*batch, w, w, 0, 0.1);
    batch->step(60);
  }
  CHECK(in_lanes.lane_steps(3) > 50);
  for (std::size_t i = 0; i < alone.q().size(); ++i) CHECK(std::abs(alone.q()[i] - in_lanes.q()[i]) < 1e-6);
  CHECK(std::abs(alone.q()[2] - alone.q()[2 + alone.q().size() / 4]) > 1e-4);  // the worlds do differ
}

TEST_CASE("lanes: gravity is fed forward to the target of each world") {
  const Scene scene = parse_scene(
      "[robot]\nmodel = \"ur10\"\ncontact = \"none\"\n[contact]\ntolerance = 1e-13\n"
      "[controller]\nkp = 500\nkd = 20\nfeedforward = \"gravity\"\n",
      "x.toml");
  const Difference d = compare(scene, lanes::best_kernel(), 5, 60, 0.3);
  CHECK(d.moved == 300);
  CHECK(d.v < 1e-10);
}

TEST_CASE("lanes: what is not covered is said, and steps by itself") {
  const Scene heap = named("stack-10");
  Batch batch(heap, 2, 1, {}, {}, true), alone(heap, 2, 1);
  CHECK(batch.lanes().find("no lanes: ") == 0);
  CHECK(alone.lanes().empty());
  for (Batch* b : {&batch, &alone}) b->step(3);
  CHECK(batch.hash(0) == alone.hash(0));
}
