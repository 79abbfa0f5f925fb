// Sweeps on normal forces, and their active set, against the interior point and Newton's method: the same frictionless
// problems, on bodies in a row.
#include "contact/solvers/normal_sweeps.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "contact/solvers/normal_newton.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }

// Bodies of six coordinates, each in contact with the ground and with the next one; a row with bounds on each.
void fill(int bodies, Random& random, ContactProblem& problem) {
  problem.resize(2 * bodies - 1, bodies, false);
  ContactFactor& factor = problem.factor;
  factor = {};
  factor.nw = 6 * bodies;
  for (int k = 0; k <= bodies; ++k) factor.node_start.push_back(6 * k);
  const auto add = [&](int body, int rows) {
    factor.blocks.push_back(
        {static_cast<int>(factor.y.size()), static_cast<int>(factor.index.size()), 6, body, body, body});
    for (int k = 0; k < 6; ++k) {
      factor.index.push_back(6 * body + k);
      for (int r = 0; r < rows; ++r) factor.y.push_back(draw(random));
    }
  };
  const auto open = [&] { factor.start.push_back(static_cast<int>(factor.blocks.size())); };
  for (int b = 0; b < bodies; ++b) open(), add(b, 3);
  for (int b = 0; b + 1 < bodies; ++b) open(), add(b, 3), add(b + 1, 3);
  for (int b = 0; b < bodies; ++b) open(), add(b, 1);
  open();
  problem.mu().setZero();
  for (int i = 0; i < problem.size(); ++i) {
    problem.g()[i] = draw(random);
    problem.R()[i] = 0.05;  // as recovery has it: the answer is one
  }
  problem.lower().setConstant(-0.1);
  problem.upper().setConstant(0.2);
  problem.weight = 1;
}

}  // namespace

TEST_CASE("sweeps on normal forces find the forces that Newton's method finds") {
  Random random;
  NormalSweeps sweeps;
  const auto newton = make_contact_solver("newton", {});
  for (int bodies : {1, 2, 7, 30}) {
    ContactProblem problem;
    fill(bodies, random, problem);
    VecX f = VecX::Zero(problem.size()), exact = f;
    const SolveReport found = sweeps.solve(problem, {0, 1e-10}, 5000, f);
    REQUIRE(newton->solve(problem, {0, 1e-12}, exact).status == SolveStatus::Converged);
    CAPTURE(bodies);
    CHECK(found.status == SolveStatus::Converged);
    CHECK((f - exact).cwiseAbs().maxCoeff() < 1e-7 * std::max(1.0, exact.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("sweeps to a velocity: what shall vanish and what has the wrong sign are below it") {
  Random random;
  ContactProblem problem;
  fill(30, random, problem);
  for (double off : {0.1, 1e-3}) {
    VecX f = VecX::Zero(problem.size()), c(problem.size());
    CAPTURE(off);
    REQUIRE(NormalSweeps().solve_to(problem, off, 5000, f).status == SolveStatus::Converged);
    problem.velocity(f.data(), c.data());
    double worst = 0;
    for (int i = 0; i < problem.blocks(); ++i) {
      const int j = i - problem.nc(), o = j < 0 ? 3 * i + 2 : problem.offset(i);
      const double low = j < 0 ? 0 : problem.lower()[j], high = j < 0 ? HUGE_VAL : problem.upper()[j];
      CHECK(f[o] >= low);
      CHECK(f[o] <= high);
      worst = std::max(worst, f[o] == low ? -c[o] : f[o] == high ? c[o] : std::abs(c[o]));
    }
    CHECK(worst <= off * (1 + 1e-9));
  }
  VecX f = VecX::Zero(problem.size());
  CHECK(NormalSweeps().solve_to(problem, 1e-9, 1, f).status == SolveStatus::IterationLimit);
}

TEST_CASE("sweeps that end early say so") {
  Random random;
  ContactProblem problem;
  fill(30, random, problem);
  VecX f = VecX::Zero(problem.size());
  const SolveReport report = NormalSweeps().solve(problem, {0, 1e-12}, 3, f);
  CHECK(report.status == SolveStatus::IterationLimit);
  CHECK(report.iterations == 3);
  CHECK(report.residual.relative() > 1e-12);
}

TEST_CASE("normal forces that act, solved for at once, are those that Newton's method finds") {
  Random random;
  NormalNewton at_once(8, 12);  // grows where there are more
  const auto newton = make_contact_solver("newton", {});
  for (int bodies : {1, 2, 7, 20, 3}) {
    ContactProblem problem;
    fill(bodies, random, problem);
    VecX f = VecX::Zero(problem.size()), exact = f;
    const SolveReport found = at_once.solve(problem, {0, 1e-12}, f);
    REQUIRE(newton->solve(problem, {0, 1e-12}, exact).status == SolveStatus::Converged);
    CAPTURE(bodies);
    CHECK(found.status == SolveStatus::Converged);
    CHECK(judge(problem, ContactModel::Ncp, f).relative() < 1e-12);
    CHECK((f - exact).cwiseAbs().maxCoeff() < 1e-9 * std::max(1.0, exact.cwiseAbs().maxCoeff()));
  }
}
