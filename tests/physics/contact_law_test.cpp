// Laws of compliant contact beside their closed forms.
#include <doctest/doctest.h>

#include <cmath>

#include "slider.hpp"
#include "tribo/compliant.hpp"

using namespace worlds;

namespace {

StepperOptions hunt(double exponent, double dissipation) {
  StepperOptions options;
  auto& own = options.own.as<CompliantOptions>();
  own.law = "hunt-crossley";
  own.law_options = HuntCrossleyOptions{exponent, dissipation, 1e-3};
  return options;
}

}  // namespace

TEST_CASE("a law's slopes and energy are those of its force") {
  // Central differences; -df/dx, -df/dc, and dE/dx = -f(x, c = 0).
  SurfacePair surface;
  surface.stiffness_tangential = 3e4;
  surface.damping_tangential = 70;
  for (const LawEntry& entry : contact_laws()) {
    const auto law = make_contact_law(entry.name);
    const Vec3 x(2e-4, -3e-4, -7e-4), c(0.1, -0.2, 0.05);
    const LawSlope slope = law->slope({surface, x, c});
    CAPTURE(entry.name);
    for (int k = 0; k < 3; ++k) {
      const Vec3 d = 1e-8 * Vec3::Unit(k), e = 1e-6 * Vec3::Unit(k);
      const Vec3 by_x = (law->force({surface, x + d, c}) - law->force({surface, x - d, c})) / 2e-8;
      const Vec3 by_c = (law->force({surface, x, c + e}) - law->force({surface, x, c - e})) / 2e-6;
      CHECK(-by_x[k] == doctest::Approx(slope.K[k]).epsilon(1e-6));
      CHECK(-by_c[k] == doctest::Approx(slope.B[k]).epsilon(1e-6));
      for (int j = 0; j < 3; ++j)
        if (j != k) CHECK(std::abs(by_x[j]) + std::abs(by_c[j]) < 1e-6);
      const double power = (law->energy({surface, x + d, c}) - law->energy({surface, x - d, c})) / 2e-8;
      CHECK(-power == doctest::Approx(law->force({surface, x, Vec3::Zero()})[k]).epsilon(1e-6));
    }
    if (!law->linear()) continue;
    const Vec3 f = law->force({surface, x, c});
    CHECK((f + slope.K.cwiseProduct(x) + slope.B.cwiseProduct(c)).norm() < 1e-12 * f.norm());
  }
}

TEST_CASE("hunt-crossley: depth at rest and rebound of a mass") {
  // At rest k d^n = m g. Without damping and gravity a mass comes back with its speed, and the deepest overlap has all of
  // its energy: k d^(n+1) / (n + 1) = m v^2 / 2.
  const double m = 2, K = 1e4, n = 1.5, v = 0.3, k = K * std::pow(1e-3, 1 - n);
  for (const char* stepper : {"runge-kutta", "implicit-euler", "explicit-euler"}) {
    CAPTURE(std::string(stepper));
    Simulation rest = Slider(m, spring(K, 50)).simulate(stepper, hunt(n, 20), 1e-4, Vec3(0, 0, -1e-3), Vec3::Zero());
    run(rest, 2);
    CHECK(-rest.state().q[2] == doctest::Approx(std::pow(m * 9.81 / k, 1 / n)).epsilon(1e-5));
  }
  const double dt = 1e-5;
  Simulation bounce =
      Slider(m, spring(K, 0), Vec3::Zero()).simulate("runge-kutta", hunt(n, 0), dt, Vec3(0, 0, 1e-4), Vec3(0, 0, -v));
  double deepest = 0;
  for (int i = 0; i < 20000 && !(bounce.state().q[2] > 2e-4); ++i) {
    bounce.step();
    deepest = std::max(deepest, -bounce.state().q[2]);
  }
  CHECK(bounce.state().v[2] == doctest::Approx(v).epsilon(1e-6));
  CHECK(deepest == doctest::Approx(std::pow(0.5 * m * v * v * (n + 1) / k, 1 / (n + 1))).epsilon(1e-5));
  CHECK(bounce.audit().ledger_error < 1e-9);
  // The impact loses 1 - e = a v_i 2/3 to first order in a [HuntCrossley1975].
  const double a = 0.05;
  Simulation lossy =
      Slider(m, spring(K, 0), Vec3::Zero()).simulate("runge-kutta", hunt(n, a), dt, Vec3(0, 0, 1e-4), Vec3(0, 0, -v));
  for (int i = 0; i < 20000 && !(lossy.state().q[2] > 2e-4); ++i) lossy.step();
  CHECK(1 - lossy.state().v[2] / v == doctest::Approx(2 * a * v / 3).epsilon(0.03));
}
