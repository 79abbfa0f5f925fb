// The ready motions do what their names say, under the exponential stepper at the step of their scenes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

struct Watched {
  explicit Watched(const std::string& name)
      : scene(load_scene(std::string(TRIBO_SCENES) + "/" + name)),
        simulation(make_simulation(scene)),
        dynamics(*scene.model) {}

  // Calls look() after each step.
  template <class Look>
  void run(Look&& look) {
    const long steps = std::lround(scene.duration / scene.dt);
    for (long k = 0; k < steps; ++k) {
      const StepReport report = simulation.step();
      REQUIRE(report.status == StepStatus::Ok);
      dynamics.compute(simulation.state().q, simulation.state().v);
      look();
    }
  }
  // Lowest point of the feet on one body, or of all for -1. [m]
  double lowest(int body = -1) const {
    double low = HUGE_VAL;
    for (int g : scene.model->members[0].feet) {
      const Geometry& foot = scene.model->geometries[at(g)];
      if (body >= 0 && foot.body != body) continue;
      low = std::min(low, (dynamics.X_WB(foot.body) * foot.X_BG.p).z());
    }
    return low;
  }
  // Bodies whose feet carry load in the last step.
  std::set<std::string> loaded() const {
    std::set<std::string> names;
    for (const ContactReport& c : simulation.contacts()) {
      if (!(c.f.z() > 1)) continue;
      const Model& m = *scene.model;
      for (int g : {c.geometry_a, c.geometry_b})
        if (m.geometries[at(g)].body >= 0) names.insert(m.geometries[at(g)].name);
    }
    return names;
  }
  Vec3 com() const { return dynamics.center_of_mass(0); }

  Scene scene;
  Simulation simulation;
  Dynamics dynamics;
};

}  // namespace

TEST_CASE("motions: the squat moves the centre of mass as z0 + 0.03 sin(2 t)") {
  Watched w("solo-squat.toml");
  w.dynamics.compute(w.simulation.state().q, w.simulation.state().v);
  const double z0 = w.com().z();
  double high = -1, low = 1, error = 0;
  w.run([&] {
    const double z = w.com().z() - z0, t = w.simulation.state().t;
    high = std::max(high, z);
    low = std::min(low, z);
    if (t > 0.4) error = std::max(error, std::abs(z - 0.03 * std::sin(2 * t)));
    CHECK(w.lowest() > -1e-3);
  });
  CHECK(high == doctest::Approx(0.03).epsilon(0.15));
  CHECK(low == doctest::Approx(-0.03).epsilon(0.15));
  CHECK(error < 4e-3);
}

TEST_CASE("motions: the jump leaves the ground by more than 5 cm and lands on its feet") {
  Watched w("solo-jump.toml");
  double clearance = 0;
  w.run([&] { clearance = std::max(clearance, w.lowest()); });
  CHECK(clearance > 0.05);
  CHECK(w.loaded().size() == 4);
  CHECK(std::abs(w.com().x()) < 0.03);
  CHECK(w.com().z() > 0.15);
  CHECK(w.simulation.state().v.cwiseAbs().maxCoeff() < 0.1);
}

TEST_CASE("motions: the trot travels forward on diagonal pairs") {
  Watched w("solo-trot.toml");
  long pair = 0, other_two = 0;
  std::map<std::string, double> highest;
  w.run([&] {
    const std::set<std::string> feet = w.loaded();
    if (feet.size() != 2) return;
    const std::string a = feet.begin()->substr(feet.begin()->find('/') + 1),
                      b = feet.rbegin()->substr(feet.rbegin()->find('/') + 1);
    const bool diagonal =
        (a.substr(0, 2) == "FL" && b.substr(0, 2) == "HR") || (a.substr(0, 2) == "FR" && b.substr(0, 2) == "HL");
    (diagonal ? pair : other_two) += 1;
  });
  CHECK(pair > 500);  // of 1500 steps; twelve swings of 0.16 s are planned, 960 steps
  CHECK(other_two < pair / 20);
  CHECK(w.com().x() > 0.45);  // planned: 0.55
  CHECK(std::abs(w.com().y()) < 0.05);
  CHECK(w.com().z() > 0.15);
  CHECK(w.simulation.state().v.cwiseAbs().maxCoeff() < 0.2);
}

TEST_CASE("motions: Romeo takes two steps and ends standing") {
  Watched w("romeo-walk.toml");
  const Model& m = *w.scene.model;
  w.dynamics.compute(w.simulation.state().q, w.simulation.state().v);
  const int left = m.body("romeo/LAnkleRoll"), right = m.body("romeo/RAnkleRoll");
  const Vec3 l0 = w.dynamics.X_WB(left).p, r0 = w.dynamics.X_WB(right).p;
  double l_high = 0, r_high = 0, both = 0;
  w.run([&] {
    l_high = std::max(l_high, w.lowest(left));
    r_high = std::max(r_high, w.lowest(right));
    both = std::max(both, std::min(w.lowest(left), w.lowest(right)));
  });
  CHECK(l_high > 0.03);
  CHECK(r_high > 0.03);
  CHECK(both < 2e-3);  // it walks, it does not jump
  for (const auto& [body, p0] : {std::pair(left, l0), std::pair(right, r0)}) {
    const Vec3 moved = w.dynamics.X_WB(body).p - p0;
    CHECK(moved.x() > 0.12);  // planned: 0.15
    CHECK(std::abs(moved.z()) < 5e-3);
  }
  CHECK(w.loaded().size() == 8);
  CHECK(w.com().z() > 0.6);
  CHECK(w.simulation.state().v.cwiseAbs().maxCoeff() < 0.1);
}

TEST_CASE("motions: Romeo sways as 0.02 sin(2 t) on flat feet, under its tasks") {
  Watched w("romeo-sway.toml");
  w.dynamics.compute(w.simulation.state().q, w.simulation.state().v);
  const double y0 = w.com().y();
  double worst = 0;
  w.run([&] {
    const double t = w.simulation.state().t;
    // The start from rest dies out with exp(-sqrt(10) t).
    if (t > 1.5) worst = std::max(worst, std::abs(w.com().y() - y0 - 0.02 * std::sin(2 * t)));
  });
  // Held for 40 ms, the torque is 20 ms late on average, at 0.04 m/s: 0.8 mm; as much again for the ground that gives
  // way.
  CHECK(worst < 2e-3);
  CHECK(w.loaded().size() == 8);
}
