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
  std::map<int, Vec3> com;  ///< centre of mass of a body, in its frame [m]
  /// Of a velocity coordinate, >= 0: viscous damping [N m s/rad] or [N s/m], rotor inertia [kg m^2] or [kg], and dry
  /// friction [N m] or [N].
  std::map<int, double> damping, armature, dry_friction;
  std::vector<int> without;          ///< equalities that cease to hold
  std::vector<Equality> equalities;  ///< that hold from now on
};

/// The model with these changes, and its own hash. InvalidInput for what is not there or out of range.
Model changed(const Model& model, const ModelChanges& changes);

}  // namespace tribo
