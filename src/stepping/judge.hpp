// The judge of a step: how far its contact forces and end velocities are from the laws of rigid contact. The same for
// every scheme, with the same scales, whatever law it solved.
//
// With the gap phi and the velocity c- at the start, mean force f and velocity c at the end, all in the axes of a contact:
//   s = c_N + max(phi, 0) / dt                          as the step may close the gap and no more
//   s = c_N + e c-_N                                    instead, at an impact
//   s = c_N + (phi + compliance f_N) / (dt + tau)       instead, where the surface is compliant; tau: 0 before it touches
//   signorini     |min(f_N / F, s / (a dt))|                                                                  (judge.1)
//   coulomb       (|f_T| - mu max(f_N, 0))_+ / F                                                              (judge.2)
//   dissipation   |f_T . c_T + mu f_N |c_T|| / (F a dt)                                                       (judge.3)
// Scales of an island (trees that contacts with force join): F the largest force or the weight of its trees, and
//   a = max(F / m, 9.81 m/s^2) + |c-| / dt                                                                    (judge.4)
// with its mass m and its fastest contact c-. Contacts without force say nothing of what is large.
#pragma once

#include <vector>

#include "model/sizes.hpp"
#include "tribo/step.hpp"

namespace tribo {

class Judge {
 public:
  explicit Judge(const Model& model);
  /// Worst of each law over the contacts; not judged where the outcome says so.
  LawResiduals operator()(const Start& start, const Outcome& outcome);

 private:
  struct Scale {
    double force = 0, mass = 0, speed = 0;  ///< [N], [kg], of the fastest contact at the start [m/s]
    double per_force = 0, per_speed = 0;    ///< 1 / F, 1 / (a dt); 0: not known yet
  };
  int root(int tree) {
    while (parent_[at(tree)] != tree) tree = parent_[at(tree)] = parent_[at(parent_[at(tree)])];
    return tree;
  }
  void find_scales(const Start& start, const Outcome& outcome);
  const Scale& scale_of(const Contact& contact, double dt);
  int tree_of(const Contact& c) const { return model_.bodies[at(c.body_b >= 0 ? c.body_b : c.body_a)].tree; }
  double separation(const Contact& contact, const ContactReport& r, double dt) const;

  const Model& model_;
  double gravity_;  // [m/s^2]
  bool soft_;       // some surface is compliant
  Sizes sizes_;
  std::vector<int> parent_;    // by tree
  std::vector<Scale> scales_;  // by root
};

}  // namespace tribo
