// The energy ledger of the compliant family: its lines are formulas of their own (ledger.1), (ledger.2), so that
// they add up only where the motion obeys the forces that are charged.
#include <doctest/doctest.h>

#include <string>

#include "slider.hpp"
#include "tribo/compliant.hpp"

using namespace worlds;

namespace {

struct Method {
  const char* stepper;
  bool midpoint;
  int order;
  double dt;  // [s]
};
constexpr Method schemes[] = {{"explicit-euler", false, 1, 2e-4},
                              {"runge-kutta", false, 4, 1e-3},
                              {"implicit-euler", false, 1, 1e-3},
                              {"exponential", false, 1, 1e-3},
                              {"exponential", true, 2, 1e-3}};

// A floating base with a damped hip, a damped ball joint and a foot; a motor at the hip, a push, a limit of the hip.
// Every line of the ledger has work to do.
Simulation hopper(const Method& scheme, double dt, StepperOptions options) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", spring(2e3, 20, 0.3)});
  builder.begin_member("hopper", true, "test");
  const JointKind joints[] = {JointKind::Free, JointKind::Revolute, JointKind::Spherical};
  for (int k = 0; k < 3; ++k) {
    Body body;
    body.name = "hopper/" + std::to_string(k);
    body.parent = k - 1;
    body.joint = joints[k];
    body.axis = Vec3::UnitY();
    if (k > 0) body.X_PJ.p = Vec3(0.02, 0.01 * k, -0.1);
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.06, 0.04, 0.05), 1.5 - 0.4 * k);
    body.inertia.com = Vec3(0.02, 0.01, -0.03 * k);
    builder.add_body(body);
  }
  JointProperties& p = builder.joint_properties();
  p.damping << 0.3, 0.5, 0.7, 0.03, 0.02, 0.01, 0.2, 0.05, 0.04, 0.03;
  p.armature[6] = 0.01;
  p.upper[6] = 0.35;
  builder.add_geometry(point_foot(2, Vec3(0, 0, -0.12), material));
  builder.add_ground({}, material);
  auto model = std::make_shared<const Model>(builder.build());
  if (scheme.midpoint) options.own.as<ExponentialOptions>().midpoint = true;
  Simulation s(model, scheme.stepper, options, dt);
  PdOptions pd;
  pd.q_ref = model->neutral();
  for (VecX* x : {&pd.kp, &pd.kd, &pd.tau_ff}) x->setZero(model->nv);
  pd.kp[6] = 2;
  pd.kd[6] = 0.1;
  pd.tau_ff[6] = 3;
  s.add_controller(make_pd(*model, pd));
  Push push;
  push.force = push.force_end = Vec3(2, -1, 0);
  push.torque = push.torque_end = Vec3(0, 0, 0.05);
  push.duration = 10;
  s.add_push(push);
  State state = State::neutral(*model);
  state.q[2] = 0.315;
  state.q[7] = 0.2;
  state.v << 0.3, -0.2, -0.1, 1, -2, 1.5, 1, 0.5, -1, 2;
  s.set_state(state);
  return s;
}

}  // namespace

TEST_CASE("compliant: the ledger closes for every scheme, and all agree on who did the work") {
  // The lines add up to rounding: 1e-11 of the largest is what Newton's method leaves. Each line is that of Runge-Kutta
  // but for the error of the scheme itself, 1 % here; work charged to a wrong line would show.
  Simulation truth = hopper(schemes[1], 1e-4, {});
  run(truth, 0.5);
  const EnergyLines& t = truth.audit().energy;
  for (const Method& scheme : schemes) {
    CAPTURE(std::string(scheme.stepper));
    CAPTURE(scheme.midpoint);
    Simulation s = hopper(scheme, scheme.dt, {});
    run(s, 0.5);
    const Audit& a = s.audit();
    const EnergyLines& e = a.energy;
    CHECK(a.unconverged == 0);
    CHECK(a.ledger_error < 1e-11);
    const double lines[][2] = {{e.actuators, t.actuators},
                               {e.damping, t.damping},
                               {e.external, t.external},
                               {e.contacts, t.contacts},
                               {e.constraints, t.constraints}};
    for (const auto& [line, true_line] : lines) {
      CHECK(std::abs(line) > 0.01 * a.energy_scale);
      CHECK(std::abs(line - true_line) < 0.01 * a.energy_scale);
    }
  }
}

TEST_CASE("compliant: what a scheme adds falls with its order") {
  // While nothing touches or lets go, each step adds h^(p+1) times a number of the motion.
  for (const Method& scheme : schemes) {
    StepperOptions options;
    options.own.as<CompliantOptions>().bilateral = true;
    if (std::string(scheme.stepper) == "implicit-euler")
      options.own.as<ImplicitEulerOptions>().newton_tolerance = 1e-11;
    double added[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      Simulation s = hopper(scheme, scheme.dt / (1 + i), options);
      for (long k = 0; k < std::lround(0.03 / s.dt()); ++k) added[i] += std::abs(s.step().energy.integrator);
    }
    CAPTURE(std::string(scheme.stepper));
    CAPTURE(scheme.midpoint);
    CHECK(std::log2(added[0] / added[1]) == doctest::Approx(scheme.order).epsilon(0.05));
  }
}

TEST_CASE("compliant: a step that Newton's method leaves unsolved does not close the ledger") {
  // One iteration a step: the forces that are charged are not those that the motion needs.
  StepperOptions options;
  options.own.as<ImplicitEulerOptions>().max_newton = 1;
  options.own.as<ImplicitEulerOptions>().failure = FailurePolicy::Report;
  Simulation s = hopper(schemes[2], 5e-3, options);
  run(s, 0.2);
  CHECK(s.audit().unconverged > 0);
  CHECK(s.audit().ledger_error > 1e-6);
}
