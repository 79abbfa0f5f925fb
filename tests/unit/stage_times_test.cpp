#include <doctest/doctest.h>

#include <numeric>

#include "tribo/scene.hpp"

namespace tribo {
namespace {

const std::string box = "[[object]]\nname = 'box'\nmass = 1.0\nsize = 0.2\nposition = [0, 0, 0.09]\n";

Simulation run(const std::string& stepper, bool timed) {
  Scene scene = parse_scene(box, "box.toml");
  scene.set_stepper(stepper);
  Simulation simulation = make_simulation(scene);
  simulation.time_stages(timed);
  for (int k = 0; k < 50; ++k) simulation.step();
  return simulation;
}

double sum(const StageTimes& times) { return std::accumulate(times.seconds.begin(), times.seconds.end(), 0.0); }

}  // namespace

TEST_CASE("stages: their times lie within that of the steps, and change no bit") {
  for (const char* stepper : {"rigid", "exponential", "momentum"}) {
    CAPTURE(stepper);
    const Simulation timed = run(stepper, true), plain = run(stepper, false);
    const StageTimes& times = timed.stage_times();
    CHECK(times.steps == 50);
    CHECK(times.step > 0);
    CHECK(sum(times) > 0);
    CHECK(sum(times) <= times.step);
    CHECK(timed.state().q == plain.state().q);
    CHECK(timed.state().v == plain.state().v);
    CHECK(plain.stage_times().steps == 0);
    CHECK(sum(plain.stage_times()) == 0);
  }
}

TEST_CASE("stages: the rigid step has all of them, others solve") {
  const StageTimes rigid = run("rigid", true).stage_times(), momentum = run("momentum", true).stage_times();
  for (int i = 0; i < stage_count; ++i) {
    CAPTURE(stage_names[static_cast<std::size_t>(i)]);
    CHECK(rigid.seconds[static_cast<std::size_t>(i)] > 0);
  }
  CHECK(momentum.seconds[static_cast<std::size_t>(Stage::Solve)] > 0);
  CHECK(momentum.seconds[static_cast<std::size_t>(Stage::Assembly)] == 0);
}

TEST_CASE("stages: switched off they stay, switched on again they begin at zero") {
  Simulation simulation = run("rigid", true);
  simulation.time_stages(false);
  simulation.step();
  CHECK(simulation.stage_times().steps == 50);
  simulation.time_stages();
  simulation.step();
  CHECK(simulation.stage_times().steps == 1);
}

}  // namespace tribo
