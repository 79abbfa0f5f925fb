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

TEST_CASE("newton reaches its tolerance on random problems, full rank and rank-deficient") {
  int escalated = 0, total = 0;
  for (double mu : {0.0, 0.1, 0.5, 1.0, 10.0})
    for (int nc : {1, 2, 4, 8})
      for (int dofs : {3 * nc + 2, 2 * nc + 1})
        for (unsigned seed = 0; seed < 20; ++seed) {
          ContactProblem problem = random_problem(nc, dofs, mu, seed);
          SolverOptions options;
          auto solver = make_contact_solver("newton", options);
          VecX f = VecX::Zero(problem.size());
          const SolveReport report = solver->solve(problem, Tolerance{}, f);
          CAPTURE(mu);
          CAPTURE(nc);
          CAPTURE(dofs);
          CAPTURE(seed);
          CAPTURE(report.iterations);
          CHECK(report.status == SolveStatus::Converged);
          CHECK(judge(problem, ContactModel::Ncp, f).relative() <= 1e-8);
          escalated += report.escalated;
          ++total;
        }
  MESSAGE("escalated " << escalated << " of " << total);
}
