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
  /// The same until no velocity is off by more than `off`: one that shall vanish by its size, another by its sign. Nobody judges.
  SolveReport solve_to(const ContactProblem& problem, double off, int most, VecRef f);

 private:
  template <class Done>
  void sweep(const ContactProblem& problem, int most, VecRef f, SolveReport& report, Done&& done);
  double worst(const ContactProblem& problem, const VecRef& f) const;
  void gather(const ContactProblem& problem);
  void choose(const ContactProblem& problem, const VecRef& f);

  VectorBuffer w_, c_, diagonal_;
  std::vector<double> y_;  // of block s of the factor: its row that has a force, from first_[s]
  std::vector<int> first_;
  std::vector<int> chosen_;  // blocks that a sweep goes over
};

}  // namespace tribo
