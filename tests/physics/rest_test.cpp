// Rest: forces that hold are taken over without a solve, and what stands does not sway between steps.
#include <doctest/doctest.h>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

Simulation load(const std::string& scene, double tolerance) {
  Scene s = load_scene(TRIBO_SCENES "/" + scene + ".toml");
  s.dt = 1e-3;
  s.stepper_options.contact.tolerance.rel = tolerance;
  return make_simulation(s);
}

struct Count {
  int solved = 0, iterations = 0;
  double worst = 0;  ///< relative residual
};

Count follow(Simulation& s, int settle, int steps) {
  for (int k = 0; k < settle; ++k) s.step();
  Count count;
  for (int k = 0; k < steps; ++k) {
    const StepReport report = s.step();
    count.solved += report.solve.iterations > 0;
    count.iterations += report.solve.iterations;
    count.worst = std::max(count.worst, report.solve.residual.relative());
  }
  return count;
}

}  // namespace

// A guess that was taken at the whole tolerance made every second step a solve, each stopping what the last had moved.
TEST_CASE("a cube, a stack and a robot at rest are stepped without solves, within the tolerance") {
  for (const std::string scene : {"cube", "stack-10", "solo-standing"})
    for (double tolerance : {1e-6, 1e-8}) {
      Simulation s = load(scene, tolerance);
      const Count count = follow(s, 2500, 400);
      CAPTURE(scene);
      CAPTURE(tolerance);
      CHECK(count.solved <= 40);  // what is held must not creep all the same: grasp_test.cpp
      CHECK(count.worst <= tolerance);
      CHECK(s.audit().unconverged == 0);
    }
}

TEST_CASE("a cube at rest moves by rounding alone") {
  Simulation s = load("cube", 1e-6);
  follow(s, 2000, 1);
  double fastest = 0;
  for (int k = 0; k < 100; ++k) {
    s.step();
    fastest = std::max(fastest, s.state().v.cwiseAbs().maxCoeff());
  }
  CHECK(fastest < 1e-9);  // the tolerance times g and dt: 2e-8
}

// Its fingers stand at a limit, with friction against it: what the guess lacks does not take them off it.
TEST_CASE("joints at a limit stay there: Talos is solved by one Newton step") {
  Simulation s = load("talos-standing", 1e-6);
  const Count count = follow(s, 1500, 100);
  CHECK(count.iterations <= 1.2 * count.solved);
}
