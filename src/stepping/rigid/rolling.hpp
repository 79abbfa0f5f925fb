// Torsional and rolling friction: torques at a contact whose bounds follow its normal force.
//
//   |f_spin| <= r_t f_N,   f_spin = -r_t f_N sign(w_n)    while it spins                            (rolling.1)
//   |f_roll| <= r_r f_N,   f_roll = -r_r f_N w_t / |w_t|  while it rolls                            (rolling.2)
// w: turning of b relative to a. They are rows of the problem, in friction discs (problem.4). Solvers that know discs
// solve them with all else. The others see intervals instead: the step is solved again with the intervals of the last
// solution until the judge is content with the discs. A rolling contact has one row for each tangent: its intervals are
// r_r f_N |y_k| / |y|, y = f_roll - rho w_t, so that the two together lie on the disc; y is along -w_t at the solution.
//
// Many contacts of one body share what a torque is, and the intervals may then turn without end: what is left after
// some rounds goes, in the NCP, to pgs.
#pragma once

#include <span>
#include <vector>

#include "tribo/assembly.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

/// Appends the rows of every contact whose surface has such friction: spin, then roll about t1 and t2.
void list_rolling(const Model& model, std::span<const Contact> contacts, std::vector<Row>& rows);

/// Lists the discs of an island's problem.
void list_discs(const Island& island, std::span<const Row> rows, ContactProblem& problem);

/// What the step is solved with.
struct RollingRules {
  ContactSolver& solver;
  const Tolerance& tolerance;
  ContactModel model;
  int facets;
};

/// The rounds, for a solver that does not know discs.
class RollingRounds {
 public:
  RollingRounds();
  /// Solves a problem with discs: before are the velocities at the start of the step.
  SolveReport solve(const RollingRules& rules, const double* before, double dt, ContactProblem& problem,
                    VectorBuffer::Map f);

 private:
  void set_rho(const ContactProblem& problem);
  /// Sets the intervals from the forces f and the velocities.
  void follow(const double* f, ContactProblem& problem) const;
  /// The torque per velocity of each rolling contact as the last two solutions show it: the fixed point on the
  /// direction of rolling then meets its mark at once where contacts are few, however close to rest it is.
  void learn(const ContactProblem& problem, const VectorBuffer::Map& f);

  std::unique_ptr<ContactSolver> sweeps_;
  std::vector<FrictionDisc> discs_;
  VectorBuffer c_, f_last_, c_last_, diagonal_;
  VectorBuffer rho_;  ///< what of a torque a velocity is worth (nr) [kg m^2]
};

}  // namespace tribo
