// Visco-elastic contact against closed forms, and the bounds that its steppers promise.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "slider.hpp"
#include "tribo/compliant.hpp"

using namespace worlds;

namespace {

StepperOptions rule(AnchorRule anchor) {
  StepperOptions options;
  options.own.as<CompliantOptions>().anchor = anchor;
  return options;
}

// y'' + 2 a y' + w^2 y = g from (y0, v0), in long double, from the textbook roots. Integrals from the equation itself.
struct Closed {
  long double y, v, first, second;  // y, y', int (K y + B y'), int int (K y + B y')
};
Closed closed_form(long double m, long double K, long double B, long double y0, long double v0, long double g,
                   long double t) {
  // Power series with halving: independent of the regimes of damping.
  using M = Eigen::Matrix<long double, 5, 5>;
  M A = M::Zero();  // (y, v, int F, int int F, 1), F = K y + B v
  A(0, 1) = 1;
  A(1, 0) = -K / m;
  A(1, 1) = -B / m;
  A(1, 4) = g;
  A(2, 0) = K;
  A(2, 1) = B;
  A(3, 2) = 1;
  // Balanced by units of time and force, so that squaring loses little.
  const long double T = 1 / std::max({std::sqrt(K / m), B / m, 1 / t}), F = K * T;
  Eigen::Matrix<long double, 5, 1> unit;
  unit << 1, 1 / T, F / T, F, 1;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) A(i, j) *= unit[j] / unit[i];
  A *= t;
  const int halvings = std::max(0, static_cast<int>(std::ceil(std::log2(A.cwiseAbs().colwise().sum().maxCoeff()))) + 3);
  A *= std::exp2(-static_cast<long double>(halvings));
  M sum = M::Identity(), term = sum;
  for (int k = 1; k < 25; ++k) {
    term = (term * A / k).eval();
    sum += term;
  }
  for (int k = 0; k < halvings; ++k) sum = (sum * sum).eval();
  Eigen::Matrix<long double, 5, 1> x;
  x << y0 / unit[0], v0 / unit[1], 0, 0, 1;
  x = (sum * x).eval().cwiseProduct(unit);
  return {x[0], x[1], x[2], x[3]};
}

double total(const Simulation& s) {
  return s.audit().energy.kinetic + s.audit().energy.potential + s.audit().energy.elastic;
}

}  // namespace

TEST_CASE("exponential: one step of a translating body is the closed form") {
  const double m = 2.5;
  const Vec3 gravity(1, -2, -9.81), v0(0.3, -0.2, -0.5);
  double worst = 0;
  for (double dt : {1e-4, 1e-3, 1e-2, 1e-1})
    for (double K : {1e3, 1e4, 1e5, 1e6, 1e7, 1e8})
      for (double ratio : {0.0, 0.3, 1.0, 1.0 + 1e-8, 10.0}) {
        const double B = ratio * 2 * std::sqrt(K * m);
        StepperOptions options;
        options.own.as<CompliantOptions>().bilateral = true;
        const double z0 = -1e-3;
        Simulation s = Slider(m, spring(K, B), gravity).simulate("exponential", options, dt, Vec3(0, 0, z0), v0);
        s.step();
        REQUIRE(s.contacts().size() == 1);
        for (int k = 0; k < 3; ++k) {
          const double y0 = k == 2 ? z0 : 0;
          const Closed c = closed_form(m, K, B, y0, v0[k], gravity[k], dt);
          // Scales of the motion itself: what cancels in v+ or y+ is not the integrator's loss.
          const double speed = std::abs(v0[k]) + std::abs(gravity[k]) * dt;
          const double length = std::abs(y0) + std::min(dt, std::sqrt(m / K)) * speed;
          const double f1 = static_cast<double>(-c.first / dt), f2 = static_cast<double>(-2 * c.second / dt / dt);
          const double force = std::abs(f1) + m * speed / dt;
          // f2 as q+ shows it.
          const double f2_seen = (s.state().q[k] - y0 - dt * v0[k] - 0.5 * dt * dt * gravity[k]) * 2 * m / (dt * dt);
          const double errors[] = {
              std::abs(s.contacts()[0].f[k] - f1) / force, std::abs(s.state().v[k] - static_cast<double>(c.v)) / speed,
              std::abs(s.state().q[k] - static_cast<double>(c.y)) / (length + std::abs(v0[k]) * dt),
              std::abs(f2_seen - f2) / (std::abs(f2) + m * speed / dt)};
          CAPTURE(dt);
          CAPTURE(K);
          CAPTURE(ratio);
          CAPTURE(k);
          for (double e : errors) {
            CHECK(e < 1e-10);
            worst = std::max(worst, e);
          }
        }
      }
  MESSAGE("worst relative error: ", worst);
}

TEST_CASE("exponential: a thousand steps of a translating body are the closed form") {
  // The anchor is where the body begins, 1.3 m away: every step rounds q there, and the spring sees that: 10 K ulp.
  const double m = 2.5, K = 1e5, B = 300, dt = 1e-3;
  StepperOptions options;
  options.own.as<CompliantOptions>().bilateral = true;
  const Vec3 p(1.3, -0.7, -1e-3), v(0.3, -0.2, -0.5), gravity(1, -2, -9.81);
  Simulation s = Slider(m, spring(K, B), gravity).simulate("exponential", options, dt, p, v);
  double worst = 0;
  for (int n = 1; n <= 1000; ++n) {
    s.step();
    for (int k = 0; k < 3; ++k) {
      const double start = k == 2 ? p.z() : 0;
      const Closed a = closed_form(m, K, B, start, v[k], gravity[k], (n - 1) * static_cast<long double>(dt));
      const Closed b = closed_form(m, K, B, a.y, a.v, gravity[k], dt);
      worst = std::max(worst, std::abs(s.contacts()[0].f[k] - static_cast<double>(-b.first / dt)));
    }
  }
  const double ulp = std::nextafter(1.3, 2.0) - 1.3;
  CHECK(worst < 10 * K * ulp);
}

TEST_CASE("landing: the rebound does not depend on the step") {
  // A drop from 5 cm, begun a share of a step later, so that the grid of steps falls anywhere against the touch.
  auto rebound = [](double m, double dt, double late) {
    const Vec3 p(0, 0, 0.05 - 0.5 * 9.81 * late * late), v(0, 0, -9.81 * late);
    Simulation s = Slider(m, spring(1e5, 300)).simulate("exponential", rule(AnchorRule::Surface), dt, p, v);
    double highest = 0;
    bool touched = false;
    for (int n = 0; n * dt < 0.4; ++n) {
      s.step();
      if (touched) highest = std::max(highest, s.state().q[2]);
      touched |= !s.contacts().empty() && s.contacts()[0].f.z() > 0;
    }
    REQUIRE(touched);
    return highest;
  };
  for (double m : {0.15, 0.6, 2.5}) {
    const double truth = rebound(m, 5e-5, 0);
    double worst = 0;
    for (double dt : {2e-3, 5e-3, 1e-2, 2e-2, 4e-2})
      for (int phase = 0; phase < 25; ++phase) worst = std::max(worst, rebound(m, dt, dt * phase / 25));
    MESSAGE("mass ", m, ": rebound ", truth, " m at 0.05 ms, at most ", worst, " m up to 40 ms");
    CHECK(worst < 1.5 * truth);
  }
}

TEST_CASE("energy never rises on the drop and on the cube: exponential and implicit Euler") {
  for (const char* stepper : {"exponential", "implicit-euler"})
    for (double dt : {1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 4e-2}) {
      CAPTURE(std::string(stepper));
      CAPTURE(dt);
      auto highest = [&](Simulation& s, double duration) {
        double most = 0;
        for (int n = 0; n * dt < duration; ++n) {
          s.step();
          most = std::max(most, total(s) / s.audit().energy_start - 1);
        }
        // Lines of work from the scheme's own formula: they must add up to rounding.
        CHECK(s.audit().ledger_error < 1e-11);
        return most;
      };
      for (double m : {0.15, 2.5}) {
        Simulation drop = Slider(m, spring(1e5, 300)).simulate(stepper, {}, dt, Vec3(0, 0, 0.05), Vec3(0.1, 0, 0));
        CHECK(highest(drop, 1) < 1e-9);
      }
      if (dt > 1e-2) continue;  // longer, and the cube turns by half a radian a step: A and b are not constant
      World world(spring(1e5, 300, 0.6));
      world.ground().box(Vec3(0.05, 0.05, 0.05), 1, Vec3(0, 0, 0.2), Vec3(0.3, 0.1, 0), Vec3(2, -3, 1));
      Simulation cube = world.simulate(dt, {}, stepper);
      CHECK(highest(cube, 2) < 1e-9);
      // At rest the four corners carry it: m g / (4 K) deep.
      CHECK(cube.state().q[2] == doctest::Approx(0.05 - 9.81 / 4e5).epsilon(1e-6));
      CHECK(cube.audit().unconverged == 0);
    }
}

TEST_CASE("energy of an undamped oscillation: explicit steppers gain or lose as their order says") {
  // Euler as in (euler.1) multiplies the energy by 1 + (w h)^2 / 2 a step; Runge-Kutta by 1 - (w h)^6 / 72.
  const double m = 1, K = 1e4, w = 100;
  StepperOptions options;
  options.own.as<CompliantOptions>().bilateral = true;
  auto change = [&](const char* stepper, double dt) {
    Simulation s =
        Slider(m, spring(K, 0), Vec3::Zero()).simulate(stepper, options, dt, Vec3(0, 0, -1e-2), Vec3::Zero());
    s.step();
    const double E0 = s.audit().energy_start;
    for (int n = 1; n < std::lround(0.5 / dt); ++n) s.step();
    return total(s) / E0 - 1;
  };
  for (double wh : {0.02, 0.05}) {
    const double steps = 0.5 / (wh / w);
    CHECK(change("explicit-euler", wh / w) == doctest::Approx(std::expm1(steps * wh * wh / 2)).epsilon(0.05));
  }
  for (double wh : {0.1, 0.2}) {
    const double steps = 0.5 / (wh / w);
    CHECK(change("runge-kutta", wh / w) == doctest::Approx(-steps * std::pow(wh, 6) / 72).epsilon(0.05));
  }
}

TEST_CASE("order of each stepper on a smooth problem on the group") {
  // A free body that swings on a spring at one of its points, begun at 3 rad/s; truth: Runge-Kutta at a tenth.
  ModelBuilder builder;
  SurfacePair soft = spring(2e3, 20);
  const int material = builder.add_material({"surface", soft});
  builder.begin_member("body", false, "test");
  Body body;
  body.name = "body";
  body.inertia.mass = 1.5;
  body.inertia.com = Vec3(0.02, 0.01, 0.03);
  body.inertia.about_com = Vec3(0.01, 0.02, 0.025).asDiagonal();
  builder.add_body(body);
  builder.add_geometry(point_foot(0, Vec3(0.1, 0.05, -0.2), material));
  builder.add_ground({}, material);
  auto model = std::make_shared<const Model>(builder.build());
  StepperOptions both;
  both.own.as<CompliantOptions>().bilateral = true;
  auto end = [&](const char* stepper, double dt, bool midpoint = false) {
    StepperOptions options = both;
    if (midpoint) options.own.as<ExponentialOptions>().midpoint = true;
    if (std::string(stepper) == "implicit-euler") options.own.as<ImplicitEulerOptions>().newton_tolerance = 1e-11;
    Simulation s(model, stepper, options, dt);
    State state = State::neutral(*model);
    state.q[2] = 0.198;
    state.v << 0.1, -0.3, 0.2, 3, -2, 1;
    s.set_state(state);
    run(s, 0.1);
    VecX x(13);
    x << s.state().q, s.state().v;
    return x;
  };
  const VecX truth = end("runge-kutta", 1e-4);
  struct Order {
    const char* stepper;
    int order;
    bool midpoint = false;
  };
  for (const Order& o : {Order{"explicit-euler", 1}, Order{"exponential", 1}, Order{"exponential", 2, true},
                         Order{"implicit-euler", 1}, Order{"runge-kutta", 4}}) {
    const double coarse = o.order == 1 ? 5e-4 : 5e-3;
    const double e1 = (end(o.stepper, coarse, o.midpoint) - truth).norm();
    const double e2 = (end(o.stepper, coarse / 2, o.midpoint) - truth).norm();
    CAPTURE(std::string(o.stepper));
    CAPTURE(o.midpoint);
    CHECK(std::log2(e1 / e2) > o.order - 0.3);
    CHECK(std::log2(e1 / e2) < o.order + 0.7);
  }
}

TEST_CASE("accuracy: the user gives a tolerance, not a step") {
  // The cube's fall and tumble at steps of 20 ms, against Runge-Kutta at 0.01 ms.
  auto end = [](double dt, double accuracy, const char* stepper = "exponential") {
    StepperOptions options;
    options.own.as<CompliantOptions>().accuracy = accuracy;
    World world(spring(1e4, 50, 0.6));
    world.ground().box(Vec3(0.05, 0.05, 0.05), 1, Vec3(0, 0, 0.1), Vec3(0.3, 0.1, 0), Vec3(2, -3, 1));
    Simulation s = world.simulate(dt, options, stepper);
    run(s, 0.2);
    return s.state().q;
  };
  const VecX truth = end(1e-5, 0, "runge-kutta");
  const double loose = (end(2e-2, 1e-2) - truth).norm(), tight = (end(2e-2, 1e-4) - truth).norm();
  MESSAGE("error with fixed 20 ms ", (end(2e-2, 0) - truth).norm(), ", tolerance 1e-2: ", loose, ", 1e-4: ", tight);
  CHECK(tight < 0.2 * loose);
  CHECK(tight < 2e-3);
}

TEST_CASE("events: a contact that lets go within a step is found") {
  // A light foot is thrown off by its spring. The mean force still pushes, so that a whole step holds on to it too
  // long; the force at the end of the step tells.
  auto end = [](double dt, bool events) {
    StepperOptions options;
    options.own.as<ExponentialOptions>().events = events;
    Simulation s = Slider(0.05, spring(1e4, 10)).simulate("exponential", options, dt, Vec3(0, 0, -1e-3), Vec3::Zero());
    run(s, 1.2e-2);
    return s.state().v[2];
  };
  const double truth = end(1e-5, false), whole = std::abs(end(4e-3, false) - truth);
  const double found = std::abs(end(4e-3, true) - truth);
  MESSAGE("velocity ", truth, " m/s, error of whole steps ", whole, ", of parts ", found);
  CHECK(found < 0.1 * whole);
}

TEST_CASE("a sphere rolls: friction acts as on a rigid body, and no spring holds it back") {
  // Thrown without spin at v, a solid sphere rolls at 5/7 v [textbook], whatever the friction; then it keeps rolling.
  for (const char* stepper : {"exponential", "explicit-euler", "runge-kutta", "implicit-euler"}) {
    World world(spring(1e5, 300, 0.3));
    world.ground().sphere(0.1, 1, Vec3(0, 0, 0.1 - 9.81e-5), Vec3(1, 0, 0));
    Simulation s = world.simulate(5e-4, {}, stepper);
    run(s, 1.5);
    CAPTURE(std::string(stepper));
    CHECK(velocity(s).x() == doctest::Approx(5.0 / 7).epsilon(5e-3));
    CHECK(std::abs(velocity(s).y()) < 1e-6);
  }
}

TEST_CASE("exponential: a ball that rolls fast presses with its weight, however long the step") {
  // The point of contact stays under the centre: it has no centripetal acceleration, which here is 9 g.
  for (bool midpoint : {false, true})
    for (double dt : {1e-3, 5e-3, 2e-2}) {
      StepperOptions options;
      options.own.as<ExponentialOptions>().midpoint = midpoint;
      World world(spring(1e5, 300, 0.5));
      world.ground().sphere(0.1, 1, Vec3(0, 0, 0.1 - 9.81e-5), Vec3(3, 0, 0), Vec3(0, 30, 0));
      Simulation s = world.simulate(dt, options, "exponential");
      run(s, 0.4);
      CAPTURE(dt);
      CAPTURE(midpoint);
      REQUIRE(s.contacts().size() == 1);
      CHECK(s.contacts()[0].f.z() == doctest::Approx(9.81).epsilon(1e-6));
      CHECK(velocity(s).x() == doctest::Approx(3).epsilon(1e-3));  // the centre is lower by 1e-3 of the radius
    }
}

TEST_CASE("exponential: the cube of cube-slide goes as far as Coulomb says") {
  // v^2 / (2 mu g) = 1.147 m at 3 m/s and mu = 0.4. It is set down without load, sinks and rocks a little: 1 %.
  World world(spring(1e5, 300, 0.4));
  world.ground().box(Vec3(0.1, 0.1, 0.1), 1, Vec3(0, 0, 0.1), Vec3(3, 0, 0));
  Simulation s = world.simulate(1e-3, {}, "exponential");
  run(s, 2);
  CHECK(position(s).x() == doctest::Approx(9 / (2 * 0.4 * 9.81)).epsilon(0.01));
  CHECK(velocity(s).norm() < 1e-9);
}

TEST_CASE("a box slides with mu g, stops, and stays") {
  // v^2 / (2 mu g) as for a rigid box, at steps far above the period of the contact (20 ms here).
  for (const char* stepper : {"exponential", "implicit-euler"})
    for (double dt : {1e-3, 1e-2}) {
      World world(spring(1e5, 300, 0.5));
      world.ground().box(Vec3(0.2, 0.2, 0.05), 1, Vec3(0, 0, 0.05 - 9.81 / 4e5), Vec3(1, 0, 0));
      Simulation s = world.simulate(dt, {}, stepper);
      run(s, 0.4);
      const double there = position(s).x();
      CAPTURE(std::string(stepper));
      CAPTURE(dt);
      CHECK(there == doctest::Approx(1 / (2 * 0.5 * 9.81)).epsilon(0.02 + 3 * dt));
      run(s, 0.6);
      CHECK(std::abs(position(s).x() - there) < 1e-5);
    }
}

TEST_CASE("two spheres collide: momentum is kept") {
  for (const char* stepper : {"exponential", "explicit-euler", "runge-kutta", "implicit-euler"}) {
    World world(spring(1e5, 30, 0.5));
    world.gravity(Vec3::Zero()).sphere(0.1, 1, Vec3(0, 0, 0), Vec3(1, 0.2, 0)).sphere(0.1, 3, Vec3(0.3, 0.05, 0));
    Simulation s = world.simulate(2e-4, {}, stepper);
    run(s, 0.3);
    CAPTURE(std::string(stepper));
    CHECK((velocity(s, 0) + 3 * velocity(s, 1) - Vec3(1, 0.2, 0)).norm() < 1e-12);
    CHECK(velocity(s, 1).x() > 0.3);
    CHECK(s.audit().energy.kinetic < s.audit().energy_start);
  }
}

TEST_CASE("a joint limit is a spring: rest and energy") {
  // A slide hangs on its upper limit: m g / K beyond it.
  ModelBuilder builder;
  builder.begin_member("slide", true, "test");
  Body body;
  body.name = "slide/z";
  body.joint = JointKind::Prismatic;
  body.inertia.mass = 2;
  body.inertia.about_com = Mat3::Identity();
  builder.add_body(body);
  builder.joint_properties().lower[0] = -0.1;
  auto model = std::make_shared<const Model>(builder.build());
  for (const char* stepper : {"exponential", "explicit-euler", "runge-kutta", "implicit-euler"}) {
    StepperOptions options;
    options.own.as<CompliantOptions>().limit_stiffness = 1e4;
    options.own.as<CompliantOptions>().limit_damping = 100;
    Simulation s(model, stepper, options, 1e-3);
    run(s, 2);
    CAPTURE(std::string(stepper));
    CHECK(s.state().q[0] == doctest::Approx(-0.1 - 2 * 9.81 / 1e4).epsilon(1e-6));
    CHECK(s.audit().ledger_error < 1e-11);
  }
}

TEST_CASE("compliant steppers refuse what they do not simulate, and parameters out of range, by name") {
  auto refusal = [](const SurfacePair& surface, auto change, const char* stepper = "exponential") {
    StepperOptions options;
    change(options);
    try {
      World(surface).ground().box(Vec3(1, 1, 1), 1, Vec3(0, 0, 2)).simulate(1e-3, options, stepper);
    } catch (const InvalidInput& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  auto none = [](StepperOptions&) {};
  auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(spring(1e5, 300), none) == "");
  CHECK(has(refusal(spring(-1, 300), none), "stiffness = -1"));
  CHECK(has(refusal(spring(nan, 300), none), "stiffness"));
  CHECK(has(refusal(spring(1e5, -2), none), "damping = -2"));
  CHECK(has(refusal(friction(0.5, 0.3), none), "restitution = 0.3"));
  CHECK(
      has(refusal(spring(1e5, 300), [](StepperOptions& o) { o.own.as<ExponentialOptions>().order = 4; }), "order = 4"));
  CHECK(has(refusal(spring(1e5, 300), [&](StepperOptions& o) { o.own.as<CompliantOptions>().accuracy = nan; }),
            "accuracy"));
  auto no_newton = [](StepperOptions& o) { o.own.as<ImplicitEulerOptions>().max_newton = 0; };
  CHECK(has(refusal(spring(1e5, 300), no_newton, "implicit-euler"), "max_newton = 0"));
  CHECK(has(refusal(spring(1e5, 300), no_newton), "those of another entry"));
  SurfacePair skewed = spring(1e5, 300);
  skewed.damping_tangential = 10;
  CHECK(
      has(refusal(skewed, [](StepperOptions& o) { o.own.as<ExponentialOptions>().method = ExponentialMethod::Modal; }),
          "damping_tangential"));
  CHECK(refusal(skewed, none) == "");
  skewed.stiffness_tangential = -3;
  CHECK(has(refusal(skewed, none), "stiffness_tangential = -3"));
}
