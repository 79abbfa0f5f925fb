// Floating trees that nothing touches keep their linear momentum (rigid.9).
#pragma once

#include "tribo/step.hpp"

namespace tribo {

class Flight {
 public:
  explicit Flight(const Model& model) : end_(model) {}
  /// What the moving centroidal matrix lost of it, from the start to (q, v), is given back to the base: of articulated
  /// floating trees that neither contacts, rows nor pushes act on.
  void keep_momentum(const Start& start, const VecX& q, VecX& v);

 private:
  Dynamics end_;
};

}  // namespace tribo
