// The judge of a step: how far its contact forces and end velocities are from the laws of rigid contact. The same for
// every scheme, with the same scales, whatever law it solved.
//
// With the gap phi and the velocity c- at the start, mean force f and velocity c at the end, all in the axes of a contact:
//   s = c_N + max(phi, 0) / dt                          as the step may close the gap and no more
//   s = c_N + e c-_N                                    instead, at an impact
//   s = c_N + (phi + compliance f_N) / dt               instead, where the surface is compliant
//   signorini     |min(f_N / F, s / (a dt))|                                                                  (judge.1)
//   coulomb       (|f_T| - mu max(f_N, 0))_+ / F                                                              (judge.2)
//   dissipation   |f_T . c_T + mu f_N |c_T|| / (F a dt)                                                       (judge.3)
// Scales of an island (trees that contacts with force join): F the largest force or the weight of its trees, a the
// acceleration of gravity and what would stop its fastest contact within the step. Contacts without force say nothing
// of what is large.
#pragma once

#include <vector>

#include "stepping/step.hpp"

namespace tribo {

class Judge {
 public:
  explicit Judge(const Model& model);
  /// Worst of each law over the contacts; not judged where the outcome says so.
  LawResiduals operator()(const Start& start, const Outcome& outcome);

 private:
  struct Scale {
    double force = 0, motion = 0;  ///< F [N], a [m/s^2]
  };
  int root(int tree);
  void find_scales(const Start& start, const Outcome& outcome);
  int tree_of(const Contact& contact) const;

  const Model& model_;
  std::vector<int> parent_;    // by tree
  std::vector<Scale> scales_;  // by root
};

}  // namespace tribo
