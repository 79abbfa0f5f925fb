// Tells contact problems without a solution from those that are merely hard. See infeasibility.cpp.
#pragma once

#include "contact/solvers/interior_point.hpp"

namespace tribo {

class Infeasibility {
 public:
  /// Called where the solvers gave up: is there no motion at all that satisfies the constraints? Nothing is claimed where that
  /// takes more products of numbers than are allowed.
  bool certify(const ContactProblem& problem, double work);

 private:
  double violation(const ContactProblem& problem, double compliance);
  double least_force(const ContactProblem& problem);

  ContactProblem softened_;
  InteriorPoint interior_point_;
  VectorBuffer d_, c_, diagonal_;
  bool solved_ = false;
};

}  // namespace tribo
