// What control decides, in the form that every stepper reads. Control fills it; the contact solve may hold part of it.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "tribo/types.hpp"

namespace tribo {

/// Torque on each velocity coordinate: tau + kp (q_ref - q) + kd (v_ref - v), within [lower, upper].
/// Steppers that can take the gains implicitly do (q and v at the end of the step); the others take them explicitly.
/// Where there is a velocity target, the torque is instead whatever within [lower, upper] brings the velocity at the
/// end of the step as near to it as contacts allow: a row of the contact problem (rigid), a stiff drive (the others).
/// Shape (nv) each.
struct Actuation {
  VecX tau;           ///< feed-forward [N m] or [N]
  VecX kp;            ///< [N m/rad] or [N/m], >= 0
  VecX kd;            ///< [N m s/rad] or [N s/m], >= 0
  VecX error;         ///< q_ref - q as a velocity-space difference [rad] or [m]
  VecX v_ref;         ///< [rad/s] or [m/s]
  VecX target;        ///< velocity at the end of the step [rad/s] or [m/s]; NaN: none
  VecX lower, upper;  ///< limits of the whole [N m] or [N]
  double dt = 0;      ///< time for which this is decided: the step, or the controller's period where longer [s]
  VecX external;      ///< generalised force of pushes; not limited, not an actuator's work [N m] or [N]
  int unsolved = 0;   ///< controllers whose tick found no answer: they go on with their last torque

  bool has_target(int k) const { return !std::isnan(target[k]); }

  /// What a controller writes, in the order in which the State holds it between ticks.
  static constexpr std::size_t held = 8;
  std::array<VecX*, held> decided() { return {&tau, &kp, &kd, &error, &v_ref, &target, &lower, &upper}; }

  /// Asks for nothing, without limits.
  void resize(int nv) {
    const double inf = std::numeric_limits<double>::infinity();
    for (VecX* x : {&tau, &kp, &kd, &error, &v_ref, &external}) x->setZero(nv);
    target.setConstant(nv, std::numeric_limits<double>::quiet_NaN());
    lower.setConstant(nv, -inf);
    upper.setConstant(nv, inf);
    unsolved = 0;
  }
};

}  // namespace tribo
