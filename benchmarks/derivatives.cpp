#include "derivatives.hpp"

#include <cstdio>

#include "mujoco_peer.hpp"
#include "timing.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"

namespace tribo::bench {
namespace {

void compare(const char* name, int repeats) {
  Scene scene = load_scene(std::string(TRIBO_SCENES_DIR) + "/" + name + ".toml");
  scene.dt = 1e-3;
  scene.stepper_options.audit = AuditLevel::Off;
  Simulation simulation = make_simulation(scene);
  MjcfOptions options;
  MujocoPeer peer(scene, options);
  constexpr int settling = 4000;  // to rest: a step that still solves takes 1.6 times as long
  for (int k = 0; k < settling; ++k) {
    simulation.step();
    peer.step();
  }
  Linearization lin;
  const double linearize = least_time([&] { simulation.linearize(lin); }, repeats);
  const State kept = simulation.state();
  const double step = least_time([&] { simulation.step(); }, repeats);
  simulation.set_state(kept);
  const double differences = least_time([&] { static_cast<void>(simulation.check_derivatives()); }, 2) - linearize;
  const double peer_step = least_time([&] { peer.step(); }, repeats);
  const double forward = least_time([&] { peer.differentiate(false); }, repeats);
  const double centred = least_time([&] { peer.differentiate(true); }, repeats);
  std::printf("%-16s %8.1f %10.1f %6.1f %12.0f %12.1f %10.1f %10.1f %8.1f %8.1f\n", name, 1e6 * step, 1e6 * linearize,
              linearize / step, 1e6 * differences, 1e6 * peer_step, 1e6 * forward, 1e6 * centred, forward / linearize,
              centred / linearize);
}

}  // namespace

int bench_derivatives() {
  std::printf("%-16s %8s %10s %6s %12s %12s %10s %10s %8s %8s\n", "CPU [us]", "step", "linearise", "steps",
              "differences", "MuJoCo step", "FD forward", "FD centred", "forward", "centred");
  for (const char* name : {"ur10", "solo-standing", "talos-standing"}) compare(name, 30);
  return 0;
}

}  // namespace tribo::bench
