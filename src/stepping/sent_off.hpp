// What the impacts of a step send off, so that it may meet what was not listed with the velocities of the start.
#pragma once

#include <vector>

#include "tribo/step.hpp"

namespace tribo {

class SentOff {
 public:
  explicit SentOff(const Model& model);
  /// Does an impact take a point of a tree more than this length away from where its velocity at the start does? An upper
  /// bound by the joints, without poses. Trees with velocity targets go where they are told.
  bool operator()(const Start& start, const Outcome& outcome, double length) const;

 private:
  bool farther(const Start& start, const Outcome& outcome, int body, double length) const;

  VecX reach_;  ///< how far a point moves with one unit of a velocity, at most (nv)
};

}  // namespace tribo
