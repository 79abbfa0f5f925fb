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

// As on planes: both are solved to 1e-13 of the accelerations of the step.
TEST_CASE("lanes on terrain: a step is that of the scalar stepper") {
  const Scene scenes[] = {solo_on(hills), parse_scene(std::string(hills) + beast, "beast")};
  for (const lanes::Kernel* kernel : kernels())
    for (const Scene& scene : scenes) {
      CAPTURE(kernel->name);
      CAPTURE(scene.name);
      const Difference d = compare(scene, *kernel, 5, 250, 0.3);
      CHECK(d.q < 1e-12);
      CHECK(d.v < 1e-11);
      CHECK(d.force < 1e-8);
      MESSAGE(d.q, " ", d.v, " ", d.force, " ", d.moved, " ", d.steps);
      CHECK(d.moved > 0.5 * d.steps);
    }
}
