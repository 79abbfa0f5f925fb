// Rest: forces that hold are taken over without a solve, and what stands does not sway between steps.
#include <doctest/doctest.h>

#include "stepping/workspace.hpp"
#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"
#include "tribo/step.hpp"

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

// No Jacobian, no G, and the same forces to the bit, until something pushes.
TEST_CASE("what rests is stepped without a matrix, and its forces stand; a push is seen at once") {
  for (const std::string name : {"cube", "stack-10"}) {
    CAPTURE(name);
    Scene scene = load_scene(TRIBO_SCENES "/" + name + ".toml");
    Stepper stepper(*scene.model, stepper_entry("rigid").make(*scene.model, scene.stepper_options),
                    scene.stepper_options);
    Workspace work(*scene.model);
    State state = scene.start;
    for (int k = 0; k < 2500; ++k) stepper.advance(state, work, 1e-3);
    int held = 0, same = 0;
    for (int k = 0; k < 200; ++k) {
      const std::vector<ContactReport> before = stepper.contacts();
      stepper.advance(state, work, 1e-3);
      held += stepper.outcome().islands[0].problem.factor.empty();
      bool stands = before.size() == stepper.contacts().size();
      for (std::size_t i = 0; stands && i < before.size(); ++i) stands = before[i].f == stepper.contacts()[i].f;
      same += stands;
    }
    CHECK(held >= 180);
    CHECK(same >= held);
    // A push of 1e-6 of the weight, which friction bears.
    const double push = 1e-6 * 9.81 * scene.model->mass();
    work.actuation.external[scene.model->nv - 6] = push;
    stepper.advance(state, work, 1e-3);
    CHECK_FALSE(stepper.outcome().islands[0].problem.factor.empty());
    Vec3 ground = Vec3::Zero();
    for (const ContactReport& c : stepper.contacts())
      if (scene.model->geometries[at(c.geometry_a)].body < 0) ground += c.R_WC * c.f;
    CHECK(ground.head<2>().norm() == doctest::Approx(push).epsilon(1e-3));
    CHECK(state.v.cwiseAbs().maxCoeff() < 1e-9);
  }
}

// Looking at each problem asks for its matrix.
TEST_CASE("what rests goes where it goes when every problem has its matrix") {
  for (const std::string name : {"stack-10", "solo-standing", "allegro-ball"}) {
    CAPTURE(name);
    Scene scene = load_scene(TRIBO_SCENES "/" + name + ".toml");
    Simulation held = make_simulation(scene);
    scene.stepper_options.own.as<RigidOptions>().on_problem = [](ContactProblem&, const double*) {};
    Simulation solved = make_simulation(scene);
    for (int k = 0; k < 3000; ++k) {
      held.step();
      solved.step();
    }
    CHECK((held.state().q - solved.state().q).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((held.state().v - solved.state().v).cwiseAbs().maxCoeff() < 1e-9);
    CHECK(held.state().q != solved.state().q);  // two ways indeed
  }
}
