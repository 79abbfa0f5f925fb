// Controllers against closed forms: one joint whose inertia is known, and routes that must agree.
#include <doctest/doctest.h>

#include <cmath>

#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

// A ball of 1 kg on a vertical joint.
std::string ball(const std::string& joint, const std::string& radius) {
  return "[ground]\nnone = true\n[robot]\nname = \"robot\"\n[[robot.link]]\nname = \"ball\"\njoint = \"" + joint +
         "\"\naxis = [0.0, 0.0, 1.0]\nshape = \"sphere\"\nradius = " + radius + "\nmass = 1.0\neffort_limit = 1e6\n";
}

// Turning: gravity does nothing, M is its inertia, 0.4 m r^2 = 0.016 kg m^2.
const std::string wheel = ball("revolute", "0.2");
constexpr double inertia = 0.016;

Scene spin(const std::string& controller) { return parse_scene(wheel + controller, "wheel.toml"); }

Scene solo(const std::string& rest, double dt) {
  return parse_scene("[robot]\nmodel = \"solo12\"\npose = \"standing\"\n[material.default]\nmu = 0.4\n" + rest,
                     "solo.toml", {{"stepper.dt", std::to_string(dt)}});
}

}  // namespace

TEST_CASE("implicit PD takes its gains at the end of the step") {
  Scene scene = spin("[controller]\nkp = 30.0\nkd = 0.4\njoints = {ball = 0.5}\n");
  scene.dt = 0.05;
  Simulation simulation = make_simulation(scene);
  const double kp = 30, kd = 0.4, dt = scene.dt;
  double q = 0, v = 0;
  for (int k = 0; k < 20; ++k) {
    // I (v' - v) = dt (kp (q_ref - q - dt v') - kd v'), q' = q + dt v'.
    v = (inertia * v + dt * kp * (0.5 - q)) / (inertia + dt * kd + dt * dt * kp);
    q += dt * v;
    simulation.step();
    CHECK(simulation.state().v[0] == doctest::Approx(v).epsilon(1e-10));
    CHECK(simulation.state().q[0] == doctest::Approx(q).epsilon(1e-10));
  }
}

TEST_CASE("implicit PD follows a moving reference with the values at the end of the step") {
  Scene scene = spin("[controller]\nkp = 30.0\nkd = 0.4\n[controller.sinusoid]\namplitude = 0.3\nfrequency = 2.0\n");
  scene.dt = 0.01;
  Simulation simulation = make_simulation(scene);
  const double kp = 30, kd = 0.4, dt = scene.dt, w = 4 * M_PI;
  double q = 0, v = 0;
  for (int k = 1; k <= 20; ++k) {
    const double t = k * dt, q_ref = 0.3 * std::sin(w * t), v_ref = 0.3 * w * std::cos(w * t);
    v = (inertia * v + dt * (kp * (q_ref - q) + kd * v_ref)) / (inertia + dt * kd + dt * dt * kp);
    q += dt * v;
    simulation.step();
    CHECK(simulation.state().v[0] == doctest::Approx(v).epsilon(1e-9));
  }
}

TEST_CASE("the integral of PID removes what a constant load leaves of PD") {
  // 1 kg on a vertical slide: PD stays m g / kp below, PID does not.
  const std::string arm = ball("prismatic", "0.1");
  auto left = [&](const std::string& controller, double dt) {
    Scene scene = parse_scene(arm + controller, "arm.toml");
    scene.dt = dt;
    Simulation simulation = make_simulation(scene);
    for (int k = 0; k < 10 / dt; ++k) simulation.step();
    return simulation.state().q[0];
  };
  CHECK(left("[controller]\nkp = 100.0\nkd = 20.0\n", 0.01) == doctest::Approx(-9.81 / 100).epsilon(1e-6));
  for (const char* implicit : {"true", "false"})
    CHECK(std::abs(left(std::string("[controller]\nname = \"pid\"\nkp = 100.0\nkd = 20.0\nki = 200.0\nimplicit = ") +
                            implicit + "\n",
                        0.01)) < 1e-6);
}

TEST_CASE("a geared joint accelerates by the torque over its own and the reflected inertia") {
  const double ratio = 20, rotor = 1e-4, dry = 0.005, kp = 2;
  std::string text = wheel + "[controller]\nimplicit = false\nkp = 2.0\njoints = {ball = 1.0}\n";
  text.insert(text.find("[[robot.link]]"), "[robot.transmission]\nratio = 20.0\nrotor_inertia = 1e-4\ndry = 0.005\n");
  Simulation simulation = make_simulation(parse_scene(text, "geared.toml"));
  simulation.step();
  const double expected = (kp * 1.0 - ratio * dry) / (inertia + ratio * ratio * rotor);
  CHECK(simulation.state().v[0] / simulation.dt() == doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("velocity targets are met, with the torques of inverse dynamics") {
  const Scene scene = parse_scene(
      "[robot]\nmodel = \"ur10\"\npose = \"ready\"\ncontact = \"none\"\n[controller]\nname = \"velocity-constraint\"\n"
      "[controller.sinusoid]\namplitude = 0.4\nfrequency = 0.7\n",
      "ur10.toml", {{"stepper.dt", "0.02"}});
  Simulation simulation = make_simulation(scene);
  Dynamics dynamics(*scene.model);
  for (int k = 0; k < 50; ++k) {
    const State before = simulation.state();
    const StepReport report = simulation.step();
    CHECK(report.status == StepStatus::Ok);
    if (k < 5) continue;  // from rest to 1.8 rad/s: beyond the effort limits, the targets give way
    CHECK(report.gave_way == 0);
    CHECK(std::abs(report.target_miss) < 1e-4);  // 1e-6 of the change of velocity, times the condition of M
    dynamics.compute(before.q, before.v);
    const VecX tau = dynamics.mass_matrix() * (simulation.state().v - before.v) / simulation.dt() + dynamics.h();
    CHECK((tau - simulation.torque()).norm() < 1e-6 * tau.norm());
  }
}

TEST_CASE("on an arm, control by inverse dynamics and the constraint are the same step") {
  auto end = [](const char* name) {
    Scene scene = parse_scene(
        std::string("[robot]\nmodel = \"ur10\"\npose = \"ready\"\ncontact = \"none\"\n[controller]\nname = \"") + name +
            "\"\n[controller.sinusoid]\namplitude = 0.2\nfrequency = 0.5\n",
        "ur10.toml", {{"stepper.dt", "0.01"}});
    Simulation simulation = make_simulation(scene);
    for (int k = 0; k < 100; ++k) simulation.step();
    return simulation.state().q;
  };
  CHECK((end("inverse-dynamics") - end("velocity-constraint")).norm() < 1e-5);
}

TEST_CASE("torque limits hold exactly, and a torque at one pushes against the miss") {
  Scene scene = spin("[controller]\nname = \"velocity-constraint\"\neffort = 0.05\njoints = {ball = 0.5}\n");
  scene.dt = 0.01;
  Simulation simulation = make_simulation(scene);
  const StepReport report = simulation.step();
  // 50 rad/s are asked for; 0.05 N m give 0.05 * 0.01 / 0.016 rad/s.
  CHECK(simulation.torque()[0] == 0.05);
  CHECK(simulation.state().v[0] == doctest::Approx(0.03125).epsilon(1e-10));
  CHECK(report.gave_way == 1);
  CHECK(report.worst_target == 0);
  CHECK(report.target_miss == doctest::Approx(0.03125 - 50));
  CHECK(simulation.target_miss()[0] == report.target_miss);
  CHECK(simulation.audit().gave_way == 1);
}

TEST_CASE("a target against a wall: the step is solved, contact holds, the target gives way") {
  // A ball on a vertical slide is asked to move down through the floor, with a force that nothing limits (1e9 N).
  Scene scene = parse_scene(R"(
[robot]
name = "press"
[[robot.link]]
name = "ram"
joint = "prismatic"
axis = [0.0, 0.0, 1.0]
shape = "sphere"
radius = 0.1
mass = 1.0
effort_limit = 1e9
position = [0.0, 0.0, 0.1]
[controller]
name = "velocity-constraint"
joints = {ram = -0.002}
)",
                            "press.toml");
  Simulation simulation = make_simulation(scene);
  for (int k = 0; k < 20; ++k) {
    const StepReport report = simulation.step();
    CHECK(report.status == StepStatus::Ok);
    CHECK(report.gave_way == 1);
    CHECK(report.laws.signorini < 1e-7);
    CHECK(std::abs(simulation.state().v[0]) < 1e-6);
  }
  CHECK(simulation.state().q[0] > -1e-6);
}

TEST_CASE("Solo stands at 128 ms under implicit PD, as it does at 1 ms") {
  auto end = [](double dt) {
    const Scene scene = solo("[controller]\nkp = 20.0\nkd = 0.3\n", dt);
    Simulation simulation = make_simulation(scene);
    double tilt = 0;
    for (int k = 0; k < std::ceil(5 / dt); ++k) {
      simulation.step();
      tilt = std::max(tilt, std::acos(std::min(simulation.body_pose(0).R(2, 2), 1.0)));
    }
    return std::pair{simulation.state().q[2], tilt};
  };
  const auto [height, tilt] = end(0.128);
  CHECK(std::abs(height - end(1e-3).first) < 0.01);
  CHECK(tilt < 0.05);
}

TEST_CASE("explicit PD with the same gains does not: the gains are what is stiff") {
  const Scene scene = solo("[controller]\nkp = 20.0\nkd = 0.3\nimplicit = false\n", 0.016);
  Simulation simulation = make_simulation(scene);
  double fastest = 0;
  for (int k = 0; k < 300; ++k) {
    simulation.step();
    fastest = std::max(fastest, simulation.state().v.tail(12).cwiseAbs().maxCoeff());
  }
  CHECK(fastest > 10);
}

TEST_CASE("stance feet of the trot stand still in the world") {
  const Scene scene = parse_scene(
      "[robot]\nmodel = \"solo12\"\njoints = {\"*_HAA\" = 0.0, \"*_HFE\" = 0.8, \"*_KFE\" = -1.6}\n", "solo.toml");
  const Model& model = *scene.model;
  const Member& member = model.members[0];
  const Trot trot;
  const auto reference = make_trot(model, 0, scene.start.q, trot);
  JointMotion motion(member.nv);
  Dynamics dynamics(model);
  auto feet = [&](double t) {
    reference->at(t, motion);
    VecX q = scene.start.q;
    q.tail(12) = motion.q.tail(12);
    dynamics.compute(q, VecX::Zero(model.nv));
    std::vector<Vec3> p;
    for (int foot = 0; foot < 4; ++foot) {
      const Geometry& g = model.geometries[static_cast<std::size_t>(member.feet[static_cast<std::size_t>(foot)])];
      p.push_back(dynamics.X_WB(g.body) * g.X_BG.p);
    }
    return p;
  };
  // Independent of (trot.1): whatever the level base does, feet that stand keep their distances, and it is at rest
  // while only two of them stand.
  const double dt = 1e-3;
  double apart = 0, moved = 0, farthest = 0;
  for (int k = 0; k + 1 < 5000; ++k) {
    const double t = dt * k;
    const std::vector<Vec3> now = feet(t), next = feet(t + dt);
    std::vector<int> standing;
    for (int foot = 0; foot < 4; ++foot)
      if (trot.stands(trot_diagonal(model, member, scene.start.q, foot), t, dt)) standing.push_back(foot);
    REQUIRE(standing.size() >= 2);
    for (const int a : standing)
      for (const int b : standing) {
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
        apart = std::max(apart, ((next[i] - next[j]) - (now[i] - now[j])).norm());
      }
    const auto first = static_cast<std::size_t>(standing[0]);
    const double step = (next[first] - now[first]).norm();
    if (standing.size() == 2) moved = std::max(moved, step);
    farthest = std::max(farthest, step);
  }
  CHECK(apart < 1e-9);
  CHECK(moved < 1e-9);
  CHECK(farthest > 1e-4);  // the base does move
}

namespace {

// How far the feet of a run of five seconds slip together, over every contact that carries load, planned or not [m].
double trot_slip(const Scene& scene) {
  Simulation simulation = make_simulation(scene);
  const double dt = scene.dt, load = 1e-6 * 9.81 * scene.model->mass(), start = simulation.body_pose(0).p.x();
  double slip = 0;
  for (int k = 0; k < std::lround(5 / dt); ++k) {
    CHECK(simulation.step().status == StepStatus::Ok);
    for (const ContactReport& c : simulation.contacts())
      if (c.f.z() > load) slip += dt * c.c.head<2>().norm();
  }
  CHECK(simulation.body_pose(0).p.x() - start > 0.17);  // 12 strides of 2 cm, less the start and the lean
  return slip;
}

}  // namespace

TEST_CASE("a trot whose targets come from the feet does not slip, whatever the step") {
  auto slips = [&](double dt, std::vector<Override> overrides) {
    overrides.push_back({"stepper.dt", std::to_string(dt)});
    return trot_slip(load_scene(std::string(TRIBO_SCENES) + "/solo-trot-constraint.toml", overrides));
  };
  // 64 ms divides neither the period nor the swing.
  for (const double dt : {5e-3, 0.02, 0.064, 0.1}) {
    CAPTURE(dt);
    CHECK(slips(dt, {}) < 1e-3);
  }
  CHECK(slips(0.02, {{"controller.effort", "2.7"}}) < 1e-3);
  // On ice the same gait slips: the base is accelerated by 2.9 m/s^2, three times what mu 0.1 gives.
  CHECK(slips(0.02, {{"material.default.mu", "0.1"}}) > 0.01);
}

// A ball that stands on a leg that turns rolls: its point of contact is at rest, its centre is not. In five seconds a leg
// turns by 0.2 rad a stride; with its centre held a ball of 2 cm would slip 4 mm each time.
TEST_CASE("quadrupeds with ball feet trot without slip, whatever the step") {
  for (const char* robot : {"a1", "go1", "go2", "b1", "laikago", "anymal_c", "hyq"})
    for (const char* dt : {"1e-2", "0.064", "0.1"}) {
      CAPTURE(robot);
      CAPTURE(dt);
      const Scene scene =
          parse_scene("[robot]\nmodel = \"" + std::string(robot) +
                          "\"\npose = \"standing\"\n[material.default]\nmu = 0.7\n[stepper]\ndt = " + dt +
                          "\nduration = 5.0\n[controller]\nname = \"trot\"\n[controller.trot]\n"
                          "period = 0.8\nswing = 0.2\nheight = 0.03\nspeed = 0.05\nramp = 0.8\n",
                      "trot");
      CHECK(trot_slip(scene) < 1e-3);
    }
}

TEST_CASE("limits of torque that bind on Solo: held exactly, and the report says which target gave way") {
  // 0.6 N m is less than standing needs (about 0.7 at the knee): the robot sinks, and every step is solved.
  Scene scene = load_scene(std::string(TRIBO_SCENES) + "/solo-trot-constraint.toml",
                           {{"stepper.dt", "0.01"}, {"controller.effort", "0.6"}});
  Simulation simulation = make_simulation(scene);
  int gave_way = 0;
  for (int k = 0; k < 100; ++k) {
    const StepReport report = simulation.step();
    CHECK(report.status == StepStatus::Ok);
    CHECK(simulation.torque().tail(12).cwiseAbs().maxCoeff() <= 0.6);
    if (report.gave_way == 0) continue;
    ++gave_way;
    // A target that gave way has its torque at the limit, against the miss.
    const int worst = report.worst_target;
    CHECK(std::abs(simulation.torque()[worst] - (report.target_miss > 0 ? -0.6 : 0.6)) < 1e-9);
  }
  CHECK(gave_way > 10);
}

TEST_CASE("controllers with memory go on bit for bit from a saved state") {
  for (const char* controller : {"name = \"pid\"\nkp = 10.0\nkd = 0.2\nki = 5.0\n", "name = \"inverse-dynamics\"\n",
                                 "name = \"velocity-constraint\"\n"}) {
    const Scene scene = solo(std::string("[controller]\n") + controller, 2e-3);
    Simulation simulation = make_simulation(scene);
    for (int k = 0; k < 50; ++k) simulation.step();
    const State state = simulation.state();
    for (int k = 0; k < 50; ++k) simulation.step();
    const std::uint64_t first = hash(simulation.state());
    Simulation other = make_simulation(scene);
    other.set_state(state);
    for (int k = 0; k < 50; ++k) other.step();
    CAPTURE(controller);
    CHECK(hash(other.state()) == first);
  }
}
