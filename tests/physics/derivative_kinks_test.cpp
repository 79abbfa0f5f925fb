// At a kink each side has its own derivative. The expectation is the one-sided difference of the step itself, from its ends at
// h, 2 h and 4 h: error of order h^3, and rounding of 1e-15 / 1e-5.
#include "kinks.hpp"
#include "tribo/controller.hpp"

using namespace tribo;
using kinks::along, kinks::check_sides, kinks::FixedPd;

namespace {

constexpr double dt = 1e-3, g = 9.81;

StepperOptions precise() {
  StepperOptions options = slopes::precise(1e-13);
  options.contact.recovery_time = 0;  // it leaves 1e-7 m alone, a second kink
  return options;
}

template <class Set>
Simulation slider(double q, double v, Set set) {
  return kinks::slider(q, v, set, "rigid", precise(), dt);
}

}  // namespace

TEST_CASE("derivative at a kink: contacts") {
  SUBCASE("touch: a ball at the ground that comes down, along its height") {
    auto s = worlds::World(worlds::friction(0.5)).ground().sphere(0.1, 1, {0, 0, 0.1}, {0, 0, -0.5});
    check_sides(s.simulate(dt, precise()), along(12, 2), 0.1);
  }
  SUBCASE("lift-off: a ball on the ground without weight, along its vertical speed") {
    auto s = worlds::World(worlds::friction(0.5)).gravity(Vec3::Zero()).ground().sphere(0.1, 1, {0, 0, 0.1});
    check_sides(s.simulate(dt, precise()), along(12, 8), 0.1);
  }
  SUBCASE("stick to slip: a ball whose slip friction just stops in a step, along its speed") {
    // It takes the impulse slip / (1/m + r^2/I) = 2/7 m slip: all of mu m g dt.
    auto s = worlds::World(worlds::friction(0.4)).ground().sphere(0.1, 1, {0, 0, 0.1}, {3.5 * 0.4 * g * dt, 0, 0});
    check_sides(s.simulate(dt, precise()), along(12, 6), 0.1);
  }
  SUBCASE("slip reversal: torsional friction just stops a turn, along its rate") {
    SurfacePair surface = worlds::friction(0);
    surface.torsional = 0.01;
    auto s =
        worlds::World(surface).ground().sphere(0.1, 1, {0, 0, 0.1}, Vec3::Zero(), {0, 0, 0.01 * g * dt / (0.4 * 0.01)});
    check_sides(s.simulate(dt, precise()), along(12, 11), 0.1);
  }
  SUBCASE("rolling friction just stops a roll, along its rate") {
    // Friction that sticks takes part: the ball turns about its contact, I = 7/5 m r^2.
    SurfacePair surface = worlds::friction(0.8);
    surface.rolling = 0.002;
    const double rate = 0.002 * g * dt / (1.4 * 0.01);
    auto s = worlds::World(surface).ground().sphere(0.1, 1, {0, 0, 0.1}, {0.1 * rate, 0, 0}, {0, rate, 0});
    VecX dx = VecX::Zero(12);
    dx[6] = 0.1;
    dx[10] = 1;
    check_sides(s.simulate(dt, precise()), dx, 0.1);
  }
  SUBCASE("compliance: a contact that carries nothing at the end of the step, along its speed") {
    SurfacePair surface = worlds::friction(0.5);
    surface.compliance = 1e-5;
    auto s = worlds::World(surface).ground().sphere(0.1, 1, {0, 0, 0.1}, {0, 0, g * dt});
    check_sides(s.simulate(dt, precise()), along(12, 8), 1e-3);
  }
}

TEST_CASE("derivative at a kink: joints") {
  const double m = 2;
  SUBCASE("limit: a slider that just reaches its end, along its place") {
    check_sides(slider(1 - 0.5 * dt, 0.5, [](JointProperties& p) { p.upper[0] = 1; }), along(2, 0), 0.1);
  }
  SUBCASE("leaving a limit: a slider at rest at its end, along its speed") {
    check_sides(slider(1, 0, [](JointProperties& p) { p.upper[0] = 1; }), along(2, 1), 0.1);
  }
  SUBCASE("dry friction just stops a slider, along its speed") {
    check_sides(slider(0, 3 * dt / m, [](JointProperties& p) { p.friction[0] = 3; }), along(2, 1), 0.1);
  }
  SUBCASE("saturation: a drive whose torque is just what it can give, along its place") {
    // kp (e - dt v') = limit, and m v' = dt limit.
    const double kp = 1000, limit = 5, v = dt * limit / m, e = limit / kp + dt * v;
    Simulation s = slider(-e, 0, [&](JointProperties& p) { p.effort_limit[0] = limit; });
    s.add_controller(std::make_unique<FixedPd>(kp));
    check_sides(std::move(s), along(2, 0), 0.1);
  }
}
