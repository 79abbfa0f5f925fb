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

struct BenchOptions {
  SceneOptions scene;
  bool json = false, stages = false;
};

struct Cost {
  double us = std::numeric_limits<double>::infinity();  ///< CPU of a step, the least of the blocks
  double iterations = 0;                                ///< of the contact solver, mean of the timed steps
  int contacts = 0, block = 0;
  std::uint64_t unconverged = 0;
  StageTimes stages;  ///< of one more block
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
  simulation.set_state(kept);
  simulation.time_stages();
  for (int k = 0; k < cost.block && signal_received() == 0; ++k) simulation.step();
  cost.stages = simulation.stage_times();
  return cost;
}

/// [us] a step. Clocks cost some 20 ns a stage: the sum is a little above what a step takes without them.
std::vector<Json> stage_row(const std::string& name, const StageTimes& times) {
  const double each = 1e6 / static_cast<double>(std::max<std::uint64_t>(times.steps, 1));
  std::vector<Json> row{name};
  double sum = 0;
  for (double seconds : times.seconds) {
    sum += seconds;
    row.emplace_back(each * seconds);
  }
  row.emplace_back(each * (times.step - sum));
  row.emplace_back(each * times.step);
  return row;
}

Json lines_of(const experiments::Table& table) {
  Json list = Json::array();
  for (const auto& row : table.rows) {
    Json line;
    for (std::size_t i = 0; i < row.size(); ++i) line[table.columns[i]] = row[i];
    list.push_back(line);
  }
  return list;
}

int bench(const BenchOptions& options) {
  std::vector<std::string> names(std::begin(standard), std::end(standard));
  if (!options.scene.scene.empty()) names = {options.scene.scene};
  experiments::Table table{"CPU time of a step, after 1 s",
                           {"scene", "method", "dt [s]", "step [us]", "steps/s", "x real time", "contacts",
                            "iterations", "unconverged of block", "block"},
                           {}};
  experiments::Table stages{"Time of its stages [us]", {"scene"}, {}};
  for (const char* stage : stage_names) stages.columns.emplace_back(stage);
  stages.columns.insert(stages.columns.end(), {"rest", "step"});
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
    stages.rows.push_back(stage_row(name, cost.stages));
    progress.show(static_cast<double>(table.rows.size()));
  }
  if (options.json) {
    Json out{{"bench", lines_of(table)}};
    if (options.stages) out["stages"] = lines_of(stages);
    print_json(out);
  } else {
    std::printf("%s", experiments::as_text(table).c_str());
    if (options.stages) std::printf("\n%s", experiments::as_text(stages).c_str());
  }
  return done;
}

}  // namespace

void add_bench(CommandLine& command, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  options->scene.add(command, false);
  command.add_flag("--json", options->json, "print one JSON object");
  command.add_flag("--stages", options->stages, "and where the time of a step goes, stage by stage");
  command.footer(
      "Without SCENE: the standard ones. 'make bench' runs them beside MuJoCo.\n"
      "Examples:\n"
      "  tribo bench\n"
      "  tribo bench solo-trot --stepper exponential");
  command.callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace tribo::app
