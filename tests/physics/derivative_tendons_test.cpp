// Tendons in the derivative of a rigid step: limits that hold, springs and dampers, dry friction that rubs and that holds, over
// joints and along paths of points, beside central differences.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/linearization.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

struct Arm {
  ModelBuilder builder;
  Arm() {
    builder.add_material({"surface", worlds::friction(0.6)});
    builder.begin_member("arm", true, "test");
    for (int i = 0; i < 3; ++i) {
      Body body;
      body.name = "arm/" + std::to_string(i);
      body.parent = i - 1;
      body.joint = i == 2 ? JointKind::Spherical : JointKind::Revolute;
      body.axis = i == 1 ? Vec3(0.6, 0.8, 0) : Vec3::UnitY();
      if (i > 0) body.X_PJ.p = Vec3(0.3, 0.02 * i, -0.05);
      body.inertia.mass = 1 + 0.3 * i;
      body.inertia.com = Vec3(0.15, 0.01, 0.02);
      body.inertia.about_com = Vec3(0.01, 0.02, 0.025).asDiagonal();
      builder.add_body(body);
    }
  }
  /// From the world over the second link to the third, with a pulley.
  static Tendon path() {
    Tendon t;
    t.name = "arm/path";
    t.path = {{-1, 0, Vec3(0.1, 0.3, 0.4), Vec3(0.2, 0.05, 0), 1}, {0, 2, Vec3(0.2, 0.05, 0), Vec3(0.1, -0.1, 0.2), 2}};
    return t;
  }
  static Tendon joints() {
    Tendon t;
    t.name = "arm/joints";
    t.joints = {{0, 0.7}, {1, -0.4}};
    return t;
  }
};

/// Of the arm with a tendon, on its way.
DerivativeCheck check(Tendon tendon, double speed) {
  Arm arm;
  arm.builder.add_tendon(std::move(tendon));
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  Simulation simulation(std::make_shared<const Model>(arm.builder.build()), "rigid", options, 1e-3);
  State state = simulation.state();
  for (int k = 0; k < simulation.model().nv; ++k) state.v[k] = speed * std::sin(1.0 + 2 * k);
  VecX d(simulation.model().nv);
  for (int k = 0; k < d.size(); ++k) d[k] = 0.3 * std::cos(1.0 + k);
  integrate(simulation.model(), d, 1, state.q);
  simulation.set_state(state);
  for (int k = 0; k < 3; ++k) simulation.step();
  DerivativeCheck c = simulation.check_derivatives();
  CHECK(c.linearization.method == Linearization::Method::Analytic);
  CHECK(c.linearization.finite);
  return c;
}

}  // namespace

TEST_CASE("derivative: tendons that pull as springs and dampers") {
  for (Tendon t : {Arm::path(), Arm::joints()}) {
    t.stiffness = 300;
    t.damping = 4;
    const DerivativeCheck c = check(t, 1);
    CHECK(c.error < 1e-6);
    CHECK(c.columns == 15);
  }
}

TEST_CASE("derivative: tendons whose limits hold") {
  for (double speed : {0.0, 0.4}) {
    for (Tendon t : {Arm::path(), Arm::joints()}) {
      t.upper = t.path.empty() ? 0.05 : 0.2;  // far beyond: it holds, and is brought back
      const DerivativeCheck c = check(t, speed);
      CAPTURE(t.name);
      CHECK(c.error < 1e-6);
      CHECK(c.columns > 10);
    }
  }
}

TEST_CASE("derivative: tendons that rub") {
  for (double most : {0.2, 200.0})
    for (Tendon t : {Arm::path(), Arm::joints()}) {
      t.friction = most;
      const DerivativeCheck c = check(t, 1);
      CHECK(c.error < 1e-6);
      CHECK(c.columns == 15);
    }
}
