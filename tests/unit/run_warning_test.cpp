// What a run warns of while it goes on.
#include <doctest/doctest.h>

#include "tribo/run_warning.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

const std::string box = "[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n";

struct Result {
  RunWarning warning;
  Audit audit;
};

Result after(const std::string& scene, double duration) {
  Simulation simulation = make_simulation(parse_scene(scene, "test"));
  Result result;
  Run(simulation, duration).watch(result.warning).finish();
  result.audit = simulation.audit();
  return result;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("run warnings: none where the motion is resolved") {
  for (const char* stepper : {"rigid", "exponential", "implicit-euler", "momentum"}) {
    CAPTURE(stepper);
    const RunWarning w =
        after(box + "velocity = [1, 0, 0]\n[stepper]\nname = '" + stepper + "'\ndt = 0.001\n", 1.5).warning;
    CHECK(w.kind() == RunWarning::Kind::None);
    CHECK(w.text() == "");
  }
}

TEST_CASE("run warnings: none where a force sets in motion what rests") {
  for (const char* stepper : {"rigid", "exponential", "implicit-euler", "momentum"})
    for (const char* dt : {"0.0005", "0.001"}) {
      CAPTURE(stepper);
      CAPTURE(dt);
      const RunWarning w = after(box +
                                     "name = 'box'\n[[push]]\nbody = 'box'\nforce = [0, 0, 30]\nstart = 0.1\nduration "
                                     "= 9\n[stepper]\nname = '" +
                                     stepper + "'\ndt = " + dt + "\n",
                                 1)
                               .warning;
      CHECK(w.text() == "");
    }
}

TEST_CASE("run warnings: none where a motor lifts slowly") {
  // A hoist that pulls a hundredth more than the weight: U takes up m g v dt/2 more than (v + v_end)/2 says, beside m v^2/2 in motion.
  for (const char* force : {"9.9081", "9.8198"})
    for (const char* dt : {"0.0005", "0.001", "0.002"}) {
      CAPTURE(force);
      CAPTURE(dt);
      const RunWarning w =
          after(std::string("[ground]\nnone = true\n[robot]\n[[robot.link]]\njoint = 'prismatic'\naxis = [0, 0, 1]\n"
                            "size = 0.1\nmass = 1\n[[push]]\nbody = 'link1'\nforce = [0, 0, ") +
                    force + "]\nduration = 9\n[stepper]\ndt = " + dt + "\n",
                2)
              .warning;
      CHECK(w.text() == "");
    }
}

TEST_CASE("run warnings: half a turn a step, from the step on in which it is reached") {
  // 20 rad/s^2 by a torque of I alpha: 314 rad/s, half a turn in 10 ms, after 15.7 s; I = m (2 a^2) / 12.
  const std::string wheel =
      "[ground]\nnone = true\n[robot]\n[[robot.link]]\njoint = 'continuous'\naxis = [0, 0, 1]\nsize = 0.3\nmass = 1\n"
      "speed = 300\n[[push]]\nbody = 'link1'\ntorque = [0, 0, 0.3]\nduration = 100\n[stepper]\ndt = 0.01\n";
  const RunWarning w = after(wheel, 2).warning;
  CHECK(w.kind() == RunWarning::Kind::Speed);
  CHECK(w.time() == doctest::Approx(0.7).epsilon(0.03));
  CHECK(has(w.text(), "moves by half a turn"));
}

TEST_CASE("run warnings: a run that ends by itself has warned before") {
  // A free plate about the axis between its largest and its smallest inertia: explicit schemes gain energy until they end.
  const std::string plate =
      "[ground]\nnone = true\n[[object]]\nshape = 'box'\nsize = [0.3, 0.1, 0.02]\nmass = 1\n"
      "angular_velocity = [1, 100, 1]\n[stepper]\ndt = 0.001\nname = ";
  for (const char* stepper : {"'exponential'", "'explicit-euler'"}) {
    CAPTURE(stepper);
    const Result r = after(plate + stepper + "\n", 10);
    CHECK(r.audit.status == StepStatus::NotFinite);
    CHECK(r.warning.kind() == RunWarning::Kind::SchemeGain);
  }
}

TEST_CASE("run warnings: an overlap that dt does not resolve") {
  // A flat ellipsoid lands on its edge and turns by 1 rad a step: what is flat in the step's beginning stands on end in its end.
  const std::string flat =
      "[material.default]\nmu = 0.2001925976727313\n[[object]]\nname = 'flat'\nshape = 'ellipsoid'\nmass = 147\n"
      "radii = [0.026386454356441266, 0.02773636657939536, 0.015020717410432408]\n"
      "position = [0, 0, 0.07864106638966321]\nrpy = [2.211328165767573, 2.34012055000772, -1.7199633450810043]\n"
      "velocity = [0.8600343860222761, -0.42466107622150684, -0.5713899482520626]\n"
      "angular_velocity = [4.755761741698395, -1.598417955352165, 0.11573044021297382]\n[stepper]\ndt = ";
  const RunWarning coarse = after(flat + "0.02526089639868011\n", 0.5).warning;
  CHECK(coarse.kind() == RunWarning::Kind::Overlap);
  CHECK(has(coarse.text(), "'flat' overlap by"));
  CHECK(after(flat + "0.0025\n", 0.5).warning.text() == "");
}

TEST_CASE("run warnings: what lands deep under the momentum scheme goes on") {
  // An ellipsoid that lands at 1.9 m/s, 62 mm a step: it sinks in, and is not thrown.
  const std::string sinks =
      "[stepper]\nname = 'momentum'\ndt = 0.0325\n[material.default]\nmu = 0.055\n[[object]]\nshape = 'ellipsoid'\n"
      "radii = [0.102, 0.083, 0.087]\nmass = 4.53\nposition = [0, 0, 0.2375]\nrpy = [0.92, 2.96, 2.19]\n"
      "velocity = [0.09, -0.74, -0.77]\nangular_velocity = [0.38, 3.42, 2.63]\n";
  CHECK(after(sinks, 10).audit.status != StepStatus::NotFinite);
}
