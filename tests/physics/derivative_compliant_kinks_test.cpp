// At a kink of a compliant step each side has its own derivative. Where the edge has no closed form it is found by halving.
// Steps may jump there (what leaves its law within a step does so from the start of it), so that the expectation is the
// difference of ends on one side alone: at h, 2 h, 3 h and 4 h, error of order h^3.
#include "kinks.hpp"
#include "slider.hpp"
#include "tribo/compliant.hpp"

using namespace tribo;
using kinks::along, kinks::FixedPd;

namespace {

constexpr double dt = 1e-3;

StepperOptions exact(const std::string& stepper) {
  StepperOptions options = slopes::precise(1e-13);
  if (stepper == "implicit-euler") options.own.as<ImplicitEulerOptions>().newton_tolerance = 1e-12;
  return options;
}

void check_both(Simulation simulation, const VecX& dx, double least) {
  kinks::check_sides(std::move(simulation), dx, least,
                     [](Simulation& s, const VecX& d) { return kinks::difference_beside(s, d, 3e-6); });
}

/// The world at the edge between what is and is not so after a step.
template <class Make, class Is>
Simulation at_edge(Make make, double no, double yes, Is is) {
  REQUIRE(!is(make(no)));
  REQUIRE(is(make(yes)));
  for (int k = 0; k < 80; ++k) {
    const double middle = 0.5 * (no + yes);
    (is(make(middle)) ? yes : no) = middle;
  }
  return make(yes);
}

bool has(Simulation simulation, ContactMode mode) {
  simulation.step();
  for (const ContactReport& r : simulation.contacts())
    if (r.mode == mode) return true;
  return false;
}

SurfacePair soft(double mu) { return worlds::spring(1e4, 30, mu); }

Simulation ball(const std::string& stepper, double mu, double z, const Vec3& v) {
  return worlds::World(soft(mu)).ground().sphere(0.1, 1, {0, 0, 0.1 + z}, v).simulate(dt, exact(stepper), stepper);
}

template <class Set>
Simulation slider(const std::string& stepper, double q, double v, Set set) {
  return kinks::slider(q, v, set, stepper, exact(stepper), dt);
}

}  // namespace

TEST_CASE("compliant derivative at a kink: contacts") {
  for (const std::string stepper : slopes::compliant) {
    CAPTURE(stepper);
    const auto is = [](ContactMode mode) { return [mode](Simulation s) { return has(std::move(s), mode); }; };
    SUBCASE("touch: a ball at the ground that comes down, along its height") {
      check_both(ball(stepper, 0.5, 0, {0, 0, -0.5}), along(12, 2), 0.1);
    }
    SUBCASE("touch just at the end of the step, along the height") {
      // exponential: q+ = q + h v - g h^2 / 2; implicit Euler: q + h (v - g h).
      const double fall = stepper == slopes::compliant[0] ? 0.5 * 9.81 * dt * dt : 9.81 * dt * dt;
      check_both(ball(stepper, 0.5, 0.5 * dt + fall, {0, 0, -0.5}), along(12, 2), 0.1);
    }
    SUBCASE("lift-off: a ball that is pressed in for the first time, along its vertical speed") {
      const auto make = [&](double v) { return ball(stepper, 0.5, -1e-4, {0, 0, v}); };
      check_both(at_edge(make, 0, 0.2, is(ContactMode::Open)), along(12, 8), 0.02);
    }
    SUBCASE("lift-off: a ball that has touched, along its vertical speed") {
      const auto make = [&](double v) {
        Simulation s = ball(stepper, 0.5, -1e-4, {0, 0, 0});
        s.step();
        State state = s.state();
        state.v[2] = v;
        s.set_state(state);
        return s;
      };
      check_both(at_edge(make, 0, 0.2, is(ContactMode::Open)), along(12, 8), 0.02);
    }
    SUBCASE("lift-off while it slips, along its vertical speed") {
      const auto make = [&](double v) { return ball(stepper, 0.3, -1e-4, {1, 0, v}); };
      check_both(at_edge(make, 0, 0.2, is(ContactMode::Open)), along(12, 8), 0.02);
    }
    SUBCASE("stick to slip: along the speed") {
      const auto make = [&](double v) { return ball(stepper, 0.3, -1e-3, {v, 0, 0}); };
      check_both(at_edge(make, 0, 1, is(ContactMode::Slip)), along(12, 6), 0.1);
    }
    SUBCASE("stick to slip of one ball on another, along the speed of the upper one") {
      const auto make = [&](double v) {
        return worlds::World(soft(0.3))
            .gravity(Vec3::Zero())
            .sphere(0.1, 1, {0, 0, 0})
            .sphere(0.1, 2, {0, 0, 0.1995}, {v, 0, 0})
            .simulate(dt, exact(stepper), stepper);
      };
      check_both(at_edge(make, 0, 1, is(ContactMode::Slip)), along(24, 18), 0.1);
    }
  }
}

TEST_CASE("compliant derivative at a kink: joints") {
  for (const std::string stepper : slopes::compliant) {
    CAPTURE(stepper);
    const auto loses = [](double most) {  // speed, in a step
      return [most](Simulation s) {
        const double v = s.state().v[0];
        s.step();
        return std::abs(s.state().v[0] - v) > most;
      };
    };
    SUBCASE("limit: a slider that reaches its end, along its place") {
      check_both(slider(stepper, 1, 0.5, [](JointProperties& p) { p.upper[0] = 1; }), along(2, 0), 0.1);
    }
    SUBCASE("leaving a limit, along the speed") {
      const auto make = [&](double v) {
        return slider(stepper, 1 + 1e-4, v, [](JointProperties& p) { p.upper[0] = 1; });
      };
      check_both(at_edge(make, -0.5, 0, loses(0)), along(2, 1), 1e-4);
    }
    SUBCASE("dry friction gives way, along the speed") {
      const auto make = [&](double v) { return slider(stepper, 0, v, [](JointProperties& p) { p.friction[0] = 3; }); };
      check_both(at_edge(make, 0, 1, loses((1 - 1e-13) * 3 * dt / 2)), along(2, 1), 0.02);
    }
    SUBCASE("saturation: a drive whose torque is just what it can give, along its place") {
      const auto make = [&](double q) {
        Simulation s = slider(stepper, -q, 0, [&](JointProperties& p) { p.effort_limit[0] = 5; });
        s.add_controller(std::make_unique<FixedPd>(1000));
        return s;
      };
      check_both(at_edge(make, 0, 0.1, loses((1 - 1e-13) * 5 * dt / 2)), along(2, 0), 0.1);
    }
  }
}
