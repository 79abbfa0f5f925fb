// Reference motions, and what controllers refuse.
#include <doctest/doctest.h>

#include <cmath>

#include "io/npy.hpp"
#include "scratch_folder.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

const std::string arm = "[robot]\nmodel = \"ur10\"\ncontact = \"none\"\n";

std::string refused(const std::string& text) {
  return refusal([&] { parse_scene(text, "x.toml"); });
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reference: velocity and acceleration are the derivatives of the position") {
  const VecX one = VecX::Constant(2, 1.0);
  SampledMotion knots{0.1, MatX(2, 11), MatX()};
  for (int k = 0; k < 11; ++k) knots.q.col(k) << std::sin(0.3 * k), 0.02 * k * k;
  for (const auto& reference :
       {make_sinusoid({0.2 * one, 0.5 * one, VecX(Eigen::Vector2d(0.5, 2)), 0.3 * one}), make_sampled(knots)}) {
    JointMotion a(2), b(2), middle(2);
    for (double t = 0.013; t < 0.98; t += 0.05) {
      const double h = 1e-5;
      reference->at(t - h, a);
      reference->at(t + h, b);
      reference->at(t, middle);
      CHECK(((b.q - a.q) / (2 * h) - middle.v).norm() < 1e-6);
      CHECK(((b.v - a.v) / (2 * h) - middle.a).norm() < 1e-4);
    }
  }
}

TEST_CASE("reference: knots with velocities reproduce a cubic exactly, and rest after the last") {
  SampledMotion knots{0.25, MatX(1, 5), MatX(1, 5)};
  auto q = [](double t) { return 1 + t - 2 * t * t + 0.5 * t * t * t; };
  auto v = [](double t) { return 1 - 4 * t + 1.5 * t * t; };
  for (int k = 0; k < 5; ++k) knots.q(0, k) = q(0.25 * k), knots.v(0, k) = v(0.25 * k);
  const auto reference = make_sampled(knots);
  JointMotion out(1);
  for (double t = 0; t < 1; t += 0.03) {
    reference->at(t, out);
    CHECK(out.q[0] == doctest::Approx(q(t)).epsilon(1e-13));
    CHECK(out.v[0] == doctest::Approx(v(t)).epsilon(1e-12));
  }
  reference->at(3, out);
  CHECK(out.q[0] == q(1));
  CHECK(out.v[0] == 0);
}

TEST_CASE(
    "control: gains of the wrong size, limits the wrong way round and targets that are no numbers are refused by "
    "name") {
  const Scene scene = parse_scene(arm, "x.toml");
  const Model& model = *scene.model;
  PdOptions pd;
  pd.q_ref = scene.start.q;
  pd.kp = VecX::Ones(5);
  pd.kd = pd.tau_ff = VecX::Zero(6);
  CHECK(says(refusal([&] { make_pd(model, pd); }), "kp has 5 entries, must have 6"));
  pd.kp = VecX::Ones(6);
  pd.ki = VecX::Ones(7);
  CHECK(says(refusal([&] { make_pd(model, pd); }), "ki has 7 entries, must have 6"));
  pd.ki = -VecX::Ones(6);
  CHECK(says(refusal([&] { make_pd(model, pd); }), "negative"));
  pd.ki.resize(0);
  pd.limits = {VecX::Constant(6, 1), VecX::Constant(6, 2)};
  pd.limits.lower[2] = 3;
  CHECK(says(refusal([&] { make_pd(model, pd); }), "elbow_joint': lower 3 is not below upper 2"));
  pd.limits.lower[2] = std::nan("");
  CHECK(says(refusal([&] { make_pd(model, pd); }), "elbow_joint"));

  VelocityConstraintOptions constraint;
  CHECK(says(refusal([&] { make_velocity_constraint(model, constraint); }), "needs a reference"));
  constraint.reference = make_constant(VecX::Zero(5));
  CHECK(says(refusal([&] { make_velocity_constraint(model, constraint); }), "5 coordinates, must have 6"));
  CHECK(says(refusal([&] { make_constant(VecX::Constant(6, std::nan(""))); }), "not finite"));
  CHECK(says(refusal([&] {
               make_sinusoid({VecX::Zero(2), VecX::Zero(3), VecX::Zero(2), VecX::Zero(2)});
             }),
             "amplitude has 3 entries, must have 2"));
}

TEST_CASE("control: a target for a joint without motor is refused by name") {
  const std::string solo =
      "[robot]\nmodel = \"solo12\"\npose = \"standing\"\n[controller]\nname = \"velocity-constraint\"\n";
  CHECK(refused(solo) == "");
  const Scene scene = parse_scene(solo, "x.toml");
  VelocityConstraintOptions options;
  options.reference = make_constant(VecX::Zero(18));
  options.driven = VecX::Ones(18);
  CHECK(says(refusal([&] { make_velocity_constraint(*scene.model, options); }),
             "has no motor that a target could be given to"));
  CHECK(says(refused(solo + "driven = {FL_HFE = 1, FL_KNEE = 1}\n"), "FL_KNEE"));
  TrotConstraintOptions trot;
  trot.q_stand = VecX::Zero(18);
  CHECK(says(refusal([&] { make_trot_constraint(*scene.model, trot); }), "q_stand has 18 entries, must have 19"));
}

TEST_CASE("control: the keys of a scene are refused with their place") {
  const std::string head = arm + "[controller]\nname = \"velocity-constraint\"\n";
  CHECK(says(refused(head + "effort_lower = 5.0\neffort_upper = 1.0\n"), "lower 5 is not below upper 1"));
  CHECK(says(refused(head + "target = \"speed\"\n"), "target"));
  CHECK(says(refused(head + "share = 2.0\n"), "share = 2, must be within [0, 1]"));
  CHECK(says(refused(head + "kp = 2.0\n"), "kp"));
  CHECK(says(refused(head + "[controller.sinusoid]\namplitude = nan\n"), "amplitude"));
  CHECK(says(refused(head + "[controller.sinusoid]\namplitude = {elbow = 1.0}\n"), "elbow_joint"));
  CHECK(says(refused(head + "[controller.sinusoid]\namplitudo = 1.0\n"), "amplitude"));
  CHECK(says(refused(head + "[controller.trot]\nspeed = 0.1\n"), "four feet"));
  CHECK(says(refused(head + "motion = \"missing.npz\"\n"), "missing.npz"));
  CHECK(says(refused(head + "motion = \"a.npz\"\n[controller.sinusoid]\namplitude = 1.0\n"), "one of"));
  const std::string solo =
      "[robot]\nmodel = \"solo12\"\n[controller]\nname = \"velocity-constraint\"\n[controller.trot]\n";
  CHECK(says(refused(solo + "swing = 0.5\n"), "swing = 0.5"));
  CHECK(says(refused(solo + "height = 1.0\n"), "cannot follow"));
  const std::string trot = "[robot]\nmodel = \"solo12\"\n[controller]\nname = \"trot\"\n";
  CHECK(refused(trot) == "");
  CHECK(says(refused(trot + "rate = 0.0\n"), "rate"));
  CHECK(says(refused(trot + "effort_lower = 5.0\neffort_upper = 1.0\n"), "lower 5 is not below upper 1"));
  CHECK(says(refused(trot + "[controller.trot]\nspeed = nan\n"), "speed"));
  CHECK(says(refused(trot + "[controller.trot]\nswing = 0.5\n"), "swing = 0.5"));
  CHECK(says(refused(arm + "[controller]\nname = \"trot\"\n"), "four feet"));
  CHECK(says(refused("[robot]\nmodel = \"ur10\"\n[robot.transmission]\nratio = 0.0\n"), "ratio"));
}

TEST_CASE("control: a controller with velocity targets runs under every stepper of the library") {
  for (const StepperEntry& entry : steppers()) {
    CAPTURE(entry.name);
    Scene scene = parse_scene(arm + "[controller]\nname = \"velocity-constraint\"\n", "x.toml");
    scene.set_stepper(entry.name);
    Simulation simulation = make_simulation(scene);
    for (int k = 0; k < 10; ++k) CHECK(simulation.step().status == StepStatus::Ok);
    CHECK(simulation.audit().target_miss < 1e-2);
  }
}

TEST_CASE("control: a motion of a .npz is followed, and one of the wrong width refused") {
  const ScratchFolder folder;
  std::vector<double> q(6 * 3), dt{0.5};
  for (std::size_t k = 0; k < q.size(); ++k) q[k] = 0.01 * static_cast<double>(k);
  auto write = [&](const std::string& path, std::uint64_t columns) {
    NpzWriter file(path);
    const std::uint64_t one[] = {1}, shape[] = {18 / columns, columns};
    file.add("dt", NpyType::F64, one, dt.data());
    file.add("q", NpyType::F64, shape, q.data());
    file.finish();
  };
  write(folder.file("good.npz"), 6);
  write(folder.file("bad.npz"), 9);
  const std::string head = arm + "[controller]\nname = \"velocity-constraint\"\nmotion = \"";
  const Scene scene = parse_scene(head + folder.file("good.npz") + "\"\n", "x.toml", {{"stepper.dt", "0.05"}});
  Simulation simulation = make_simulation(scene);
  for (int k = 0; k < 20; ++k) simulation.step();
  CHECK((simulation.state().q - VecX::LinSpaced(6, 0.12, 0.17)).norm() < 1e-4);
  CHECK(says(refused(head + folder.file("bad.npz") + "\"\n"), "must be (knots, 6)"));
}

// Closed form: two rods of 1 and 2 kg, 0.5 m, one hanging on the other, as far from the vertical as the references.
TEST_CASE("control: gravity is fed forward where the reference is, not where the robot began") {
  const std::string text =
      "[ground]\nnone = true\n[robot]\nname = \"arm\"\n"
      "[[robot.link]]\nname = \"a\"\nsize = [0.02, 0.02, 0.5]\nmass = 1.0\ncom = [0, 0, -0.25]\neffort_limit = 100\n"
      "[[robot.link]]\nname = \"b\"\nsize = [0.02, 0.02, 0.5]\nmass = 2.0\ncom = [0, 0, -0.25]\n"
      "position = [0, 0, -0.5]\neffort_limit = 100\n"
      "[controller]\nkp = 10\nkd = 5\nfeedforward = \"gravity\"\n"
      "sinusoid = {amplitude = {a = 0.6, b = 0.3}, frequency = 0.25}\n";
  const Scene scene = parse_scene(text, "x.toml");
  const Model& model = *scene.model;
  const auto controller = scene.controllers.at(0).make(model);
  Dynamics dynamics(model);
  State state = scene.start;
  dynamics.compute(state.q, state.v);
  for (const double t : {0.0, 0.4, 1.0}) {
    CAPTURE(t);
    state.t = t;
    Actuation a;
    a.resize(2);
    controller->control(model, state, dynamics, {}, a);
    const double s = std::sin(0.5 * M_PI * t), q0 = 0.6 * s, q1 = q0 + 0.3 * s;
    // About y, a rod that hangs at q from -z towards -x: m g l sin q holds it.
    const double lower = 2 * 9.81 * 0.25 * std::sin(q1), upper = 9.81 * (0.25 + 2 * 0.5) * std::sin(q0) + lower;
    CHECK(a.tau[1] == doctest::Approx(lower).epsilon(1e-12));
    CHECK(a.tau[0] == doctest::Approx(upper).epsilon(1e-12));
  }
}
