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
