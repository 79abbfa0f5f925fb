// Mechanisms that turn by radians in a step: what dt does not resolve stays bounded (rigid.14).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "stepping/rigid/turn_bound.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// An arm on a hinge with a loose hand, over a floor that it can reach or not. 1.2 kg, 0.55 m.
Scene arm(double height, double speed, const std::string& joint) {
  return parse_scene(
      "[stepper]\nname = \"rigid\"\ndt = 0.01\n[material.default]\nmu = 0.5\n[[robot]]\nname = \"r\"\n"
      "self_collision = false\n[[robot.link]]\nname = \"arm\"\nparent = \"world\"\njoint = \"revolute\"\n"
      "axis = [0, 1, 0]\nmass = 1\ncom = [0.25, 0, 0]\nshape = \"box\"\nsize = 0.04\nposition = [0, 0, " +
          std::to_string(height) + "]\nspeed = " + std::to_string(speed) + "\n" + joint +
          "\n[[robot.link]]\nname = \"hand\"\nparent = \"arm\"\njoint = \"spherical\"\n"
          "position = [0.5, 0, 0]\nmass = 0.2\ncom = [0.1, 0.05, 0]\nshape = \"sphere\"\nradius = 0.03\n",
      "arm.toml");
}

}  // namespace

TEST_CASE("an arm that turns by up to 500 rad a step gains no energy, and no contact stops more than moves") {
  // Nothing drives it: the energy is that of the start at most, but for 1e-3 of it in a step (flight.7). An impulse
  // stops at most all the mass at twice the fastest speed, since (rigid.14) no more than doubles v.
  for (double height : {0.6, 5.0})
    for (double speed : {500.0, 5000.0, 50000.0})
      for (const char* joint : {"", "friction = 0.001", "damping = 0.001"}) {
        CAPTURE(height);
        CAPTURE(speed);
        CAPTURE(joint);
        Simulation s = make_simulation(arm(height, speed, joint));
        double impulse = 0, highest = 0;
        for (int k = 0; k < 300; ++k) {
          const double before = s.state().v.cwiseAbs().maxCoeff();
          const StepReport report = s.step();
          REQUIRE(report.status == StepStatus::Ok);
          highest = std::max(highest, report.energy.kinetic + report.energy.potential);
          const double fastest = 0.65 * std::max(before, s.state().v.cwiseAbs().maxCoeff()) + 1;
          for (const ContactReport& c : s.contacts()) impulse = std::max(impulse, 0.01 * c.f.norm() / (1.2 * fastest));
        }
        CHECK(highest < 1.01 * s.audit().energy_start);
        CHECK(impulse < 2);
        CHECK(s.audit().ledger_error < 1e-9);
      }
}

TEST_CASE("the bound on turning leaves what dt resolves, and never changes v by more than its size") {
  for (double speed : {1.0, 10.0, 1e3, 1e6}) {
    CAPTURE(speed);
    const Scene scene = arm(5, speed, "");
    const Model& model = *scene.model;
    State state = State::neutral(model);
    state.v << speed, 0.7 * speed, -0.4 * speed, 0.9 * speed;
    Dynamics dynamics(model);
    dynamics.compute(state.q, state.v);
    dynamics.factor(0, VecX::Zero(model.nv));
    VecX bias = dynamics.h(), dv = VecX::Zero(model.nv);
    const bool beyond = bound_turn(model, dynamics, 0, 0.01, bias, dv);
    const MatX M = dynamics.mass_matrix();
    // Independently: the kick of what is left of the bias, its size in M, and the speed that nothing was taken from.
    const VecX kick = -0.01 * M.llt().solve(bias - dynamics.gravity_force());
    CHECK((kick - dv).norm() < 1e-9 * (1 + dv.norm()));
    CHECK(kick.dot(M * kick) < (1 + 1e-9) * state.v.dot(M * state.v));
    CHECK(beyond == (speed > 100));
    if (!beyond) CHECK(bias == dynamics.h());
  }
}
