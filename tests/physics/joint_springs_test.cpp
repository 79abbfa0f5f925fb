// Drives, joint springs and dry friction of joints under the compliant steppers, against closed forms.
#include <doctest/doctest.h>

#include "linalg/modal.hpp"
#include "slider.hpp"
#include "tribo/compliant.hpp"
#include "tribo/scene.hpp"

using namespace worlds;

namespace {

const char* const compliant[] = {"explicit-euler", "runge-kutta", "implicit-euler", "exponential"};

struct Rail {
  double mass = 2, friction = 0, stiffness = 0, damping = 0;  // of the joint
  double kp = 0, kd = 0, tau = 0;                             // of the drive
  double effort = std::numeric_limits<double>::infinity();
  double K = 0, B = 0;  // of the ground; 0: there is none
  double gravity = 9.81;
};

// A mass on a vertical rail, with a drive towards 0, over a ground at z = 0.
Simulation on_a_rail(const Rail& r, const std::string& stepper, double dt, double z, double v,
                     StepperOptions options = {}) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", spring(r.K > 0 ? r.K : 1, r.B)});
  builder.set_gravity(Vec3(0, 0, -r.gravity));
  builder.begin_member("rail", true, "test");
  Body body;
  body.name = "mass";
  body.joint = JointKind::Prismatic;
  body.axis = Vec3::UnitZ();
  body.inertia.mass = r.mass;
  body.inertia.about_com = Mat3::Identity();
  builder.add_body(body);
  JointProperties& p = builder.joint_properties();
  p.friction[0] = r.friction;
  p.stiffness[0] = r.stiffness;
  p.damping[0] = r.damping;
  p.effort_limit[0] = r.effort;
  if (r.K > 0) {
    builder.add_geometry(point_foot(0, Vec3::Zero(), material));
    builder.add_ground({}, material);
  }
  auto model = std::make_shared<const Model>(builder.build());
  Simulation s(model, stepper, options, dt);
  PdOptions pd;
  pd.q_ref = model->neutral();
  pd.kp = VecX::Constant(1, r.kp);
  pd.kd = VecX::Constant(1, r.kd);
  pd.tau_ff = VecX::Constant(1, r.tau);
  s.add_controller(make_pd(*model, pd));
  State state = State::neutral(*model);
  state.q[0] = z;
  state.v[0] = v;
  s.set_state(state);
  return s;
}

// Two links without gravity, a drive at each joint, a spring and damping at one: smooth.
VecX arm_at(const std::string& stepper, bool midpoint, double dt, double time) {
  ModelBuilder builder;
  builder.begin_member("arm", true, "test");
  for (int i = 0; i < 2; ++i) {
    Body body;
    body.name = "arm/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = JointKind::Revolute;
    body.axis = Vec3::UnitY();
    if (i > 0) body.X_PJ.p = Vec3(0.3, 0, 0);
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.15, 0.02, 0.02), 1);
    body.inertia.com = Vec3(0.15, 0, 0);
    builder.add_body(body);
  }
  builder.joint_properties().stiffness[1] = 3;
  builder.joint_properties().damping[1] = 0.05;
  auto model = std::make_shared<const Model>(builder.build());
  StepperOptions options;
  if (midpoint) options.own.as<ExponentialOptions>().midpoint = true;
  if (stepper == "implicit-euler") options.own.as<ImplicitEulerOptions>().newton_tolerance = 1e-12;
  Simulation s(model, stepper, options, dt);
  PdOptions pd;
  pd.q_ref = Eigen::Vector2d(0.5, -0.4);
  pd.kp = Eigen::Vector2d(8, 4);
  pd.kd = Eigen::Vector2d(0.3, 0.1);
  pd.tau_ff = Eigen::Vector2d(0.2, 0);
  s.add_controller(make_pd(*model, pd));
  State state = State::neutral(*model);
  state.v << 2, -1;
  s.set_state(state);
  run(s, time);
  VecX x(4);
  x << s.state().q, s.state().v;
  return x;
}

}  // namespace

TEST_CASE("exponential: one step of a mass on a spring with a drive is the closed form, however stiff both are") {
  // One coordinate: ground, drive, joint spring and damping add up to m z'' + b z' + k z = f, z about its rest.
  const double m = 2, z0 = -1e-3, v0 = -0.4;
  for (double dt : {1e-4, 1e-3, 1e-2, 4e-2})
    for (double kp : {10.0, 1e3, 1e6})
      for (double kd : {0.0, 5.0, 1e4})
        for (double K : {0.0, 1e5}) {
          CAPTURE(dt);
          CAPTURE(kp);
          CAPTURE(kd);
          CAPTURE(K);
          Rail rail{.mass = m, .stiffness = 70, .damping = 0.8, .kp = kp, .kd = kd, .tau = 3, .K = K, .B = 3e-3 * K};
          StepperOptions options;
          options.own.as<CompliantOptions>().bilateral = true;
          Simulation s = on_a_rail(rail, "exponential", dt, z0, v0, options);
          s.step();
          const double k = kp + 70 + K, b = kd + 0.8 + 3e-3 * K, rest = (3 - m * 9.81) / k;
          const Oscillator o = oscillate(k / m, b / m, dt);
          const double y0 = z0 - rest, z = rest + y0 * (1 - k / m * o.s1) + v0 * o.s;
          // y' = -k/m y0 s + v0 s',  s' = 1 - b/m s - k/m s1
          const double v = -k / m * y0 * o.s + v0 * (1 - b / m * o.s - k / m * o.s1);
          const double scale = std::abs(v0) + std::sqrt(k / m) * std::abs(y0);
          CHECK(std::abs(s.state().v[0] - v) < 1e-9 * scale);
          CHECK(std::abs(s.state().q[0] - z) < 1e-9 * std::abs(y0) + 1e-9 * dt * scale);
          CHECK(s.audit().ledger_error < 1e-9);
        }
}

TEST_CASE("drives and joint springs keep the order of each scheme on a smooth motion") {
  struct Method {
    const char* stepper;
    bool midpoint;
    int order;
    double dt;
  };
  const VecX truth = arm_at("runge-kutta", false, 1e-4, 0.2);
  for (const Method& m : {Method{"explicit-euler", false, 1, 2e-3}, Method{"implicit-euler", false, 1, 2e-3},
                          Method{"exponential", false, 1, 2e-3}, Method{"exponential", true, 2, 4e-3},
                          Method{"runge-kutta", false, 4, 1e-2}}) {
    CAPTURE(std::string(m.stepper));
    CAPTURE(m.midpoint);
    const double whole = (arm_at(m.stepper, m.midpoint, m.dt, 0.2) - truth).norm();
    const double half = (arm_at(m.stepper, m.midpoint, m.dt / 2, 0.2) - truth).norm();
    CHECK(std::log2(whole / half) == doctest::Approx(m.order).epsilon(0.12));
  }
}

TEST_CASE("a drive at its limit gives just that, and comes back to its gains") {
  // From 1 m away with 5 N at most on 2 kg: v = -2.5 t, until damping and the spring ask for less. Then it settles.
  for (const char* stepper : compliant) {
    CAPTURE(std::string(stepper));
    Rail rail{.kp = 100, .kd = 40, .effort = 5, .gravity = 0};
    Simulation s = on_a_rail(rail, stepper, 1e-3, 1, 0);
    run(s, 0.5);
    CHECK(s.state().v[0] == doctest::Approx(-1.25).epsilon(1e-9));
    CHECK(s.torque()[0] == doctest::Approx(-5).epsilon(1e-12));
    for (int k = 0; k < 5000; ++k) {
      s.step();
      CHECK(std::abs(s.torque()[0]) <= 5 * (1 + 1e-12));
    }
    CHECK(std::abs(s.state().q[0]) < 1e-3);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("gains far beyond what an explicit drive bears are taken at 10 ms") {
  // kd dt / m = 50, kp dt^2 / m = 5: explicit gains would diverge from 2 on.
  for (const char* stepper : {"explicit-euler", "implicit-euler", "exponential", "momentum", "rigid"}) {
    CAPTURE(std::string(stepper));
    Simulation s = on_a_rail({.kp = 1e5, .kd = 1e4, .gravity = 9.81}, stepper, 1e-2, 0.01, 1);
    run(s, 3);
    CHECK(s.state().q[0] == doctest::Approx(-2 * 9.81 / 1e5).epsilon(1e-6));
    CHECK(std::abs(s.state().v[0]) < 1e-9);
  }
}

TEST_CASE("dry friction of a joint holds within its deflection, and slips at what is left of the load") {
  const double m = 2, g = 9.81, deflection = 1e-3;
  for (const char* stepper : compliant) {
    CAPTURE(std::string(stepper));
    // 25 N hold 19.62 N: the spring gives by their ratio, and stays.
    Simulation held = on_a_rail({.mass = m, .friction = 25}, stepper, 1e-3, 0, 0);
    run(held, 2);
    CHECK(held.state().q[0] == doctest::Approx(-deflection * m * g / 25).epsilon(1e-6));
    CHECK(std::abs(held.state().v[0]) < 1e-9);
    CHECK(held.audit().ledger_error < 1e-9);
    // 4 N do not: it falls at g - 4/m from the deflection on. The spring has taken what it stores from the motion.
    Simulation falls = on_a_rail({.mass = m, .friction = 4}, stepper, 1e-3, 0, 0);
    run(falls, 0.5);
    CHECK(falls.state().v[0] == doctest::Approx(-0.5 * (g - 4 / m)).epsilon(2e-2));
    CHECK(falls.audit().ledger_error < 1e-9);
    // Thrown without gravity: v falls by F/m until it stops; the way is m v^2 / 2F, and it stays there.
    Simulation thrown = on_a_rail({.mass = m, .friction = 4, .gravity = 0}, stepper, 1e-3, 0, 1);
    run(thrown, 0.25);
    CHECK(thrown.state().v[0] == doctest::Approx(0.5).epsilon(2e-2));
    run(thrown, 2);
    CHECK(thrown.state().q[0] == doctest::Approx(m / (2 * 4.0)).epsilon(1e-2));
    CHECK(std::abs(thrown.state().v[0]) < 1e-6);
    CHECK(thrown.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("dry friction and drives go on bit for bit from a saved state") {
  for (const char* stepper : compliant) {
    CAPTURE(std::string(stepper));
    const Rail rail{.friction = 3, .stiffness = 20, .kp = 50, .kd = 1, .K = 1e4, .B = 30};
    Simulation a = on_a_rail(rail, stepper, 1e-3, 0.05, 0);
    run(a, 0.15);
    Simulation b = on_a_rail(rail, stepper, 1e-3, 0, 0);
    b.set_state(a.state());
    run(a, 0.1);
    run(b, 0.1);
    CHECK(hash(a.state()) == hash(b.state()));
  }
}

TEST_CASE("quadrupeds stand at 10 ms under the exponential stepper with their default gains") {
  for (const char* name : {"solo", "go2"}) {
    CAPTURE(std::string(name));
    Scene scene = load_scene(std::string(TRIBO_SCENES "/") + name + "-standing.toml");
    scene.set_stepper("exponential");
    scene.dt = 0.01;
    Simulation s = make_simulation(scene);
    const VecX q = s.state().q;
    run(s, 2);
    CHECK((s.state().q - q).cwiseAbs().maxCoeff() < 0.05);
    CHECK(s.state().v.cwiseAbs().maxCoeff() < 1e-2);
    CHECK(s.audit().ledger_error < 1e-9);
  }
}
