// What neither Newton's method nor the interior point solves, and what has a solution: other solvers in turn.
#pragma once

#include <array>
#include <limits>
#include <memory>

#include "tribo/contact_solver.hpp"

namespace tribo {

class LastResort {
 public:
  LastResort();
  /// f: best point so far in, a better one out where one is found. Its report is judged as any other.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f);

 private:
  struct Try {
    std::unique_ptr<ContactSolver> solver;
    bool dense;                                  ///< needs G as a matrix, and knows no friction discs
    int most = std::numeric_limits<int>::max();  ///< unknowns
  };
  std::array<Try, 5> tries_;
  VectorBuffer f_, c_;
};

}  // namespace tribo
