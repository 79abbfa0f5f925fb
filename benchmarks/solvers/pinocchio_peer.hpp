// Pinocchio's contact solvers on our contact problems, through its headers. Kept apart: they take minutes to compile.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/contact_problem.hpp"

namespace tribo::bench {

class PinocchioPeer {
 public:
  enum class Method { Admm, AdmmSpectral, Pgs };

  /// The problem must have contacts only, a dense G and no compliance.
  explicit PinocchioPeer(const ContactProblem& problem);
  ~PinocchioPeer();

  /// One call of its solve(), asked for this tolerance (feasibility and complementarity, absolute), from the guess.
  /// What an ADMM changes of the operator is put back before the time is taken.
  void solve(Method method, double tolerance, const VecX& guess);
  const VecX& forces() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tribo::bench
