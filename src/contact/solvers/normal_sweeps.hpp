// Projected Gauss-Seidel on problems without friction: one number a contact, on whitened velocities w = Y^T f.
//   f_i <- clamp(f_i - c_i / (G + R)_ii, lower_i, upper_i),   lower = 0, upper = inf for the normal force of a contact (normal.1)
// The order turns after each sweep. For large problems that need no exact answer: a sweep takes as long as a product.
#pragma once

#include "tribo/contact_solver.hpp"

namespace tribo {

class NormalSweeps {
 public:
  /// At most so many sweeps. Every mu must be 0, the problem must have a factor. f: guess in, forces out.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, int most, VecRef f);

 private:
  void sweep(const ContactProblem& problem, int first, int step, VecRef f);

  VectorBuffer w_, c_, diagonal_;
};

}  // namespace tribo
