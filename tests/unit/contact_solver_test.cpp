#include <doctest/doctest.h>

#include <random>

#include "tribo/contact_solver.hpp"

using namespace tribo;

namespace {

ContactProblem random_problem(int nc, int dofs, double mu, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> normal;
  MatX Y(3 * nc, dofs);
  for (int i = 0; i < Y.size(); ++i) Y.data()[i] = normal(rng);
  ContactProblem problem;
  problem.resize(nc, 0, true);
  problem.G() = Y * Y.transpose();
  // g in the range of Y, so that a solution exists also where G is rank-deficient.
  VecX w(dofs);
  for (int i = 0; i < dofs; ++i) w[i] = normal(rng);
  problem.g() = Y * w;
  problem.mu().setConstant(mu);
  return problem;
}

}  // namespace

TEST_CASE("newton reaches its tolerance on random problems, full rank and rank-deficient, and never claims more") {
  // g in the range of Y: a solution exists at every mu. Random blocks couple normal and tangent far more than bodies
  // do: at mu = 10 some of them are not solved, and the report must say so.
  int failed = 0, total = 0;
  for (double mu : {0.0, 0.1, 0.5, 1.0, 10.0})
    for (int nc : {1, 2, 4, 8})
      for (int dofs : {3 * nc + 2, 2 * nc + 1})
        for (unsigned seed = 0; seed < 20; ++seed) {
          ContactProblem problem = random_problem(nc, dofs, mu, seed);
          auto solver = make_contact_solver("newton", {});
          VecX f = VecX::Zero(problem.size());
          const SolveReport report = solver->solve(problem, Tolerance{}, f);
          const double reached = judge(problem, ContactModel::Ncp, f).relative();
          CAPTURE(mu);
          CAPTURE(nc);
          CAPTURE(dofs);
          CAPTURE(seed);
          CHECK((report.status == SolveStatus::Converged) == (reached <= 1e-8));
          CHECK(report.residual.relative() == doctest::Approx(reached).epsilon(1e-6));
          if (mu <= 1) CHECK(report.status == SolveStatus::Converged);
          failed += reached > 1e-8;
          ++total;
        }
  CHECK(failed <= total / 100);
}
