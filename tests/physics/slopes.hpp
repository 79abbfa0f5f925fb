// Derivatives of steps beside central differences of the same steps, which know nothing of their equations. Relative to the
// largest entry of each block 1e-6 is asked for.
#pragma once

#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/linearization.hpp"
#include "worlds.hpp"

namespace slopes {

using namespace tribo;

constexpr double tolerance = 1e-6;
inline const char* const compliant[] = {"exponential", "implicit-euler"};

inline StepperOptions precise(double relative = 1e-12) {
  StepperOptions options;
  options.contact.tolerance.rel = relative;
  return options;
}

/// Of the steps that were checked.
struct Seen {
  int steps = 0, analytic = 0, compared = 0, columns = 0, memory = 0, stick = 0, slip = 0, divided = 0;
  double error = 0;
  std::string reason;  ///< why the last one that is not analytic is none
};

/// The step that begins now: finite, and where it is told analytic right. Not compared where it is nearer than `near` to the
/// edge of a mode, or where forces are not unique.
inline void check(Simulation& simulation, Seen& seen, double near = 0) {
  const DerivativeCheck c = simulation.check_derivatives();
  const Linearization& lin = c.linearization;
  REQUIRE(lin.finite);
  ++seen.steps;
  if (lin.method != Linearization::Method::Analytic) {
    seen.reason = lin.reason;
    return;
  }
  ++seen.analytic;
  if (!lin.unique || lin.weak > 0 || lin.margin < near) return;
  CAPTURE(c.row);
  CAPTURE(c.column);
  CAPTURE(c.disturbed);
  CAPTURE(lin.margin);
  CHECK(c.error < tolerance);
  ++seen.compared;
  seen.columns += c.columns;
  seen.memory += static_cast<int>(lin.whole_A.cols() - lin.A.cols());
  seen.error = std::max(seen.error, c.error);
  for (const LinearizedContact& contact : lin.contacts) {
    seen.stick += contact.mode == ContactMode::Stick;
    seen.slip += contact.mode == ContactMode::Slip;
  }
}

/// A step that has to be compared.
inline Seen check_once(Simulation simulation) {
  Seen seen;
  check(simulation, seen);
  CAPTURE(seen.reason);
  CHECK(seen.compared == 1);
  return seen;
}

/// Adds a body with a ball of 0.05 m at its joint, and its number.
inline int add_ball_link(ModelBuilder& builder, const Body& body, int material) {
  const int b = builder.add_body(body);
  Geometry ball;
  ball.name = body.name;
  ball.body = b;
  ball.kind = ShapeKind::Sphere;
  ball.size = Vec3(0.05, 0, 0);
  ball.radius = 0.05;
  ball.material = material;
  builder.add_geometry(ball);
  return b;
}

/// Neutral, moved at random by up to `spread`, with velocities up to `speed`.
inline State random_state(const Model& model, double spread, double speed) {
  State state = State::neutral(model);
  VecX d(model.nv);
  Random random;
  for (int k = 0; k < model.nv; ++k) {
    d[k] = spread * (2 * random.uniform() - 1);
    state.v[k] = speed * (2 * random.uniform() - 1);
  }
  integrate(model, d, 1, state.q);
  return state;
}

/// Moves q and v at random, and bodies that are free down by `down`, so that contacts stay closed.
inline void disturb(Simulation& simulation, Random& random, double size, double down) {
  const Model& model = simulation.model();
  State state = simulation.state();
  VecX d(model.nv);
  for (int k = 0; k < model.nv; ++k) {
    d[k] = size * (2 * random.uniform() - 1);
    state.v[k] += 100 * size * (2 * random.uniform() - 1);
  }
  for (const Body& b : model.bodies) {
    if (b.joint != JointKind::Free) continue;
    const Quat R(state.q[b.iq + 6], state.q[b.iq + 3], state.q[b.iq + 4], state.q[b.iq + 5]);
    d.segment<3>(b.iv) += R.conjugate() * Vec3(0, 0, -down);
  }
  integrate(model, d, 1, state.q);
  simulation.set_state(state);
}

/// A chain of free, revolute, spherical and revolute joints with balls, over ground; `properties` may be changed.
template <class F>
std::shared_ptr<const Model> chain(const SurfacePair& surface, F properties) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", surface});
  builder.add_ground({}, material);
  builder.begin_member("chain", true, "test");
  for (int i = 0; i < 4; ++i) {
    Body body;
    body.name = "chain/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = i == 0 ? JointKind::Free : i == 2 ? JointKind::Spherical : JointKind::Revolute;
    body.axis = i == 1 ? Vec3::UnitY() : Vec3(0.6, 0.8, 0);
    if (i > 0) body.X_PJ.p = Vec3(0.3, 0.02 * i, -0.05);
    body.inertia.mass = 1 + 0.3 * i;
    body.inertia.com = Vec3(0.15, 0.01, 0.02);
    body.inertia.about_com = Vec3(0.01, 0.02, 0.025).asDiagonal();
    add_ball_link(builder, body, material);
  }
  properties(builder.joint_properties());
  return std::make_shared<const Model>(builder.build());
}

/// Down (or up) until the lowest of the chain's balls is `gap` over the ground; 1 m/s faster down.
inline void lower(Simulation& simulation, double gap) {
  State state = simulation.state();
  double low = HUGE_VAL;
  for (int b = 0; b < 4; ++b) low = std::min(low, simulation.body_pose(b).p.z());
  state.q[2] += gap + 0.05 - low;
  state.v[2] -= 1;
  simulation.set_state(state);
}

}  // namespace slopes
