// Contact problems taken out of running scenes, and what is measured of their solutions.
#pragma once

#include <string>
#include <vector>

#include "scenes.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo::experiments {

struct Recorded {
  ContactProblem problem;
  VecX guess;    ///< the forces of the step before (n) [N]
  double t = 0;  ///< [s]
};

/// Runs the scene and keeps the problem with the most contacts of every n-th step.
std::vector<Recorded> record(Scene scene, int every);

/// A solver under a model: "ncp:newton".
struct Pair {
  ContactModel model;
  std::string solver;
  double compliance_ratio = 0;  ///< of primal-newton-mujoco; 0: its default

  std::string label() const { return to_string(model) + ":" + solver; }
};
/// Every pair of the table of solvers.
std::vector<Pair> all_pairs();

struct Solved {
  VecX f, c;
  SolveReport report;
  double time = 0;  ///< [s]
};
/// The problem whose law the solver speaks of: primal Newton methods bring an R of their own, (primal.4) and (primal.5),
/// which stands in the problem here. All others: the problem as it is.
ContactProblem own_law(const ContactProblem& problem, const Pair& pair);
/// From the guess; the time is the best of the repeats.
Solved solve(const ContactProblem& problem, const Pair& pair, const Tolerance& tolerance, const VecX& guess,
             int repeats = 1, std::vector<double>* trace = nullptr);

/// The part of the forces that moves nothing: |N N^T f|, N a basis of what G sends to zero [N].
double internal_force(const ContactProblem& problem, const VecX& f);

/// G as a dense matrix.
MatX dense_matrix(const ContactProblem& problem);
/// The same problem with a dense G and no factor.
ContactProblem as_dense(const ContactProblem& problem);

}  // namespace tribo::experiments
