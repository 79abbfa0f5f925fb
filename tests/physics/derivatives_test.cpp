// The derivative of a step beside central differences of the same step, which know nothing of its equations: (lin.2) has an
// error of order h^4 and rounding of about 1e-15 / 1e-5. Relative to the largest entry of each block 1e-6 is asked for.
//
// Each of these, left out by itself (times 0 in a build made for that), fails a case here or in the other derivative_*_test.cpp:
//   dt H_q, H_v, all three parts of (deriv.6), the gyroscope's own slope, its arm and its turn, kp, inputs, springs, held forces (point, axes);
//   (deriv.7) w x dp, dw x c, S x V, psi, what is given;  discs: S x w, their axis;  (deriv.8) dp x f, dw x f, dw x torque, S x F;
//   restitution by q and by v, gaps, (deriv.5) R, (deriv.4) both laws, discs across and along, limits, drives at their limits, targets;
//   removal of overlap: d_q[M d], d(J^T f), gap, K by the way and by v', dv', limits by q and dv', q+;  (deriv.13) u d[M u];
//   (deriv.9) v x d, dr x u, T, turning with dx;  (deriv.10) d_q, dE, springs, b_m dm, inputs;  (gyroscope.3) turn and arms;
//   (deriv.11) arm, turn of R+, d_q[M v];  (deriv.14), (deriv.15) rows and forces;  (closures.4) q and v;  (deriv.16);  (meet.4).
// Not shown: d(J u) of (deriv.13).
#include <doctest/doctest.h>

#include "dynamics/group.hpp"
#include "slopes.hpp"
#include "tribo/batch.hpp"
#include "tribo/linearization.hpp"
#include "tribo/rigid.hpp"
#include "tribo/scene.hpp"

using namespace tribo;
using slopes::check, slopes::check_once, slopes::disturb, slopes::precise, slopes::Seen;

namespace {

Seen check_scene(const std::string& name, int states, double size, double down) {
  CAPTURE(name);
  Scene scene = load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml");
  scene.stepper_options.contact.tolerance.rel = 1e-12;
  Simulation simulation = make_simulation(scene);
  Random random;
  Seen seen;
  for (int s = 0; s < states; ++s) {
    for (int k = 0; k < 40; ++k) simulation.step();
    const State kept = simulation.state();
    disturb(simulation, random, size, down);
    check(simulation, seen);
    simulation.set_state(kept);
  }
  CAPTURE(seen.reason);
  CHECK(seen.analytic == seen.steps);
  return seen;
}

/// Turns its first free body, and gives it a velocity.
void set(Simulation& simulation, const Vec3& turn, const Vec3& p, const Vec3& v, const Vec3& w) {
  State state = simulation.state();
  const Quat R = rotation_exponential(turn);
  state.q.segment<3>(0) = p;
  state.q.segment<4>(3) = R.coeffs();
  state.v.segment<3>(0) = R.conjugate() * v;
  state.v.segment<3>(3) = R.conjugate() * w;
  simulation.set_state(state);
}

}  // namespace

TEST_CASE("derivative: shipped scenes at disturbed states") {
  CHECK(check_scene("ur10", 3, 1e-3, 0).columns > 50);
  CHECK(check_scene("ur10-sinusoid", 2, 1e-3, 0).columns > 30);
  CHECK(check_scene("double-pendulum", 3, 1e-2, 0).columns == 12);
  CHECK(check_scene("six-link-pendulum", 2, 1e-2, 0).columns == 24);
  CHECK(check_scene("solo", 1, 1e-3, 0).columns > 30);  // it falls, with drives at work
  const Seen standing = check_scene("solo-standing", 3, 2e-5, 4e-5);
  CHECK(standing.stick >= 6);
  CHECK(standing.columns > 100);
  const Seen terrain = check_scene("solo-terrain", 3, 2e-5, 4e-5);
  CHECK(terrain.columns > 80);
  const Seen ball = check_scene("allegro-ball", 2, 2e-5, 0);
  CHECK(ball.columns > 60);
  CHECK(ball.slip > 0);
  const Seen talos = check_scene("talos-standing", 3, 2e-5, 4e-5);
  CHECK(talos.columns > 60);
}

TEST_CASE("derivative: velocity targets, which give way by a share of a diagonal that moves with q") {
  Scene scene = load_scene(TRIBO_SCENES "/solo-trot-constraint.toml");
  scene.stepper_options.contact.tolerance.rel = 1e-12;
  Simulation simulation = make_simulation(scene);
  worlds::run(simulation, 0.3);  // two feet swing
  Random random;
  disturb(simulation, random, 2e-5, 4e-5);
  CHECK(check_once(std::move(simulation)).columns >= 40);
}

TEST_SUITE("long") {
  TEST_CASE("derivative: shipped scenes, more states") {
    for (const char* name : {"free-fall", "solo", "solo-standing", "solo-trot-pd", "go2-standing", "g1-standing",
                             "ur10-geared", "allegro-ball", "talos-standing"})
      CHECK(check_scene(name, 12, 2e-5, 4e-5).columns > 0);
  }
}

TEST_CASE("derivative: a body in the air turns about no principal axis") {
  auto simulation = worlds::World().box({0.1, 0.2, 0.3}, 2, {0, 0, 3}).simulate(1e-2);
  set(simulation, {0.3, -0.2, 0.5}, {0, 0, 3}, {1, 2, 3}, {4, -5, 6});
  check_once(std::move(simulation));
}

TEST_CASE("derivative: a floating tree with springs and dampers, in the air and on the ground") {
  const auto model = slopes::chain(worlds::friction(0.6), [](JointProperties& p) {
    for (int k = 6; k < 11; ++k) {
      p.damping[k] = 2;
      p.stiffness[k] = 30;
      p.armature[k] = k % 2 ? 0.02 : 1e-5;  // the whole of (flight.9), and half of a rotor
    }
  });
  for (double height : {2.0, 0.0}) {
    Simulation simulation(model, "rigid", precise(), 2e-3);
    State state = slopes::random_state(*model, 0.5, 4);
    state.q[2] = height;
    simulation.set_state(state);
    if (height == 0) slopes::lower(simulation, -1e-5);
    const Seen seen = check_once(std::move(simulation));
    CHECK(seen.columns >= 2 * model->nv);
    CHECK(seen.stick + seen.slip == (height == 0 ? 1 : 0));
  }
}

TEST_CASE("derivative: a ball on a slope sticks, slips, and bounces") {
  Placement slope;
  slope.R = rotation_exponential({0.3, 0.1, 0}).toRotationMatrix();
  for (const auto& [friction, e, height, w] :
       {std::tuple(0.7, 0.0, 0.09999, 0.0), std::tuple(0.2, 0.0, 0.09999, 5.0), std::tuple(0.2, 0.8, 0.1001, 3.0)}) {
    const double mu = friction;
    CAPTURE(mu);
    auto simulation = worlds::World(worlds::friction(mu, e)).ground(slope).sphere(0.1, 1, Vec3::Zero()).simulate(1e-3);
    const Vec3 n = slope.R.col(2);
    set(simulation, {0.1, 0.2, 0.3}, height * n, slope.R * Vec3(0.3, 0.1, -0.5), {w, 1, 2});
    const Seen seen = check_once(std::move(simulation));
    CHECK(seen.stick + seen.slip == 1);
    CHECK(seen.columns == 12);
  }
}

TEST_CASE("derivative: a corner of a box that turns strikes a gap within the step, compliant or not") {
  for (const auto& [compliance, relaxation_time] : {std::pair(0.0, 0.0), std::pair(1e-6, 0.0), std::pair(1e-6, 0.02)}) {
    SurfacePair surface = worlds::friction(0.5);
    surface.compliance = compliance;
    surface.relaxation_time = relaxation_time;
    auto simulation = worlds::World(surface).ground().box({0.1, 0.2, 0.3}, 2, Vec3::Zero()).simulate(1e-3);
    const Vec3 turn(0.7, 0.4, 0.2);
    const Mat3 R = rotation_exponential(turn).toRotationMatrix();
    const double low = (R.row(2).cwiseAbs() * Vec3(0.1, 0.2, 0.3)).value();
    set(simulation, turn, {0, 0, low + 2e-4}, {0.5, 0.2, -1}, {2, 1, -3});
    const Seen seen = check_once(std::move(simulation));
    CHECK(seen.stick + seen.slip == 1);
    CHECK(seen.columns == 12);
  }
}

TEST_CASE("derivative: a ball and the corner of a box press into a surface with a relaxation time") {
  for (double mu : {0.1, 0.9}) {
    SurfacePair surface = worlds::friction(mu);
    surface.compliance = 3e-5;
    surface.relaxation_time = 0.02;
    auto ball = worlds::World(surface).ground().sphere(0.1, 2, Vec3::Zero()).simulate(1e-3);
    set(ball, {0.1, 0.2, 0.3}, {0, 0, 0.0994}, {0.3, 0.1, -0.05}, {1, 1, 2});
    CHECK(check_once(std::move(ball)).columns == 12);
    auto box = worlds::World(surface).ground().box({0.1, 0.2, 0.3}, 2, Vec3::Zero()).simulate(1e-3);
    const Vec3 turn(0.7, 0.4, 0.2);
    const Mat3 R = rotation_exponential(turn).toRotationMatrix();
    const double low = (R.row(2).cwiseAbs() * Vec3(0.1, 0.2, 0.3)).value();
    set(box, turn, {0, 0, low - 5e-4}, {0.1, 0.2, -0.05}, {0.2, 0.1, -0.3});
    CHECK(check_once(std::move(box)).columns == 12);
  }
}

TEST_CASE("derivative: a box sticks on four corners, whose forces are not unique") {
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  auto simulation =
      worlds::World(worlds::friction(0.8)).ground().box({0.1, 0.2, 0.05}, 1, Vec3::Zero()).simulate(1e-3, options);
  set(simulation, {0, 0, 0.3}, {0, 0, 0.04999}, {1e-4, 2e-4, -1e-3}, {1e-3, 2e-3, 1e-3});
  const Seen seen = check_once(std::move(simulation));
  CHECK(seen.stick == 4);
  CHECK(seen.columns >= 11);
}

TEST_CASE("derivative: a box on a box, whose contact is differentiated by its query") {
  StepperOptions options;
  options.contact.tolerance.rel = 1e-12;
  auto simulation = worlds::World(worlds::friction(0.8))
                        .ground()
                        .box({0.2, 0.25, 0.05}, 2, {0, 0, 0.0499}, {1e-4, 2e-4, -1e-3}, {1e-3, 2e-3, 1e-3})
                        .box({0.1, 0.12, 0.05}, 1, {0.02, 0.03, 0.1497}, {2e-4, -1e-4, -2e-3}, {-1e-3, 1e-3, 2e-3})
                        .simulate(1e-3, options);
  const Seen seen = check_once(std::move(simulation));
  CHECK(seen.stick == 8);
  CHECK(seen.columns >= 16);
}

TEST_CASE("derivative: two balls press on each other") {
  auto simulation = worlds::World(worlds::friction(0.3))
                        .sphere(0.1, 1, {0, 0, 0}, {0.2, 0.1, 0}, {1, 2, 3})
                        .sphere(0.15, 2, {0.2, 0.1, 0.11}, {-0.5, -0.4, -0.3}, {-2, 1, 4})
                        .simulate(1e-3);
  const Seen seen = check_once(std::move(simulation));
  CHECK(seen.stick + seen.slip == 1);
  CHECK(seen.columns == 24);
}

TEST_CASE("derivative: a body with its centre off its origin turns, in the air and on the ground") {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", worlds::friction(0.5)});
  builder.add_ground({}, material);
  builder.begin_member("body", true, "test");
  Body body;
  body.name = "body/0";
  body.joint = JointKind::Free;
  body.inertia.mass = 1;
  body.inertia.com = Vec3(0.03, 0.02, -0.01);
  body.inertia.about_com = Vec3(0.01, 0.02, 0.025).asDiagonal();
  slopes::add_ball_link(builder, body, material);
  const auto model = std::make_shared<const Model>(builder.build());
  for (double height : {3.0, 0.04999}) {
    Simulation simulation(model, "rigid", precise(), 2e-3);
    set(simulation, {0.3, -0.2, 0.5}, {0, 0, height}, {0.2, 0.1, -0.3}, {4, -5, 6});
    CHECK(check_once(std::move(simulation)).columns == 12);
  }
}

TEST_CASE("derivative: overlap of a floating tree is removed") {
  const auto model = slopes::chain(worlds::friction(0.6), [](JointProperties&) {});
  Simulation simulation(model, "rigid", precise(), 2e-3);
  simulation.set_state(slopes::random_state(*model, 0.5, 4));
  slopes::lower(simulation, -2e-3);
  CHECK(check_once(std::move(simulation)).columns >= 2 * model->nv);
}

TEST_CASE("derivative: a ball that slips under a convex cone") {
  StepperOptions options = precise();
  options.contact.model = "ccp";
  options.contact.solver = "pgs";
  options.contact.max_iterations = 100000;
  auto simulation = worlds::World(worlds::friction(0.3)).ground().sphere(0.1, 1, Vec3::Zero()).simulate(1e-3, options);
  set(simulation, {0.1, 0.2, 0.3}, {0, 0, 0.09999}, {1, 0.5, -0.1}, {2, 3, 4});
  const Seen seen = check_once(std::move(simulation));
  CHECK(seen.slip == 1);
  CHECK(seen.columns == 12);
}

TEST_CASE("derivative: torsional and rolling friction") {
  SurfacePair surface = worlds::friction(0.8);
  surface.torsional = 0.01;
  surface.rolling = 0.005;
  for (double rate : {0.0, 3.0}) {
    auto simulation = worlds::World(surface).ground().sphere(0.1, 1, Vec3::Zero()).simulate(1e-3);
    set(simulation, {0.1, 0.2, 0.3}, {0, 0, 0.09998}, {0.1 * rate, 0.05 * rate, 0}, {-0.5 * rate, rate, 2 * rate});
    CHECK(check_once(std::move(simulation)).columns >= 10);
  }
  for (double rate : {0.02, 1.0}) {  // of balls the axes turn: held, and turning
    auto simulation = worlds::World(surface)
                          .sphere(0.1, 1, {0, 0, 0}, {0.2, 0.1, 0}, rate * Vec3(1, 2, 3))
                          .sphere(0.15, 2, {0.2, 0.1, 0.11}, {-0.5, -0.4, -0.3}, rate * Vec3(-2, 1, 4))
                          .simulate(1e-3);
    CHECK(check_once(std::move(simulation)).columns >= 22);
  }
}

TEST_CASE("derivative: pushes, joint limits, dry friction and drives at their limits") {
  Scene scene = load_scene(TRIBO_SCENES "/ur10.toml");
  Simulation simulation = make_simulation(scene);
  PushRequest push;
  push.where = simulation.model().bodies.back().name;
  push.force = Vec3(30, -20, 10);
  push.torque = Vec3(1, 2, -1);
  push.duration = 1;
  simulation.add_push(make_push(simulation.model(), push));
  Random random;
  disturb(simulation, random, 1e-2, 0);
  CHECK(check_once(std::move(simulation)).columns == 18);

  auto model = [&](double at_limit, double speed) {  // one joint beyond its upper limit, moving out or in
    Simulation s = make_simulation(scene);
    State state = s.state();
    for (int k = 0; k < s.model().nv; ++k)
      if (std::isfinite(s.model().joints.upper[k])) {
        state.q[k] = s.model().joints.upper[k] - at_limit;
        state.v[k] = speed;
        break;
      }
    s.set_state(state);
    return s;
  };
  CHECK(check_once(model(-1e-3, 1)).columns > 10);      // brought back
  CHECK(check_once(model(-1e-3, -0.05)).columns > 10);  // goes back by itself, slower than that
  CHECK(check_once(model(5e-4, 1)).columns > 10);       // reaches it within the step
}

// The bias of the step was found before it was known which drives would be at their limits: (deriv.6) with that factor.
TEST_CASE("derivative: drives that reach their limits within the step, of an arm that turns") {
  const Scene scene = load_scene(TRIBO_SCENES "/ur10.toml");
  Random random;
  int limited = 0;
  for (int round = 0; round < 4; ++round) {
    Simulation simulation = make_simulation(scene);
    disturb(simulation, random, 0.3, 0);
    Simulation beside = make_simulation(scene);
    beside.set_state(simulation.state());
    beside.step();
    for (int k = 0; k < beside.model().nv; ++k)
      limited += std::abs(beside.torque()[k]) == beside.model().joints.effort_limit[k];
    CHECK(check_once(std::move(simulation)).columns >= 12);
  }
  CHECK((limited >= 4 && limited < 20));
}

namespace {

/// A table of 10 kg on four round feet.
Simulation make_table(const StepperOptions& options) {
  ModelBuilder builder;
  const int material = builder.add_material({"surface", worlds::friction(0.6)});
  builder.add_ground({}, material);
  builder.begin_member("table", true, "test");
  Body top;
  top.name = "table/top";
  top.joint = JointKind::Free;
  top.inertia.mass = 10;
  top.inertia.com = Vec3(0.05, 0.02, 0);
  top.inertia.about_com = Vec3(0.4, 0.7, 1.0).asDiagonal();
  const int body = builder.add_body(top);
  for (int i = 0; i < 4; ++i) {
    Geometry foot;
    foot.name = "table/foot" + std::to_string(i);
    foot.body = body;
    foot.X_BG.p = Vec3(i % 2 == 0 ? -0.4 : 0.4, i < 2 ? -0.25 : 0.25, -0.7);
    foot.kind = ShapeKind::Sphere;
    foot.size = Vec3(0.02, 0, 0);
    foot.radius = 0.02;
    foot.material = material;
    builder.add_geometry(foot);
  }
  auto model = std::make_shared<const Model>(builder.build());
  Simulation simulation(model, "rigid", options, 1e-3);
  State state = State::neutral(*model);
  state.q[2] = 0.72 - 1e-5;
  simulation.set_state(state);
  return simulation;
}

}  // namespace

TEST_CASE("derivative: where bodies stick it does not depend on how forces are shared, nor on the solver") {
  const auto compare = [](Scene scene, int steps, const auto& make) {
    scene.stepper_options.contact.tolerance.rel = 1e-13;
    scene.stepper_options.contact.max_iterations = 200'000;
    MatX first;
    State state;
    for (const char* solver : {"newton", "pgs", "admm", "staggered"}) {
      CAPTURE(solver);
      scene.set_solver(solver);
      Simulation simulation = make(scene);
      if (first.size() == 0) {
        for (int k = 0; k < steps; ++k) simulation.step();
        state = simulation.state();
        for (ContactMemory& m : state.memory.contacts) m.f.setZero();  // nor on the guess
      }
      simulation.set_state(state);
      Linearization lin;
      simulation.linearize(lin);
      CHECK(lin.unique);
      CHECK(lin.method == Linearization::Method::Analytic);
      if (first.size() == 0)
        first = lin.A;
      else
        CHECK((lin.A - first).cwiseAbs().maxCoeff() < 1e-9 * first.cwiseAbs().maxCoeff());
    }
  };
  const auto of_scene = [](const Scene& scene) { return make_simulation(scene); };
  SUBCASE("a cube") { compare(load_scene(TRIBO_SCENES "/cube.toml"), 600, of_scene); }
  SUBCASE("a table") {
    compare(load_scene(TRIBO_SCENES "/cube.toml"), 100, [](const Scene& s) { return make_table(s.stepper_options); });
  }
  SUBCASE("flat feet: 24 rows of rank 12") { compare(load_scene(TRIBO_SCENES "/talos-standing.toml"), 1000, of_scene); }
  SUBCASE("four feet") { compare(load_scene(TRIBO_SCENES "/solo-standing.toml"), 50, of_scene); }
}

TEST_CASE("derivative: what is not unique is said") {
  // A box that slides on four corners and turns: how they share its weight is open, and friction depends on it.
  auto simulation = worlds::World(worlds::friction(0.3)).ground().box({0.1, 0.2, 0.05}, 1, Vec3::Zero()).simulate(1e-3);
  set(simulation, {0, 0, 0.3}, {0, 0, 0.04999}, {1, 0.5, 0}, {0, 0, 2});
  Linearization lin;
  simulation.linearize(lin);
  CHECK(!lin.unique);
  CHECK(lin.finite);
  CHECK(lin.A.allFinite());
}

TEST_CASE("derivative: products with it, the run that does not change, and steppers without one") {
  Scene scene = load_scene(TRIBO_SCENES "/solo-standing.toml");
  Simulation simulation = make_simulation(scene);
  for (int k = 0; k < 20; ++k) simulation.step();
  const std::uint64_t before = hash(simulation.state());
  Linearization lin;
  simulation.linearize(lin);
  CHECK(hash(simulation.state()) == before);
  CHECK(lin.inputs.size() == 12);
  simulation.step();
  CHECK((simulation.state().q - lin.q_next).norm() < 1e-12);
  CHECK((simulation.state().v - lin.v_next).norm() < 1e-9);
  VecX dx(36), du(12), w(36);
  Random random;
  for (VecX* x : {&dx, &du, &w})
    for (double& y : *x) y = random.uniform();
  const VecX forward = lin.jvp(dx, du), back = lin.vjp(w);
  CHECK(w.dot(forward) == doctest::Approx(back.head(36).dot(dx) + back.tail(12).dot(du)).epsilon(1e-12));
  CHECK_THROWS_AS(lin.jvp(w.head(3), du), InvalidInput);

  scene.set_stepper("runge-kutta");
  Simulation springs = make_simulation(scene);
  springs.linearize(lin);
  CHECK(lin.method == Linearization::Method::Differences);
  CHECK(std::string(lin.reason) == "the stepper has no analytic derivative");
  CHECK(lin.finite);
}

TEST_CASE("derivative: by mass and by friction") {
  // A box slides on its corners: dv_x/d mu = -g dt, and dp_x is dt times it; a pushed one has dv/dm = -F dt/m^2.
  const double dt = 1e-3, m = 2;
  auto simulation =
      worlds::World(worlds::friction(0.3)).ground().box({0.1, 0.1, 0.1}, m, {0, 0, 0.1}, {1, 0, 0}).simulate(dt);
  simulation.step();
  const MatX by_mu = simulation.parameter_slopes({"friction:surface"});
  CHECK(by_mu(6, 0) == doctest::Approx(-9.81 * dt).epsilon(1e-6));
  CHECK(by_mu(0, 0) == doctest::Approx(-9.81 * dt * dt).epsilon(1e-6));
  auto pushed = worlds::World().box({0.1, 0.1, 0.1}, m, {0, 0, 1}).simulate(dt);
  PushRequest push;
  push.where = "object0";
  push.force = Vec3(3, 0, 0);
  push.duration = 1;
  pushed.add_push(make_push(pushed.model(), push));
  CHECK(pushed.parameter_slopes({"mass:object0"})(6, 0) == doctest::Approx(-3 * dt / (m * m)).epsilon(1e-6));
  CHECK_THROWS_AS(pushed.parameter_slopes({"colour:object0"}), InvalidInput);
  CHECK_THROWS_AS(pushed.parameter_slopes({"friction:cheese"}), InvalidInput);
}

TEST_CASE("derivative: a batch has that of each world, for any number of threads") {
  const Scene scene = load_scene(TRIBO_SCENES "/solo-standing.toml");
  Batch one(scene, 3, 1), two(scene, 3, 2);
  one.step(5);
  two.step(5);
  const auto a = one.linearize(), b = two.linearize();
  Simulation alone = make_simulation(scene);
  for (int k = 0; k < 5; ++k) alone.step();
  Linearization lin;
  alone.linearize(lin);
  for (std::size_t w = 0; w < 3; ++w) {
    CHECK(a[w].A == lin.A);
    CHECK(b[w].A == lin.A);
    CHECK(b[w].B == lin.B);
  }
}

TEST_CASE("derivative: finite or flagged at random states") {
  for (const char* name : {"solo-standing", "talos-standing", "allegro-ball", "cube"}) {
    CAPTURE(name);
    Simulation simulation = make_simulation(load_scene(std::string(TRIBO_SCENES) + "/" + name + ".toml"));
    Random random;
    const State start = simulation.state();
    Linearization lin;
    for (int k = 0; k < 30; ++k) {
      simulation.set_state(start);
      disturb(simulation, random, std::pow(10, -4 * random.uniform()), 0);
      simulation.linearize(lin);
      CHECK(lin.A.allFinite());
      CHECK(lin.B.allFinite());
    }
  }
}
