// At a kink each side has its own derivative. The expectation is the one-sided difference of the step itself, from its ends at
// h, 2 h and 4 h: error of order h^3, and rounding of 1e-15 / 1e-5.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/controller.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double dt = 1e-3, g = 9.81;

StepperOptions precise() {
  StepperOptions options;
  options.contact.tolerance.rel = 1e-13;
  options.contact.recovery_time = 0;  // it leaves 1e-7 m alone, a second kink
  return options;
}

VecX forward_difference(Simulation& simulation, const VecX& dx) {
  const Model& model = simulation.model();
  const State start = simulation.state();
  Member all;
  all.bodies = static_cast<int>(model.bodies.size());
  const auto end = [&](double h) {
    State state = start;
    integrate(model, h * dx.head(model.nv), 1, state.q);
    state.v += h * dx.tail(model.nv);
    simulation.set_state(state);
    simulation.step();
    const State reached = simulation.state();
    simulation.set_state(start);
    return reached;
  };
  const State zero = end(0);
  const auto slope = [&](double h) {
    const State there = end(h);
    VecX d(2 * model.nv);
    difference(model, all, zero.q, there.q, d);
    d.tail(model.nv) = there.v - zero.v;
    return VecX(d / h);
  };
  const double h = 1e-5;
  return (8 * slope(h) - 6 * slope(2 * h) + slope(4 * h)) / 3;
}

/// Both sides to 1e-6 of the largest entry, and they differ by `least` at least.
void check_sides(Simulation simulation, const VecX& dx, double least) {
  VecX slope[2];
  for (int side = 0; side < 2; ++side) {
    CAPTURE(side);
    const VecX d = side == 0 ? dx : VecX(-dx), expected = forward_difference(simulation, d);
    slope[side] = simulation.one_sided(d, VecX());
    CHECK((slope[side] - expected).cwiseAbs().maxCoeff() < 1e-6 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
  }
  CHECK((slope[0] + slope[1]).cwiseAbs().maxCoeff() > least);
}

VecX along(int n, int k) { return VecX::Unit(n, k); }

/// kp on the first joint, towards 0.
struct FixedPd final : Controller {
  explicit FixedPd(double gain) : kp(gain) {}
  void control(const Model&, const State& state, const Dynamics&, std::span<double>, Actuation& a) override {
    a.kp[0] = kp;
    a.error[0] = -state.q[0];
  }
  double kp;
};

/// A slider along x with one property set, at q and v.
template <class Set>
Simulation slider(double q, double v, Set set) {
  ModelBuilder builder;
  builder.add_material({"surface", worlds::friction(0.5)});
  builder.begin_member("slider", false, "test");
  Body body;
  body.name = "slider/0";
  body.parent = -1;
  body.joint = JointKind::Prismatic;
  body.axis = Vec3::UnitX();
  body.inertia.mass = 2;
  body.inertia.about_com = Vec3(0.01, 0.02, 0.025).asDiagonal();
  builder.add_body(body);
  set(builder.joint_properties());
  auto model = std::make_shared<const Model>(builder.build());
  Simulation simulation(model, "rigid", precise(), dt);
  State state = State::neutral(*model);
  state.q[0] = q;
  state.v[0] = v;
  simulation.set_state(state);
  return simulation;
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
