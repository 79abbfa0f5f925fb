// Contact problems without a solution: opposed walls that squeeze a rigid body, rows that contradict each other.
//
// A motion w is admissible if it opens no contact into the other body and keeps every row that no force bound releases:
//   c = Y w + g:   c_N >= 0,   c_j >= 0, <= 0 or = 0 for rows whose force may grow without bound        (infeasible.1)
// An admissible motion with c_N > 0 is enough for a solution [Acary, Cadoux, Lemarechal, Malick 2011]; without any
// there is none, whatever the friction. By Farkas there is none exactly where forces d exist that push without moving
// anything, and gain:
//   d_T = 0,  d_N >= 0,  signs of rows as above,   (G + R) d = 0,   g . d < 0                            (infeasible.2)
// Such d is what the frictionless problem grows towards when made softer by R = eps diag G and eps goes to 0:
//   - where a motion exists, forces stay bounded and what is left of c_N < 0 falls with eps;
//   - where none exists, forces grow as 1/eps and the violation stays: d / |d| satisfies (infeasible.2) up to eps.
// So: infeasible if the violation at eps = 1e-8 is more than half of that at 1e-6, and more than 1e-6 of the problem's
// accelerations. A solvable problem is mistaken only if it needs forces of more than 1e6 times |g| / G_ii.
#include "contact/solvers/infeasibility.hpp"

#include <cmath>

#include "contact/solvers/solvers.hpp"

namespace tribo {

// Largest violation of (infeasible.1) by the frictionless problem with this relative compliance [m/s^2].
double Infeasibility::violation(const ContactProblem& problem, double compliance) {
  const int n = problem.size(), nc = problem.nc();
  for (int i = 0; i < n; ++i) softened_.R()[i] = problem.R()[i] + compliance * diagonal_[i];
  d_.setZero(n);
  interior_point_.solve(softened_, Tolerance{0, 1e-9}, d_.map());
  problem.velocity(d_.data(), c_.data());
  double worst = 0;
  for (int i = 0; i < nc; ++i) worst = std::max(worst, -c_[3 * i + 2]);
  for (int j = 0; j < problem.nr(); ++j) {
    if (std::isinf(problem.upper()[j])) worst = std::max(worst, -c_[3 * nc + j]);
    if (std::isinf(problem.lower()[j])) worst = std::max(worst, c_[3 * nc + j]);
  }
  return worst;
}

bool Infeasibility::certify(const ContactProblem& problem) {
  const int n = problem.size();
  softened_ = problem;
  softened_.mu().setZero();
  for (int j = 0; j < problem.nr(); ++j) {  // a bounded force cannot hold for ever: such rows give way
    const bool low = std::isfinite(problem.lower()[j]), high = std::isfinite(problem.upper()[j]);
    if (low) softened_.lower()[j] = 0;
    if (high) softened_.upper()[j] = 0;
  }
  diagonal_.resize(n);
  c_.resize(n);
  problem.diagonal(diagonal_.data());
  const double coarse = violation(problem, 1e-6), fine = violation(problem, 1e-8);
  return fine > 0.5 * coarse && fine > 1e-6 * (problem.g().cwiseAbs().maxCoeff() + 9.81);
}

}  // namespace tribo
