// Derivatives of compliant steps, with what contacts remember as a part of the state, beside central differences of the same step:
// those know nothing of its equations. Relative to the largest entry of each block 1e-6 is asked for.
//
// Each of these, left out by itself (times 0 in a build made for that), fails a case here:
//   (deriv.7) w x dp, dw x c, psi;  (deriv.20) dw x y, dgap, the motion of a, memory's anchor, point and rest;
//   (deriv.29) load, speed and turn of an anchor that was left behind;  (deriv.8) dp x f, dw x f, S_j x S;
//   (deriv.22), (deriv.23) the point's way and turn, psidd, psi x V, dw x V, rate, the turn of the axes;
//   pushes, dampers of dry friction, gains, springs, the force that friction remembers;
//   (deriv.9) dr x u, v x d, the Jacobian of the turn;  (deriv.21) stretch, force and turning of a drawn anchor, its axes, its body;
//   (deriv.25) both parts of dG, (deriv.26) the bias, (deriv.27) N_k f1, (deriv.28) the turn and the size of friction, limits,
//   (flow.2) dG in f1 and in f2, s, drives and damping in d(vdot), where friction turns to by dG and by s, drives at a bound;
//   (deriv.24) q+ and v+, dampers, dw x f, the moved point, turn and spin of a round core, passed way, its rate, the cone;
//   dB of dry friction in (flow.2), and what a kinematic body gives a contact: by its place, by (meet.4), midway.
// Not shown: how what is given turns with the axes (dw x v_given).
#include <doctest/doctest.h>

#include "slider.hpp"
#include "slopes.hpp"
#include "tribo/compliant.hpp"
#include "tribo/linearization.hpp"
#include "tribo/scene.hpp"

using namespace tribo;
using slopes::check, slopes::Seen;

namespace {

// Differences over 1e-5 m move the force of a spring of 1e4 N/m by this share of some newtons: nearer to its edge a contact
// changes its mode within them.
constexpr double near = 0.03;

/// Takes steps, and compares those in between.
Seen run(Simulation simulation, int steps) {
  Seen seen;
  for (int k = 0; k < steps; ++k) {
    CAPTURE(k);
    const State before = simulation.state();
    const bool divided = simulation.step().substeps > 1;
    const State after = simulation.state();
    simulation.set_state(before);
    check(simulation, seen, near);
    simulation.set_state(after);
    seen.divided += divided;
  }
  CAPTURE(seen.reason);
  INFO(seen.analytic << " analytic, " << seen.compared << " compared, " << seen.columns << " columns, " << seen.stick
                     << " stick, " << seen.slip << " slip, worst " << seen.error << " " << seen.reason);
  CHECK(seen.columns > 0);
  return seen;
}

SurfacePair soft(double mu) { return worlds::spring(1e4, 30, mu); }

/// With its lowest ball `height` over soft ground.
template <class F>
Simulation chain(const std::string& stepper, double height, F properties) {
  const auto model = slopes::chain(soft(0.6), properties);
  Simulation simulation(model, stepper, {}, 1e-3);
  simulation.set_state(slopes::random_state(*model, 0.4, 2));
  slopes::lower(simulation, height);
  return simulation;
}

}  // namespace

TEST_CASE("compliant derivative: a box slides and comes to rest") {
  for (const char* stepper : slopes::compliant)
    for (double mu : {0.0, 0.4}) {
      CAPTURE(stepper);
      CAPTURE(mu);
      auto world = worlds::World(soft(mu)).ground().box({0.1, 0.2, 0.05}, 1, {0, 0, 0.0495}, {0.3, 0.1, 0}, {0, 0, 1});
      const Seen seen = run(world.simulate(2e-3, {}, stepper), 60);
      CHECK(seen.analytic == seen.steps);
      CHECK(seen.slip > 100);
      CHECK((mu == 0 || seen.stick > 30));
      CHECK(seen.memory > 1000);
    }
}

TEST_CASE("compliant derivative: balls roll, slip and press on each other") {
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    auto world = worlds::World(soft(0.3))
                     .ground()
                     .sphere(0.1, 1, {0, 0, 0.0995}, {0.5, 0.1, 0}, {1, -2, 3})
                     .sphere(0.12, 0.7, {0.05, 0.02, 0.3145}, {0, 0.1, 0}, {-2, 1, 0.5});
    const Seen seen = run(world.simulate(2e-3, {}, stepper), 40);
    CHECK(seen.analytic >= 35);
    CHECK(seen.slip > 10);
    CHECK(seen.stick > 10);
  }
}

TEST_CASE("compliant derivative: a floating tree in the air, touching down and on the ground") {
  for (const char* stepper : slopes::compliant)
    for (double height : {1.0, 0.002, -1e-4}) {
      CAPTURE(stepper);
      CAPTURE(height);
      const Seen seen = run(chain(stepper, height,
                                  [](JointProperties& p) {
                                    for (int k = 6; k < 11; ++k) p.damping[k] = 0.3;
                                  }),
                            height < 1 ? 8 : 2);
      CHECK(seen.analytic >= seen.steps - (height == 0.002));  // a step that is divided and slips goes by differences
      CHECK((height == 1 || seen.stick + seen.slip > 0));
    }
}

TEST_CASE("compliant derivative: a ball lands that turns as if it rolled") {
  // It does not slip as it touches, and its axes turn by 0.02 rad a step: tangents at the ends of the parts of a step differ.
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    auto world = worlds::World(soft(0.8)).ground().sphere(0.1, 1, {0, 0, 0.1015}, {1, 0, -0.5}, {0, 10, 0});
    const Seen seen = run(world.simulate(2e-3, {}, stepper), 4);
    CHECK(seen.analytic == seen.steps);
    CHECK(seen.divided > 0);
    CHECK(seen.columns > 40);
  }
}

TEST_CASE("compliant derivative: springs, dampers, rotors and dry friction of joints") {
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    const Seen seen = run(chain(stepper, -1e-4,
                                [&](JointProperties& p) {
                                  for (int k = 6; k < 11; ++k) {
                                    p.damping[k] = 0.3;
                                    p.stiffness[k] = 20;
                                    p.armature[k] = 0.02;
                                  }
                                  p.friction[6] = 0.5;
                                  p.friction[10] = 10;
                                }),
                          8);
    CHECK(seen.analytic == seen.steps);
    CHECK(seen.memory > 8);
    // Friction that holds a joint which carries much: its damper follows the inertia.
    Simulation held = chain(stepper, 1, [](JointProperties& p) { p.friction[6] = 100; });
    State state = held.state();
    state.v *= 0.01;
    held.set_state(state);
    CHECK(run(std::move(held), 3).analytic == 3);
  }
}

TEST_CASE("compliant derivative: a ball and a box on a table that goes and turns") {
  // The velocity that the table gives a contact is that of its material point: it moves with the place of the contact.
  for (const char* stepper : slopes::compliant)
    for (double mu : {0.05, 0.8}) {
      CAPTURE(stepper);
      CAPTURE(mu);
      char text[1024];
      std::snprintf(
          text, sizeof text,
          "[ground]\nnone = true\n[[kinematic]]\nsize = [2, 2, 0.2]\nposition = [0, 0, -0.1]\n"
          "velocity = [0.1, 0.2, 0]\nangular_velocity = [0.03, 0.02, 3]\n[[object]]\nshape = \"sphere\"\n"
          "radius = 0.1\nmass = 1\nposition = [0.3, 0.2, 0.0995]\nvelocity = [0.2, 0.1, 0]\n"
          "angular_velocity = [1, -2, 3]\n[[object]]\nsize = [0.1, 0.2, 0.05]\nmass = 1\n"
          "position = [-0.3, 0.1, 0.0248]\nvelocity = [-0.2, -0.7, 0]\nangular_velocity = [0, 0, 3]\n"
          "[material.default]\nmu = %g\nstiffness = 1e4\ndamping = 30\n[stepper]\nname = \"%s\"\ndt = 0.002\n",
          mu, stepper);
      const Seen seen = run(make_simulation(parse_scene(text, "table")), 12);
      CHECK(seen.analytic >= 10);
      CHECK((mu < 0.1 ? seen.slip : seen.stick) > 20);
    }
}

TEST_CASE("compliant derivative: gains, drives at their limits, pushes and joint limits") {
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    Scene scene = load_scene(TRIBO_SCENES "/ur10.toml");
    scene.stepper = stepper;
    scene.stepper_options.own = {};
    const auto make = [&] { return make_simulation(scene); };
    Simulation pushed = make();
    PushRequest push;
    push.where = pushed.model().bodies.back().name;
    push.force = Vec3(30, -20, 10);
    push.torque = Vec3(1, 2, -1);
    push.duration = 1;
    pushed.add_push(make_push(pushed.model(), push));
    for (int k = 0; k < 50; ++k) pushed.step();
    const Seen seen = run(std::move(pushed), 4);
    CHECK(seen.analytic == seen.steps);
    CHECK(seen.columns == 4 * 18);
    Simulation limited = make();
    State state = limited.state();
    for (int k = 0; k < limited.model().nv; ++k)
      if (std::isfinite(limited.model().joints.upper[k])) {
        state.q[k] = limited.model().joints.upper[k] + 1e-3;
        state.v[k] = 1;
        break;
      }
    limited.set_state(state);
    CHECK(run(std::move(limited), 3).analytic == 3);
  }
}

TEST_CASE("compliant derivative: anchors that were left behind, and contacts that began in overlap") {
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    {  // 3 mm behind, where friction could have stretched the spring by less than 1; its load grows, or not (deriv.29)
      for (double load : {0.1, 100.0}) {
        auto world = worlds::World(soft(0.4)).ground().sphere(0.1, 1, {0, 0, 0.099}, {0.3, 0.1, 0});
        Simulation ball = world.simulate(2e-3, {}, stepper);
        for (int k = 0; k < 3; ++k) ball.step();
        State state = ball.state();
        REQUIRE(state.memory.anchors.size() == 1);
        state.memory.anchors[0].anchor -= Vec3(0.0018, 0.0024, 0);
        state.memory.contacts[0].f.z() = load;
        ball.set_state(state);
        Seen seen;
        check(ball, seen);
        CHECK(seen.compared == 1);
        CHECK(seen.columns > 12);
      }
    }
    {  // its spring is without force where it began, and less so with time (compliant.12)
      auto world = worlds::World(soft(0.4)).ground().sphere(0.1, 1, {0, 0, 0.0985}, {0, 0, 0.01});
      const Seen seen = run(world.simulate(2e-3, {}, stepper), 5);
      CHECK(seen.compared > 1);
      CHECK(seen.memory >= 7);
    }
  }
}

TEST_CASE("compliant derivative: a cube that was launched and has stopped") {
  // Where it stands depends on how fast it was. What the contacts remember says where that is: by q and v alone it is forgotten.
  for (const char* stepper : slopes::compliant) {
    CAPTURE(stepper);
    const auto launched = [&](double speed) {
      return worlds::World(soft(0.4))
          .ground()
          .box({0.1, 0.1, 0.1}, 1, {0, 0, 0.09975}, {speed, 0, 0})
          .simulate(2e-3, {}, stepper);
    };
    const double v = 0.4, d = 1e-5;
    const int steps = 150;
    Simulation simulation = launched(v);
    Linearization lin;
    lin.memory = true;
    MatX whole = MatX::Zero(12, 1), plain = MatX::Zero(12, 1);
    whole(6, 0) = plain(6, 0) = 1;
    int analytic = 0;
    for (int k = 0; k < steps; ++k) {
      simulation.linearize(lin);
      REQUIRE(lin.finite);
      REQUIRE(lin.whole_A.cols() == whole.rows());
      analytic += lin.method == Linearization::Method::Analytic;
      whole = lin.whole_A * whole;
      plain = lin.A * plain;
      simulation.step();
    }
    CHECK(analytic == steps);
    const auto stop = [&](double speed) {
      Simulation s = launched(speed);
      for (int k = 0; k < steps; ++k) s.step();
      return s.state().q[0];
    };
    const double secant = (stop(v + d) - stop(v - d)) / (2 * d);
    CAPTURE(secant);
    CHECK(secant == doctest::Approx(v / (0.4 * 9.81)).epsilon(0.05));  // Coulomb: v^2 / (2 mu g)
    CHECK(whole(0, 0) == doctest::Approx(secant).epsilon(1e-3));
    CHECK(std::abs(plain(0, 0)) < 0.1 * secant);
  }
}
