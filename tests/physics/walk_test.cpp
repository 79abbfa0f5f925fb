// Quadrupeds that walk where they are told.
#include <doctest/doctest.h>

#include <cmath>

#include "tribo/scene.hpp"
#include "tribo/walk.hpp"

using namespace tribo;

namespace {

struct Walked {
  double forward = 0, left = 0, turning = 0;  // means, in the axes of the heading
  double x = 0, tilt = 0;                     // at the end; largest
  bool stands = true;
  std::uint64_t unsolved = 0;
};

double yaw_of(const Mat3& R) { return std::atan2(R(1, 0), R(0, 0)); }

// From t to t_end.
Walked go(Simulation& simulation, double t_end) {
  Walked w;
  double n = 0;
  while (simulation.state().t < t_end - 1e-9) {
    const StepReport report = simulation.step();
    if (report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped) break;
    const State& s = simulation.state();
    const Mat3 R = Quat(s.q[6], s.q[3], s.q[4], s.q[5]).toRotationMatrix();
    const Vec3 v = Eigen::AngleAxisd(-yaw_of(R), Vec3::UnitZ()) * (R * s.v.head<3>());
    w.forward += v.x(), w.left += v.y(), w.turning += (R * s.v.segment<3>(3)).z(), ++n;
    w.tilt = std::max(w.tilt, std::acos(std::min(1.0, R(2, 2))));
  }
  w.forward /= n, w.left /= n, w.turning /= n;
  w.x = simulation.state().q[0];
  w.stands = w.tilt < 0.8;
  w.unsolved = simulation.audit().unsolved;
  return w;
}

std::string robot(const std::string& name, const std::string& controller) {
  return "[robot]\nmodel = \"" + name + "\"\ncontact = \"feet\"\npose = \"standing\"\n[material.default]\nmu = 0.9\n" +
         "[controller]\nname = \"walk\"\n" + controller;
}

}  // namespace

TEST_CASE("walk: Solo follows its commands from standing to 0.6 m/s and round a bend") {
  Simulation simulation = make_simulation(load_scene(std::string(TRIBO_SCENES) + "/solo-walk.toml"));
  CHECK(std::abs(go(simulation, 1).forward) < 0.01);
  go(simulation, 1.5);
  const Walked slow = go(simulation, 5);
  CHECK(std::abs(slow.forward - 0.3) < 0.02);
  CHECK(std::abs(slow.left) < 0.02);
  go(simulation, 5.5);
  const Walked fast = go(simulation, 12);
  CHECK(std::abs(fast.forward - 0.6) < 0.02);
  go(simulation, 13);
  const Walked bend = go(simulation, 20);
  CHECK(std::abs(bend.forward - 0.3) < 0.02);
  CHECK(std::abs(bend.turning - 0.5) < 0.02);
  CHECK(bend.stands);
  CHECK(bend.unsolved == 0);
}

TEST_CASE("walk: a push of 10 N for 0.2 s, from four sides, is survived; a fallen robot only damps its joints") {
  for (const Vec3& force : {Vec3(10, 0, 0), Vec3(-10, 0, 0), Vec3(0, 10, 0), Vec3(0, -10, 0)}) {
    Scene scene = parse_scene(robot("solo12", "velocity = [0.3, 0, 0]\n"), "push");
    Simulation simulation = make_simulation(scene);
    PushRequest push;
    push.where = "solo12";
    push.force = force;
    push.start = 2;
    push.duration = 0.2;
    simulation.add_push(make_push(*scene.model, push));
    CHECK(go(simulation, 3).stands);
    const Walked after = go(simulation, 4);
    CHECK(after.stands);
    CHECK(std::abs(after.forward - 0.3) < 0.05);
  }
  Scene scene = parse_scene(robot("solo12", "velocity = [0.3, 0, 0]\n"), "fall");
  State start = scene.start;
  start.q.segment<4>(3) << 1, 0, 0, 0;  // on its back
  start.q[2] = 0.2;
  Simulation simulation = make_simulation(scene);
  start.control = simulation.state().control;
  simulation.set_state(start);
  simulation.step();
  CHECK(simulation.torque().cwiseAbs().maxCoeff() < 1);
  go(simulation, 2);
  CHECK(simulation.state().v.cwiseAbs().maxCoeff() < 1);
}

TEST_CASE("walk: other quadrupeds by the same keys, with ball feet, on flat ground and on 3 cm bumps") {
  const std::string bumps =
      "[ground]\nnone = true\n[[terrain]]\nspacing = 0.05\npoints = [221, 61]\nroughness = 0.03\nlength = [1, 1]\n"
      "seed = 3\nposition = [4.5, 0, 0]\n";
  for (const char* name : {"go2", "a1", "anymal_c"})
    for (const std::string& ground : {std::string(), bumps}) {
      CAPTURE(name);
      CAPTURE(ground.empty());
      Simulation simulation = make_simulation(parse_scene(ground + robot(name, "velocity = [0.5, 0, 0]\n"), "walk"));
      go(simulation, 2);
      const Walked walked = go(simulation, 10);
      CHECK(walked.stands);
      CHECK(std::abs(walked.forward - 0.5) < 0.03);
      CHECK(walked.x > 4.4);
    }
}

TEST_CASE("walk: quadrupeds that nothing was tuned for walk by the same keys") {
  for (const char* name : {"go1", "b1", "laikago", "hyq", "anymal_b"}) {
    CAPTURE(name);
    Simulation simulation = make_simulation(parse_scene(robot(name, "velocity = [0.4, 0, 0.3]\n"), "walk"));
    go(simulation, 2);
    const Walked walked = go(simulation, 5);
    CHECK(walked.stands);
    CHECK(std::abs(walked.forward - 0.4) < 0.03);
    CHECK(std::abs(walked.turning - 0.3) < 0.03);
  }
}

TEST_CASE("walk: on rough ground that it slips on, legs that are stretched do not run away") {
  // Heights of 10 cm, 0.4 of the leg, within 15 cm. A foot at 3 m/s, seen from the shortest lever of a bent leg (3 cm), turns
  // its joints at 100 rad/s; a controller that follows the inverse of a stretched leg asks for thousands, and falls. A walk
  // with slips is chaotic: which terrain it falls on depends on rounding, so they are counted.
  int stand = 0;
  for (int seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const std::string ground =
        "[ground]\nnone = true\n[[terrain]]\nspacing = 0.05\npoints = [121, 61]\nroughness = 0.1\nlength = [0.15, "
        "0.15]\n"
        "seed = " +
        std::to_string(seed) + "\nposition = [2.5, 0, 0]\n";
    const std::string solo =
        "[robot]\nmodel = \"solo12\"\ncontact = \"feet\"\npose = \"standing\"\nposition = [0, 0, 0.35]\n"
        "[material.default]\nmu = 0.4\n[controller]\nname = \"walk\"\nmu = 0.9\nvelocity = [0.3, 0, 0]\n";
    Simulation simulation = make_simulation(parse_scene(ground + solo, "rough"));
    double fastest = 0, tilt = 0;
    while (simulation.state().t < 6 - 1e-9 && tilt < 1) {
      const Walked walked = go(simulation, simulation.state().t + 0.01);
      tilt = std::max(tilt, walked.tilt);
      fastest = std::max(fastest, simulation.state().v.tail(12).cwiseAbs().maxCoeff());
    }
    CHECK(fastest < 300);
    stand += tilt < 1 && simulation.state().q[0] > 1.2;
  }
  CHECK(stand >= 7);
}

TEST_CASE("walk: up stairs of 5 cm") {
  std::string stairs;
  for (int k = 0; k < 4; ++k) {
    const double length = k < 3 ? 0.3 : 3, x = 0.6 + 0.3 * k + 0.5 * length, z = 0.05 * (k + 1);
    stairs += "[[wall]]\nname = \"step" + std::to_string(k) + "\"\nshape = \"box\"\nsize = [" + std::to_string(length) +
              ", 2, " + std::to_string(z) + "]\nposition = [" + std::to_string(x) + ", 0, " + std::to_string(z / 2) +
              "]\n";
  }
  for (const char* name : {"solo12", "go2"}) {
    CAPTURE(name);
    Scene scene = parse_scene(robot(name, "velocity = [0.3, 0, 0]\n") + stairs, "stairs");
    const double height = scene.start.q[2];
    Simulation simulation = make_simulation(scene);
    const Walked walked = go(simulation, 9);
    CHECK(walked.stands);
    CHECK(walked.x > 2.2);
    CHECK(simulation.state().q[2] == doctest::Approx(height + 0.2).epsilon(0.1));
  }
}

TEST_CASE("walk: saved and restored in mid-stride the run goes on bit for bit") {
  const Scene scene = load_scene(std::string(TRIBO_SCENES) + "/solo-walk.toml");
  Simulation a = make_simulation(scene), b = make_simulation(scene);
  go(a, 2.037);
  b.set_state(a.state());
  for (int k = 0; k < 500; ++k) a.step(), b.step();
  CHECK(hash(a.state()) == hash(b.state()));
}

TEST_CASE("walk: the exponential stepper and other ticks walk as well") {
  for (const char* more : {"period = 0.002\n", "duty = 0.6\n", "nodes = 10\n", "gait_period = 0.4\n"}) {
    CAPTURE(more);
    Simulation simulation =
        make_simulation(parse_scene(robot("solo12", std::string("velocity = [0.3, 0.1, 0.2]\n") + more), "ticks"));
    go(simulation, 1.5);
    const Walked walked = go(simulation, 4);
    CHECK(walked.stands);
    CHECK(std::abs(walked.forward - 0.3) < 0.05);
    CHECK(std::abs(walked.left - 0.1) < 0.05);
    CHECK(std::abs(walked.turning - 0.2) < 0.05);
  }
  Scene scene = parse_scene(robot("solo12", "velocity = [0.3, 0, 0]\n"), "expo");
  scene.set_stepper("exponential");
  Simulation simulation = make_simulation(scene);
  go(simulation, 1.5);
  const Walked walked = go(simulation, 4);
  CHECK(walked.stands);
  CHECK(std::abs(walked.forward - 0.3) < 0.05);
}

TEST_CASE("walk: what no quadruped is, and values out of their range, are refused by name") {
  auto refused = [](const std::string& text, const char* words) {
    try {
      parse_scene(text, "bad");
      return false;
    } catch (const InvalidInput& error) {
      CAPTURE(std::string(error.what()));
      CHECK(std::string(error.what()).find(words) != std::string::npos);
      return std::string(error.what()).find(words) != std::string::npos;
    }
  };
  CHECK(refused("[robot]\nmodel = \"ur10\"\n[controller]\nname = \"walk\"\n", "four feet"));
  CHECK(refused(robot("solo8", ""), "fewer than three"));
  CHECK(refused("[robot]\nmodel = \"talos\"\ncontact = \"feet\"\n[controller]\nname = \"walk\"\n", "four feet"));
  CHECK(refused(robot("solo12", "duty = 0.1\n"), "duty"));
  CHECK(refused(robot("solo12", "velocty = [1, 0, 0]\n"), "velocity"));
  CHECK(refused(robot("solo12", "command = [{ t = 2.0, velocity = [1, 0, 0] }, { t = 1.0, velocity = [0, 0, 0] }]\n"),
                "not before"));
  CHECK(refused(robot("solo12", "command = [{ t = 2.0 }]\n"), "velocity"));
  CHECK(refused("gravity = [0, 0, 0]\n" + robot("solo12", ""), "gravity"));
}
