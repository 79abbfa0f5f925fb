// Torsional and rolling friction: torques at a contact whose bounds follow its normal force.
//
//   |f_spin| <= r_t f_N,   f_spin = -r_t f_N sign(w_n)    while it spins                            (rolling.1)
//   |f_roll| <= r_r f_N,   f_roll = -r_r f_N w_t / |w_t|  while it rolls                            (rolling.2)
// w: turning of b relative to a. They are rows, each within an interval; the step is solved again with the intervals of
// the last solution until the judge is content with f, c and the intervals that follow from them. A rolling contact has
// one row for each tangent: its intervals are r_r f_N |y_k| / |y|, y = f_roll - rho w_t, so that the two together lie
// on the disc; y is along -w_t at the solution.
#pragma once

#include <span>
#include <vector>

#include "contact/assembly.hpp"
#include "tribo/contact_problem.hpp"

namespace tribo {

/// Appends the rows of every contact whose surface has such friction: spin, then roll about t1 and t2.
void list_rolling(const Model& model, std::span<const Contact> contacts, std::vector<Row>& rows);

/// Sets the bounds of these rows in the island's problem from its forces f and velocities c. rho (nr): what of a torque
/// a velocity is worth [kg m^2].
void follow_normal_forces(const Island& island, std::span<const Row> rows, const double* f, const double* c,
                          const double* rho, ContactProblem& problem);

/// The torque per velocity of each rolling contact as the last two solutions show it: the fixed point on the direction
/// of rolling then meets its mark at once where contacts are few, however close to rest it is. rho (nr), in and out.
void learn_rolling(const Island& island, std::span<const Row> rows, int contacts, const double* df, const double* dc,
                   double* rho);

}  // namespace tribo
