// Advice on dt against closed forms, and what find_errors refuses.
#include <doctest/doctest.h>

#include "diagnosis/advice.hpp"
#include "scratch_folder.hpp"

using namespace tribo;

namespace {

std::string advice(const std::string& text) {
  std::string all;
  for (const std::string& line : dt_advice(parse_scene(text, "test"))) all += line + "\n";
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A mass of 2 kg on a slide.
const std::string slide =
    "[ground]\nnone = true\n[robot]\n[[robot.link]]\njoint = 'prismatic'\nsize = 0.1\nmass = 2\neffort_limit = 1e9\n";

}  // namespace

TEST_CASE("advice: gains that act explicitly bound dt by 2 / omega and by 2 m / kd") {
  // omega = sqrt(800 / 2) = 20: at most 0.1 s.
  const std::string spring = slide + "[controller]\nkp = 800\nimplicit = false\n[stepper]\ndt = ";
  CHECK(has(advice(spring + "0.2\n"), "2 times too large for the gains at joint 'chain/link1'; take at most 0.1 s"));
  CHECK(advice(spring + "0.09\n") == "");
  // 2 m / kd = 0.01 s.
  const std::string damper = slide + "[controller]\nkd = 400\nimplicit = false\n[stepper]\ndt = ";
  CHECK(has(advice(damper + "0.03\n"), "3 times too large"));
  // The rigid stepper takes gains implicitly, as all do but Runge-Kutta.
  CHECK(advice(slide + "[controller]\nkp = 800\n[stepper]\ndt = 0.2\n") == "");
  CHECK(advice(slide + "[controller]\nkp = 800\n[stepper]\nname = 'exponential'\ndt = 0.2\n") == "");
  CHECK(has(advice(slide + "[controller]\nkp = 800\n[stepper]\nname = 'runge-kutta'\ndt = 0.2\n"),
            "times too large for the gains"));
}

TEST_CASE("advice: stiff contact under an explicit stepper, and speeds") {
  // A ball of 1 kg on K = 1e4 N/m without damping: half of 2 / sqrt(1e4) = 0.02 s.
  const std::string ball =
      "[material.default]\nstiffness = 1e4\ndamping = 0\n[[object]]\nname = 'ball'\nshape = 'sphere'\nradius = "
      "0.1\nmass = 1\n"
      "position = [0, 0, 1]\n";
  CHECK(has(advice(ball + "[stepper]\nname = 'explicit-euler'\ndt = 0.02\n"),
            "2 times too large for the stiffness of contact at 'ball'"));
  CHECK(advice(ball + "[stepper]\nname = 'explicit-euler'\ndt = 0.0095\n") == "");
  CHECK(advice(ball + "[stepper]\ndt = 0.04\n") == "");
  // Friction of a quarter of 9.81 N over 1/100 m/s, mu = 0.7: 172 N s/m on 1 kg, 5.8 ms.
  CHECK(has(advice(ball + "[stepper]\nname = 'microscopic'\ndt = 0.009\n"), "times too large for the stiffness"));
  // 0.2 m of ball at 100 m/s: 2 ms.
  CHECK(has(advice(ball + "velocity = [100, 0, 0]\n[stepper]\ndt = 0.004\n"),
            "2 times too large for the speed of 'ball'"));
}

TEST_CASE("advice: a landing that overlaps by more than a quarter of the size") {
  // A ball of 1 kg, 0.2 m wide, that falls by 0.9 m on K without damping: m g/K + sqrt((m g/K)^2 + 2 m g 0.9 m/K) is
  // 0.043 m on 1e4 N/m and 0.143 m on 1e3 N/m, 71 % of the ball.
  const auto ball = [](const std::string& K, const std::string& stepper) {
    return advice("[material.default]\nstiffness = " + K +
                  "\ndamping = 0\n[[object]]\nname = 'ball'\nshape = 'sphere'\n" +
                  "radius = 0.1\nmass = 1\nposition = [0, 0, 1]\n[stepper]\n" + stepper);
  };
  CHECK(ball("1e4", "name = 'exponential'\ndt = 0.001\n") == "");
  CHECK(has(ball("1e3", "name = 'exponential'\ndt = 0.001\n"), "'ball' can overlap by 0.143"));
  CHECK(ball("1e3", "name = 'rigid'\ndt = 0.001\n") == "");  // has no use for K
  // The momentum family: sqrt(2 g 0.9 m) = 4.2 m/s, 42 mm in 10 ms, 63 mm in 15 ms of the 50 that are a quarter.
  CHECK(ball("1e3", "name = 'momentum'\ndt = 0.01\n") == "");
  CHECK(has(ball("1e3", "name = 'momentum'\ndt = 0.015\n"), "'ball' can overlap by 0.063"));
}

TEST_CASE("advice: what a controller holds falls as a whole") {
  // Talos stands: no link of its head falls by 1.7 m, whatever the stepper. Let go of, it does.
  const std::string talos = "[robot]\nmodel = 'talos'\n[stepper]\nname = 'exponential'\n";
  CHECK_FALSE(has(advice(talos + "[controller]\nname = 'pd'\nkp = 5000\nkd = 100\n"), "when it lands"));
  CHECK(has(advice(talos), "when it lands"));
  // The box of 1 mm for the sensor in A1's trunk does not land at all.
  CHECK_FALSE(has(advice("[robot]\nmodel = 'a1'\n[stepper]\nname = 'exponential'\n[controller]\nname = 'pd'\nkp = 100\n"
                         "kd = 2\n"),
                  "when it lands"));
  // Dropped from 20 m it lands at 20 m/s all the same.
  CHECK(has(advice("[robot]\nmodel = 'talos'\ndrop = 20\n[stepper]\nname = 'exponential'\n[controller]\nname = 'pd'\n"
                   "kp = 5000\nkd = 100\n"),
            "when it lands"));
}

TEST_CASE("advice: a joint that moves no inertia is an error of the scene") {
  ScratchFolder folder;
  // A point mass on the axis: mass, but nothing that turns.
  const std::string path = folder.write("r.urdf",
                                        "<robot name='r'><link name='a'/><link name='b'><inertial><mass "
                                        "value='1'/><inertia ixx='0' iyy='0' izz='0' ixy='0' "
                                        "ixz='0' iyz='0'/></inertial></link><joint name='j' type='continuous'><parent "
                                        "link='a'/><child link='b'/><axis xyz='0 0 1'/>"
                                        "</joint></robot>");
  CHECK(has(refusal([&] { parse_scene("[robot]\nmodel = \"" + path + "\"\nbase = \"fixed\"\n", "test"); }),
            "'r/j' moves nothing that has inertia"));
}
