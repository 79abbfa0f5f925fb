// Which of the forces that give the same motion: those that a bed of equal springs would have under it.
#pragma once

#include <vector>

#include "tribo/buffer.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

/// Forces of rows that hold a motion, z = Y u: no others of the same resultant are smaller. Rows that carry nothing have a z
/// too: below zero where the bed lifts off.
class LoadShare {
 public:
  /// Another problem: nothing is known of its rows.
  void begin() { m_ = -1; }
  /// For these rows of the problem, in rising order. False where their forces are unique.
  bool find(const ContactProblem& problem, const std::vector<int>& rows);
  /// z of the rows with forces f; of all rows of contacts.
  void of(const VecRef& f, VectorBuffer& z) const;

 private:
  std::vector<int> order_;  // the rows of contacts: first those that carry
  int m_ = 0, n_ = 0, rank_ = 0;
  MatrixBuffer left_, basis_;  // in that order: columns of G still to be looked at; orthonormal on the first m_ rows
};

/// Whether some two bodies touch at three places or more: else forces are unique, but for assemblies of several bodies.
bool touches_often(const ContactProblem& problem);

}  // namespace tribo
