// Forces on the central path of a contact problem, and how they give way: a smooth law in the place of that of hard contact.
//
// With kappa > 0 [N m/s^2] in the place of 0 in f_N c_N = 0, and of the product of the friction cone with its multiplier psi,
//   f_N c_N = kappa,   mu f_N psi + f_T . c_T = kappa,   mu f_N c_T + psi f_T = 0:
//   c_N = kappa / f_N,   c_T = -kappa f_T / (mu^2 f_N^2 - |f_T|^2)                                            (smooth.1)
//   rows:  c = kappa / (f - lower) - kappa / (upper - f)                                                      (smooth.2)
//   (G + R) f + g = c(f)   by Newton's method, from large kappa down                                          (smooth.3)
// -dc/df = W stands in the place of the compliance R of (deriv.3): every contact acts, and none is at an edge.
#pragma once

#include "tribo/contact_problem.hpp"

namespace tribo {

class SmoothedForces {
 public:
  /// Finds f(kappa). False where Newton's method does not get there. Problems with discs have none.
  bool solve(const ContactProblem& problem, double kappa);

  const VectorBuffer& f() const { return f_; }
  /// W of a contact (t1, t2, n). Without friction the tangents have none: their force stays 0.
  Mat3 compliance(const ContactProblem& problem, int contact) const;
  double row_compliance(const ContactProblem& problem, int row) const;

 private:
  void start(const ContactProblem& problem);
  bool centre(const ContactProblem& problem, double kappa);
  double residual(const ContactProblem& problem, double kappa, const VectorBuffer& f, VectorBuffer& r) const;
  double longest_step(const ContactProblem& problem) const;

  double kappa_ = 0;
  VectorBuffer f_, trial_, r_, step_;
  MatrixBuffer G_, S_;
  std::vector<int> pivot_;
};

}  // namespace tribo
