// Factories of the solvers, for the table; and what their sweeps share.
#pragma once

#include <algorithm>

#include "tribo/contact_solver.hpp"

namespace tribo {

std::unique_ptr<ContactSolver> make_newton(const SolverOptions& options);
std::unique_ptr<ContactSolver> make_pgs(const SolverOptions& options);

/// Recomputes c from f and judges: what every solver reports in the end.
inline Residual judge_afresh(const ContactProblem& problem, ContactModel model, const double* f, VectorBuffer& c) {
  c.resize(problem.size());
  problem.velocity(f, c.data());
  return judge(problem, model, f, c.data());
}

}  // namespace tribo
