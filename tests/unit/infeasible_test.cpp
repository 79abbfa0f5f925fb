// Problems without a solution come back as infeasible, solvable ones never do. Which is which is known by construction.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "contact/solvers/infeasibility.hpp"
#include "contact/solvers/interior_point.hpp"

using namespace tribo;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double enough = 1e9;  // products

SolveReport solve(const ContactProblem& problem) {
  VecX f = VecX::Zero(problem.size());
  return make_contact_solver("newton", {})->solve(problem, Tolerance{}, f);
}

// A point of 1 kg between two walls that approach it with the given accelerations.
ContactProblem walls(double left, double right, double mu) {
  ContactProblem problem;
  problem.resize(2, 0, true);
  MatX J(6, 3);
  J << 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, -1, -1, 0, 0;
  problem.G() = J * J.transpose();
  problem.g().setZero();
  problem.g()[2] = -left;
  problem.g()[5] = -right;
  problem.mu().setConstant(mu);
  problem.weight = 9.81;
  return problem;
}

// Two rows on one coordinate, with signs s.
ContactProblem rows(double s, double g0, double g1, double lower, double upper) {
  ContactProblem problem;
  problem.resize(0, 2, true);
  problem.G() << 1, s, s, 1;
  problem.g() << g0, g1;
  problem.lower().setConstant(lower);
  problem.upper().setConstant(upper);
  problem.weight = 1;
  return problem;
}

MatX random_jacobian(int rows, int columns, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  MatX Y(rows, columns);
  for (int i = 0; i < Y.size(); ++i) Y.data()[i] = normal(rng);
  return Y;
}

}  // namespace

TEST_CASE("a body between opposed walls: infeasible exactly where both come nearer, whatever the friction") {
  for (double mu : {0.0, 0.5, 10.0}) {
    CAPTURE(mu);
    CHECK(solve(walls(10, 3, mu)).status == SolveStatus::Infeasible);
    CHECK(solve(walls(1e-2, 3e-3, mu)).status == SolveStatus::Infeasible);
    CHECK(solve(walls(10, -10, mu)).status == SolveStatus::Converged);  // carried along
    CHECK(solve(walls(10, -12, mu)).status == SolveStatus::Converged);
    CHECK(solve(walls(0, 0, mu)).status == SolveStatus::Converged);
  }
}

TEST_CASE("what is not solved with the work that is allowed is said to be at a limit, and nothing is claimed") {
  const ContactProblem without = walls(10, 3, 0.5), with = walls(10, -10, 0.5);
  Infeasibility infeasibility;
  InteriorPoint interior_point;
  for (double work : {1.0, 200.0, enough}) {  // a factor of six rows takes 72
    CAPTURE(work);
    CHECK(infeasibility.certify(without, work) == (work == enough));
    interior_point.allow(work);
    VecX f = VecX::Zero(6);
    const SolveReport report = interior_point.solve(with, Tolerance{0, 1e-8}, f);
    CHECK(report.status == (work == enough ? SolveStatus::Converged : SolveStatus::IterationLimit));
    CHECK(report.residual.relative() > (work == enough ? -1 : 1e-8));
    interior_point.allow(work);
    CHECK(interior_point.solve(without, Tolerance{0, 1e-8}, f).status ==
          (work == enough ? SolveStatus::Stalled : SolveStatus::IterationLimit));
  }
}

TEST_CASE("conflicting rows are infeasible, agreeing and bounded ones are not") {
  CHECK(solve(rows(1, -1, -2, -inf, inf)).status == SolveStatus::Infeasible);  // two targets for one velocity
  CHECK(solve(rows(1, -1, -1, -inf, inf)).status == SolveStatus::Converged);
  CHECK(solve(rows(-1, -1, -1, 0, inf)).status == SolveStatus::Infeasible);  // lower and upper limit, crossed
  CHECK(solve(rows(-1, -1, 1, 0, inf)).status == SolveStatus::Converged);
  CHECK(solve(rows(-1, -1, -1, -5, 5)).status == SolveStatus::Converged);  // a bounded force gives way
}

TEST_CASE("random contacts: those with an admissible motion are never called infeasible, opposed pairs mostly are") {
  Infeasibility infeasibility;
  int found = 0, total = 0;
  for (double mu : {0.0, 1.0, 10.0})
    for (int nc : {1, 2, 4, 8})
      for (int dofs : {3 * nc + 2, 2 * nc + 1, nc + 1})
        for (unsigned seed = 0; seed < 10; ++seed) {
          std::mt19937 rng(seed);
          const MatX Y = random_jacobian(3 * nc, dofs, rng);
          const VecX w = random_jacobian(dofs, 1, rng);
          ContactProblem problem;
          problem.resize(nc, 0, true);
          problem.G() = Y * Y.transpose();
          problem.g() = Y * w;  // the motion -w leaves c = 0
          problem.mu().setConstant(mu);
          CHECK_FALSE(infeasibility.certify(problem, enough));
          MatX both(6 * nc, dofs);  // each contact again from the other side, and a gap that both close
          both << Y, -Y;
          problem.resize(2 * nc, 0, true);
          problem.G() = both * both.transpose();
          problem.g() = both * w;
          for (int i = 0; i < 2 * nc; ++i) problem.g()[3 * i + 2] -= 1;
          problem.mu().setConstant(mu);
          found += infeasibility.certify(problem, enough);  // nothing is claimed where a softened problem is not solved
          ++total;
        }
  CHECK(found > 3 * total / 4);
}

TEST_CASE("heavy on light is hard, not infeasible, with and without the weight given") {
  Infeasibility infeasibility;
  for (double ratio : {1.0, 1e3, 1e4, 1e6})
    for (bool weight : {true, false}) {
      ContactProblem problem;
      problem.resize(2, 0, true);
      MatX J = MatX::Zero(6, 6);
      J.block<3, 3>(0, 0).setIdentity();
      J.block<3, 3>(3, 0) = -Mat3::Identity();
      J.block<3, 3>(3, 3).setIdentity();
      VecX inverse(6), a(6);
      inverse << 1e3, 1e3, 1e3, 1e3 / ratio, 1e3 / ratio, 1e3 / ratio;
      a << 0, 0, -9.81, 0, 0, -9.81;
      problem.G() = J * inverse.asDiagonal() * J.transpose();
      problem.g() = J * a;
      problem.mu().setConstant(0.5);
      problem.weight = weight ? 9.81e-3 * (1 + ratio) : 0;
      CAPTURE(ratio);
      CHECK_FALSE(infeasibility.certify(problem, enough));
      CHECK(solve(problem).status == SolveStatus::Converged);
    }
}
