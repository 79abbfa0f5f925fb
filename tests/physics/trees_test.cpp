// Trees that nothing touches: energy, momentum, order. By default and with smooth = midpoint.
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

Body link(int parent, JointKind joint, const Vec3& axis, const Vec3& p, const Vec3& half, double mass,
          const Vec3& com) {
  static int count = 0;
  Body body;
  body.name = "link" + std::to_string(count++);
  body.parent = parent;
  body.joint = joint;
  body.axis = axis;
  body.X_PJ.p = p;
  body.inertia = solid_inertia(ShapeKind::Box, half, mass);
  body.inertia.com = com;
  return body;
}

// A chain that hangs from the world, held out sideways at first.
struct Chain {
  std::shared_ptr<const Model> model;
  double lowest = 0;  // potential energy where it hangs still [J]
};

Chain chain(int links, JointKind joint, double length = 0.1, double mass = 0.1) {
  ModelBuilder builder;
  builder.begin_member("chain", true, "test");
  Chain c;
  for (int k = 0; k < links; ++k) {
    builder.add_body(link(k - 1, joint, Vec3::UnitY(), k ? Vec3(0, 0, -length) : Vec3::Zero(), {0.01, 0.01, length / 2},
                          mass, {0, 0, -length / 2}));
    c.lowest -= 9.81 * mass * (k + 0.5) * length;
  }
  c.model = std::make_shared<const Model>(builder.build());
  return c;
}

// A floating tree of four bodies with hinges, a slider and a ball joint.
std::shared_ptr<const Model> creature(double damping, double stiffness, const Vec3& gravity, bool floats = true) {
  ModelBuilder builder;
  builder.begin_member("creature", true, "test");
  builder.add_body(link(-1, floats ? JointKind::Free : JointKind::Spherical, Vec3::UnitX(), Vec3::Zero(),
                        {0.1, 0.05, 0.07}, 2, {0.02, -0.01, 0.03}));
  builder.add_body(link(0, JointKind::Revolute, Vec3::UnitY(), {0.1, 0.02, 0}, {0.02, 0.03, 0.15}, 0.7, {0, 0, -0.15}));
  builder.add_body(link(1, JointKind::Spherical, Vec3::UnitX(), {0, 0, -0.3}, {0.02, 0.02, 0.1}, 0.4, {0, 0.01, -0.1}));
  builder.add_body(
      link(0, JointKind::Revolute, Vec3(1, 1, 0).normalized(), {-0.1, 0, 0.02}, {0.1, 0.02, 0.02}, 0.5, {-0.1, 0, 0}));
  builder.add_body(link(3, JointKind::Prismatic, Vec3::UnitX(), {-0.2, 0, 0}, {0.03, 0.03, 0.03}, 0.3, {0, 0.02, 0}));
  builder.set_gravity(gravity);
  JointProperties& p = builder.joint_properties();
  const int first = floats ? 6 : 3, n = static_cast<int>(p.damping.size());
  for (int k = first; k < n; ++k) p.damping[k] = damping * (1 + 0.3 * k);
  for (int k = first; k < n; ++k) p.stiffness[k] = stiffness;
  return std::make_shared<const Model>(builder.build());
}

Simulation simulate(const std::shared_ptr<const Model>& model, const State& state, double dt,
                    SmoothScheme smooth = SmoothScheme::Euler) {
  StepperOptions options;
  options.own.as<RigidOptions>().smooth = smooth;
  Simulation s(model, "rigid", options, dt);
  s.set_state(state);
  return s;
}

State shaken(const Model& model, double rate) {
  State state = State::neutral(model);
  for (int k = 0; k < model.nv; ++k) state.v[k] = rate * std::sin(1.0 + 3 * k);
  return state;
}

double energy(const Simulation& s) {
  Dynamics d(s.model());
  d.compute_motion(s.state().q, s.state().v);
  return d.kinetic() + d.potential();
}

// Largest energy over the run, above the lowest, over that of the start.
double most_energy(Simulation& s, double duration, double lowest) {
  const double start = energy(s) - lowest;
  double most = 0;
  for (long k = 0; k < std::lround(duration / s.dt()); ++k) {
    REQUIRE(s.step().status == StepStatus::Ok);
    most = std::max(most, (energy(s) - lowest) / start);
  }
  return most;
}

std::shared_ptr<const Model> talos() {
  ModelBuilder builder;
  RobotOptions options;
  options.model = "talos";
  options.contact = "none";
  add_robot(builder, options);
  builder.set_gravity(Vec3::Zero());
  return std::make_shared<const Model>(builder.build());
}

// Slope of the error at the end of 0.4 s between dt and dt/2, beside a run with dt/32.
double order(const std::shared_ptr<const Model>& model, const State& start, double dt, SmoothScheme smooth) {
  const auto end = [&](double h) {
    auto s = simulate(model, start, h, smooth);
    run(s, 0.4);
    return s.state();
  };
  const State fine = end(dt / 32);
  const auto off = [&](const State& x) {
    VecX d(model->nv);
    difference(*model, model->members[0], fine.q, x.q, d);
    return std::hypot(d.norm(), (x.v - fine.v).norm());
  };
  const double coarse = off(end(dt)), half = off(end(dt / 2));
  return std::log2(coarse / half);
}

}  // namespace

TEST_CASE("a chain of 50 links, undamped, never has more than 1.02 times its energy") {
  const Chain c = chain(50, JointKind::Revolute);
  State state = State::neutral(*c.model);
  state.q[0] = M_PI / 2;
  auto s = simulate(c.model, state, 1e-3);
  CHECK(most_energy(s, 4, c.lowest) < 1.02);  // it whips at 1.5 s; 10 s in the long form
  CHECK(s.audit().gained < 0.01);
  CHECK(s.audit().ledger_error < 1e-9);
}

TEST_CASE("short chains at 1 and 5 ms, hinges and balls") {
  for (JointKind joint : {JointKind::Revolute, JointKind::Spherical})
    for (double dt : {1e-3, 5e-3}) {
      CAPTURE(dt);
      const Chain c = chain(5, joint);
      State state = shaken(*c.model, 0.2);
      if (joint == JointKind::Revolute)
        state.q[0] = M_PI / 2;
      else
        state.q.segment<4>(0) = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitY())).coeffs();
      auto s = simulate(c.model, state, dt);
      CHECK(most_energy(s, 10, c.lowest) < 1.02);
      CHECK(s.audit().ledger_error < 1e-9);
      if (dt > 1e-3) CHECK(s.audit().unresolved > 0);  // it whips faster than dt resolves, and says so
    }
}

TEST_CASE("Talos tumbling in flight: energy within 1.02, both momenta to 1e-12") {
  const auto model = talos();
  for (double rate : {5.0, 10.0}) {
    CAPTURE(rate);
    State state = shaken(*model, 0.1 * rate);
    state.v.segment<3>(3) = rate * Vec3(0.6, 0.5, 0.624);
    auto s = simulate(model, state, 1e-3);
    Dynamics d(*model);
    d.compute(s.state().q, s.state().v);
    const auto about_centre = [&] {
      return Vec3(d.angular_momentum(0) - d.center_of_mass(0).cross(d.linear_momentum(0)));
    };
    const Vec3 P = d.linear_momentum(0), L = about_centre();
    CHECK(most_energy(s, 2, 0) < 1.02);  // 10 s in the long form
    d.compute(s.state().q, s.state().v);
    CHECK((d.linear_momentum(0) - P).norm() < 1e-12 * model->mass());
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK((about_centre() - L).norm() < 1e-12 * L.norm());  // joint limits and friction act within it
  }
}

TEST_CASE(
    "a floating creature keeps both momenta to 1e-12, with dampers and springs inside, and falls with its weight") {
  for (double damping : {0.0, 0.05})
    for (SmoothScheme smooth : {SmoothScheme::Euler, SmoothScheme::Midpoint}) {
      const Vec3 gravity(0.3, 0, -9.81);
      const auto model = creature(damping, 20 * damping, gravity);
      auto s = simulate(model, shaken(*model, 4), 1e-3, smooth);
      Dynamics d(*model);
      d.compute(s.state().q, s.state().v);
      const auto about_centre = [&] {
        return Vec3(d.angular_momentum(0) - d.center_of_mass(0).cross(d.linear_momentum(0)));
      };
      const Vec3 P = d.linear_momentum(0), L = about_centre();
      run(s, 2);
      d.compute(s.state().q, s.state().v);
      CHECK((d.linear_momentum(0) - P - 2 * model->mass() * gravity).norm() < 1e-12 * model->mass() * 20);
      CHECK((about_centre() - L).norm() < 1e-12 * L.norm());
      CHECK(s.audit().ledger_error < 1e-9);
    }
}

TEST_CASE("order two for every tree: fixed and floating, damped and with springs") {
  struct Case {
    bool floats;
    double damping, stiffness, dt = 2e-3;
  };
  for (const Case& c :
       {Case{false, 0, 0}, Case{true, 0, 0}, Case{true, 0.02, 0}, Case{true, 0.02, 2}, Case{false, 0.2, 5, 2.5e-4}}) {
    CAPTURE(c.floats);
    CAPTURE(c.damping);
    CAPTURE(c.stiffness);
    const auto model = creature(c.damping, c.stiffness, {0, 0, -9.81}, c.floats);
    const double slope = order(model, shaken(*model, 2), c.dt, SmoothScheme::Midpoint);
    CHECK(slope > 1.85);
    CHECK(slope < 2.3);
  }
}

TEST_CASE("order two for a single free body and for a top, with smooth = midpoint") {
  for (JointKind joint : {JointKind::Free, JointKind::Spherical}) {
    ModelBuilder builder;
    builder.begin_member("body", true, "test");
    builder.add_body(link(-1, joint, Vec3::UnitX(), Vec3::Zero(), {0.1, 0.05, 0.02}, 1, {0.03, 0.02, -0.05}));
    const auto model = std::make_shared<const Model>(builder.build());
    const double slope = order(model, shaken(*model, 8), 2e-3, SmoothScheme::Midpoint);
    CHECK(slope > 1.85);  // of a free body: 4
  }
}

TEST_CASE("a strongly damped joint comes to rest without ringing, at any dt") {
  // One hinge: I v' = -D v, exact by (flight.4) however large dt D / I is.
  ModelBuilder builder;
  builder.begin_member("arm", true, "test");
  builder.add_body(link(-1, JointKind::Revolute, Vec3::UnitY(), Vec3::Zero(), {0.02, 0.02, 0.1}, 1, Vec3::Zero()));
  builder.set_gravity(Vec3::Zero());
  const double I = solid_inertia(ShapeKind::Box, {0.02, 0.02, 0.1}, 1).about_com(1, 1);
  for (double ratio : {0.1, 3.0, 1000.0}) {
    builder.joint_properties().damping[0] = ratio * I / 1e-3;
    const auto model = std::make_shared<const Model>(ModelBuilder(builder).build());
    auto s = simulate(model, shaken(*model, 5), 1e-3);
    const double v0 = s.state().v[0];
    run(s, 3e-3);
    CHECK(s.state().v[0] == doctest::Approx(v0 * std::exp(-3 * ratio)).epsilon(1e-9).scale(v0));
  }
}

TEST_SUITE("long") {
  TEST_CASE("trees for 10 s: chain of 50 and Talos in flight") {
    const Chain c = chain(50, JointKind::Revolute);
    State state = State::neutral(*c.model);
    state.q[0] = M_PI / 2;
    auto s = simulate(c.model, state, 1e-3);
    CHECK(most_energy(s, 10, c.lowest) < 1.02);
    const auto model = talos();
    State thrown = shaken(*model, 1);
    thrown.v.segment<3>(3) = 10 * Vec3(0.6, 0.5, 0.624);
    auto t = simulate(model, thrown, 1e-3);
    CHECK(most_energy(t, 10, 0) < 1.02);
  }
}

TEST_CASE("a robot that stands presses with its weight: what contacts hold back leaves no trace in the bias") {
  auto s = make_simulation(load_scene(TRIBO_SCENES "/solo.toml"));
  run(s, 2);
  double force = 0, speed = 0;
  for (const ContactReport& r : s.contacts()) force += r.f.z();
  speed = s.state().v.cwiseAbs().maxCoeff();
  REQUIRE(speed < 1e-6);
  CHECK(force == doctest::Approx(9.81 * s.model().mass()).epsilon(1e-7));
}
