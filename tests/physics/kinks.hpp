// One-sided derivatives at a kink, beside one-sided differences of the step itself: errors of order h^3, rounding of 1e-15 / h.
#pragma once

#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "slopes.hpp"
#include "tribo/controller.hpp"
#include "tribo/linearization.hpp"

namespace kinks {

using namespace tribo;

/// The end of a step from beside the state, in the tangent of the end from it.
class Beside {
 public:
  explicit Beside(Simulation& simulation) : simulation_(simulation), start_(simulation.state()) {
    simulation.step();
    end_ = simulation.state();
    simulation.set_state(start_);
  }
  VecX end(const VecX& dx) {
    const Model& model = simulation_.model();
    State state = start_;
    integrate(model, dx.head(model.nv), 1, state.q);
    state.v += dx.tail(model.nv);
    simulation_.set_state(state);
    simulation_.step();
    Member all;
    all.bodies = static_cast<int>(model.bodies.size());
    VecX d(2 * model.nv);
    difference(model, all, end_.q, simulation_.state().q, d);
    d.tail(model.nv) = simulation_.state().v - end_.v;
    simulation_.set_state(start_);
    return d;
  }

 private:
  Simulation& simulation_;
  State start_, end_;
};

inline VecX forward_difference(Simulation& simulation, const VecX& dx) {
  const double h = 1e-5;
  Beside beside(simulation);
  const auto slope = [&](double far) { return VecX(beside.end(far * dx) / far); };
  return (8 * slope(h) - 6 * slope(2 * h) + slope(4 * h)) / 3;
}

/// The same of steps that may jump at the state.
inline VecX difference_beside(Simulation& simulation, const VecX& dx, double h) {
  Beside beside(simulation);
  const auto end = [&](double far) { return beside.end(far * h * dx); };
  return (-13.0 / 3 * end(1) + 19.0 / 2 * end(2) - 7 * end(3) + 11.0 / 6 * end(4)) / h;
}

/// Both sides to 1e-6 of the largest entry, and they differ by `least` at least.
template <class Difference = VecX (*)(Simulation&, const VecX&)>
void check_sides(Simulation simulation, const VecX& dx, double least, Difference difference = forward_difference) {
  VecX slope[2];
  for (int side = 0; side < 2; ++side) {
    CAPTURE(side);
    const VecX d = side == 0 ? dx : VecX(-dx), expected = difference(simulation, d);
    slope[side] = simulation.one_sided(d, VecX());
    CHECK((slope[side] - expected).cwiseAbs().maxCoeff() < 1e-6 * std::max(1.0, expected.cwiseAbs().maxCoeff()));
  }
  CHECK((slope[0] + slope[1]).cwiseAbs().maxCoeff() > least);
}

inline VecX along(int n, int k) { return VecX::Unit(n, k); }

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
Simulation slider(double q, double v, Set set, const std::string& stepper, const StepperOptions& options, double dt) {
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
  Simulation simulation(model, stepper, options, dt);
  State state = State::neutral(*model);
  state.q[0] = q;
  state.v[0] = v;
  simulation.set_state(state);
  return simulation;
}

}  // namespace kinks
