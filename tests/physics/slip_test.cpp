// Friction of visco-elastic contact while it slips: spring and damper in series with a slider.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "slider.hpp"
#include "tribo/compliant.hpp"
#include "tribo/scene.hpp"

using namespace worlds;
using Vec2 = Eigen::Vector2d;

namespace {

constexpr double m = 1, K = 1e4, B = 100, mu = 0.3, g = 9.81;  // B / K = 10 ms
const Vec3 tilted(0, 6, -g);                                   // 6 m/s^2 along y, more than mu g
const Vec3 start(0, 0, -m*g / K), speed(0.2, 0, 0);            // rests along z

// The law as a differential equation, in steps of 1 us (RK2): c' = f / m + a; the slider moves where spring and damper
// alone would give more than mu N.
Vec2 reference(double duration) {
  Vec2 c = speed.head<2>(), x = Vec2::Zero();
  const Vec2 a = tilted.head<2>();
  auto rates = [&](const Vec2& v, const Vec2& s, Vec2& v_rate, Vec2& s_rate) {
    const Vec2 held = -K * s - B * v;
    const double share = std::min(1.0, mu * m * g / held.norm());
    v_rate = share * held / m + a;
    s_rate = -(K * s + share * held) / B;
  };
  const double h = 1e-6;
  Vec2 c1, x1, c2, x2;
  for (long i = 0; i < std::lround(duration / h); ++i) {
    rates(c, x, c1, x1);
    rates(c + 0.5 * h * c1, x + 0.5 * h * x1, c2, x2);
    c += h * c2;
    x += h * x2;
  }
  return c;
}

Vec2 slid(const std::string& stepper, const StepperOptions& options, double dt, double duration) {
  Simulation s = Slider(m, spring(K, B, mu), tilted).simulate(stepper, options, dt, start, speed);
  run(s, duration);
  return s.state().v.head<2>();
}

}  // namespace

TEST_CASE("slip: friction turns towards the slip as the law's equation has it, at every step size") {
  const double duration = 0.04;
  const Vec2 truth = reference(duration);
  struct Entry {
    const char* stepper;
    bool midpoint;
    int order;
  };
  for (const Entry& e :
       {Entry{"exponential", false, 2}, Entry{"exponential", true, 2}, Entry{"explicit-euler", false, 1},
        Entry{"runge-kutta", false, 4}, Entry{"implicit-euler", false, 1}}) {
    StepperOptions options;
    if (e.midpoint) options.own.as<ExponentialOptions>().midpoint = true;
    CAPTURE(std::string(e.stepper));
    const double coarse = (slid(e.stepper, options, 2e-3, duration) - truth).norm();
    const double fine = (slid(e.stepper, options, 1e-3, duration) - truth).norm();
    MESSAGE(e.stepper, ": error ", coarse, " and ", fine, " of ", truth.norm(), " m/s");
    CHECK(coarse < 0.02 * truth.norm());
    CHECK((fine < 1e-9 || std::log2(coarse / fine) > e.order - 0.4));
  }
}

TEST_CASE("slip: an anchor that is set step by step makes friction depend on the step") {
  auto change = [](SlipAnchor slip) {
    StepperOptions options;
    options.own.as<CompliantOptions>().slip = slip;
    return (slid("runge-kutta", options, 1e-3, 0.04) - slid("runge-kutta", options, 1e-4, 0.04)).norm();
  };
  const double set = change(SlipAnchor::Set), drawn = change(SlipAnchor::Drawn);
  MESSAGE("change of the velocity from steps of 1 ms to 0.1 ms: set ", set, ", drawn ", drawn, " m/s");
  CHECK(drawn < 1e-3 * set);
}

TEST_CASE("slip: the spring is stretched as the closed form has it") {
  // Fast along x: friction is -mu m g throughout, and x relaxes to its end with the time B / K (compliant.9).
  const double dt = 1e-3, normal = 0.5 * m * g * m * g / K, full = 0.5 * mu * m * g * mu * m * g / K;
  for (const char* stepper : {"exponential", "explicit-euler", "runge-kutta", "implicit-euler"}) {
    StepperOptions options;
    options.audit = AuditLevel::Full;
    Simulation s = Slider(m, spring(K, B, mu)).simulate(stepper, options, dt, start, {5, 0, 0});
    StepReport report;
    for (int k = 0; k < 7; ++k) report = s.step();
    const double share = -std::expm1(-7 * dt * K / B);
    CAPTURE(std::string(stepper));
    // Runge-Kutta: (h K / B)^5 / 120 a step.
    CHECK(report.energy.elastic == doctest::Approx(normal + full * share * share).epsilon(1e-6));
  }
}

TEST_CASE("slip: a ball that turns by radians in a step gains nothing from the ground") {
  // Friction can only brake it: the kinetic energy falls from 0.4 m r^2 w^2 / 2 on, and the springs hold no more than
  // (compliant.11) and the weight allow. An anchor that is left behind at 15 rad a step held 28 kJ of 80.
  const double r = 0.1, w = 2000, stiff = 27e3, damping = 7.3, rubs = 0.22, dt = 0.0074;
  for (const char* stepper : {"exponential", "runge-kutta", "implicit-euler"}) {
    CAPTURE(std::string(stepper));
    Simulation s = tribo::make_simulation(tribo::parse_scene(
        "[stepper]\nname = '" + std::string(stepper) +
            "'\ndt = 0.0074\n[material.default]\nmu = 0.22\nstiffness = 27e3\ndamping = 7.3\n[[object]]\n"
            "shape = 'sphere'\nradius = 0.1\nmass = 10\nposition = [0, 0, 0.098]\nangular_velocity = [0, 2000, 0]\n",
        "ball"));
    const double start = 0.5 * 0.4 * 10 * r * r * w * w, deepest = 0.02;
    const double stretch = 2 * (rubs * stiff * deepest + damping * r * w) / stiff;
    for (int k = 0; k < 60; ++k) {
      const StepReport report = s.step();
      REQUIRE(report.status == StepStatus::Ok);
      REQUIRE(report.penetration < deepest);
      CHECK(report.energy.kinetic < start * (1 + 1e-9) + 10 * g * dt);
      CHECK(report.energy.elastic < 0.5 * stiff * (stretch * stretch + deepest * deepest));
    }
  }
}
