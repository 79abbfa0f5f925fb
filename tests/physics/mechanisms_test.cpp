// Closures, followers, springs, limits and kinematic bodies against closed forms.
#include <doctest/doctest.h>

#include "tribo/dynamics.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// A chain of rods in the x-z plane that hang on hinges about y. Each rod lies along its own x axis.
struct Chain {
  explicit Chain(std::initializer_list<double> lengths, JointKind kind = JointKind::Revolute) {
    builder.add_material({});
    builder.begin_member("chain", true, "test");
    double last = 0;
    int parent = -1;
    for (double length : lengths) {
      Body body;
      body.name = "chain/" + std::to_string(parent + 1);
      body.parent = parent;
      body.joint = kind;
      body.axis = Vec3::UnitY();
      body.X_PJ.p = Vec3(last, 0, 0);
      body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.5 * length, 0.02, 0.02), length);
      body.inertia.com = Vec3(0.5 * length, 0, 0);
      parent = builder.add_body(body);
      last = length;
    }
  }
  JointProperties& joints() { return builder.joint_properties(); }
  Simulation simulate(const VecX& q, const VecX& v, double dt) {
    auto model = std::make_shared<const Model>(builder.build());
    Simulation s(model, "rigid", {}, dt);
    State state = State::neutral(*model);
    state.q = q;
    state.v = v;
    s.set_state(state);
    return s;
  }
  ModelBuilder builder;
};

Equality connect(int a, const Vec3& p_a, int b, const Vec3& p_b) {
  Equality e;
  e.name = "pin";
  e.body_a = a;
  e.body_b = b;
  e.point_a = p_a;
  e.point_b = p_b;
  return e;
}

// Crank 0.2 m, coupler 0.5 m, rocker 0.4 m, ground 0.5 m: a Grashof linkage, started with its crank level. The pin is a
// 3-D connect in a plane mechanism: its row along y is redundant.
struct Linkage {
  static constexpr double crank = 0.2, coupler = 0.5, rocker = 0.4, ground = 0.5;
  Chain chain{crank, coupler, rocker};

  Linkage() { chain.builder.add_equality(connect(2, Vec3(rocker, 0, 0), -1, Vec3(ground, 0, 0))); }
  Simulation simulate(double dt) {
    // The triangle (crank end, pin) of sides coupler, rocker, ground - crank.
    const double base = ground - crank;
    const double at_crank = std::acos((base * base + coupler * coupler - rocker * rocker) / (2 * base * coupler));
    const double at_joint = std::acos((coupler * coupler + rocker * rocker - base * base) / (2 * coupler * rocker));
    VecX q(3);
    q << 0, -at_crank, M_PI - at_joint;
    return chain.simulate(q, VecX::Zero(3), dt);
  }
};

}  // namespace

TEST_CASE("four-bar linkage: closed to 1e-9 m over 60 s, and the ledger balances") {
  Linkage linkage;
  Simulation s = linkage.simulate(1e-3);
  double worst = 0, fastest = 0;
  for (int k = 0; k < 60000; ++k) {
    const StepReport report = s.step();
    REQUIRE(report.status == StepStatus::Ok);
    const Placement X = s.body_pose(2);
    worst = std::max(worst, (X * Vec3(Linkage::rocker, 0, 0) - Vec3(Linkage::ground, 0, 0)).norm());
    fastest = std::max(fastest, s.state().v.cwiseAbs().maxCoeff());
  }
  CHECK(worst < 1e-9);
  CHECK(fastest > 1);  // it moves
  const Audit& audit = s.audit();
  MESSAGE("closure error ", worst, " m, constraints ", audit.energy.constraints, " J, integrator ",
          audit.energy.integrator, " J, ledger error ", audit.ledger_error);
  CHECK(audit.ledger_error < 1e-9);
}

TEST_CASE("an ideal closure does no work: what it and the scheme add vanishes with dt") {
  auto added = [](double dt) {
    Linkage linkage;
    Simulation s = linkage.simulate(dt);
    run(s, 2);
    const EnergyLines& e = s.audit().energy;
    CHECK(std::abs(e.work() - e.constraints - e.integrator - e.recovery) < 1e-12);
    return std::abs(e.kinetic + e.potential - s.audit().energy_start);
  };
  const double coarse = added(1e-3), fine = added(1e-4);
  CHECK(coarse < 0.05);
  CHECK(fine < 0.15 * coarse);  // first order: a tenth, and a little of the second
}

TEST_CASE("a closed chain moves as its one degree of freedom does") {
  // Parallelogram of equal cranks a and a coupler without rotation: with rods of mass m = length, the crank angle x
  // (down from +x) obeys  I x'' = T cos x,  I = 2 m_a a^2 / 3 + m_c a^2,  T = g a (m_a + m_c).
  const double a = 0.3, c = 0.5;
  Chain chain({a, c, a});
  chain.builder.add_equality(connect(2, Vec3(a, 0, 0), -1, Vec3(c, 0, 0)));
  VecX q(3);
  q << 0.7, -0.7, 0.7 + M_PI;  // crank, coupler level, second crank back down to the ground pin
  q[2] = -(M_PI - 0.7);
  const double dt = 1e-4;
  // second rod points from the coupler's end to the pin: direction opposite to the crank
  Simulation s = chain.simulate(q, VecX::Zero(3), dt);
  double x = 0.7, w = 0;
  const double I = 2 * a * a * a / 3 + c * a * a, T = 9.81 * a * (a + c);
  for (int k = 0; k < 10000; ++k) {
    s.step();
    w += dt * T / I * std::cos(x);
    x += dt * w;
  }
  CHECK(s.state().q[0] == doctest::Approx(x).epsilon(2e-3));  // both first order in dt
}

TEST_CASE("a weld holds two bodies as one") {
  // Two boxes welded side by side in free fall with spin: the pair turns as one rigid body.
  World world(friction(0.5));
  world.box(Vec3(0.1, 0.1, 0.1), 1, Vec3(0, 0, 1), Vec3(0, 0, 0), Vec3(0, 0, 2));
  world.box(Vec3(0.1, 0.1, 0.1), 3, Vec3(0.3, 0, 1), Vec3(0, 0.6, 0), Vec3(0, 0, 2));
  Equality weld;
  weld.name = "weld";
  weld.kind = EqualityKind::Weld;
  weld.body_a = 0;
  weld.body_b = 1;
  weld.X_AB.p = Vec3(0.3, 0, 0);
  world.builder.add_equality(weld);
  world.gravity(Vec3::Zero());
  Simulation s = world.simulate(1e-3);
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    s.step();
    const Placement a = s.body_pose(0), b = s.body_pose(1);
    worst = std::max({worst, (a * Vec3(0.3, 0, 0) - b.p).norm(), (a.R - b.R).cwiseAbs().maxCoeff()});
  }
  CHECK(worst < 1e-9);
  CHECK(s.state().v[5] == doctest::Approx(2).epsilon(1e-2));
  const Vec3 momentum = velocity(s, 0) + 3 * velocity(s, 1);
  CHECK(momentum.norm() == doctest::Approx(1.8).epsilon(1e-6));
}

TEST_CASE("a joint that follows another: position to rounding, inertia reflected by the square of the ratio") {
  // Two separate rods without gravity; the second turns twice as fast as the first. A torque on the first accelerates
  // I1 + 4 I2.
  ModelBuilder builder;
  builder.add_material({});
  for (int k = 0; k < 2; ++k) {
    builder.begin_member("rod" + std::to_string(k), true, "test");
    Body body;
    body.name = "rod" + std::to_string(k);
    body.joint = JointKind::Revolute;
    body.X_PJ.p = Vec3(0, k, 0);
    body.inertia.mass = 1;
    body.inertia.about_com = Vec3(1, 1, k ? 0.2 : 0.5).asDiagonal();
    builder.add_body(body);
  }
  Equality gear;
  gear.name = "gear";
  gear.kind = EqualityKind::Joint;
  gear.body_a = 1;
  gear.body_b = 0;
  gear.polynomial = {0.1, 2, 0.3, 0, 0};
  builder.add_equality(gear);
  auto model = std::make_shared<const Model>(builder.build());
  Simulation s(model, "rigid", {}, 1e-3);
  State state = State::neutral(*model);
  state.q[1] = 0.1;
  s.set_state(state);
  Push push;
  push.body = 0;
  push.torque = push.torque_end = Vec3(0, 0, 0.7);
  push.duration = 10;
  s.add_push(push);
  s.step();
  CHECK(s.state().v[0] == doctest::Approx(1e-3 * 0.7 / (0.5 + 4 * 0.2)).epsilon(1e-8));
  run(s, 1);
  const double x = s.state().q[0];
  CHECK(s.state().q[1] == doctest::Approx(0.1 + 2 * x + 0.3 * x * x).epsilon(1e-12));
  CHECK(s.audit().ledger_error < 1e-9);
}

TEST_CASE("joint limits: at rest no overshoot beyond 1e-6 rad, and one that starts beyond comes back") {
  Chain chain({0.4});
  chain.joints().upper[0] = 0.9;
  VecX q(1), v(1);
  q << 0.2;
  v << 0;
  Simulation s = chain.simulate(q, v, 1e-3);  // gravity turns it towards +q
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    s.step();
    worst = std::max(worst, s.state().q[0] - 0.9);
  }
  CHECK(worst < 1e-6);
  CHECK(s.state().q[0] == doctest::Approx(0.9).epsilon(1e-9));
  CHECK(std::abs(s.state().v[0]) < 1e-9);
  Chain beyond({0.4});
  beyond.joints().upper[0] = 0.1;
  Simulation late = beyond.simulate(q, v, 1e-3);
  run(late, 1);
  CHECK(late.state().q[0] < 0.1 + 1e-6);
}

TEST_CASE("a joint spring swings at sqrt(k / I), and its energy is in the ledger") {
  const double k = 40, rest = 0.3;
  Chain chain({0.6});
  chain.builder.set_gravity(Vec3::Zero());
  chain.joints().stiffness[0] = k;
  chain.joints().rest[0] = rest;
  const double I = 0.6 * 0.6 * 0.6 / 3 + 0.6 * 0.04 * 0.04 / 12, omega = std::sqrt(k / I);
  VecX q(1), v(1);
  q << 0.5;
  v << 0;
  const double dt = 1e-5;
  Simulation s = chain.simulate(q, v, dt);
  run(s, 0.5);
  // Of second order in flight: neither amplitude nor phase is off by more than (omega dt)^2.
  CHECK(s.state().q[0] == doctest::Approx(rest + 0.2 * std::cos(omega * 0.5)).epsilon(1e-6));
  CHECK(s.audit().ledger_error < 1e-9);
  CHECK(s.audit().energy.elastic > 0);
}

TEST_CASE("a box on a moved platform goes with it as long as friction holds, and slips as Coulomb says beyond") {
  auto platform = [](Motion motion, double mu, double duration) {
    World world(friction(mu));
    KinematicBody lift{"platform", {Mat3::Identity(), Vec3(0, 0, -0.1)}, motion};
    Geometry top;
    top.name = "platform";
    top.kind = ShapeKind::Box;
    top.size = Vec3(5, 1, 0.1);
    top.material = world.material;
    top.body = world.builder.add_kinematic_body(lift);
    world.builder.add_geometry(top);
    world.box(Vec3(0.1, 0.1, 0.1), 2, Vec3(0, 0, 0.1), motion.velocity);
    Simulation s = world.simulate(1e-3);
    run(s, duration);
    return s;
  };
  SUBCASE("sinusoid within the cone: no slip at all") {
    Motion shake;
    shake.amplitude = Vec3(0.02, 0, 0.01);
    shake.frequency = 2;     // at most 0.02 (4 pi)^2 = 3.2 m/s^2 along x
    shake.phase = M_PI / 2;  // from rest
    const Simulation s = platform(shake, 0.8, 0.4);
    const double wave = std::cos(2 * M_PI * 2 * s.state().t) - 1;
    CHECK(position(s).x() == doctest::Approx(0.02 * wave).epsilon(1e-7));
    CHECK(position(s).z() == doctest::Approx(0.1 + 0.01 * wave).epsilon(1e-7));
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK(s.audit().energy.external != 0);
  }
  SUBCASE("a belt that runs under a box at rest drags it at mu g") {
    Motion belt;
    belt.velocity = Vec3(0.5, 0, 0);
    World world(friction(0.3));
    KinematicBody body{"belt", {Mat3::Identity(), Vec3(0, 0, -0.1)}, belt};
    Geometry top;
    top.name = "belt";
    top.kind = ShapeKind::Box;
    top.size = Vec3(5, 1, 0.1);
    top.material = world.material;
    top.body = world.builder.add_kinematic_body(body);
    world.builder.add_geometry(top);
    world.box(Vec3(0.1, 0.1, 0.1), 2, Vec3(0, 0, 0.1));
    Simulation s = world.simulate(1e-3);
    run(s, 0.1);
    CHECK(velocity(s).x() == doctest::Approx(0.3 * 9.81 * 0.1).epsilon(1e-6));
    run(s, 0.2);
    CHECK(velocity(s).x() == doctest::Approx(0.5).epsilon(1e-9));
  }
}
