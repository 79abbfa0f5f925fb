// What control decides, in the form that every stepper reads. Control fills it; the contact solve may hold part of it.
#pragma once

#include "tribo/types.hpp"

namespace tribo {

/// Torque on each velocity coordinate: tau + kp (q_ref - q) + kd (v_ref - v), within [lower, upper].
/// Steppers that can take the gains implicitly do (q and v at the end of the step); the others take them explicitly.
/// Shape (nv) each.
struct Actuation {
  VecX tau;           ///< feed-forward [N m] or [N]
  VecX kp;            ///< [N m/rad] or [N/m], >= 0
  VecX kd;            ///< [N m s/rad] or [N s/m], >= 0
  VecX error;         ///< q_ref - q as a velocity-space difference [rad] or [m]
  VecX v_ref;         ///< [rad/s] or [m/s]
  VecX lower, upper;  ///< limits of the whole [N m] or [N]
  VecX external;      ///< generalised force of pushes; not limited, not an actuator's work [N m] or [N]

  void resize(int nv) {
    const double inf = std::numeric_limits<double>::infinity();
    for (VecX* x : {&tau, &kp, &kd, &error, &v_ref, &external}) x->setZero(nv);
    lower.setConstant(nv, -inf);
    upper.setConstant(nv, inf);
  }
};

}  // namespace tribo
