// What the impacts of a step send off, so that it may meet what was not listed with the velocities of the start.
#pragma once

#include <vector>

#include "model/sizes.hpp"
#include "tribo/step.hpp"

namespace tribo {

class SentOff {
 public:
  /// margin: of the list of contacts [m]; negative: a share of the smaller shape.
  SentOff(const Model& model, double margin);
  /// Does an impact take a point of a tree more than half the margin away from where its velocity at the start does? An
  /// upper bound by the joints, without poses. Trees with velocity targets go where they are told.
  bool operator()(const Start& start, const Outcome& outcome) const;

 private:
  bool farther(const Start& start, const Outcome& outcome, int body, double length) const;

  double margin_;
  Sizes sizes_;
  VecX reach_;  ///< how far a point moves with one unit of a velocity, at most (nv)
};

}  // namespace tribo
