// The stage-wise program of predictive control beside the same program without stages, by the dual active-set method.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "control/mpc_program.hpp"
#include "control/quadratic_program.hpp"
#include "control/walk/body_mpc.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

constexpr double h = 0.02;  // [s]

// A body of 2.5 kg on some of four feet; no two of the like-typed numbers are equal.
void random_program(MpcProgram& p, int stages, unsigned seed) {
  std::mt19937 random(seed);
  auto number = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  p.resize(stages);
  p.force_weight = number(2e-5, 1e-4);
  for (int i = 0; i < 12; ++i) p.start[i] = number(-0.2, 0.2);
  for (int k = 0; k < stages; ++k) {
    MpcStage& s = p.stage[at(k)];
    s.feet = static_cast<int>(random() % 5);
    s.step = h;
    s.turn = h * Eigen::AngleAxisd(number(-1, 1), Vec3::UnitZ()).toRotationMatrix();
    s.c << 0, 0, -9.81 * h, number(-0.1, 0.1), 0, 0;
    for (int i = 0; i < s.feet; ++i) {
      const Vec3 r{number(-0.3, 0.3), number(-0.2, 0.2), number(-0.3, -0.2)};
      s.B.block<3, 3>(0, 3 * i) = h / 2.5 * Mat3::Identity();
      s.B.block<3, 3>(3, 3 * i) = h * Vec3(30, 20, 15).asDiagonal() * skew(r);
      s.bounds[i] = {number(0.2, 1), number(0, 1), number(10, 30)};
    }
    s.Q << 2, 2.1, 20, 0.25, 0.3, 10, 0.2, 0.22, 0.24, 0, 0.01, 0.3;
    for (int i = 0; i < 12; ++i) s.ref[i] = number(-0.1, 0.1);
  }
}

// All forces in one vector; x of every stage is affine in them: x_(k+1) = S_k f + o_k.
struct Dense {
  MatX S;  // (12 stages x forces)
  VecX o;
  int forces = 0;
};

Dense condensed(const MpcProgram& p) {
  Dense d;
  for (const MpcStage& s : p.stage) d.forces += 3 * s.feet;
  const int n = p.stages();
  d.S = MatX::Zero(12 * n, d.forces);
  d.o = VecX::Zero(12 * n);
  MatX S = MatX::Zero(12, d.forces);
  VecX o = p.start;
  int first = 0;
  for (int k = 0; k < n; ++k) {
    const MpcStage& s = p.stage[at(k)];
    MatX A = MatX::Identity(12, 12);
    A.block<3, 3>(0, 6) = s.step * Mat3::Identity();
    A.block<3, 3>(3, 9) = s.turn;
    S = A * S;
    o = A * o;
    S.block(6, first, 6, 3 * s.feet) += s.B.leftCols(3 * s.feet);
    o.tail(6) += s.c;
    first += 3 * s.feet;
    d.S.middleRows(12 * k, 12) = S;
    d.o.segment(12 * k, 12) = o;
  }
  return d;
}

VecX dense_solution(const MpcProgram& p) {
  const Dense d = condensed(p);
  QuadraticProgram q;
  q.resize(d.forces, 0, 2 * d.forces);
  VecX Q(12 * p.stages()), ref(12 * p.stages());
  int foot = 0;
  for (int k = 0; k < p.stages(); ++k) {
    Q.segment(12 * k, 12) = p.stage[at(k)].Q;
    ref.segment(12 * k, 12) = p.stage[at(k)].ref;
    for (int i = 0; i < p.stage[at(k)].feet; ++i, ++foot) {
      const FootBounds& b = p.stage[at(k)].bounds[i];
      for (int side = 0; side < 4; ++side) {
        q.C(3 * foot + side / 2, 6 * foot + side) = side % 2 == 0 ? 1 : -1;
        q.C(3 * foot + 2, 6 * foot + side) = b.mu;
        q.d[6 * foot + side] = 0;
      }
      q.C(3 * foot + 2, 6 * foot + 4) = 1, q.d[6 * foot + 4] = b.least;
      q.C(3 * foot + 2, 6 * foot + 5) = -1, q.d[6 * foot + 5] = -b.most;
    }
  }
  q.H = d.S.transpose() * Q.asDiagonal() * d.S + p.force_weight * MatX::Identity(d.forces, d.forces);
  q.g = d.S.transpose() * Q.cwiseProduct(d.o - ref);
  REQUIRE(q.solve());
  return q.x();
}

double cost(const MpcProgram& p) {
  double sum = 0;
  for (int k = 0; k < p.stages(); ++k) {
    const MpcStage& s = p.stage[at(k)];
    const Vec12 off = p.state(k) - s.ref;
    sum += 0.5 * off.dot(s.Q.cwiseProduct(off)) + 0.5 * p.force_weight * p.forces(k).head(3 * s.feet).squaredNorm();
  }
  return sum;
}

VecX stacked(const MpcProgram& p) {
  VecX f(0);
  for (int k = 0; k < p.stages(); ++k) {
    const int n = 3 * p.stage[at(k)].feet;
    f.conservativeResize(f.size() + n);
    f.tail(n) = p.forces(k).head(n);
  }
  return f;
}

}  // namespace

TEST_CASE("mpc program: the forces are those of the same program without stages") {
  MpcProgram p;
  int most = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    random_program(p, 2 + static_cast<int>(seed % 7), seed);
    const MpcProgram::Report report = p.solve(1e-10, 60);
    REQUIRE(report.solved);
    most = std::max(most, report.iterations);
    // The cost is at least force_weight/2 |f - f*|^2 above its least, and the gap bounds that: |f - f*| <= 1e-2 N at 1e-10.
    CHECK((stacked(p) - dense_solution(p)).cwiseAbs().maxCoeff() < 1e-2);
    const Dense d = condensed(p);
    const VecX x = d.S * stacked(p) + d.o;
    for (int k = 0; k < p.stages(); ++k) CHECK((p.state(k) - x.segment<12>(12 * k)).cwiseAbs().maxCoeff() < 1e-9);
  }
  CHECK(most <= 20);
}

TEST_CASE("mpc program: the 16 nodes of a trot, as the walking controller writes them, pushed off their way") {
  const Scene scene = parse_scene("[robot]\nmodel = \"solo12\"\ncontact = \"feet\"\npose = \"standing\"\n", "solo");
  WalkOptions options;
  options.q_stand = scene.start.q;
  options.gait_period = 0.32;
  options.mu = 0.9;
  const walk::Walker walker(*scene.model, options);
  walk::BodyMpc mpc(walker, options, {0, options.gait_period, options.duty});
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, VecX::Zero(scene.model->nv));
  for (const double push : {0.0, 0.2, 1.0}) {
    CAPTURE(push);
    walk::Instant now = look(walker, dynamics, 0);
    now.v = {0.5, push, -0.1};
    now.angles = {0.1 * push, -0.05, 0.02};
    now.w = {2 * push, 0.1, -0.2};
    walk::BodyPlan plan;
    plan.com = now.com;
    plan.v = {0.5, 0, 0};
    std::array<Vec3, 4> soles = now.foot, force;
    const MpcProgram::Report report = mpc.solve(0.01, now, plan, soles, scene.model->gravity, force);
    REQUIRE(report.solved);
    CHECK(report.iterations <= 15);
    MpcProgram p = mpc.program();
    REQUIRE(p.stages() == 16);
    REQUIRE(p.solve(1e-9, 60).solved);
    CHECK((stacked(p) - dense_solution(p)).cwiseAbs().maxCoeff() < 1e-2);
    // At 1e-6, as the controller asks for it, the cost is within the gap of its least.
    CHECK(std::abs(cost(mpc.program()) - cost(p)) < 2e-6);
  }
}

TEST_CASE("mpc program: tight bounds, no friction, no feet, no weight on the forces, a start far away") {
  MpcProgram p;
  for (const int way : {0, 1, 2, 3, 4}) {
    CAPTURE(way);
    random_program(p, 16, 77);
    for (MpcStage& s : p.stage) {
      if (way == 1) s.feet = 0;
      for (FootBounds& b : s.bounds) {
        if (way == 0) b.mu = 0;
        if (way == 2) b.least = b.most - 1e-3;
      }
    }
    if (way == 3) p.force_weight = 0;
    if (way == 4) p.start *= 100;
    const MpcProgram::Report report = p.solve(1e-6, 60);
    CHECK(report.solved);
    const MpcProgram::Report again = p.solve(1e-6, 60);  // from the same start: the same bits
    CHECK(again.dual == report.dual);
    CHECK(again.gap == report.gap);
    for (int k = 0; k < p.stages(); ++k)
      for (int i = 0; i < p.stage[at(k)].feet; ++i) {
        const FootBounds& b = p.stage[at(k)].bounds[i];
        const Vec3 f = p.forces(k).segment<3>(3 * i);
        CHECK(f.z() >= b.least - 1e-6);
        CHECK(f.z() <= b.most + 1e-6);
        CHECK(std::max(std::abs(f.x()), std::abs(f.y())) <= b.mu * f.z() + 1e-6);
      }
  }
}

TEST_CASE("mpc program: a program without a finite answer is said to be unsolved") {
  MpcProgram p;
  random_program(p, 4, 5);
  p.start[0] = std::nan("");
  CHECK_FALSE(p.solve().solved);
}
