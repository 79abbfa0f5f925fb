// Newton's method on a problem without friction, along normals and rows alone: which of them act is guessed, what acts is
// solved for, and the guess is made anew until it stands.
#pragma once

#include "tribo/contact_problem.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

class NormalNewton {
 public:
  /// With room for so many normals and rows, of contacts on so many coordinates.
  NormalNewton(int normals, int coordinates);
  /// mu = 0; the problem is read by its factor. Cost: the cube of what acts. Not converged: f is left as it was.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f);

 private:
  void make_matrix(const ContactProblem& problem);
  void move(const ContactProblem& problem, const double* f);
  bool step(const ContactProblem& problem, VecRef f);

  MatrixBuffer G_, matrix_;  // of normals and rows; of those that act
  VectorBuffer w_, c_, b_, best_;
  std::vector<int> active_;
};

}  // namespace tribo
