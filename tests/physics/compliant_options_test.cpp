// Options of the compliant steppers that change what a step does: policies of failure, fixed orders, damping of slip.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tribo/compliant.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

// A cube that hits the ground with an edge, spinning: one Newton iteration is not enough.
Simulation hard_landing(FailurePolicy policy) {
  StepperOptions options;
  auto& own = options.own.as<ImplicitEulerOptions>();
  own.failure = policy;
  own.max_newton = 1;
  own.anchor = AnchorRule::Detected;
  return World(friction(0.5))
      .ground()
      .box(Vec3(0.1, 0.1, 0.1), 1, {0, 0, 0.12}, {1, 0, -2}, {3, 5, 0})
      .simulate(5e-3, options, "implicit-euler");
}

StepStatus worst(Simulation& simulation, int steps, int* substeps = nullptr) {
  StepStatus status = StepStatus::Ok;
  for (int k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    if (substeps != nullptr) *substeps = std::max(*substeps, report.substeps);
    if (report.status != StepStatus::Ok) status = report.status;
    if (report.status == StepStatus::Stopped) break;
  }
  return status;
}

}  // namespace

TEST_CASE("implicit Euler that does not converge: reports, stops, or takes smaller steps, as told") {
  Simulation reporting = hard_landing(FailurePolicy::Report);
  CHECK(worst(reporting, 40) == StepStatus::Unconverged);
  CHECK(reporting.state().t == doctest::Approx(0.2));  // it went on
  CHECK(reporting.audit().unconverged > 0);

  Simulation stopping = hard_landing(FailurePolicy::Stop);
  CHECK(worst(stopping, 40) == StepStatus::Stopped);
  const double t = stopping.state().t;
  CHECK(t < 0.2);
  CHECK(stopping.audit().status == StepStatus::Stopped);
  const VecX q = stopping.state().q;
  CHECK(stopping.step().status == StepStatus::Stopped);  // the state was left as it was
  CHECK(stopping.state().q == q);
  CHECK(stopping.state().t == t);

  int substeps = 1;
  Simulation smaller = hard_landing(FailurePolicy::Substep);
  worst(smaller, 40, &substeps);
  CHECK(substeps > 1);
  CHECK(smaller.state().t == doctest::Approx(0.2));
}

// A hundred and twenty stacks of three boxes, 2160 coordinates: each goes as one that is alone in the world, as far as
// Newton's method leaves velocities open. Stacks slide and lean on each other's forces: the matrix is not symmetric.
TEST_CASE("implicit Euler of many bodies: each stack as if it were alone") {
  const auto stacks = [](const char* grid) {
    return make_simulation(parse_scene(
        std::string("[stepper]\nname = \"implicit-euler\"\ndt = 2e-3\n") + "[material.default]\nmu = 0.2\n" +
            "[[object]]\nname = \"box\"\nshape = \"box\"\nsize = 0.1\nmass = 1\n" +
            "position = [0, 0, 0.051]\nvelocity = [0.4, 0.3, 0]\ngrid = " + grid + "\nspacing = [0.3, 0.3, 0.101]\n",
        "stacks"));
  };
  Simulation many = stacks("[12, 10, 3]"), one = stacks("[1, 1, 3]");
  REQUIRE(many.model().nv == 2160);
  const VecX before = many.state().q, alone = one.state().q;
  int slid = 0;
  for (int k = 0; k < 60; ++k) {
    CHECK(many.step().status == StepStatus::Ok);
    CHECK(one.step().status == StepStatus::Ok);
    for (const ContactReport& c : one.contacts()) slid += c.mode == ContactMode::Slip;
  }
  CHECK(slid > 50);
  double off = 0;
  for (int b = 0; b < 360; ++b)
    for (int level = 0; level < 3; ++level) {
      if (std::abs(before[7 * b + 2] - alone[7 * level + 2]) > 1e-3) continue;
      const VecX way = many.state().q.segment(7 * b, 7) - before.segment(7 * b, 7);
      const VecX expected = one.state().q.segment(7 * level, 7) - alone.segment(7 * level, 7);
      off = std::max(off, (way - expected).cwiseAbs().maxCoeff());
    }
  CHECK(off < 1e-6);  // m and the quaternion's numbers: velocities to 1e-6, over 0.12 s
}

TEST_CASE("exponential with a fixed order: nearer to the exact one with every order, in a run") {
  auto end = [](ExponentialMethod method, int order) {
    StepperOptions options;
    options.own.as<ExponentialOptions>().method = method;
    options.own.as<ExponentialOptions>().order = order;
    Simulation s = World(friction(0.5))
                       .ground()
                       .box(Vec3(0.1, 0.1, 0.1), 1, {0, 0, 0.1}, {0.3, 0, 0})
                       .simulate(1e-3, options, "exponential");
    run(s, 0.05);
    return VecX(s.state().q);
  };
  const VecX exact = end(ExponentialMethod::Auto, 3);
  CHECK((end(ExponentialMethod::Modal, 3) - exact).norm() < 1e-9);
  CHECK((end(ExponentialMethod::Full, 3) - exact).norm() < 1e-9);
  double before = HUGE_VAL;
  for (int order : {1, 3, 7}) {
    const double error = (end(ExponentialMethod::Reduced, order) - exact).norm();
    CHECK(error < before);
    before = error;
  }
  CHECK(before < 1e-6);
}

TEST_CASE("a box slides with mu g however its anchors move") {
  for (SlipAnchor slip : {SlipAnchor::Drawn, SlipAnchor::Set, SlipAnchor::SetUndamped}) {
    StepperOptions options;
    options.own.as<CompliantOptions>().slip = slip;
    const Vec3 resting(0, 0, 0.05 - 9.81 / 4e5);
    Simulation s = World(friction(0.4))
                       .ground()
                       .box(Vec3(0.2, 0.2, 0.05), 1, resting, {2, 0, 0})
                       .simulate(1e-3, options, "exponential");
    run(s, 0.1);
    const double v0 = velocity(s).x();
    run(s, 0.2);
    CHECK((v0 - velocity(s).x()) / 0.2 == doctest::Approx(0.4 * 9.81).epsilon(0.01));  // Coulomb
    CHECK(s.audit().laws.dissipation < 1e-6);                                          // friction opposes the slip
  }
}

TEST_CASE("scene keys of the compliant steppers reach their options") {
  const std::string cube = "[[object]]\nname = \"cube\"\nsize = 0.2\nmass = 1.0\n";
  const Scene expo = parse_scene(
      cube +
          "[stepper]\nname = \"exponential\"\nmethod = \"reduced\"\norder = 5\n"
          "anchor = \"detected\"\nslip_anchor = \"set-undamped\"\nproject_only = true\nmidpoint = true\nevents = true\n"
          "limit_stiffness = 7.0\nlimit_damping = 2.0\naccuracy = 1e-3\n",
      "x.toml");
  const auto& e = *expo.stepper_options.own.find<ExponentialOptions>();
  CHECK(e.method == ExponentialMethod::Reduced);
  CHECK(e.order == 5);
  CHECK(e.anchor == AnchorRule::Detected);
  CHECK(e.slip == SlipAnchor::SetUndamped);
  CHECK(e.project_only);
  CHECK(e.midpoint);
  CHECK(e.events);
  CHECK(e.limit_stiffness == 7);
  CHECK(e.limit_damping == 2);
  CHECK(e.accuracy == 1e-3);
  const Scene implicit = parse_scene(cube +
                                         "[stepper]\nname = \"implicit-euler\"\nfailure = \"stop\"\nmax_newton = 9\n"
                                         "max_halvings = 4\nregularisation = 1e-8\nnewton_tolerance = 1e-5\n",
                                     "x.toml");
  const auto& i = *implicit.stepper_options.own.find<ImplicitEulerOptions>();
  CHECK(i.failure == FailurePolicy::Stop);
  CHECK(i.max_newton == 9);
  CHECK(i.max_halvings == 4);
  CHECK(i.regularisation == 1e-8);
  CHECK(i.newton_tolerance == 1e-5);
}
