#include <doctest/doctest.h>

#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

struct Momentum {
  Vec3 linear, angular;
};

Momentum momentum(const Simulation& s) {
  Dynamics d(s.model());
  d.compute(s.state().q, s.state().v);
  const Vec3 P = d.linear_momentum(0);
  return {P, d.angular_momentum(0) - d.center_of_mass(0).cross(P)};  // about the mass centre
}

// A chain without gravity, with a spring, a damper and a rotor at each joint.
std::shared_ptr<const Model> sprung(int links, double stiffness, double damping, double armature) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  builder.begin_member("chain", true, "test");
  for (int i = 0; i < links; ++i) {
    Body body;
    body.name = "chain/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = JointKind::Revolute;
    body.axis = Vec3(0.1 * i, 1, 0.2 * i).normalized();
    if (i > 0) body.X_PJ.p = Vec3(0.3, 0, 0);
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.15, 0.02, 0.03), 1);
    body.inertia.com = Vec3(0.15, 0, 0);
    builder.add_body(body);
  }
  JointProperties& p = builder.joint_properties();
  p.stiffness.setConstant(stiffness);
  p.damping.setConstant(damping);
  p.armature.setConstant(armature);
  return std::make_shared<const Model>(builder.build());
}

Simulation bent(const std::shared_ptr<const Model>& model, double dt, double q, double v) {
  Simulation s(model, "rigid", {}, dt);
  State state = State::neutral(*model);
  for (int k = 0; k < model->nv; ++k) state.q[k] = k % 2 ? -q : q;
  state.v.setConstant(v);
  s.set_state(state);
  return s;
}

void check_momenta(double dt) {
  auto s = World().gravity(Vec3::Zero()).box({0.1, 0.2, 0.4}, 2, {1, 2, 3}, {0.3, -0.2, 0.5}, {3, 1, -2}).simulate(dt);
  const Momentum before = momentum(s);
  run(s, 1);
  const Momentum after = momentum(s);
  CHECK((after.linear - before.linear).norm() < 1e-12);
  CHECK((after.angular - before.angular).norm() < 1e-12);
}

}  // namespace

TEST_CASE("tumbling box: linear and angular momentum to rounding") {
  for (double dt : {2e-3, 1e-3}) check_momenta(dt);
}

TEST_CASE("Talos thrown with moving joints: both momenta to 1e-12 of their size") {
  for (int i = 0; i < 2; ++i) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = "talos";
    options.contact = "none";
    add_robot(builder, options);
    builder.set_gravity(Vec3::Zero());
    // Limits and friction act inside the tree: such steps are not flights.
    builder.joint_properties().lower.setConstant(-1e9);
    builder.joint_properties().upper.setConstant(1e9);
    builder.joint_properties().friction.setZero();
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, "rigid", {}, i == 0 ? 2e-3 : 1e-3);
    State state = State::neutral(*model);
    for (int k = 0; k < model->nv; ++k) state.v[k] = 0.5 * std::sin(1.0 + 3 * k);
    s.set_state(state);
    const Momentum before = momentum(s);
    run(s, 0.5);
    const Momentum after = momentum(s);
    CHECK((after.linear - before.linear).norm() < 1e-12 * model->mass());
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK((after.angular - before.angular).norm() < 1e-12 * before.angular.norm());
  }
}

TEST_CASE("a link on a spring swings at the right frequency: to order four with a rotor, to order two without") {
  for (double armature : {0.0, 0.3}) {
    const double K = 40;
    const auto model = sprung(1, K, 0, armature);
    Dynamics d(*model);
    d.compute(model->neutral(), VecX::Zero(1));
    const double M = d.mass_matrix()(0, 0), w = std::sqrt(K / M), time = 16 / w;
    const auto error = [&](double dt) {
      Simulation s = bent(model, dt, 0.3, 0);  // from rest: all that can be off is the frequency
      run(s, time);
      return std::abs(s.state().q[0] - 0.3 * std::cos(w * time));
    };
    const double slope = std::log2(error(0.2 / w) / error(0.1 / w));
    CHECK(slope == doctest::Approx(armature > 0 ? 4 : 2).epsilon(0.05));
  }
}

// From where the relief (flight.9) is whole, over where half a rotor bounds it, to springs that turn round in each step.
TEST_CASE("springs of any stiffness keep the energy of a chain bounded, with rotors and without") {
  for (double armature : {0.0, 1e-3, 0.1, 1.0})
    for (double stiffness : {1.0, 1e2, 1e3, 1e4, 1e6})
      for (double damping : {0.0, 0.1}) {
        CAPTURE(armature);
        CAPTURE(stiffness);
        CAPTURE(damping);
        const auto model = sprung(5, stiffness, damping, armature);
        const double small = 1e-4 / std::sqrt(stiffness);  // of a linear motion
        Simulation s = bent(model, 1e-2, small, 1e-4);
        Dynamics d(*model);
        const auto energy = [&] {
          d.compute(s.state().q, s.state().v);
          return 0.5 * s.state().v.dot(d.mass_matrix() * s.state().v) + 0.5 * stiffness * s.state().q.squaredNorm();
        };
        const double before = energy();
        double most = 0;
        for (int k = 0; k < 2000; ++k) {
          REQUIRE(s.step().status == StepStatus::Ok);
          if (k % 10 == 0) most = std::max(most, energy());
        }
        // What the scheme keeps is v.(M + E) v + K q^2 instead: its v may be larger where E is much of it.
        const double E = 1 + 0.25 * 1e-4 * stiffness / std::max(armature, 1e-3);
        CHECK(most < (damping > 0 ? 1.1 : 3) * E * before);
        CHECK(s.audit().ledger_error < 1e-9);
      }
}
