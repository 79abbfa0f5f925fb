// Compliant surfaces with a relaxation time, m v' = f - m g, C f = -(phi + tau phi'): against its closed forms.
#include <doctest/doctest.h>

#include <vector>

#include "worlds.hpp"

using namespace tribo;

namespace {

constexpr double g = 9.81, mass = 2, radius = 0.1;

SurfacePair soft(double compliance, double relaxation_time, double mu = 0) {
  SurfacePair s = worlds::friction(mu);
  s.compliance = compliance;
  s.relaxation_time = relaxation_time;
  return s;
}

Simulation ball(const SurfacePair& surface, double gap, double speed, double dt) {
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  return worlds::World(surface)
      .ground()
      .sphere(radius, mass, {0, 0, radius + gap}, {0, 0, speed})
      .simulate(dt, options);
}

double gap_of(const Simulation& s) { return worlds::position(s).z() - radius; }

}  // namespace

// The slow one of its two modes, m s^2 + (tau s + 1)/C = 0: s = -1/tau (1 + m C/tau^2 + ...).
TEST_CASE("softness: a point mass comes to rest by first-order decay with the relaxation time") {
  const double C = 2e-5, rest = -C * mass * g;
  for (double tau : {0.02, 0.05, 0.2}) {
    const double ratio = mass * C / (tau * tau), s = -(1 - std::sqrt(1 - 4 * ratio)) / (2 * ratio * tau);
    CAPTURE(tau);
    CHECK(s * tau == doctest::Approx(-1).epsilon(1.3 * ratio));
    double last = 0;
    for (double dt : {1e-3, 5e-4}) {
      const double start = 0.8 * rest;  // above the rest by this
      Simulation sim = ball(soft(C, tau), rest - start, -start * s, dt);
      worlds::run(sim, 2 * tau);
      const double error = (gap_of(sim) - rest) / (-start * std::exp(2 * tau * s)) - 1;
      CHECK(std::abs(error) < 1.3 * dt / tau);  // (1 + dt/tau)^(-t/dt) is e^(-t/tau) (1 + t dt/(2 tau^2)), t = 2 tau
      if (last != 0) CHECK(last / error == doctest::Approx(2).epsilon(0.1));
      last = error;
    }
    Simulation sim = ball(soft(C, tau), 0, 0, 1e-3);
    worlds::run(sim, 40 * tau);
    CHECK(gap_of(sim) == doctest::Approx(rest).epsilon(1e-9));
  }
}

// (soft.4): the sum of dt f over all steps is m (g t - v_0), and f = -(phi' + tau v')/C with phi' = phi + dt v', in every step.
TEST_CASE("softness: the area under a motion to rest is tau x_0 + m C v_0") {
  for (const auto& [time, step] : {std::pair(0.03, 1e-3), std::pair(0.1, 1e-2), std::pair(0.004, 2e-3)}) {
    const double tau = time, dt = step, C = 1e-5, rest = -C * mass * g, phi0 = 3 * rest, v0 = -0.01;
    Simulation sim = ball(soft(C, tau), phi0, v0, dt);
    double area = 0;
    const long steps = std::lround(60 * (tau + mass * C / tau) / dt);
    for (long k = 0; k < steps; ++k) {
      sim.step();
      area += dt * (gap_of(sim) - rest);
      REQUIRE(sim.contacts().size() == 1);
      CHECK(sim.contacts()[0].f.z() >= 0);
    }
    CAPTURE(tau);
    CHECK(area == doctest::Approx(tau * (phi0 - rest) + mass * C * v0).epsilon(1e-9));
  }
}

// Kinetic, potential and phi^2/(2C) of the overlap: the law only takes from their sum, whatever the step.
TEST_CASE("softness: energy is never gained") {
  int pressed = 0;
  for (double C : {1e-6, 1e-4, 1e-3})
    for (double tau : {0.0, 1e-4, 0.01, 1.0})
      for (double dt : {1e-4, 1e-3, 1e-2, 0.05}) {
        Simulation sim = ball(soft(C, tau), 0.05, -0.3, dt);
        const auto energy = [&] {
          const double v = worlds::velocity(sim).z(), overlap = std::min(gap_of(sim), 0.0);
          return 0.5 * mass * v * v + mass * g * (gap_of(sim) + radius) + 0.5 * overlap * overlap / C;
        };
        CAPTURE(C);
        CAPTURE(tau);
        CAPTURE(dt);
        double last = energy();
        for (int k = 0; k < 400; ++k) {
          sim.step();
          for (const ContactReport& c : sim.contacts()) pressed += c.f.z() > 0;
          REQUIRE(energy() <= last * (1 + 1e-12));
          last = energy();
        }
        CHECK(sim.audit().unconverged == 0);
        CHECK(sim.audit().laws.signorini < 1e-9);
      }
  CHECK(pressed > 1000);
}

// Of two Kelvin-Voigt layers in series, slowly: C = C_a + C_b, and C tau = C_a tau_a + C_b tau_b.
TEST_CASE("softness: two materials give way one after the other") {
  ModelBuilder builder;
  const int a = builder.add_material({"a", soft(2e-5, 0.03)}), b = builder.add_material({"b", soft(6e-5, 0.01)});
  builder.add_material({"hard", {}});
  builder.add_ground({}, a);
  builder.add_object("ball", ShapeKind::Sphere, Vec3(radius, 0, 0), mass, b);
  const Model model = builder.build();
  CHECK(model.surface(0, 1).compliance == doctest::Approx(4e-5));
  CHECK(model.surface(0, 1).relaxation_time == doctest::Approx((2 * 0.03 + 6 * 0.01) / 8));
  CHECK(model.surface(0, 2).compliance == doctest::Approx(1e-5));
  CHECK(model.surface(0, 2).relaxation_time == doctest::Approx(0.03));  // a rigid layer changes nothing of it
  CHECK(model.surface(2, 2).relaxation_time == 0);
  ModelBuilder rigid;
  CHECK_THROWS_WITH_AS(rigid.add_material({"rubber", soft(0, 0.1)}), doctest::Contains("relaxation_time"),
                       InvalidInput);
  CHECK_THROWS_WITH_AS(rigid.add_material({"rubber", soft(1e-5, -1)}), doctest::Contains(">= 0 s"), InvalidInput);
}

// Friction has the same force to work with: mu m g once the depth is that of rest.
TEST_CASE("softness: a box slides to rest on it as on a rigid surface") {
  const double mu = 0.3, v0 = 2, C = 2e-5;
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  auto sim = worlds::World(soft(C, 0.02, mu))
                 .ground()
                 .box({0.2, 0.2, 0.02}, mass, {0, 0, 0.02 - C * mass * g / 4}, {v0, 0, 0})
                 .simulate(1e-3, options);
  worlds::run(sim, 0.4);
  CHECK(worlds::velocity(sim).x() == doctest::Approx(v0 - mu * g * 0.4).epsilon(1e-3));
  worlds::run(sim, 1.0);
  CHECK(worlds::velocity(sim).norm() < 1e-9);
  CHECK(worlds::position(sim).z() == doctest::Approx(0.02 - C * mass * g / 4).epsilon(1e-6));
}
