// The tracking controller: what it makes of a file, and what it refuses. Expectations are hand-made motions of a
// pendulum and a free body with one joint.
#include <doctest/doctest.h>

#include <cmath>

#include "dynamics/group.hpp"
#include "io/npy.hpp"
#include "scratch_folder.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"
#include "tribo/tracking.hpp"

using namespace tribo;

namespace {

std::shared_ptr<const Model> make_model() {
  ModelBuilder builder;
  builder.add_material({"surface", {}});
  builder.begin_member("r", true, "test");
  Body base;
  base.name = "r/base";
  base.inertia = {1, Vec3::Zero(), Mat3::Identity()};
  builder.add_body(base);
  Body arm;
  arm.name = "r/arm";
  arm.parent = 0;
  arm.joint = JointKind::Revolute;
  arm.inertia = {1, Vec3(0, 0, -1), 0.1 * Mat3::Identity()};
  builder.add_body(arm);
  return std::make_shared<const Model>(builder.build());
}

PlannedMotion make_motion(int knots) {
  PlannedMotion m;
  m.dt = 0.1;
  m.states = MatX::Zero(15, knots + 1);
  m.states.row(6).setOnes();  // quaternion w
  m.controls = MatX::Zero(1, knots);
  m.gains = MatX::Zero(14, knots);
  return m;
}

double torque_at(const Model& model, const PlannedMotion& motion, double t, const VecX& q, const VecX& v) {
  TrackingOptions options;
  options.motion = std::make_shared<const PlannedMotion>(motion);
  const auto controller = make_tracking(model, options);
  State state = State::neutral(model);
  state.q = q;
  state.v = v;
  state.t = t;
  Dynamics dynamics(model);
  Actuation actuation;
  actuation.resize(model.nv);
  controller->control(model, state, dynamics, {}, actuation);
  CHECK(actuation.tau.head(6).norm() == 0);
  return actuation.tau[6];
}

void write_motion(const std::string& path, const PlannedMotion& m, const std::string& joints = "") {
  NpzWriter file(path);
  const auto n = static_cast<std::uint64_t>(m.controls.cols());
  auto add = [&](const std::string& name, std::vector<std::uint64_t> shape, const double* data) {
    file.add(name, NpyType::F64, shape, data);
  };
  add("states", {static_cast<std::uint64_t>(m.states.cols()), static_cast<std::uint64_t>(m.states.rows())},
      m.states.data());
  add("controls", {n, static_cast<std::uint64_t>(m.controls.rows())}, m.controls.data());
  add("gains", {static_cast<std::uint64_t>(m.gains.cols()), 1, static_cast<std::uint64_t>(m.gains.rows())},
      m.gains.data());
  add("dt", {}, &m.dt);
  if (!joints.empty()) file.add("joints", NpyType::U8, std::vector<std::uint64_t>{joints.size()}, joints.data());
  file.finish();
}

}  // namespace

TEST_CASE("group: difference undoes integrate") {
  const auto model = make_model();
  VecX q = model->neutral(), v(7), back = VecX::Zero(7);
  v << 0.3, -0.2, 0.1, 1.0, -2.0, 0.5, 0.7;
  VecX from = q;
  integrate(*model, v, 1, from);  // any start but the neutral one
  for (const double size : {1e-9, 1e-3, 1.0}) {
    VecX to = from;
    integrate(*model, size * v, 1, to);
    difference(*model, model->members[0], from, to, back);
    CHECK((back - size * v).norm() < 1e-14 + 1e-13 * size);  // rounding of q
  }
}

TEST_CASE("group: the logarithm goes the short way round") {
  const Vec3 w(0.1, -0.2, 0.3);
  const Quat q = rotation_exponential(w);
  CHECK((rotation_logarithm(q) - w).norm() < 1e-15);
  CHECK((rotation_logarithm(Quat(-q.coeffs())) - w).norm() < 1e-15);
  CHECK(rotation_logarithm(rotation_exponential(Vec3(0, 0, 4))).z() == doctest::Approx(4 - 2 * M_PI));
}

TEST_CASE("tracking: state interpolated, feed-forward and gain held, the end held at rest") {
  const auto model = make_model();
  PlannedMotion m = make_motion(2);
  m.states.row(7) << 0, 1, 3;      // angle of the joint
  m.states.row(14) << 10, 20, 40;  // its speed
  m.controls << 5, 7;
  m.gains(6, 0) = 2;     // on the angle
  m.gains(13, 0) = 0.1;  // on the speed
  m.gains(6, 1) = 3;
  m.gains(13, 1) = 0.1;
  VecX q = model->neutral(), v = VecX::Zero(7);
  q[7] = 0.25;
  v[6] = 1;
  CHECK(torque_at(*model, m, 0.0, q, v) == doctest::Approx(5 + 2 * (0 - 0.25) + 0.1 * (10 - 1)));
  CHECK(torque_at(*model, m, 0.05, q, v) == doctest::Approx(5 + 2 * (0.5 - 0.25) + 0.1 * (15 - 1)));
  CHECK(torque_at(*model, m, 0.1, q, v) == doctest::Approx(7 + 3 * (1 - 0.25) + 0.1 * (20 - 1)));
  CHECK(torque_at(*model, m, 0.175, q, v) == doctest::Approx(7 + 3 * (2.5 - 0.25) + 0.1 * (35 - 1)));
  CHECK(torque_at(*model, m, 1.0, q, v) == doctest::Approx(7 + 3 * (3 - 0.25) + 0.1 * (0 - 1)));
}

TEST_CASE("tracking: errors of the base stand in the axes of the body") {
  const auto model = make_model();
  PlannedMotion m = make_motion(1);
  for (int k = 0; k < 6; ++k) m.gains(k, 0) = std::pow(10.0, k);
  VecX q = model->neutral();
  const Quat R = rotation_exponential(Vec3(0, 0, M_PI / 2));
  q.segment<3>(0) = Vec3(-0.3, 0, 0);  // the reference lies 0.3 along x of the world: -y of the body
  q.segment<4>(3) = R.coeffs();
  // Rotation back by -pi/2 about z.
  CHECK(torque_at(*model, m, 0, q, VecX::Zero(7)) == doctest::Approx(-0.3 * 10 - M_PI / 2 * 1e5));
}

TEST_CASE("tracking: a file is read as written, and what does not fit is refused by name") {
  const auto model = make_model();
  const ScratchFolder folder;
  const std::string path = folder.file("m.npz");
  const Member& member = model->members[0];
  PlannedMotion m = make_motion(3);
  m.controls << 1, 2, 3;
  m.gains = MatX::Random(14, 3);
  write_motion(path, m, "arm");
  const PlannedMotion read = load_planned_motion(path, *model, member);
  CHECK(read.states == m.states);
  CHECK(read.controls == m.controls);
  CHECK(read.gains == m.gains);
  CHECK(read.dt == 0.1);

  auto told = [&](const PlannedMotion& motion, const std::string& joints = "") {
    write_motion(path, motion, joints);
    return refusal([&] { load_planned_motion(path, *model, member); });
  };
  CHECK(told(m, "leg").find("does not name the joints of 'r'") != std::string::npos);
  PlannedMotion bad = m;
  bad.states = MatX::Zero(14, 4);
  CHECK(told(bad).find("array 'states' has shape (4, 14), must be (n, 15): nq + nv of 'r'") != std::string::npos);
  bad = m;
  bad.states = m.states.leftCols(3);
  CHECK(told(bad).find("3 states, 3 controls and 3 gains") != std::string::npos);
  bad = m;
  bad.controls(0, 1) = std::nan("");
  CHECK(told(bad).find("array 'controls'") != std::string::npos);
  bad = m;
  bad.dt = 0;
  CHECK(told(bad).find("array 'dt' is 0 s") != std::string::npos);
  CHECK(refusal([&] { load_planned_motion(folder.file("none.npz"), *model, member); }).find("none.npz") !=
        std::string::npos);

  TrackingOptions options;
  bad = m;
  bad.states(6, 2) = 2;
  options.motion = std::make_shared<const PlannedMotion>(bad);
  CHECK(refusal([&] { make_tracking(*model, options); }).find("at knot 2 has length 2, must be 1") !=
        std::string::npos);
}

TEST_CASE("tracking: a motion of another robot is refused in the scene, with its line") {
  const std::string text =
      "[robot]\nmodel = \"solo8\"\n[controller]\nname = \"tracking\"\nmotion = \"motions/solo-trot.npz\"\n";
  const std::string message = refusal([&] { parse_scene(text, std::string(TRIBO_SCENES) + "/other.toml"); });
  CHECK(message.find("other.toml:5: [controller]") != std::string::npos);
  CHECK(message.find("'joints'") != std::string::npos);
}
