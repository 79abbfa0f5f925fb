// The numbers of a model that may be others from world to world, and change between steps without anything being made anew:
// steppers, laws and controllers read them from the model in every step.
#pragma once

#include <string>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

/// One row of each; null: as the base has them.
struct ModelNumbers {
  const double* mass = nullptr;          ///< (bodies) [kg], > 0 where the base has a mass; inertia grows with it
  const double* com = nullptr;           ///< centres of mass, in the frames of the bodies (bodies x 3) [m]
  const double* mu_static = nullptr;     ///< (surfaces), >= 0
  const double* mu_dynamic = nullptr;    ///< (surfaces), >= 0
  const double* damping = nullptr;       ///< of joints (nv), >= 0 [N m s/rad] or [N s/m]
  const double* armature = nullptr;      ///< of joints (nv), >= 0 [kg m^2] or [kg]
  const double* dry_friction = nullptr;  ///< of joints (nv), >= 0 [N m] or [N]
};

/// "" where they can be those of the model; else what is wrong, with its name, value and bound.
std::string defect(const Model& base, const ModelNumbers& numbers);

/// Gives a copy of the base these numbers, and its own hash; they must be free of defects. Nothing allocates.
void set_numbers(Model& model, const Model& base, const ModelNumbers& numbers);
/// Would nothing begin or cease to be zero? Then whoever holds the model goes on with it. Else what lists joints with
/// friction, damping or armature, or free bodies whose frame is the principal one, must be made anew.
bool keeps_zeros(const Model& model, const Model& base, const ModelNumbers& numbers);

/// The same with memory of its own.
struct OwnNumbers {
  explicit OwnNumbers(const Model& model);
  /// InvalidInput for what is not there. Values are checked by `defect`.
  void change(const Model& model, const ModelChanges& changes);
  void scale(const ModelFactors& factors);
  ModelNumbers rows() const;

  std::vector<double> mass, com, mu_static, mu_dynamic, damping, armature, dry_friction;
};

}  // namespace tribo
