// Many contacts under each family: a hundred cubes that fall into a heap, a humanoid that falls flat. CPU time of a step over
// that of the rigid stepper in the same run, second by second.
#include <cmath>

#include "base/cpu_time.hpp"
#include "list.hpp"
#include "scenes.hpp"

namespace tribo::experiments {
namespace {

struct Fall {
  std::vector<double> step;      ///< mean CPU time in each second [s]
  std::vector<double> contacts;  ///< at the end of each second
  double unconverged = 0;
};

Fall fall_of(Scene scene, const std::string& stepper, int seconds) {
  scene.set_stepper(stepper);
  Simulation simulation = make_simulation(scene);
  const long each = std::lround(1 / scene.dt);
  Fall fall;
  for (int s = 0; s < seconds; ++s) {
    const double start = cpu_seconds();
    for (long k = 0; k < each; ++k) fall.unconverged += simulation.step().status == StepStatus::Unconverged;
    fall.step.push_back((cpu_seconds() - start) / static_cast<double>(each));
    fall.contacts.push_back(static_cast<double>(simulation.contacts().size()));
  }
  return fall;
}

void add_rows(const std::string& scene, const std::string& stepper, const Fall& fall, const Fall& rigid, Table& table) {
  for (std::size_t s = 0; s < fall.step.size(); ++s)
    table.rows.push_back({scene, stepper, s + 1, 1e3 * fall.step[s], fall.step[s] / rigid.step[s], fall.contacts[s]});
}

}  // namespace

Result many_contacts(const ExperimentOptions& options, const Progress& progress) {
  Result result;
  const int seconds = options.quick ? 1 : 4;
  result.settings = {{"seconds", seconds}};
  Table table{
      "CPU time of a step", {"scene", "stepper", "second", "a step [ms]", "over rigid", "contacts at its end"}, {}};
  const std::string scene_name = options.quick ? "stack-10" : "heap-100";
  const Scene heap = scene_of(options, scene_name);
  const std::string robot = options.quick ? "solo12" : "g1";
  const Scene flat = parse_scene("[robot]\nmodel = \"" + robot + "\"\n[controller]\nname = \"none\"\n", robot);
  const Fall heap_rigid = fall_of(heap, "rigid", seconds);
  progress(0.1);
  const Fall heap_momentum = fall_of(heap, "momentum", seconds);
  progress(0.3);
  const Fall heap_exponential = fall_of(heap, "exponential", std::min(seconds, 2));
  progress(0.8);
  const Fall flat_rigid = fall_of(flat, "rigid", seconds), flat_exponential = fall_of(flat, "exponential", seconds),
             flat_momentum = fall_of(flat, "momentum", seconds);
  add_rows(scene_name, "rigid", heap_rigid, heap_rigid, table);
  add_rows(scene_name, "momentum", heap_momentum, heap_rigid, table);
  add_rows(scene_name, "exponential", heap_exponential, heap_rigid, table);
  add_rows(robot, "rigid", flat_rigid, flat_rigid, table);
  add_rows(robot, "exponential", flat_exponential, flat_rigid, table);
  add_rows(robot, "momentum", flat_momentum, flat_rigid, table);
  auto total = [](const Fall& fall) {
    double sum = 0;
    for (double x : fall.step) sum += x;
    return sum;
  };
  result.measures = {{"heap_momentum_over_rigid", total(heap_momentum) / total(heap_rigid)},
                     {"heap_momentum_falling_over_rigid", heap_momentum.step[0] / heap_rigid.step[0]},
                     {"heap_momentum_unconverged", heap_momentum.unconverged},
                     {"heap_exponential_over_rigid", heap_exponential.step[0] / heap_rigid.step[0]},
                     {"humanoid_exponential_ms", 1e3 * flat_exponential.step.back()}};
  result.tables.push_back(table);
  progress(1);
  return result;
}

}  // namespace tribo::experiments
