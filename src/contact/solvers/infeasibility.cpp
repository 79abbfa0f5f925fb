// Contact problems without a solution: opposed walls that squeeze a rigid body, rows that contradict each other.
//
// A motion w is admissible if it opens no contact into the other body and keeps every row that no force bound releases:
//   c = Y w + g:   c_N >= 0,   c_j >= 0, <= 0 or = 0 for rows whose force may grow without bound        (infeasible.1)
// An admissible motion with c_N > 0 is enough for a solution [Acary2011]; without any there is none,
// whatever the friction. By Farkas there is none exactly where forces d exist that push without moving
// anything, and gain:
//   d_T = 0,  d_N >= 0,  signs of rows as above,   (G + R) d = 0,   g . d < 0                            (infeasible.2)
// Such d is what the frictionless problem grows towards when made softer by R = eps diag G and eps goes to 0:
//   - where a motion exists, forces stay bounded and what is left of c_N < 0 falls with eps;
//   - where none exists, forces grow as 1/eps and the violation stays: d / |d| satisfies (infeasible.2) up to eps.
// So: infeasible if the violation at eps = 1e-8 is more than half of that at 1e-6 and more than 1e-6 of the problem's
// accelerations, and if d proves that forces would have to be absurd. For every solution f, with c_N >= 0,
//   0 <= d . c = d . (G + R) f + d . g,   so   |f|_1 >= -g . d / |(G + R) d|_inf                         (infeasible.3)
// and this must exceed 1e4 F, F the larger of the weight and |g_i| / G_ii. Where a softened problem
// is not solved itself, nothing is claimed.
#include "contact/solvers/infeasibility.hpp"

#include <cmath>

#include "contact/solvers/solvers.hpp"

namespace tribo {

// Largest violation of (infeasible.1) by the frictionless problem with this relative compliance [m/s^2].
double Infeasibility::violation(const ContactProblem& problem, double compliance) {
  const int n = problem.size(), nc = problem.nc();
  for (int i = 0; i < n; ++i) softened_.R()[i] = problem.R()[i] + compliance * diagonal_[i];
  d_.setZero(n);
  solved_ = interior_point_.solve(softened_, Tolerance{0, 1e-7}, d_.map()).status == SolveStatus::Converged;
  problem.velocity(d_.data(), c_.data());
  double worst = 0;
  for (int i = 0; i < nc; ++i) worst = std::max(worst, -c_[3 * i + 2]);
  for (int j = 0; j < problem.nr(); ++j) {
    if (std::isinf(problem.upper()[j])) worst = std::max(worst, -c_[3 * nc + j]);
    if (std::isinf(problem.lower()[j])) worst = std::max(worst, c_[3 * nc + j]);
  }
  return worst;
}

// (infeasible.3), for the d of the last violation().
double Infeasibility::least_force(const ContactProblem& problem) {
  problem.velocity(d_.data(), c_.data());
  double gain = 0, moved = 1e-300;
  for (int i = 0; i < problem.size(); ++i) {
    gain -= problem.g()[i] * d_[i];
    moved = std::max(moved, std::abs(c_[i] - problem.g()[i]));
  }
  return gain / moved;
}

bool Infeasibility::certify(const ContactProblem& problem, double work) {
  const int n = problem.size();
  interior_point_.allow(work);
  softened_ = problem;
  softened_.mu().setZero();
  softened_.discs.clear();  // frictionless
  for (const FrictionDisc& d : problem.discs)
    for (int k = 0; k < d.size; ++k) softened_.lower()[d.row + k] = softened_.upper()[d.row + k] = 0;
  for (int j = 0; j < problem.nr(); ++j) {  // a bounded force cannot hold for ever: such rows give way
    if (std::isfinite(problem.lower()[j])) softened_.lower()[j] = 0;
    if (std::isfinite(problem.upper()[j])) softened_.upper()[j] = 0;
  }
  diagonal_.resize(n);
  c_.resize(n);
  problem.diagonal(diagonal_.data());
  double F = problem.weight;
  for (int i = 0; i < n; ++i)
    if (diagonal_[i] > 0) F = std::max(F, std::abs(problem.g()[i]) / diagonal_[i]);
  const double mean = diagonal_.map().mean();
  for (int i = 0; i < n; ++i)  // what no force moves is softened too
    if (!(diagonal_[i] > 0)) diagonal_[i] = mean > 0 ? mean : 1.0;
  const double coarse = violation(problem, 1e-6);
  if (!solved_ || !(coarse > 1e-6 * (problem.g().cwiseAbs().maxCoeff() + 9.81))) return false;
  double force = least_force(problem);
  const double fine = violation(problem, 1e-8);
  if (solved_) force = std::max(force, least_force(problem));
  return solved_ && fine > 0.5 * coarse && force > 1e4 * F;
}

}  // namespace tribo
