// What of a model may be another while it runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

struct ModelChanges {
  std::map<int, double> mass;  ///< of a body [kg], > 0; its inertia grows with it, its centre of mass stays
  /// Both coefficients of friction of a material against all others [-], >= 0.
  std::map<int, double> friction;
  std::vector<int> without;          ///< equalities that cease to hold
  std::vector<Equality> equalities;  ///< that hold from now on

  bool empty() const { return mass.empty() && friction.empty() && without.empty() && equalities.empty(); }
};

/// The model with these changes, and its own hash. InvalidInput for what is not there or out of range.
Model changed(const Model& model, const ModelChanges& changes);

}  // namespace tribo
