// One judge for every stepper: what it says of a step is found again here from the state and the contact force alone.
#include <doctest/doctest.h>

#include "tribo/compliant.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double dt = 1e-2, radius = 0.1, mass = 2, gravity = 9.81;

// (judge.1), (judge.4) for a ball above a plane, from outside.
double signorini(double height, double speed_before, double speed, const std::vector<ContactReport>& contacts) {
  if (contacts.empty()) return 0;
  const double f = contacts[0].f.z(), F = std::max(std::abs(f), mass * gravity);
  const double s = speed + std::max(height - radius, 0.0) / dt;
  const double a = f != 0 ? F / mass + std::abs(speed_before) / dt : gravity;
  return std::abs(std::min(f / F, s / (a * dt)));
}

}  // namespace

TEST_CASE("every stepper is judged by the law of rigid contact, passing through included") {
  for (const StepperEntry& stepper : steppers()) {
    StepperOptions options;
    if (stepper.memory == MemoryFamily::Compliant)
      options.own.as<CompliantOptions>().anchor = AnchorRule::Detected;  // steps are not divided
    if (stepper.name == "implicit-euler") options.own.as<ImplicitEulerOptions>().failure = FailurePolicy::Report;
    SurfacePair surface = worlds::friction(0.5);
    surface.stiffness = 1e4;
    surface.damping = 100;
    worlds::World world(surface);
    world.ground().sphere(radius, mass, Vec3(0, 0, radius + 0.03), Vec3(0, 0, -4));
    Simulation simulation = world.simulate(dt, options, stepper.name);
    CAPTURE(stepper.name);
    double worst = 0;
    for (int k = 0; k < 4; ++k) {
      const double height = worlds::position(simulation).z(), before = worlds::velocity(simulation).z();
      const StepReport report = simulation.step();
      if (report.status == StepStatus::NotFinite) break;
      CAPTURE(k);
      CHECK(report.substeps == 1);
      const double expected = signorini(height, before, worlds::velocity(simulation).z(), simulation.contacts());
      CHECK(report.laws.signorini == doctest::Approx(expected).epsilon(1e-9));
      worst = std::max(worst, report.laws.signorini);
    }
    // At 4 m/s the ball is through the surface within a step: only what solves for the end of the step stops it there.
    if (stepper.name == "rigid")
      CHECK(worst < 1e-8);
    else
      CHECK(worst > 0.1);
  }
}

TEST_CASE("a step that was not taken leaves the state, and nothing to report") {
  for (const StepperEntry& stepper : steppers()) {
    worlds::World world(worlds::friction(0.5));
    world.ground().sphere(radius, mass, Vec3(0, 0, radius), Vec3(0, 0, -1));
    Simulation simulation = world.simulate(1e-4, {}, stepper.name);
    for (int k = 0; k < 20; ++k) simulation.step();
    Push push;
    push.force = push.force_end = Vec3(0, 0, std::numeric_limits<double>::infinity());
    push.duration = 1;
    simulation.add_push(push);
    const std::uint64_t before = hash(simulation.state());
    const StepReport report = simulation.step();
    CAPTURE(stepper.name);
    CHECK(report.status == StepStatus::NotFinite);
    CHECK(hash(simulation.state()) == before);
    CHECK(report.t == simulation.state().t);
    CHECK(simulation.contacts().empty());
    CHECK(report.energy.work() == 0);
  }
}
