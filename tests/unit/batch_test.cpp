// Batch as C++ sees it: controllers of each world, worlds that are not there. The rest is in tests/python.
#include <doctest/doctest.h>

#include "tribo/batch.hpp"

using namespace tribo;

namespace {

const char* slider = R"(
[robot]
[[robot.link]]
name = "cart"
joint = "prismatic"
axis = [1, 0, 0]
size = 0.1
mass = 2
effort_limit = 100
[stepper]
dt = 0.01
)";

/// A force that grows by a step of its own with each tick; the count lives in the State.
class Ramp final : public Controller {
 public:
  explicit Ramp(double step) : step_(step) {}
  int memory() const override { return 1; }
  double period() const override { return 0.02; }
  void control(const Model&, const State&, const Dynamics&, std::span<double> memory, Actuation& a) override {
    a.tau[0] += step_ * ++memory[0];
  }

 private:
  double step_;
};

}  // namespace

TEST_CASE("batch: each world has its own controller, with its own memory and period") {
  const Scene scene = parse_scene(slider, "slider");
  Batch batch(scene, 3, 2, {[](const Model&, int world) { return std::make_unique<Ramp>(world); }});
  batch.step(5);  // ticks at 0, 0.02 and 0.04 s
  // v = dt / m (1 + 1 + 2 + 2 + 3) times the step
  for (int w = 0; w < 3; ++w) CHECK(batch.v()[static_cast<std::size_t>(w)] == doctest::Approx(0.01 / 2 * 9 * w));
  const State kept = batch.state(2);
  batch.reset(2);
  CHECK(batch.state(2).control == std::vector<double>(kept.control.size(), 0.0));
  batch.step(1);
  CHECK(batch.v()[2] == doctest::Approx(0.01 / 2 * 2));
  batch.set_state(2, kept);
  batch.set_state(1, kept);  // remembers the count, pushes with its own step
  batch.step(1);
  CHECK(batch.v()[2] == doctest::Approx(0.01 / 2 * (18 + 6)));
  CHECK(batch.v()[1] == doctest::Approx(0.01 / 2 * (18 + 6)));  // what is held is in the state too
  batch.step(1);
  CHECK(batch.v()[2] == doctest::Approx(0.01 / 2 * (24 + 8)));
  CHECK(batch.v()[1] == doctest::Approx(0.01 / 2 * (24 + 4)));
}

TEST_CASE("batch: a world that is not there is refused, and so are steps backwards") {
  Batch batch(parse_scene(slider, "slider"), 2, 1);
  const State state = batch.state(0);
  for (int w : {-1, 2, 1000000}) {
    CHECK_THROWS_AS(batch.reset(w), InvalidInput);
    CHECK_THROWS_AS(batch.set_state(w, state), InvalidInput);
    CHECK_THROWS_AS(batch.set_parameters(w, {}), InvalidInput);
    CHECK_THROWS_AS(batch.state(w), InvalidInput);
    CHECK_THROWS_AS(batch.hash(w), InvalidInput);
    CHECK_THROWS_AS(batch.reason(w), InvalidInput);
  }
  CHECK_THROWS_AS(batch.step(-1), InvalidInput);
  const WorldParameters weightless{0, 1, 1};
  CHECK_THROWS_AS(batch.set_parameters(0, weightless), InvalidInput);
  batch.step(3);
  CHECK(batch.hash(0) == batch.hash(1));
}

TEST_CASE("batch: rows of parameters, a list of worlds, and what names a world twice") {
  const Scene scene = parse_scene(slider, "slider");
  Batch batch(scene, 3, 2);
  const int two[] = {2, 0}, twice[] = {1, 1};
  const double mass[] = {4, 8};
  ParameterRows rows;
  rows.numbers.mass = mass;
  batch.set_parameters(two, rows);
  for (double& f : batch.torque_in()) f = 1;
  batch.step(two, 2);
  // v = t F / m; world 1 was not stepped.
  CHECK(batch.v()[2] == doctest::Approx(0.02 / 4));
  CHECK(batch.v()[0] == doctest::Approx(0.02 / 8));
  CHECK(batch.t()[1] == 0);
  CHECK(batch.model(2)->mass() == doctest::Approx(4));
  CHECK(batch.model(1) == scene.model);
  CHECK_THROWS_AS(batch.step(twice, 1), InvalidInput);
  CHECK_THROWS_AS(batch.reset(twice), InvalidInput);
  CHECK_THROWS_AS(batch.set_parameters(twice, rows), InvalidInput);
  batch.reset(two);
  CHECK(batch.v()[0] == 0);
  CHECK(batch.model(2)->mass() == doctest::Approx(4));  // a reset keeps them
}
