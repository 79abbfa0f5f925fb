// tribo bench [SCENE]: what a step costs. Beside other simulators: make bench.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/cpu_time.hpp"
#include "common.hpp"
#include "experiment.hpp"

namespace tribo::app {
namespace {

constexpr const char* standard[] = {"cube", "stack-10", "solo-standing", "talos-standing", "allegro-ball", "ur10"};
constexpr double settle_time = 1, settle_cpu = 20;  // [s] simulated, at most this much CPU
constexpr double block_cpu = 0.01;                  // [s] of a timed block
constexpr int rounds = 40;

struct Options {
  SceneOptions scene;
  bool json = false;
};

struct Cost {
  double us = std::numeric_limits<double>::infinity();  ///< CPU of a step, the least of the blocks
  double iterations = 0;                                ///< of the contact solver, mean of the timed steps
  int contacts = 0, block = 0;
  std::uint64_t unconverged = 0;
};

/// Steps that begin with the same state, block after block: the work is the same, only the disturbance differs.
Cost measure(const Scene& scene) {
  Simulation simulation = make_simulation(scene);
  const double begin = cpu_seconds();
  int settled = 0;
  while (simulation.state().t < settle_time && cpu_seconds() - begin < settle_cpu && signal_received() == 0) {
    simulation.step();
    ++settled;
  }
  Cost cost;
  const double first = (cpu_seconds() - begin) / std::max(settled, 1);
  cost.block = std::clamp(static_cast<int>(block_cpu / std::max(first, 1e-9)), 1, 2000);
  const State kept = simulation.state();
  for (int r = 0; r < rounds && signal_received() == 0; ++r) {
    simulation.set_state(kept);
    const Audit before = simulation.audit();
    const double start = cpu_seconds();
    for (int k = 0; k < cost.block; ++k) simulation.step();
    cost.us = std::min(cost.us, 1e6 * (cpu_seconds() - start) / cost.block);
    const Audit& after = simulation.audit();
    cost.iterations = static_cast<double>(after.iterations - before.iterations) / cost.block;
    cost.unconverged = after.unconverged - before.unconverged;
  }
  cost.contacts = static_cast<int>(simulation.contacts().size());
  return cost;
}

int bench(const Options& options) {
  std::vector<std::string> names(std::begin(standard), std::end(standard));
  if (!options.scene.scene.empty()) names = {options.scene.scene};
  experiments::Table table{"CPU time of a step, after 1 s",
                           {"scene", "method", "dt [s]", "step [us]", "steps/s", "x real time", "contacts",
                            "iterations", "unconverged of block", "block"},
                           {}};
  catch_signals();
  Progress progress(static_cast<double>(names.size()), "scenes");
  for (const std::string& name : names) {
    SceneOptions one = options.scene;
    one.scene = name;
    const Scene scene = find_scene(one);
    const Cost cost = measure(scene);
    if (signal_received() != 0) return 128 + signal_received();
    table.rows.push_back({name, scene.stepper, scene.dt, cost.us, 1e6 / cost.us, scene.dt * 1e6 / cost.us,
                          cost.contacts, cost.iterations, cost.unconverged, cost.block});
    progress.show(static_cast<double>(table.rows.size()));
  }
  if (options.json) {
    Json list = Json::array();
    for (const auto& row : table.rows) {
      Json line;
      for (std::size_t i = 0; i < row.size(); ++i) line[table.columns[i]] = row[i];
      list.push_back(line);
    }
    print_json({{"bench", list}});
  } else {
    std::printf("%s", experiments::as_text(table).c_str());
  }
  return done;
}

}  // namespace

void add_bench(CommandLine& command, Action& action) {
  auto options = std::make_shared<Options>();
  options->scene.add(command, false);
  command.add_flag("--json", options->json, "print one JSON object");
  command.footer(
      "Without SCENE: the standard ones. 'make bench' runs them beside MuJoCo.\n"
      "Examples:\n"
      "  tribo bench\n"
      "  tribo bench solo-trot --stepper exponential");
  command.callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace tribo::app
