// Coordinates of a motion about its start. The free joints' linear velocity is taken in the axes of the start, so that a
// step works on a vector space; at its end it is turned into those of the body:
//   free joint: displacement d in the axes of the start, rotation vector r; R = R_0 exp(r)
//   d' = u,  r' = T(r) w,  u' = exp(r) a,  w' = alpha                                                       (chart.1)
// u: linear velocity in the axes of the start, w: angular in body axes, (a, alpha): what the dynamics gives there,
// T(r) w = w + r x w / 2 + (1/|r|^2 - (1 + cos|r|) / (2 |r| sin|r|)) r x (r x w). Spherical joints: r alone.
#pragma once

#include <vector>

#include "tribo/model.hpp"

namespace tribo {

class Chart {
 public:
  explicit Chart(const Model& model);

  /// First velocity coordinate of each free joint.
  const std::vector<int>& free() const { return free_; }
  /// Turns the linear velocities x of free joints by what moving along v for a time turns them (nv): from the axes of
  /// the end to those of the start; with a negative time from the start to the end.
  void turn(const VecX& v, double time, VecX& x) const;
  /// The same of linear and angular velocities: where a body is put elsewhere, and its motion is to stay as it is in W.
  void turn_all(const VecX& v, double time, VecX& x) const;
  /// Rate of `move` where the velocity is u (chart.1).
  void rate(const VecX& move, const VecX& u, VecX& rate) const;

 private:
  std::vector<int> free_, turning_;  // first linear coordinate of free joints, first angular one of joints that turn
};

}  // namespace tribo
