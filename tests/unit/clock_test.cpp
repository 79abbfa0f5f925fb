// Time is counted, not summed: ticks are exact after a million seconds, and controllers with a period do not slip one.
#include <doctest/doctest.h>

#include <cmath>

#include "tribo/sensors.hpp"
#include "tribo/simulation.hpp"
#include "unit/scratch_folder.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

/// Counts its ticks, and keeps the time of each.
class Ticks final : public Controller {
 public:
  Ticks(double period, std::vector<double>& times) : period_(period), times_(times) {}
  double period() const override { return period_; }
  void control(const Model&, const State& state, const Dynamics&, std::span<double>, Actuation&) override {
    times_.push_back(state.t);
  }

 private:
  double period_;
  std::vector<double>& times_;
};

Simulation ball(double dt) {
  worlds::World world;
  world.gravity(Vec3::Zero());
  return world.sphere(0.1, 1, Vec3(0, 0, 1)).simulate(dt);
}

void begin_at(Simulation& simulation, double t) {
  State state = simulation.state();
  state.t = t;
  simulation.set_state(state);
}

}  // namespace

TEST_CASE("time is start + steps dt, to the last bit, from any start") {
  for (double start : {0.0, 1e6, 12345.678, -3.0})
    for (double dt : {1e-3, 1.0 / 3000, 2e-4}) {
      CAPTURE(start);
      CAPTURE(dt);
      Simulation simulation = ball(dt);
      begin_at(simulation, start);
      double sum = start;
      bool same = true, summed = true;
      for (int k = 1; k <= 5000; ++k) {
        const StepReport report = simulation.step();
        sum += dt;
        same &= simulation.state().t == start + k * dt && report.t == simulation.state().t;
        summed &= simulation.state().t == sum;
      }
      CHECK(same);
      CHECK_FALSE(summed);  // a sum goes astray: the test can tell
    }
}

TEST_CASE("a state goes on with its own clock; another t or another step begins a new one") {
  ScratchFolder folder;
  Simulation whole = ball(1e-3);
  begin_at(whole, 1e6);
  worlds::run(whole, 0.7);
  save_state(whole.state(), folder.file("s"));
  const State kept = whole.state();
  worlds::run(whole, 0.3);
  Simulation restored = ball(1e-3);
  restored.set_state(load_state(restored.model(), folder.file("s")));
  worlds::run(restored, 0.3);
  CHECK(hash(restored.state()) == hash(whole.state()));
  CHECK(whole.state().t == 1e6 + 1000 * 1e-3);
  Simulation finer = ball(2.5e-4);
  finer.set_state(kept);
  finer.step();
  CHECK(finer.state().clock.steps == 1);
  CHECK(finer.state().t == kept.t + 2.5e-4);
  begin_at(restored, 5);
  restored.step();
  CHECK(restored.state().t == 5 + 1e-3);
}

TEST_CASE("a controller whose period is a multiple of dt ticks at every such step, however late it is") {
  // 1e9 s: t has a rounding of 1e-7 s there, a hundredth of the shortest step.
  for (double start : {0.0, 1e6, 1e6 + 1e-3, 1e9})
    for (const auto& pair : {std::pair{1e-3, 10}, {1e-3, 1}, {1.0 / 3000, 3}, {1e-5, 7}}) {
      const double dt = pair.first;
      const int each = pair.second;
      CAPTURE(start);
      CAPTURE(dt);
      CAPTURE(each);
      Simulation simulation = ball(dt);
      std::vector<double> times;
      simulation.add_controller(std::make_unique<Ticks>(each * dt, times));
      begin_at(simulation, start);
      std::vector<int> steps;  // at which it ticked
      for (int k = 0; k < 1000; ++k) {
        const std::size_t before = times.size();
        simulation.step();
        if (times.size() != before) steps.push_back(k);
      }
      // The first tick comes at once, the next where a whole number of periods has passed since t = 0, then every period.
      REQUIRE(steps.size() >= static_cast<std::size_t>(1000 / each));
      CHECK(steps.size() <= static_cast<std::size_t>((1000 + each - 1) / each + 1));
      CHECK(steps[0] == 0);
      bool regular = steps.size() > 2 ? steps[1] <= each : true;
      for (std::size_t i = 2; i < steps.size(); ++i) regular &= steps[i] - steps[i - 1] == each;
      CHECK(regular);
      if (start == 0 || (start == 1e6 && each != 7)) CHECK(steps[1] == each);  // 1e11 is no multiple of 7
    }
}

TEST_CASE("a period that is no multiple of dt ticks at the first step in each of its periods") {
  for (double start : {0.0, 1e6}) {
    Simulation simulation = ball(1e-3);
    std::vector<double> times;
    simulation.add_controller(std::make_unique<Ticks>(2.5e-3, times));
    begin_at(simulation, start);
    for (int k = 0; k < 1000; ++k) simulation.step();
    REQUIRE(times.size() == 400);
    for (int k = 0; k < 400; ++k)
      CHECK(times[at(k)] == doctest::Approx(start + 1e-3 * std::ceil(2.5 * k)).epsilon(1e-15));
  }
}

TEST_CASE("time set back, or far ahead: a controller ticks at once, and goes on with its period") {
  Simulation simulation = ball(1e-3);
  std::vector<double> times;
  simulation.add_controller(std::make_unique<Ticks>(0.01, times));
  for (int k = 0; k < 25; ++k) simulation.step();
  CHECK(times.size() == 3);
  begin_at(simulation, 0);
  for (int k = 0; k < 10; ++k) simulation.step();
  CHECK(times.size() == 4);
  begin_at(simulation, 1e5 + 0.004);
  for (int k = 0; k < 10; ++k) simulation.step();  // at once, and at 1e5 + 0.01
  CHECK(times.size() == 6);
  CHECK(times.back() == doctest::Approx(1e5 + 0.01).epsilon(1e-15));
  begin_at(simulation, -0.005);
  for (int k = 0; k < 10; ++k) simulation.step();  // at once, and at 0
  CHECK(times.size() == 8);
}

TEST_CASE("a push a million seconds late lasts as many steps as an early one") {
  for (double start : {0.0, 1e6}) {
    CAPTURE(start);
    Simulation simulation = ball(1e-3);
    simulation.add_push(make_push(simulation.model(),
                                  {.where = "object0", .force = Vec3(2, 0, 0), .start = start + 0.1, .duration = 0.2}));
    begin_at(simulation, start);
    worlds::run(simulation, 0.5);
    CHECK(simulation.state().v[0] == doctest::Approx(2 * 0.2).epsilon(1e-12));  // F t / m
  }
}
