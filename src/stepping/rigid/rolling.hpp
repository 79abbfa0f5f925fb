// Torsional and rolling friction: torques at a contact whose bounds follow its normal force.
//
//   |f_spin| <= r_t f_N,   f_spin = -r_t f_N sign(w_n)    while it spins                            (rolling.1)
//   |f_roll| <= r_r f_N,   f_roll = -r_r f_N w_t / |w_t|  while it rolls                            (rolling.2)
// w: turning of b relative to a. They are rows, each within an interval; the step is solved again with the intervals of
// the last solution until the judge is content with f, c and the intervals that follow from them. A rolling contact has
// one row for each tangent: its intervals are r_r f_N |y_k| / |y|, y = f_roll - rho w_t, so that the two together lie
// on the disc; y is along -w_t at the solution.
//
// Many contacts of one body share what a torque is, and the intervals may then turn without end: what is left after
// some rounds goes to the sweeps of rolling_sweep.hpp.
#pragma once

#include <span>
#include <vector>

#include "stepping/rigid/rolling_sweep.hpp"
#include "tribo/assembly.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

/// Appends the rows of every contact whose surface has such friction: spin, then roll about t1 and t2.
void list_rolling(const Model& model, std::span<const Contact> contacts, std::vector<Row>& rows);

/// What the step is solved with.
struct RollingRules {
  ContactSolver& solver;
  const Tolerance& tolerance;
  ContactModel model;
  int facets;
};

class RollingFriction {
 public:
  /// Bounds of the rows from the forces f and velocities of the last step; false where the island has none of them.
  bool begin(const Island& island, std::span<const Row> rows, const double* before, double dt, ContactProblem& problem,
             double* f);
  /// Solves again until the bounds are those that the normal forces give; judged with these.
  void settle(const Island& island, std::span<const Row> rows, const RollingRules& rules, ContactProblem& problem,
              VectorBuffer::Map f, SolveReport& solve);

 private:
  void set_rho(const ContactProblem& problem);
  /// Sets the bounds from the forces f and the velocities.
  void follow(const Island& island, std::span<const Row> rows, const double* f, ContactProblem& problem) const;
  /// The torque per velocity of each rolling contact as the last two solutions show it: the fixed point on the
  /// direction of rolling then meets its mark at once where contacts are few, however close to rest it is.
  void learn(const Island& island, std::span<const Row> rows, int contacts, const VectorBuffer::Map& f);

  VectorBuffer c_, f_last_, c_last_, diagonal_;
  VectorBuffer rho_;  ///< what of a torque a velocity is worth (nr) [kg m^2]
  RollingSweep sweep_;
};

}  // namespace tribo
