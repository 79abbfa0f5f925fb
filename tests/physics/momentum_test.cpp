// The momentum family on what can be computed by hand.
#include <doctest/doctest.h>

#include "tribo/momentum.hpp"
#include "tribo/scene.hpp"
#include "worlds.hpp"

using namespace worlds;

namespace {

constexpr double g = 9.81;

SurfacePair rough(double mu_static, double mu_dynamic) {
  SurfacePair s = friction(mu_dynamic);
  s.mu_static = mu_static;
  return s;
}

/// A box of 0.4 x 0.4 x 0.1 m on a slope: the ground is level, gravity leans.
Simulation on_slope(double angle, const SurfacePair& surface, double mass, double dt, double speed = 0,
                    const StepperOptions& options = {}, const std::string& stepper = "momentum") {
  World world(surface);
  world.ground().gravity(g * Vec3(std::sin(angle), 0, -std::cos(angle)));
  world.box({0.2, 0.2, 0.05}, mass, {0, 0, 0.05}, {speed, 0, 0});
  return world.simulate(dt, options, stepper);
}

double normal_sum(const Simulation& s) {
  double sum = 0;
  for (const ContactReport& c : s.contacts()) sum += c.f.z();
  return sum;
}

Scene scene_with(const char* file, const char* stepper, double dt) {
  Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + file + ".toml");
  scene.set_stepper(stepper);
  scene.dt = dt;
  return scene;
}

}  // namespace

TEST_CASE("a box on a slope holds up to atan(mu_s) and then slides with mu_d") {
  const double mu_s = 0.8, mu_d = 0.5, limit = std::atan(mu_s);
  for (double mass : {0.1, 1.0, 100.0}) {
    CAPTURE(mass);
    auto below = on_slope(limit - 0.003, rough(mu_s, mu_d), mass, 1e-3);
    run(below, 0.2);
    const double settled = position(below).x();
    run(below, 1);
    CHECK(std::abs(position(below).x() - settled) < 1e-8);
    CHECK(normal_sum(below) == doctest::Approx(mass * g * std::cos(limit - 0.003)).epsilon(1e-6));

    const double angle = limit + 0.003, a = g * (std::sin(angle) - mu_d * std::cos(angle));
    auto above = on_slope(angle, rough(mu_s, mu_d), mass, 1e-3);
    run(above, 1);
    // The first steps press the box into its rest; the ramp is short of full friction below 1 mm/s.
    CHECK(position(above).x() == doctest::Approx(a / 2).epsilon(0.01));
    CHECK(velocity(above).x() == doctest::Approx(a).epsilon(0.005));
  }
}

TEST_CASE("a slider comes to rest where Coulomb's law stops it, and stays without dither") {
  for (double dt : {1e-3, 4e-3}) {
    CAPTURE(dt);
    auto s = on_slope(0, rough(0.6, 0.4), 1, dt, 1);
    double last = 1;
    int reversals = 0;
    for (int k = 0; k < std::lround(1 / dt); ++k) {
      s.step();
      const double v = velocity(s).x();
      reversals += v * last < 0 && std::abs(v) > 1e-6;
      last = v;
    }
    CHECK(position(s).x() == doctest::Approx(1 / (2 * 0.4 * g)).epsilon(0.01));
    CHECK(reversals == 0);
    CHECK(std::abs(last) < 1e-9);
  }
}

TEST_CASE("a slider on a slope below atan(mu_d) comes to rest too: the ramp does not let it creep") {
  const double angle = std::atan(0.2);
  auto s = on_slope(angle, rough(0.5, 0.4), 1, 1e-3, 0.5);
  run(s, 1);
  const double a = g * (0.4 * std::cos(angle) - std::sin(angle));
  CHECK(position(s).x() == doctest::Approx(0.25 / (2 * a)).epsilon(0.02));
  CHECK(velocity(s).norm() < 1e-6);
}

TEST_CASE("velocity-ramped friction cannot hold: it creeps at -ln(1 - x) / k_w") {
  const double mu = 0.5, share = 0.6, angle = std::atan(share * mu), k_w = 50;
  StepperOptions options;
  options.own.as<MicroscopicOptions>().ramp = k_w;
  auto s = on_slope(angle, rough(mu, mu), 1, 1e-4, 0, options, "microscopic");
  run(s, 0.5);
  const double start = position(s).x();
  run(s, 0.1);
  CHECK((position(s).x() - start) / 0.1 == doctest::Approx(-std::log(1 - share) / k_w).epsilon(0.01));
}

TEST_CASE("at rest: weight carried, overlap far below 1e-5 m, whatever the mass") {
  for (double mass : {0.1, 1.0, 10.0, 100.0}) {
    CAPTURE(mass);
    World world(friction(0.5));
    world.ground().box({0.1, 0.1, 0.1}, mass, {0, 0, 0.1});
    auto s = world.simulate(1e-3, {}, "momentum");
    run(s, 0.5);
    double deepest = 0;
    for (const ContactReport& c : s.contacts()) deepest = std::max(deepest, -c.gap);
    CHECK(deepest < 1e-6);
    CHECK(normal_sum(s) == doctest::Approx(mass * g).epsilon(1e-9));
    CHECK(s.audit().ledger_error < 1e-9);
  }
}

TEST_CASE("Runge-Kutta-Gill keeps the energy of a double pendulum to order four") {
  double error[2];
  for (int i = 0; i < 2; ++i) {
    auto s = make_simulation(scene_with("double-pendulum", "momentum", i == 0 ? 4e-3 : 2e-3));
    run(s, 2);
    const Audit& a = s.audit();
    error[i] = std::abs(a.energy.integrator);
    CHECK(a.ledger_error < 1e-10);
  }
  CHECK(error[0] / error[1] > 10);  // 16 at order four
  CHECK(error[1] < 1e-6);
}

TEST_CASE("a tumbling, landing, sliding box: the ledger closes for the whole family") {
  for (const char* stepper : {"momentum", "relaxed", "macroscopic", "microscopic"}) {
    CAPTURE(std::string(stepper));
    World world(friction(0.4));
    world.ground().box({0.1, 0.15, 0.2}, 1.5, {0, 0, 0.5}, {1, 0.5, 0}, {3, -2, 5});
    auto s = world.simulate(std::string(stepper) == "microscopic" ? 1e-4 : 1e-3, {}, stepper);
    run(s, 2);
    const Audit& a = s.audit();
    CHECK(a.status == StepStatus::Ok);
    CHECK(a.ledger_error < 1e-9);
    CHECK(a.energy.contacts < 0);
    CHECK(std::abs(a.energy.integrator) < 1e-3 * a.energy_scale);
  }
}

TEST_CASE("Solo: momentum changes by the impulses of gravity and contacts, at rest it sinks less than 1e-5 m") {
  const Scene scene = scene_with("solo-standing", "momentum", 1e-3);
  auto s = make_simulation(scene);
  run(s, 1.5);
  double deepest = 0;
  for (const ContactReport& c : s.contacts()) deepest = std::max(deepest, -c.gap);
  CHECK(deepest < 1e-5);
  CHECK(normal_sum(s) == doctest::Approx(scene.model->mass() * g).epsilon(1e-3));
  CHECK(s.audit().ledger_error < 1e-9);
  CHECK(s.audit().status == StepStatus::Ok);
}

namespace {

/// A rod of 1 kg and 0.5 m, level, on a hinge: gravity turns it by m g l = 2.4525 N m towards growing q.
Simulation rod(double upper, double dry) {
  ModelBuilder builder;
  builder.begin_member("rod", true, "test");
  Body link;
  link.name = "rod";
  link.joint = JointKind::Revolute;
  link.axis = Vec3::UnitY();
  link.X_PJ.p = Vec3(0, 0, 2);
  link.inertia = solid_inertia(ShapeKind::Box, {0.25, 0.01, 0.01}, 1);
  link.inertia.com = Vec3(0.25, 0, 0);
  builder.add_body(link);
  builder.joint_properties().upper[0] = upper;
  builder.joint_properties().friction[0] = dry;
  return Simulation(std::make_shared<const Model>(builder.build()), "momentum", {}, 1e-3);
}

}  // namespace

TEST_CASE("a joint rests at its limit, and dry friction holds it or lets it turn") {
  auto limited = rod(0.1, 0);
  run(limited, 2);
  CHECK(limited.state().q[0] == doctest::Approx(0.1).epsilon(1e-5));
  CHECK(std::abs(limited.state().v[0]) < 1e-9);
  CHECK(limited.audit().ledger_error < 1e-9);

  auto held = rod(HUGE_VAL, 3);
  run(held, 1);
  // A row has no referential point: what relaxation leaves, relaxation^2 of the free speed of a step, stays as creep.
  CHECK(std::abs(held.state().q[0]) < 5e-6);

  auto turning = rod(HUGE_VAL, 1);
  run(turning, 0.1);
  const double inertia = 0.0625 + (0.5 * 0.5 + 0.02 * 0.02) / 12;  // about the hinge [kg m^2]
  const double a = (g * 0.25 - 1) / inertia;
  CHECK(turning.state().v[0] ==
        doctest::Approx(0.1 * a).epsilon(0.01));  // q stays below 0.1: the torque is nearly level
}

TEST_CASE("a heap of a hundred falls, its ledger closes; the dense method refuses it by name") {
  for (const char* stepper : {"momentum", "macroscopic"}) {
    auto s = make_simulation(scene_with("heap-100", stepper, 1e-3));
    run(s, 0.3);  // about half of them have landed
    CHECK(s.audit().status == StepStatus::Ok);
    CHECK(s.audit().unconverged == 0);
    CHECK(s.audit().ledger_error < 1e-9);
    CHECK(s.contacts().size() > 50);
  }
  Scene pivoting = scene_with("heap-100", "macroscopic", 1e-3);
  pivoting.stepper_options.own.as<MacroscopicOptions>().singular = SingularSolve::Pivoting;
  CHECK_THROWS_WITH_AS(make_simulation(pivoting), doctest::Contains("pivoting"), InvalidInput);
}

TEST_CASE("a chain on the ground rests on a hundred points, and a step costs what its links cost") {
  auto chain = [](int links) {
    const std::string link =
        "size = [0.1, 0.04, 0.04]\nmass = 0.3\ncom = [0.05, 0, 0]\naxis = [0.0, 1.0, 0.0]\ndamping = 1e-3\n";
    return parse_scene("[robot]\nname = \"chain\"\nposition = [0, 0, 0.02]\n[[robot.link]]\nname = \"head\"\njoint = "
                       "\"free\"\nsize = [0.1, 0.04, 0.04]\nmass = 0.3\n[[robot.link]]\nname = \"first\"\nposition = "
                       "[0.05, 0, 0]\n" +
                           link + "[[robot.link]]\nname = \"next\"\nposition = [0.1, 0, 0]\noffset = [0.1, 0, 0]\ncount = " +
                           std::to_string(links - 2) + "\n" + link + "[stepper]\nname = \"momentum\"\ndt = 1e-3\n",
                       "chain.toml");
  };
  auto s = make_simulation(chain(25));
  run(s, 0.2);
  CHECK(s.audit().status == StepStatus::Ok);
  CHECK(s.audit().unconverged == 0);
  CHECK(s.contacts().size() >= 100);
  double load = 0;
  for (const ContactReport& c : s.contacts()) load += c.f.z();
  CHECK(load == doctest::Approx(25 * 0.3 * 9.81).epsilon(1e-6));
  CHECK(s.state().v.cwiseAbs().maxCoeff() < 1e-6);  // the chain neither creeps nor shakes
}

TEST_CASE("what begins in the ground, or beyond its range, comes out without a throw") {
  for (const char* stepper : {"rigid", "exponential", "implicit-euler", "momentum", "relaxed", "macroscopic"}) {
    CAPTURE(std::string(stepper));
    auto s = make_simulation(parse_scene(
        "[robot]\nname = \"chain\"\nposition = [0, 0, -0.01]\n[[robot.link]]\nname = \"head\"\njoint = \"free\"\nsize = "
        "[0.1, 0.04, 0.04]\nmass = 0.3\n[[robot.link]]\nname = \"link\"\nposition = [0.05, 0, 0]\naxis = [0.0, 1.0, "
        "0.0]\nsize = [0.1, 0.04, 0.04]\ncom = [0.05, 0, 0]\nmass = 0.3\nrange = [0.2, 1.0]\n[[robot.link]]\nname = "
        "\"next\"\nposition = [0.1, 0, 0]\noffset = [0.1, 0, 0]\ncount = 4\naxis = [0.0, 1.0, 0.0]\nsize = [0.1, 0.04, "
        "0.04]\ncom = [0.05, 0, 0]\nmass = 0.3\n[stepper]\nname = \"" +
            std::string(stepper) + "\"\ndt = 1e-3\n",
        "deep.toml"));
    double fastest = 0;
    for (int k = 0; k < 500; ++k) {
      s.step();
      fastest = std::max(fastest, s.state().v.cwiseAbs().maxCoeff());
    }
    CHECK(s.audit().status == StepStatus::Ok);
    // Springs of that depth threw it at hundreds. A fall of 3 cm ends at 0.77 m/s: 15 rad/s at half a link.
    CHECK(fastest < 20);
  }
}
