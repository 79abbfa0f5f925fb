// Floating trees that nothing touches keep their linear momentum (rigid.9).
#pragma once

#include <vector>

#include "stepping/workspace.hpp"

namespace tribo {

class Flight {
 public:
  /// Articulated floating trees that neither contacts, rows nor pushes act on, and their momentum before the step.
  void begin(const Model& model, const Workspace& work);
  /// What the moving centroidal matrix lost of it is given back to the base.
  void end(const Model& model, State& state, Workspace& work, double dt) const;

 private:
  std::vector<int> trees_;
  std::vector<Vec3> momentum_;
};

}  // namespace tribo
