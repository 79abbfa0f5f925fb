// The last of the last resorts: which contacts are open, stick or slip, tried one combination after the other.
// See mode_search.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/contact_solver.hpp"

namespace tribo {

class ModeSearch final : public ContactSolver {
 public:
  ModeSearch();
  /// f: best point so far in, a better one out where one is found.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override;

 private:
  enum class Mode : char { Open, Stick, Slip };

  void prepare(const ContactProblem& problem, const VecRef& f);
  bool vary(const ContactProblem& problem, const Tolerance& tolerance, int first, int changes);
  bool attempt(const ContactProblem& problem, const Tolerance& tolerance);
  bool settle(const ContactProblem& problem);
  bool step(const ContactProblem& problem, int k);
  void slip_rows(const ContactProblem& problem, int contact, int row, int k);
  bool kinematic(const ContactProblem& problem) const;
  bool share_forces(const ContactProblem& problem, const Tolerance& tolerance);
  bool accept(const ContactProblem& problem, const Tolerance& tolerance);
  int find_rank(const ContactProblem& problem);

  std::unique_ptr<ContactSolver> convex_;
  ContactProblem shifted_;
  std::vector<Mode> modes_;
  std::vector<int> active_, pivot_;
  VectorBuffer f_, c_, last_, rhs_, best_, pivots_;
  MatrixBuffer matrix_;
  SolveReport report_;
  double scale_ = 1;   // of G
  double motion_ = 1;  // of accelerations
  double work_ = 0;    // cubes of sizes factored
  int rank_ = 0, convex_solves_ = 0;
};

}  // namespace tribo
