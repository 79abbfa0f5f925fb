// The parts of the walking controller, each alone.
#include <doctest/doctest.h>

#include <cmath>

#include "control/walk/body_mpc.hpp"
#include "control/walk/whole_body.hpp"
#include "tribo/scene.hpp"

using namespace tribo;
using namespace tribo::walk;

namespace {

Scene solo(const std::string& more = "") {
  return parse_scene("[robot]\nmodel = \"solo12\"\ncontact = \"feet\"\npose = \"standing\"\n" + more, "solo");
}

WalkOptions standing(const Scene& scene) {
  WalkOptions o;
  o.q_stand = scene.start.q;
  o.gait_period = 0.32;
  o.foothold_gain = 0.07;
  return o;
}

}  // namespace

TEST_CASE("walk: a leg swings for its share of the period, the diagonals in turn") {
  const GaitPlan gait{0.5, 0.4, 0.6};
  CHECK(gait.leg(0, 0.2).stands);
  CHECK(gait.leg(0, 0.2).rest == doctest::Approx(0.3));
  CHECK_FALSE(gait.leg(0, 0.5).stands);
  CHECK(gait.leg(0, 0.6).rest == doctest::Approx(0.06));  // 0.16 s of swing
  CHECK(gait.leg(0, 0.66).stands);
  CHECK(gait.leg(0, 0.7).since == doctest::Approx(0.04));
  CHECK(gait.leg(1, 0.6).stands);  // the other diagonal begins half a period later
  CHECK_FALSE(gait.leg(1, 0.7).stands);
  CHECK_FALSE(gait.leg(1, 0.7 + 1000 * 0.4).stands);
  double swung = 0;
  for (int k = 0; k < 4000; ++k) swung += gait.leg(1, 2 + 1e-4 * (k + 0.5)).stands ? 0 : 1e-4;
  CHECK(swung == doctest::Approx(0.16).epsilon(1e-3));
}

TEST_CASE("walk: a swing begins and ends at rest, and passes its apex") {
  const Vec3 from(0.1, 0.2, 0.03), to(0.25, 0.18, 0.08);
  const double T = 0.16, h = 1e-6;
  CHECK((swing_motion(from, to, 0.13, 0, T).p - from).norm() < 1e-12);
  CHECK((swing_motion(from, to, 0.13, 1, T).p - to).norm() < 1e-12);
  CHECK(swing_motion(from, to, 0.13, 0, T).v.norm() < 1e-12);
  CHECK(swing_motion(from, to, 0.13, 1, T).v.norm() < 1e-12);
  CHECK(swing_motion(from, to, 0.13, 0.5, T).p.z() == doctest::Approx(0.13));
  for (const double s : {0.1, 0.3, 0.7, 0.95}) {  // velocity and acceleration are the derivatives
    const FootMotion m = swing_motion(from, to, 0.13, s, T), a = swing_motion(from, to, 0.13, s - h, T),
                     b = swing_motion(from, to, 0.13, s + h, T);
    CHECK((m.v - (b.p - a.p) / (2 * h * T)).norm() < 1e-6);
    CHECK((m.a - (b.v - a.v) / (2 * h * T)).norm() < 1e-3);
  }
}

TEST_CASE("walk: footholds lie about the body, ahead by half a stance, and answer a push") {
  const Scene scene = solo();
  const Walker walker(*scene.model, standing(scene));
  const GaitPlan gait{0, 0.32, 0.5};
  Instant now;
  now.com = {1, 2, 0.2};
  now.angles.z() = 0.4;
  const FootholdRule rule{0.1, 1};
  Vec3 mean = Vec3::Zero();
  for (std::size_t i = 0; i < 4; ++i) mean += foothold(walker, gait, rule, now, Vec3::Zero(), 0, 0, i) / 4;
  CHECK((mean - now.com).norm() < 1e-12);
  const Vec3 still = foothold(walker, gait, rule, now, Vec3::Zero(), 0, 0.1, 2);
  now.v = {0.5, -0.2, 0};
  const Vec3 steady = foothold(walker, gait, rule, now, now.v, 0, 0.1, 2);
  CHECK((steady - still - (0.1 + 0.08) * now.v).norm() < 1e-12);
  const Vec3 pushed = foothold(walker, gait, rule, now, Vec3::Zero(), 0, 0.1, 2);
  CHECK((pushed - still - (0.1 + 0.1) * now.v).norm() < 1e-12);
}

TEST_CASE("walk: the ground below a point, of planes, terrain, walls and kinematic bodies") {
  const Scene scene = solo(R"(
[[wall]]
name = "step"
shape = "box"
size = [1, 1, 0.1]
position = [3, 0, 0.05]
[[terrain]]
name = "hill"
spacing = 0.5
heights = [[0.1, 0.2, 0.4], [0.1, 0.2, 0.4]]
position = [0, 8, 0]
[[kinematic]]
name = "lift"
shape = "box"
size = [1, 1, 0.2]
position = [-3, 0, 0.5]
velocity = [0, 0, 0.1]
)");
  const Model& model = *scene.model;
  const Ground ground(model);
  CHECK(ground.below(model, {-9, 0, 2}, {}, 7) == doctest::Approx(0));
  CHECK(ground.below(model, {3.2, 0.1, 2}, {}, 7) == doctest::Approx(0.1));
  CHECK(ground.below(model, {0.25, 8, 2}, {}, 7) == doctest::Approx(0.3));
  CHECK(ground.below(model, {-0.25, 8.1, 2}, {}, 7) == doctest::Approx(0.15));
  CHECK(ground.below(model, {-3, 0, 2}, {}, 7) == doctest::Approx(0.6));
  CHECK(ground.below(model, {-3, 0, 2}, {2, {}}, 7) == doctest::Approx(0.8));  // it has risen
  CHECK(ground.highest(model, {2, 0, 2}, {4.5, 0, 2}, {}, 7, 3) == doctest::Approx(0.1));
  // An edge is avoided, level ground is taken as it is.
  const Vec3 p = ground.level_place(model, {2.51, 0, 2}, {}, 7, 0.02);
  CHECK(std::abs(p.x() - 2.5) > 0.02);
  CHECK(p.z() == doctest::Approx(p.x() > 2.5 ? 0.1 : 0));
  CHECK((ground.level_place(model, {-8, 1, 2}, {}, 7, 0.02) - Vec3(-8, 1, 0)).norm() < 1e-9);
}

TEST_CASE("walk: one body at rest on four feet is predicted to stay, its weight on the feet") {
  const Scene scene = solo();
  const WalkOptions options = standing(scene);
  const Walker walker(*scene.model, options);
  BodyMpc mpc(walker, options, {1e3, options.gait_period, options.duty});  // it stands for a long time
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, VecX::Zero(scene.model->nv));
  const Instant now = look(walker, dynamics, 0);
  BodyPlan plan;
  plan.com = now.com;
  std::array<Vec3, 4> soles, force;
  for (std::size_t i = 0; i < 4; ++i) soles[i] = now.foot[i], force[i].setZero();
  REQUIRE(mpc.solve(0, now, plan, soles, scene.model->gravity, force).solved);
  Vec3 sum = Vec3::Zero(), moment = Vec3::Zero();
  for (std::size_t i = 0; i < 4; ++i) sum += force[i], moment += (soles[i] - now.com).cross(force[i]);
  const double weight = walker.mass * 9.81;
  // A node of the period loses some of the weight: forces cost a little.
  CHECK((sum - Vec3(0, 0, weight)).norm() < 0.1 * weight);
  CHECK(moment.norm() < 0.01 * weight * walker.height);
  for (int k = 0; k < 6; ++k)  // the end of the horizon lets go
    CHECK((mpc.program().state(k) - mpc.program().start).cwiseAbs().maxCoeff() < 0.02);
}

TEST_CASE("walk: torques of the whole body give the accelerations that were asked for") {
  const Scene scene = solo();
  const Model& model = *scene.model;
  WalkOptions options = standing(scene);
  options.force_weight = 1e-9;
  const Walker walker(model, options);
  WholeBody body(model, walker, options);
  Dynamics dynamics(model);
  VecX v = VecX::Zero(model.nv);
  for (int k = 0; k < model.nv; ++k) v[k] = 0.1 * std::sin(1.0 + 3 * k);
  dynamics.compute(scene.start.q, v);
  std::array<FootTask, 4> feet;
  for (FootTask& foot : feet) foot.force = {0, 0, walker.mass * 9.81 / 4};
  BaseTask base;
  base.a = {0.4, -0.3, 0.5};
  base.alpha = {1, -2, 1.5};
  Actuation a;
  a.resize(model.nv);
  REQUIRE(body.control(dynamics, v, base, feet, {0, 0}, a));
  // Forward dynamics with the feet held: M a + h = tau + J^T f, J a + bias = 0.
  const MatX M = dynamics.mass_matrix();
  MatX K = MatX::Zero(model.nv + 12, model.nv + 12);
  VecX rhs(model.nv + 12);
  K.topLeftCorner(model.nv, model.nv) = M;
  rhs.head(model.nv) = a.tau - dynamics.h();
  for (std::size_t i = 0; i < 4; ++i) {
    const Leg& leg = walker.legs[i];
    const Vec3 p = dynamics.X_WB(leg.body) * leg.point;
    Eigen::Matrix<double, 3, 9> J;
    dynamics.point_jacobian(leg.body, p, Mat3::Identity(), J.data());
    const std::vector<int>& chain = model.bodies[at(leg.body)].chain;
    const auto row = model.nv + 3 * static_cast<int>(i);
    for (int c = 0; c < 9; ++c) {
      K.block<3, 1>(row, chain[at(c)]) = J.col(c);
      K.block<1, 3>(chain[at(c)], row) = -J.col(c).transpose();
    }
    rhs.segment<3>(row) = -dynamics.point_bias(leg.body, p);
  }
  const VecX x = K.fullPivLu().solve(rhs);
  const Mat3& R = dynamics.X_WB(walker.base).R;
  CHECK((R * x.segment<3>(0) - base.a).norm() < 1e-4);
  CHECK((R * x.segment<3>(3) - base.alpha).norm() < 1e-3);
  for (int k = 0; k < 6; ++k) CHECK(a.tau[k] == 0);
}

TEST_CASE("walk: a leg is stretched out without a jump, and without joints that are asked to run away") {
  // With w = |det J|/size^3 the least singular value of J is at least 2 w size, since the other two have a product of at most
  // size^2/2: above w = 0.05 no rate is beyond 10/size. Below, 1/sigma and the damped 5/(share size) bound it together, at
  // share 1/3, by 15/size.
  const Scene scene = solo();
  const Model& model = *scene.model;
  const Walker walker(model, standing(scene));
  WholeBody body(model, walker, standing(scene));
  Dynamics dynamics(model);
  const VecX v = VecX::Zero(model.nv);
  const Leg& leg = walker.legs[0];
  const int hip = leg.iv[1], knee = leg.iv[2];
  VecX before;
  double most = 0;
  for (int k = 0; k <= 2000; ++k) {
    VecX q = scene.start.q;
    q[hip + 1] = 0;
    q[knee + 1] = 1.0 - 1e-3 * k;  // bent, stretched, bent the other way
    dynamics.compute(q, v);
    std::array<FootTask, 4> feet;
    feet[0].stands = false;
    feet[0].v = {0, 0, 1};
    Actuation a;
    a.resize(model.nv);
    REQUIRE(body.control(dynamics, v, BaseTask(), feet, {1, 1}, a));
    Eigen::Matrix<double, 3, 9> J;
    dynamics.point_jacobian(leg.body, dynamics.X_WB(leg.body) * leg.point, Mat3::Identity(), J.data());
    const double size = J.rightCols<3>().norm();
    VecX rate(3);
    for (int j = 0; j < 3; ++j) rate[j] = a.v_ref[leg.iv[at(j)]];
    most = std::max(most, size * rate.norm());
    if (k > 0) CHECK((rate - before).norm() < 0.2 * 15 / size);
    before = rate;
  }
  CHECK(most < 15);
  CHECK(most > 3);
}
