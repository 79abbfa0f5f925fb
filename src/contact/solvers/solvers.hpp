// Factories of the solvers, for the table; and what they share.
#pragma once

#include <algorithm>

#include "tribo/contact_solver.hpp"

namespace tribo {

class Crew;

std::unique_ptr<ContactSolver> make_newton(const SolverOptions& options);
/// For parts of a problem that is not dense: how contacts share a load is not asked (newton.7).
std::unique_ptr<ContactSolver> make_newton_of_parts(const SolverOptions& options);
/// What a solver can do on several threads goes to the crew's from now on; the answer is the same.
void share_parts(ContactSolver& solver, Crew& crew);
std::unique_ptr<ContactSolver> make_pgs(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_raisim(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_admm(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_primal_newton_mujoco(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_primal_newton_sap(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_proximal(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_lemke(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_dantzig(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_staggered(const SolverOptions& options);

OptionTable pgs_options();
OptionTable lemke_options();
OptionTable staggered_options();
OptionTable dantzig_options();
OptionTable primal_newton_mujoco_options();
OptionTable primal_newton_sap_options();

/// Recomputes c from f and judges: what every solver reports in the end.
inline Residual judge_afresh(const ContactProblem& problem, ContactModel model, const double* f, VectorBuffer& c,
                             int facets = 4) {
  c.resize(problem.size());
  problem.velocity(f, c.data());
  return judge(problem, model, f, c.data(), facets);
}

/// False where the problem or the guess is not finite, or the bounds contradict each other.
inline bool usable(const ContactProblem& problem, const VecRef& f) {
  return f.size() == problem.size() && f.allFinite() && problem.defect().empty();
}

/// The report of a solver that leaves f alone: the problem is unusable, or not of a kind that it takes.
inline SolveReport refused() {
  SolveReport report;
  report.status = SolveStatus::Invalid;
  report.residual.primal = report.residual.dual = report.residual.complementarity =
      std::numeric_limits<double>::infinity();
  return report;
}

/// A share of a tolerance.
inline Tolerance within(const Tolerance& tolerance, double share) {
  return {share * tolerance.abs, share * tolerance.rel};
}
/// Of the tolerance: what Newton's method takes as the answer without a step. A step is exact where the modes are right, and what
/// a guess lacks is noise for the next one.
constexpr double guess_share = 1e-3;

/// For solvers of dense problems: is there nothing to solve? No unknowns, a problem that is refused, or a guess that is
/// the answer already; the report says which.
inline bool settled(const ContactProblem& problem, ContactModel model, const Tolerance& tolerance, const VecRef& f,
                    VectorBuffer& c, SolveReport& report, int facets = 4) {
  if (problem.size() == 0) return true;
  if (!problem.dense() || !usable(problem, f)) {
    report = refused();
    return true;
  }
  report.residual = judge_afresh(problem, model, f.data(), c, facets);
  return tolerance.met(report.residual);
}

}  // namespace tribo
