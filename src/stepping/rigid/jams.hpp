// Contacts that friction jams: a loop of links, or a body between others, in which forces of any size hold each other.
//
//   f_N dt > 100 (sqrt(2 m T_f) + (m g + tau / r) dt)  more than a lever of 100 makes of all that moves, weighs or drives  (rigid.15)
// with the mass m of the island, its energy T_f before contacts act, what its motors give, tau, and the size r of what touches, 1 m at
// most. No body bears such a force: the contact gives way,
//   R_N = G_NN / 100
// and the step is solved again. Forces that move the contact by less than the overlap that is left alone are no jam.
#pragma once

#include "model/sizes.hpp"
#include "tribo/step.hpp"

namespace tribo {

class Jams {
 public:
  explicit Jams(const Model& model) : sizes_(model) { momentum_.setZero(model.nv); }

  /// False where no force is beyond a lever of the weight alone, and none beyond (rigid.15).
  static bool possible(const IslandSolution& s);
  /// Contacts whose forces are beyond (rigid.15) give way from now on; is there one that did not?
  /// `driven`: what motors give, in all [N], [N m].
  bool soften(const Start& start, const VecX& v_free, double driven, IslandSolution& s);

 private:
  Sizes sizes_;
  VecX momentum_;
  VectorBuffer diagonal_;  // of G
};

}  // namespace tribo
