// What a model may ask of a stepper. A stepper uses a feature or refuses the model by name: nothing is dropped in
// silence.
#pragma once

#include <string>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

enum class Feature {
  JointLimits,
  JointDamping,
  JointFriction,
  JointStiffness,
  Connect,
  Weld,
  JointEquality,
  KinematicBodies,
  Restitution,
  NormalCompliance,
  TorsionalFriction,
  RollingFriction,
  Cylinders,
  Ellipsoids,
  Terrain,
  Tendons,
  BallLimits,
  FreeFriction
};

struct FeatureEntry {
  Feature feature;
  std::string name;     ///< what messages and tables call it
  std::string summary;  ///< one line
  /// Where the model has it, in words; "" where it has not.
  std::string (*found)(const Model&);
};

/// Every feature: one line each.
const std::vector<FeatureEntry>& features();

/// InvalidInput where the model has a feature that the stepper does not use; names the place and the steppers that do.
void refuse_unused_features(const std::string& stepper, const Model& model);

/// docs/features.md: the table stepper x feature {used, refused}.
std::string feature_page();

}  // namespace tribo
