// Links that wedge each other: no contact force beyond what a lever of 100 makes of all that moves (rigid.15).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// Four links of 11 to 935 kg that fall: when the second strikes the floor, the third is driven against the first, and
// friction at a contact that two joints can move in one direction only locks the loop.
const char* const loop = R"(
[stepper]
name = "rigid"
dt = 0.00524
[material.default]
mu = 1.16
restitution = 0.679
[[robot]]
name = "r0"
self_collision = true
[[robot.link]]
name = "l0"
parent = "world"
joint = "free"
position = [0.0756, -0.0166, 0.962]
rpy = [0.603, -0.342, 0.0208]
mass = 43.9
com = [0.0736, 0.0154, 0.0279]
shape = "capsule"
radius = 0.0183
length = 0.032
[[robot.link]]
name = "l1"
parent = "l0"
joint = "revolute"
position = [0.219, -0.458, 0.0679]
rpy = [0.788, 0.412, 0.622]
mass = 935.0
com = [-0.0218, 0.0684, -0.0844]
shape = "capsule"
radius = 0.0556
length = 0.0841
axis = [0.567, 0.534, 0.627]
speed = 0.616
[[robot.link]]
name = "l2"
parent = "l1"
joint = "revolute"
position = [0.292, 0.387, -0.372]
rpy = [0.117, -0.377, 0.00504]
mass = 97.2
com = [-0.0398, -0.0833, 0.0171]
shape = "box"
size = [0.136, 0.0595, 0.188]
axis = [-0.198, -0.949, 0.246]
stiffness = 13.4
range = [-0.769, 0.651]
speed = -0.512
[[robot.link]]
name = "l3"
parent = "l1"
joint = "continuous"
position = [0.442, -0.33, 0.152]
rpy = [0.358, 0.0116, -0.654]
mass = 11.1
com = [-0.0321, 0.071, 0.0821]
shape = "sphere"
radius = 0.0431
axis = [0.535, 0.845, 0.0135]
friction = 0.0153
stiffness = 1.55
speed = 1.0
)";

// Six links that their motors hold at their limits: one touches the ground where the arm can hardly give way.
const char* const held = R"(
gravity = [0.0, 0.0, -9.81]
[stepper]
name = "rigid"
dt = 0.01
[material.default]
mu = 1.2
[[robot]]
name = "r0"
self_collision = false
[[robot.link]]
name = "l0"
parent = "world"
joint = "revolute"
position = [-0.932, -0.949, 0.889]
rpy = [0.141, -0.836, -0.345]
mass = 0.00589
com = [-0.00913, 0.0172, 0.0169]
shape = "box"
size = [0.211, 0.221, 0.0565]
axis = [-0.292, -0.913, -0.284]
damping = 0.00219
friction = 0.11
effort_limit = 1.14
speed = -1.07
[[robot.link]]
name = "l1"
parent = "l0"
joint = "revolute"
position = [0.38, 0.189, 0.0427]
rpy = [-0.507, 0.0351, -0.126]
mass = 145.0
com = [0.0612, -0.0503, -0.0832]
shape = "sphere"
radius = 0.0444
axis = [-0.519, -0.0206, 0.855]
friction = 0.00222
effort_limit = 74.3
speed = 0.33
[[robot.link]]
name = "l2"
parent = "l0"
joint = "revolute"
position = [-0.391, -0.113, 0.228]
rpy = [-0.983, 0.294, -0.717]
mass = 5.4
com = [-0.0566, -0.0384, 0.0861]
shape = "capsule"
radius = 0.0141
length = 0.0309
axis = [-0.579, -0.245, -0.778]
stiffness = 6.03
range = [-0.362, 0.159]
effort_limit = 10.1
speed = -1.97
[[robot.link]]
name = "l3"
parent = "l2"
joint = "continuous"
position = [0.129, -0.275, -0.414]
rpy = [0.276, 0.135, 0.483]
mass = 110.0
com = [-0.00974, -0.0724, -0.0203]
shape = "capsule"
radius = 0.122
length = 0.294
axis = [-0.775, -0.538, -0.332]
damping = 0.00233
armature = 0.0821
effort_limit = 52.9
speed = 0.658
[[robot.link]]
name = "l4"
parent = "l2"
joint = "continuous"
position = [-0.457, -0.131, 0.0496]
rpy = [-0.839, 0.891, 0.594]
mass = 3.07
com = [0.0597, 0.0557, 0.056]
shape = "cylinder"
radius = 0.0384
length = 0.0644
axis = [-0.0629, -0.865, 0.498]
friction = 0.0202
armature = 0.00303
effort_limit = 3.35
speed = -0.692
[[robot.link]]
name = "l5"
parent = "l4"
joint = "revolute"
position = [0.412, -0.395, 0.0835]
rpy = [-0.4, 0.211, -0.675]
mass = 1.25
com = [0.0414, 0.00957, -0.096]
shape = "hull"
vertices = [[-0.0271, -0.118, 0.131], [-0.169, 0.0549, -0.00834], [0.0894, 0.153, 0.0172], [0.0204, -0.174, 0.0345], [0.0597, -0.111, -0.126]]
axis = [-0.00583, -0.404, 0.915]
effort_limit = 1.69
speed = -0.453
[[controller]]
name = "pd"
robot = "r0"
kp = 234.0
kd = 15.6
implicit = true
)";

}  // namespace

TEST_CASE("a loop of links that friction locks gives way, and says so") {
  const Scene scene = parse_scene(loop, "loop.toml");
  Simulation s = make_simulation(scene);
  double mass = 0, worst = 0;
  for (const Body& body : scene.model->bodies) mass += body.inertia.mass;
  int wedged = 0;
  double before = 0;
  for (int k = 0; k < 120; ++k) {
    const StepReport report = s.step();
    REQUIRE((report.status == StepStatus::Ok || report.status == StepStatus::Wedged));
    wedged += report.status == StepStatus::Wedged;
    const double energy =
        std::max(before, report.energy.kinetic) + mass * 9.81 * scene.dt;  // what weight adds at 1 m/s
    const double most = 100 * (std::sqrt(2 * mass * energy) / scene.dt + mass * 9.81);
    for (const ContactReport& c : s.contacts()) worst = std::max(worst, c.f.z() / most);
    before = report.energy.kinetic;
    CHECK(report.penetration < 1e-3);
  }
  CHECK(worst < 1);
  CHECK(wedged > 0);
  CHECK(s.audit().ledger_error < 1e-9);
}

// The motors are not what presses: 3e9 N without (rigid.15).
TEST_CASE("a contact that friction locks gives way where motors are at their limits too") {
  const Scene scene = parse_scene(held, "held.toml");
  Simulation s = make_simulation(scene);
  double mass = 0, motors = 0, energy = 0, worst = 0, least = 1;
  for (const Body& body : scene.model->bodies) mass += body.inertia.mass;
  for (double limit : scene.model->joints.effort_limit) motors += std::isfinite(limit) ? limit : 0;
  for (const Geometry& g : scene.model->geometries)
    if (g.body >= 0) least = std::min(least, g.radius);
  for (int k = 0; k < 130; ++k) {
    const StepReport report = s.step();
    REQUIRE((report.status == StepStatus::Ok || report.status == StepStatus::Wedged));
    energy = std::max(energy, report.energy.kinetic);
    for (const ContactReport& c : s.contacts()) worst = std::max(worst, c.f.norm());
  }
  energy += mass * 9.81 * scene.dt;  // what weight adds at 1 m/s
  CHECK(worst < 200 * (std::sqrt(2 * mass * energy) / scene.dt + mass * 9.81 + motors / least));
  CHECK(s.audit().ledger_error < 1e-6);
}
