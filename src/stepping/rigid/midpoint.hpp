// The smooth part of the rigid step by the midpoint rule. See midpoint.cpp.
#pragma once

#include <vector>

#include "tribo/step.hpp"

namespace tribo {

class Midpoint {
 public:
  /// InvalidInput where a tree floats.
  explicit Midpoint(const Model& model);

  /// v_new of trees that nothing touches: from the free motion of semi-implicit Euler to the rule's own.
  void step(const Start& start, const VecX& extra, VecX& v_new);
  /// Their velocity at the middle of the step, along which q moves.
  void moves(const Model& model, VecX& motion) const;
  /// What is to be taken off the work that the motion needs by (rigid.8) for them [J].
  double charge(const Start& start, const VecX& v_new);

 private:
  std::vector<char> free_;  // by tree: nothing touches it in this step
  Dynamics dynamics_;       // at the middle of the step
  VecX q_, v_, d_, y_;
};

}  // namespace tribo
