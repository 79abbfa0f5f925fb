// Velocity targets in families that have no rows for them: a drive of a stiff gain,
//   torque = (gain / dt) (target - v'),  gain = 1000 M_kk                                                    (target.1)
// within its limits, with M_kk of the neutral configuration. Where nothing opposes, a thousandth of the way to the target
// is left at the end of a step at most.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

/// gain of (target.1) of every velocity coordinate (nv) [kg m^2] or [kg].
inline VecX target_gains(const Model& model) {
  Dynamics dynamics(model);
  dynamics.compute(model.neutral(), VecX::Zero(model.nv));
  VecX gains(model.nv);
  for (int k = 0; k < model.nv; ++k) gains[k] = 1000 * dynamics.inertia(k);
  return gains;
}

}  // namespace tribo
