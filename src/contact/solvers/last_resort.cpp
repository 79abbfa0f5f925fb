#include "contact/solvers/last_resort.hpp"

#include "contact/solvers/contact_path.hpp"
#include "contact/solvers/mode_search.hpp"
#include "contact/solvers/solvers.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

// Letting contacts go one after the other solves what is hard because of its friction. Staggered projections and alternating
// directions take other ways than the central path, and sweeps are for problems that are too large for all of these, and for
// friction discs. Few contacts without a path to their solution are left to the search over modes. Paths of many contacts
// have thousands of corners, each of which takes a factor.
constexpr int staggered_passes = 500, admm_steps = 4000, sweeps = 1000;
constexpr int most_on_path = 96;  // unknowns

SolverOptions at_most(int iterations) {
  SolverOptions options;
  options.max_iterations = iterations;
  return options;
}

SolverOptions by_pivoting(int iterations) {
  SolverOptions options = at_most(iterations);
  options.own.as<StaggeredOptions>().subproblems = SubproblemSolve::Pivoting;
  return options;
}

}  // namespace

LastResort::LastResort()
    : tries_{{{std::make_unique<ContactPath>(), true, most_on_path},
              {make_staggered(by_pivoting(staggered_passes)), true},
              {make_admm(at_most(admm_steps)), true},
              {make_pgs(at_most(sweeps)), false},
              {std::make_unique<ModeSearch>(), true}}} {}

SolveReport LastResort::solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  SolveReport best;
  best.status = SolveStatus::Stalled;
  best.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_);
  int iterations = 0;
  for (Try& attempt : tries_) {
    if (attempt.dense && (!problem.dense() || !problem.discs.empty())) continue;
    if (problem.size() > attempt.most) continue;
    f_.resize(problem.size());
    f_.map() = f;
    const SolveReport report = attempt.solver->solve(problem, tolerance, f_.map());
    iterations += report.iterations;
    if (!(report.residual.relative() < best.residual.relative())) continue;
    best = report;
    f = f_.map();
    if (report.status == SolveStatus::Converged) break;
  }
  best.iterations = iterations;
  return best;
}

}  // namespace tribo
