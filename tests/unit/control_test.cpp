// What Simulation does for controllers: ticks, held decisions, limits, velocity targets.
#include <doctest/doctest.h>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

Scene arm(const std::string& stepper = "rigid") {
  return parse_scene(
      "[ground]\nnone = true\n[[robot.link]]\nname = \"rod\"\naxis = [0.0, 1.0, 0.0]\nshape = \"box\"\n"
      "size = [0.05, 0.05, 1.0]\ncom = [0.0, 0.0, -0.5]\nmass = 1.0\ncollide = false\neffort_limit = 2.0\n"
      "[stepper]\nname = \"" +
          stepper + "\"\ndt = 1e-3\n",
      "arm");
}

// Torque equal to the number of the tick, counted in its memory.
class Counter final : public Controller {
 public:
  explicit Counter(double period) : period_(period) {}
  double period() const override { return period_; }
  int memory() const override { return 1; }
  void control(const Model&, const State&, const Dynamics&, std::span<double> memory, Actuation& a) override {
    a.tau[0] += 0.1 * ++memory[0];
  }

 private:
  double period_;
};

class Target final : public Controller {
 public:
  explicit Target(double velocity) : velocity_(velocity) {}
  bool sets_targets() const override { return true; }
  void control(const Model&, const State&, const Dynamics&, std::span<double>, Actuation& a) override {
    a.target[0] = velocity_;
  }

 private:
  double velocity_;
};

}  // namespace

TEST_CASE("a controller ticks at its period, and its torque is held in the state between ticks") {
  Simulation simulation = make_simulation(arm());
  simulation.add_controller(std::make_unique<Counter>(4e-3));
  const double expected[] = {0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3};
  State middle;
  for (int i = 0; i < 10; ++i) {
    if (i == 6) middle = simulation.state();
    simulation.step();
    CHECK(simulation.torque()[0] == doctest::Approx(expected[i]));
  }
  const VecX q = simulation.state().q;
  simulation.set_state(middle);
  for (int i = 6; i < 10; ++i) simulation.step();
  CHECK(simulation.state().q == q);
}

TEST_CASE("a period shorter than the step ticks every step; one that is not finite is refused") {
  Simulation simulation = make_simulation(arm());
  simulation.add_controller(std::make_unique<Counter>(1e-4));
  for (int i = 1; i <= 3; ++i) {
    simulation.step();
    CHECK(simulation.torque()[0] == doctest::Approx(0.1 * i));
  }
  CHECK_THROWS_AS(simulation.add_controller(std::make_unique<Counter>(-1.0)), InvalidInput);
}

TEST_CASE("a velocity target is met exactly while the effort limit allows, and the limit is never passed") {
  Simulation easy = make_simulation(arm());
  easy.add_controller(std::make_unique<Target>(2e-3));  // I v / dt = 1/3 kg m^2 * 2 rad/s^2 = 2/3 N m < 2 N m
  easy.step();
  CHECK(easy.state().v[0] == doctest::Approx(2e-3).epsilon(1e-9));
  CHECK(easy.torque()[0] == doctest::Approx(2.0 / 3).epsilon(5e-3));  // the rod is 5 cm thick
  Simulation hard = make_simulation(arm());
  hard.add_controller(std::make_unique<Target>(1.0));
  hard.step();
  CHECK(hard.torque()[0] == 2.0);
  CHECK(hard.state().v[0] == doctest::Approx(6e-3).epsilon(5e-3));  // dt tau / I
}
