// Lanes on height fields, meshes and fixed solids: each step beside that of the scalar stepper, for every kernel.
#include "lane_checks.hpp"

using namespace tribo;

namespace {

// Waves that are steep beside their cells, with roughness: slopes, ridges, peaks, and edges of cells under every foot.
const char* hills = R"(
[ground]
none = true
[[terrain]]
name = "hills"
points = [41, 41]
spacing = 0.06
amplitude = 0.03
length = [0.5, 0.4]
roughness = 0.006
seed = 2
[material.default]
mu_static = 0.7
mu_dynamic = 0.6
[contact]
tolerance = 1e-13
[stepper]
dt = 0.002
)";

// A box that carries a capsule, another box and a ball.
const char* beast = R"(
[robot]
position = [0, 0, 0.42]
[[robot.link]]
name = "trunk"
joint = "free"
shape = "box"
size = [0.4, 0.2, 0.1]
mass = 6
[[robot.link]]
name = "leg1"
parent = "trunk"
position = [0.18, 0.1, 0]
mass = 0.8
com = [0, 0, -0.15]
shape = "capsule"
radius = 0.025
length = 0.3
effort_limit = 25
armature = 0.01
[[robot.link]]
name = "leg2"
parent = "trunk"
axis = [0.6, 0.8, 0]
position = [-0.18, 0.1, 0]
mass = 0.8
com = [0, 0, -0.1]
shape = "box"
size = [0.05, 0.05, 0.4]
effort_limit = 25
friction = 0.2
[[robot.link]]
name = "thigh3"
parent = "trunk"
position = [0, -0.1, 0]
mass = 0.5
com = [0, 0, -0.1]
shape = "capsule"
radius = 0.02
length = 0.1
effort_limit = 25
[[robot.link]]
name = "foot3"
joint = "prismatic"
axis = [0, 0, -1]
parent = "thigh3"
position = [0, 0, -0.22]
mass = 0.3
shape = "sphere"
radius = 0.04
effort_limit = 60
range = [-0.02, 0.03]
[controller]
kp = 150
kd = 2
)";

Scene solo_on(const char* ground) {
  return parse_scene(std::string(ground) + R"(
[robot]
model = "solo12"
contact = "feet"
pose = "standing"
position = [0, 0, 0.3]
[controller]
kp = 20
kd = 0.3
)",
                     "solo on terrain");
}

}  // namespace

// As on planes: both are solved to 1e-13 of the accelerations of the step. Among kinds of ground: a triangle mesh that is a
// roof, and steps of fixed boxes on a plane, whose seams and risers are met.
TEST_CASE("lanes on terrain: a step is that of the scalar stepper") {
  const std::string stairs = R"(
[contact]
tolerance = 1e-13
[stepper]
dt = 0.002
[[wall]]
name = "first"
shape = "box"
size = [0.3, 2, 0.04]
position = [0.3, 0, 0.02]
[[wall]]
name = "second"
shape = "box"
size = [0.3, 2, 0.08]
position = [0.6, 0, 0.04]
)";
  const std::string roof = R"(
[ground]
none = true
[[terrain]]
name = "roof"
vertices = [[-1, -1, -0.1], [1, -1, -0.1], [1, 0.02, 0.02], [-1, 0.02, 0.02], [1, 1, -0.1], [-1, 1, -0.1]]
triangles = [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]]
[contact]
tolerance = 1e-13
[stepper]
dt = 0.002
)";
  const Scene scenes[] = {solo_on(hills), parse_scene(std::string(hills) + beast, "beast on hills"),
                          parse_scene(stairs + beast, "beast on stairs"), parse_scene(roof + beast, "beast on a roof")};
  for (const lanes::Kernel* kernel : kernels())
    for (const Scene& scene : scenes) {
      CAPTURE(kernel->name);
      CAPTURE(scene.name);
      const Difference d = compare(scene, *kernel, 5, 150, 0.3);
      CHECK(d.q < 1e-12);
      CHECK(d.v < 1e-11);
      CHECK(d.force < 1e-8);
      CHECK(d.moved > 0.5 * d.steps);
    }
}

TEST_CASE("lanes on terrain: the same bits for any number of threads and any place in the batch") {
  for (const Scene& scene : {solo_on(hills), parse_scene(std::string(hills) + beast, "beast")}) {
    const std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, other{7, 3, 10, 0, 5, 1, 9, 2, 8, 6, 4};
    const std::vector<std::uint64_t> hashes = play(scene, order, 1, 0.3);
    for (int threads : {2, 3, 8}) CHECK(play(scene, order, threads, 0.3) == hashes);
    CHECK(play(scene, other, 2, 0.3) == hashes);
    CHECK(play(scene, {0}, 1, 0.3)[0] == hashes[0]);  // alone in its pack
  }
}

TEST_CASE("lanes on terrain: a poisoned lane does not disturb its neighbours") {
  const Scene scene = solo_on(hills);
  Batch sound(scene, 4, 1, {}, {}, true), poisoned(scene, 4, 1, {}, {}, true);
  for (Batch* batch : {&sound, &poisoned}) batch->step(60);
  const std::size_t nq = sound.q().size() / 4;
  for (std::size_t k = 7; k < nq; ++k) poisoned.target()[nq + k] = 1e308;
  for (Batch* batch : {&sound, &poisoned}) batch->step(20);
  for (int w : {0, 2, 3}) CHECK(sound.hash(w) == poisoned.hash(w));
  CHECK(sound.hash(1) != poisoned.hash(1));
}

TEST_CASE("lanes on terrain: a state goes into another world, and out of its lane, to the bit") {
  const Scene scene = parse_scene(std::string(hills) + beast, "beast");
  Batch batch(scene, 6, 2, {}, {}, true), alone(scene, 1, 1);
  for (int w = 0; w < 6; ++w) aim(batch, w, w, 0, 0.2);
  batch.step(120);
  CHECK_FALSE(batch.contacts(4).empty());
  batch.set_state(1, batch.state(4));
  alone.set_state(0, batch.state(4));
  CHECK(batch.hash(1) == batch.hash(4));
  batch.step(25);  // both with the targets of the scene
  CHECK(batch.hash(1) != batch.hash(4));
  for (int w : {1, 4}) batch.set_state(w, alone.state(0));
  batch.step(25);
  CHECK(batch.hash(1) == batch.hash(4));
  batch.set_state(1, alone.state(0));
  for (Batch* b : {&batch, &alone}) {  // a wrench: the world steps by itself
    const std::size_t nw = b->wrench().size() / static_cast<std::size_t>(b->worlds());
    for (std::size_t k = 0; k < nw; ++k) b->wrench()[(b == &batch ? nw : 0) + k] = 0.1;
    b->step(10);
  }
  CHECK(batch.hash(1) == alone.hash(0));
}

TEST_CASE("lanes on terrain: each world has its own masses and friction") {
  const Scene scene = solo_on(hills);
  Batch alone(scene, 4, 1), in_lanes(scene, 4, 1, {}, {}, true);
  for (Batch* batch : {&alone, &in_lanes}) {
    for (int w = 0; w < 4; ++w) batch->set_parameters(w, {.mass = 1 + 0.3 * w, .friction = 0.2 + 0.3 * w});
    batch->step(150);
  }
  CHECK(in_lanes.lane_steps(3) > 140);
  for (std::size_t i = 0; i < alone.q().size(); ++i) CHECK(std::abs(alone.q()[i] - in_lanes.q()[i]) < 1e-9);
  CHECK(std::abs(alone.q()[2] - alone.q()[2 + alone.q().size() / 4]) > 1e-5);  // the worlds do differ
  for (int w = 0; w < 4; ++w) CHECK(in_lanes.contacts(w).size() == alone.contacts(w).size());
}
