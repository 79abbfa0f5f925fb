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
