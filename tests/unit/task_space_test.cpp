// Task-space inverse dynamics and its quadratic program.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "control/quadratic_program.hpp"
#include "control/task_course.hpp"
#include "io/npy.hpp"
#include "scratch_folder.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"
#include "tribo/task_space.hpp"

using namespace tribo;

namespace {

void random_program(QuadraticProgram& p, int n, int equalities, int inequalities, unsigned seed) {
  std::srand(seed);
  p.resize(n, equalities, inequalities);
  const MatX B = MatX::Random(n, n);
  p.H = B * B.transpose() + 0.1 * MatX::Identity(n, n);
  p.g = VecX::Random(n);
  p.A = MatX::Random(n, equalities);
  p.C = MatX::Random(n, inequalities);
  const VecX inside = VecX::Random(n);  // satisfies all: the program has a solution
  p.b = p.A.transpose() * inside;
  p.d = p.C.transpose() * inside - VecX::Random(inequalities).cwiseAbs();
}

}  // namespace

TEST_CASE("quadratic program: the solution satisfies the optimality conditions") {
  QuadraticProgram p;
  int held = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const int n = 3 + static_cast<int>(seed % 20), me = static_cast<int>(seed % 3), mi = 2 * n;
    random_program(p, n, me, mi, seed);
    const MatX H = p.H, A = p.A, C = p.C;
    REQUIRE(p.solve());
    const VecX& x = p.x();
    CHECK((A.transpose() * x - p.b).norm() < 1e-8);
    const VecX gap = C.transpose() * x - p.d;
    CHECK(gap.minCoeff() > -1e-8);
    // Multipliers of the constraints that hold, by least squares: they balance
    // the gradient, and push.
    std::vector<int> active;
    for (int i = 0; i < mi; ++i)
      if (gap[i] < 1e-8) active.push_back(i);
    held += static_cast<int>(active.size());
    MatX N(n, me + static_cast<int>(active.size()));
    N.leftCols(me) = A;
    for (std::size_t k = 0; k < active.size(); ++k) N.col(me + static_cast<int>(k)) = C.col(active[k]);
    const VecX gradient = H * x + p.g;
    if (N.cols() == 0) {
      CHECK(gradient.norm() < 1e-8);
      continue;
    }
    const VecX u = N.colPivHouseholderQr().solve(gradient);
    CHECK((N * u - gradient).norm() < 1e-7);
    if (!active.empty()) CHECK(u.tail(static_cast<Eigen::Index>(active.size())).minCoeff() > -1e-7);
  }
  CHECK(held > 100);  // inequalities did matter
}

TEST_CASE("quadratic program: directions that nearly nothing weighs are exact where equalities fix them") {
  // As the base of a robot: six directions of weight 1e-12 that no task pulls. Reference: the optimality conditions in
  // long double.
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  QuadraticProgram p;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const int n = 18, me = 12;
    random_program(p, n, me, 0, seed);
    p.H = 1e-3 * MatX::Identity(n, n);
    p.H.diagonal().head(6).setConstant(1e-12);
    p.g.head(6).setZero();
    Long K = Long::Zero(n + me, n + me), rhs(n + me, 1);
    K.topLeftCorner(n, n) = p.H.cast<long double>();
    K.topRightCorner(n, me) = p.A.cast<long double>();
    K.bottomLeftCorner(me, n) = p.A.transpose().cast<long double>();
    rhs << -p.g.cast<long double>(), p.b.cast<long double>();
    const VecX x = Long(K.fullPivLu().solve(rhs)).cast<double>().topRows(n);
    REQUIRE(p.solve());
    // Rounding, times the root of the ratio of the weights.
    CHECK((p.x() - x).norm() < 1e-11 * x.norm());
  }
}

TEST_CASE(
    "quadratic program: equalities may repeat but not contradict, and "
    "walls may not cross") {
  QuadraticProgram p;
  p.resize(2, 2, 0);
  p.H.setIdentity();
  p.A << 1, 1, 1, 1;
  p.b << 2, 2;
  REQUIRE(p.solve());
  CHECK((p.x() - Eigen::Vector2d(1, 1)).norm() < 1e-12);
  p.H.setIdentity();
  p.b << 2, 3;
  CHECK_FALSE(p.solve());
  p.H.setIdentity();
  p.leaves_contradictions_out = true;  // the first of them counts
  REQUIRE(p.solve());
  CHECK((p.x() - Eigen::Vector2d(1, 1)).norm() < 1e-12);
  p.leaves_contradictions_out = false;
  p.resize(1, 0, 2);
  p.H.setIdentity();
  p.C << 1, -1;
  p.d << 1, 0;  // x >= 1 and x <= 0
  CHECK_FALSE(p.solve());
}

TEST_CASE("task space: standing, forces carry the weight and nothing accelerates") {
  const Scene scene = parse_scene("[robot]\nmodel = \"solo12\"\n[controller]\nname = \"task-space\"\n", "x.toml");
  Simulation simulation = make_simulation(scene);
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  Actuation actuation;
  actuation.resize(scene.model->nv);
  std::vector<double> memory(18, 0.0);
  TaskSpaceOptions options;
  options.q_ref = scene.start.q;
  const auto controller = make_task_space(*scene.model, options);
  controller->control(*scene.model, scene.start, dynamics, memory, actuation);
  // Independent: what the torques do, with the feet held, by the equations of a
  // rigid robot. (M, J^T; J, 0)
  const int nv = 18;
  MatX KKT = MatX::Zero(nv + 12, nv + 12);
  VecX rhs = VecX::Zero(nv + 12);
  KKT.topLeftCorner(nv, nv) = dynamics.mass_matrix();
  std::vector<double> J;
  for (int c = 0; c < 4; ++c) {
    const Geometry& foot =
        scene.model->geometries[static_cast<std::size_t>(scene.model->members[0].feet[static_cast<std::size_t>(c)])];
    const auto& chain = scene.model->bodies[static_cast<std::size_t>(foot.body)].chain;
    J.resize(3 * chain.size());
    dynamics.point_jacobian(foot.body, dynamics.X_WB(foot.body) * foot.X_BG.p, Mat3::Identity(), J.data());
    for (std::size_t k = 0; k < chain.size(); ++k)
      for (int i = 0; i < 3; ++i) {
        const double x = J[3 * k + static_cast<std::size_t>(i)];
        KKT(nv + 3 * c + i, chain[k]) = x;
        KKT(chain[k], nv + 3 * c + i) = -x;
      }
  }
  rhs.head(nv) = actuation.tau - dynamics.h();
  const VecX solution = KKT.fullPivLu().solve(rhs);
  // The weight on the forces (1e-6) pulls them a little below what the tasks (1) ask for.
  CHECK(solution.head(nv).cwiseAbs().maxCoeff() < 1e-3);
  double weight = 0;
  for (int c = 0; c < 4; ++c) weight += solution[nv + 3 * c + 2];
  CHECK(weight == doctest::Approx(scene.model->mass() * 9.81).epsilon(1e-4));
}

TEST_CASE("task space: flat feet that have moved and turn are held as bodies") {
  std::string feet;  // of the robot: four points a sole
  SUBCASE("soles") {}
  SUBCASE("two points on a foot, which may turn about the line between them") {
    feet = "feet = [\"LFsrFL_frame\", \"LFsrRCenter_frame\", \"RFsrFR_frame\", \"RFsrRCenter_frame\"]\n";
  }
  const Scene scene =
      parse_scene("[robot]\nmodel = \"romeo\"\n" + feet + "[controller]\nname = \"task-space\"\n", "x.toml");
  const Model& model = *scene.model;
  const int nv = model.nv, nc = static_cast<int>(model.members[0].feet.size());
  TaskSpaceOptions options;
  options.q_ref = scene.start.q;
  options.contact_kp = 3;
  // Only the centre of mass counts: what the other weights take from it is of the order of theirs, times 41 kg and 50
  // N.
  options.posture.weight = 1e-7;
  options.force_weight = 1e-9;
  Dynamics start(model), dynamics(model);
  start.compute(scene.start.q, VecX::Zero(nv));
  State state = scene.start;
  state.q[0] += 0.01;
  state.q.segment<4>(3) = Quat(Eigen::AngleAxisd(0.03, Vec3(1, 2, -1).normalized())).coeffs();
  state.v.segment<6>(0) << 0.02, -0.03, 0.01, 0.2, -0.3, 0.1;
  state.v[9] = 0.2;
  dynamics.compute(state.q, state.v);
  Actuation actuation;
  actuation.resize(nv);
  std::vector<double> memory(static_cast<std::size_t>(nv), 0.0);
  make_task_space(model, options)->control(model, state, dynamics, memory, actuation);
  // Independent: each point of a foot moves as a point of a rigid body of which the centre and the rotation come back.
  MatX K = MatX::Zero(nv + 3 * nc, nv + 3 * nc);
  VecX rhs = VecX::Zero(nv + 3 * nc);
  K.topLeftCorner(nv, nv) = dynamics.mass_matrix();
  rhs.head(nv) = actuation.tau - dynamics.h();
  const double kp = options.contact_kp, kd = 2 * std::sqrt(kp);
  for (int c = 0; c < nc; ++c) {
    const Geometry& foot =
        model.geometries[static_cast<std::size_t>(model.members[0].feet[static_cast<std::size_t>(c)])];
    Vec3 centre = Vec3::Zero();
    for (int g : model.members[0].feet) {
      const Geometry& other = model.geometries[static_cast<std::size_t>(g)];
      if (other.body == foot.body) centre += other.X_BG.p * 2 / nc;
    }
    const Placement &X = dynamics.X_WB(foot.body), &X0 = start.X_WB(foot.body);
    const Vec3 p = X * foot.X_BG.p, r = p - X * centre, w = dynamics.body_velocity(foot.body).ang;
    const Eigen::AngleAxisd turn(Mat3(X0.R * X.R.transpose()));
    const Vec3 lin = kp * (X0 * centre - X * centre) - kd * dynamics.point_velocity(foot.body, X * centre);
    const Vec3 ang = kp * turn.angle() * turn.axis() - kd * w;
    rhs.segment<3>(nv + 3 * c) = lin + ang.cross(r) + w.cross(w.cross(r)) - dynamics.point_bias(foot.body, p);
    const auto& chain = model.bodies[static_cast<std::size_t>(foot.body)].chain;
    std::vector<double> J(3 * chain.size());
    dynamics.point_jacobian(foot.body, p, Mat3::Identity(), J.data());
    for (std::size_t k = 0; k < chain.size(); ++k)
      for (int i = 0; i < 3; ++i) {
        K(nv + 3 * c + i, chain[k]) = J[3 * k + static_cast<std::size_t>(i)];
        K(chain[k], nv + 3 * c + i) = -J[3 * k + static_cast<std::size_t>(i)];
      }
  }
  const VecX solution = K.completeOrthogonalDecomposition().solve(rhs);
  CHECK((K * solution - rhs).norm() < 1e-9 * rhs.norm());
  Vec3 force = Vec3::Zero();
  for (int c = 0; c < nc; ++c) force += solution.segment<3>(nv + 3 * c);
  const Vec3 wanted = options.com.kp * (start.center_of_mass(0) - dynamics.center_of_mass(0)) -
                      2 * std::sqrt(options.com.kp) * dynamics.linear_momentum(0) / model.mass();
  CHECK((force / model.mass() + model.gravity - wanted).norm() < 1e-4);
}

TEST_CASE("task space: Solo squats under it, with a torque held for 40 ms") {
  const std::string text =
      "[robot]\nmodel = \"solo12\"\n[material.default]\nmu = 1.0\n"
      "[stepper]\nname = \"exponential\"\ndt = 4e-3\nduration = 3.2\n"
      "[controller]\nname = \"task-space\"\nperiod = 0.04\namplitude = [0, 0, "
      "0.03]\nrate = 2.0\n"
      "com = {weight = 1, kp = 2}\nposture = {weight = 1e-3, kp = 2}\n";
  const Scene scene = parse_scene(text, "x.toml");
  Simulation simulation = make_simulation(scene);
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  const double z0 = dynamics.center_of_mass(0).z();
  double high = -1, low = 1;
  for (int k = 0; k < 800; ++k) {
    REQUIRE(simulation.step().status == StepStatus::Ok);
    dynamics.compute(simulation.state().q, simulation.state().v);
    high = std::max(high, dynamics.center_of_mass(0).z() - z0);
    low = std::min(low, dynamics.center_of_mass(0).z() - z0);
  }
  CHECK(high == doctest::Approx(0.03).epsilon(0.3));
  CHECK(low == doctest::Approx(-0.03).epsilon(0.3));
}

TEST_CASE("task space: a tick without an answer is told") {
  // No torque of 0.01 N m carries the weight.
  Scene scene =
      parse_scene("[robot]\nmodel = \"solo12\"\n[controller]\nname = \"task-space\"\nperiod = 0.01\n", "x.toml");
  Model weak = *scene.model;
  weak.joints.effort_limit.tail(12).setConstant(0.01);
  scene.model = std::make_shared<const Model>(weak);
  Simulation simulation = make_simulation(scene);
  CHECK(simulation.step().unsolved == 1);
  CHECK(simulation.step().unsolved == 0);  // between ticks
  for (int k = 2; k < 20; ++k) simulation.step();
  CHECK(simulation.audit().unsolved == 2);
}

TEST_CASE("task space: what it cannot be used for is refused by name") {
  const std::string fixed = "[robot]\nmodel = \"ur10\"\n[controller]\nname = \"task-space\"\n";
  CHECK(refusal([&] { parse_scene(fixed, "x.toml"); }).find("its base is fixed") != std::string::npos);
  const std::string wrong =
      "[robot]\nmodel = \"solo12\"\n[controller]\nname = "
      "\"task-space\"\n[[controller.frame]]\nname = \"FL_FOT\"\n";
  CHECK(refusal([&] { parse_scene(wrong, "x.toml"); }).find("FL_FOOT") != std::string::npos);
}

namespace {

void write_course(const std::string& path, double dt, const MatX& com, const MatX& foot,
                  const std::vector<double>& stands) {
  NpzWriter file(path);
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape, const double* data) {
    file.add(name, NpyType::F64, shape, data);
  };
  const auto n = static_cast<std::uint64_t>(stands.size());
  add("dt", {}, &dt);
  add("com", {n, 3}, com.data());  // one column a knot: C order of (n, 3)
  add("frame.FL_FOOT", {n, 3}, foot.data());
  add("stands.FL_FOOT", {n}, stands.data());
  file.finish();
}

const char* led =
    "[robot]\nmodel = \"solo12\"\n[controller]\nname = \"task-space\"\nmotion = \"step.npz\"\n"
    "com = {weight = 1, kp = 100}\nposture = {weight = 1e-3, kp = 20}\ncontact_kp = 50\n"
    "[[controller.frame]]\nname = \"FL_FOOT\"\nrotation = false\nweight = 1\nkp = 200\n";

// Where the centre of mass and the left fore foot of Solo are, standing.
struct Standing {
  Vec3 com, foot, three;

  Standing() {
    const Scene scene = parse_scene("[robot]\nmodel = \"solo12\"\n", "x.toml");
    Dynamics dynamics(*scene.model);
    dynamics.compute(scene.start.q, scene.start.v);
    const auto place = [&](const char* name) {
      const Frame& frame = scene.model->frames[at(scene.model->frame(name))];
      return Vec3(dynamics.X_WB(frame.body) * frame.X_BF.p);
    };
    com = dynamics.center_of_mass(0);
    foot = place("FL_FOOT");
    three = (place("FR_FOOT") + place("HL_FOOT") + place("HR_FOOT")) / 3;
    three.z() = com.z();
  }
};

}  // namespace

TEST_CASE("task space: a foot that swings gives no force and accelerates as its course says") {
  ScratchFolder folder;
  const Standing standing;
  const double T = 0.2, height = 0.05;
  MatX com(3, 2), foot(3, 2);
  com << standing.com, standing.com;
  foot << standing.foot, standing.foot + Vec3(0, 0, height);  // two knots: a straight line
  write_course(folder.file("step.npz"), T, com, foot, {0, 0});
  const Scene scene = parse_scene(led, folder.file("scene.toml"), {{"controller.posture.weight", "1e-8"}});
  const Model& model = *scene.model;
  const int nv = model.nv;
  State state = scene.start;
  state.t = 0.25 * T;
  Dynamics dynamics(model);
  dynamics.compute(state.q, state.v);
  Actuation actuation;
  actuation.resize(nv);
  const auto controller = scene.controllers.at(0).make(model);
  std::vector<double> memory(at(controller->memory()), 0.0);
  CHECK(controller->memory() == 18 + 8 * 4);
  controller->control(model, state, dynamics, memory, actuation);
  CHECK(actuation.unsolved == 0);
  // Independent: the torques, on a robot that three feet hold (M, J^T; J, 0); feet at rest, so that nothing is held back.
  MatX K = MatX::Zero(nv + 9, nv + 9), J_foot = MatX::Zero(3, nv);
  VecX rhs = VecX::Zero(nv + 9);
  K.topLeftCorner(nv, nv) = dynamics.mass_matrix();
  rhs.head(nv) = actuation.tau - dynamics.h();
  int row = nv;
  for (int g : model.members[0].feet) {
    const Geometry& geometry = model.geometries[at(g)];
    const auto& chain = model.bodies[at(geometry.body)].chain;
    std::vector<double> J(3 * chain.size());
    dynamics.point_jacobian(geometry.body, dynamics.X_WB(geometry.body) * geometry.X_BG.p, Mat3::Identity(), J.data());
    const bool swings = geometry.name.find("FL_FOOT") != std::string::npos;
    for (std::size_t k = 0; k < chain.size(); ++k)
      for (int i = 0; i < 3; ++i) {
        const double x = J[3 * k + at(i)];
        if (swings)
          J_foot(i, chain[k]) = x;
        else
          K(row + i, chain[k]) = x, K(chain[k], row + i) = -x;
      }
    if (!swings) row += 3;
  }
  REQUIRE(row == nv + 9);
  const VecX solution = K.fullPivLu().solve(rhs);
  // kp 200 on 1/4 of the height, kd 2 sqrt(200) on height/T; the weights of posture (1e-8) and forces (1e-6) pull a little.
  const double wanted = 200 * 0.25 * height + 2 * std::sqrt(200.0) * height / T;
  const Vec3 a = J_foot * solution.head(nv);
  CHECK(a.z() == doctest::Approx(wanted).epsilon(1e-3));
  CHECK(a.head<2>().norm() < 1e-3 * wanted);
}

TEST_CASE("task space: Solo lifts a foot, puts it down, and holds it where it landed; a state between goes on alike") {
  ScratchFolder folder;
  const Standing standing;
  const double dt = 0.01;
  const int n = 400;
  MatX com(3, n), foot(3, n);
  std::vector<double> stands(at(n), 1.0);
  const auto smooth = [](double t, double a, double b) {
    const double s = std::clamp((t - a) / (b - a), 0.0, 1.0);
    return s * s * s * (10 - 15 * s + 6 * s * s);
  };
  for (int k = 0; k < n; ++k) {
    const double t = dt * k, arc = smooth(t, 1.4, 2.2);
    com.col(k) = standing.com + 0.8 * (smooth(t, 0.2, 1.2) - smooth(t, 2.6, 3.6)) * (standing.three - standing.com);
    foot.col(k) = standing.foot + Vec3(0.03 * arc, 0, 0.64 * std::pow(arc * (1 - arc), 2));  // 4 cm high
    if (t >= 1.4 && t < 2.2) stands[at(k)] = 0;
  }
  write_course(folder.file("step.npz"), dt, com, foot, stands);
  for (const char* stepper : {"rigid", "exponential"}) {
    CAPTURE(stepper);
    const Scene scene = parse_scene(led, folder.file("scene.toml"), {{"stepper.name", stepper}});
    Simulation simulation = make_simulation(scene);
    const int frame = scene.model->frame("FL_FOOT");
    Dynamics dynamics(*scene.model);
    const auto place = [&] {
      dynamics.compute(simulation.state().q, simulation.state().v);
      const Frame& f = scene.model->frames[at(frame)];
      return Vec3(dynamics.X_WB(f.body) * f.X_BF.p);
    };
    double highest = 0;
    State middle;
    for (int k = 0; k < 3900; ++k) {
      REQUIRE(simulation.step().status == StepStatus::Ok);
      highest = std::max(highest, place().z() - standing.foot.z());
      if (k == 2500) middle = simulation.state();  // it has landed, and remembers where
    }
    CHECK(highest == doctest::Approx(0.04).epsilon(0.1));
    CHECK((place() - standing.foot - Vec3(0.03, 0, 0)).norm() < 4e-3);
    CHECK((dynamics.center_of_mass(0) - standing.com).norm() < 0.01);
    CHECK(simulation.audit().unsolved == 0);
    const State end = simulation.state();
    Simulation again = make_simulation(scene);
    again.set_state(middle);
    for (int k = 2501; k < 3900; ++k) again.step();
    CHECK(again.state().q == end.q);
  }
}

TEST_CASE("task space: between knots a frame turns along the shortest way, at the speed that is said") {
  TaskCourse course;
  course.dt = 0.5;
  TaskCourse::Way way;
  way.turns = {Quat::Identity(), Quat(Eigen::AngleAxisd(1.2, Vec3::UnitX())),
               Quat(Eigen::AngleAxisd(1.2, Vec3::UnitX()) * Eigen::AngleAxisd(-0.7, Vec3::UnitZ()))};
  JointMotion now(3);
  LedFrame frame, later;
  at_time(course, way, 0.25, now, frame);  // half of the first turn
  CHECK((frame.X.R - Eigen::AngleAxisd(0.6, Vec3::UnitX()).toRotationMatrix()).norm() < 1e-15);
  CHECK((frame.w - Vec3(2.4, 0, 0)).norm() < 1e-14);
  // Independent: the difference of two rotations over the time between them.
  const double h = 1e-6;
  at_time(course, way, 0.7, now, frame);
  at_time(course, way, 0.7 + h, now, later);
  const Eigen::AngleAxisd turn(Mat3(later.X.R * frame.X.R.transpose()));
  CHECK((turn.angle() * turn.axis() / h - frame.w).norm() < 1e-8);
  at_time(course, way, 9, now, frame);  // at rest after the last
  CHECK((frame.X.R - way.turns.back().toRotationMatrix()).norm() < 1e-15);
  CHECK(frame.w == Vec3::Zero());
}

TEST_CASE("task space: a course that does not fit is refused by array") {
  ScratchFolder folder;
  const Standing standing;
  const auto told = [&](int knots, double stands, const std::string& text) {
    MatX com = standing.com.replicate(1, knots), foot = standing.foot.replicate(1, knots);
    write_course(folder.file("step.npz"), 0.01, com, foot, std::vector<double>(at(knots), stands));
    return refusal([&] { parse_scene(text, folder.file("scene.toml")); });
  };
  CHECK(told(3, 1, led) == "");
  CHECK(told(3, 0.5, led).find("'stands.FL_FOOT' has an entry 0.5, must be 0 or 1") != std::string::npos);
  CHECK(told(1, 1, led).find("must be (knots, 3)") != std::string::npos);
  std::string bare = led;
  bare.resize(bare.find("[[controller.frame]]"));
  CHECK(told(3, 1, bare).find("there is no [[controller.frame]] of that name") != std::string::npos);
}
