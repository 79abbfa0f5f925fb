// The semismooth Newton of newton.cpp for problems without a dense G. See newton_sparse.cpp.
#pragma once

#include "contact/block_system.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

/// Relative residual of a guess whose modes are wrong in too many places of a large problem.
constexpr double poor_guess = 1e-2;

class SparseNewton {
 public:
  /// At most so many factorisations, none from a poor guess; f: guess in, best point out.
  SolveReport iterate(const ContactProblem& problem, const Tolerance& tolerance, int most, VecRef f,
                      std::vector<double>* trace);

 private:
  bool linearise(const ContactProblem& problem, const double* f);
  void linearise_disc(const ContactProblem& problem, int disc, const double* f);
  void centre(const ContactProblem& problem, const double* f, double* e) const;
  double kept(const ContactProblem& problem, int unknown, int block, const double* f) const;  // (sigma + R) f

  BlockSystem system_;
  VectorBuffer scale_, c_, D_, rho_, e_, best_;
};

}  // namespace tribo
