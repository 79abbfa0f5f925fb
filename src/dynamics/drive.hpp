// The torque of a drive on one velocity coordinate, tau + kp (q_ref - q) + kd (v_ref - v), within [lower, upper].
//   at the start or at a given place   tau + kp (e - moved) + kd (v_ref - v)                        (drive.1)
//   implicit over dt, moved = dt v     torque - gain v,  torque = tau + kp e + kd v_ref,  gain = kd + dt kp   (drive.2)
#pragma once

#include <algorithm>

#include "tribo/actuation.hpp"

namespace tribo {

/// Linear in the velocity at the end of the step. (drive.2)
struct Drive {
  double torque = 0;  ///< at the velocity zero [N m] or [N]
  double gain = 0;    ///< less per velocity [N m s/rad] or [N s/m]

  double at(double v) const { return torque - gain * v; }
};

inline Drive implicit_drive(const Actuation& a, int k, double dt) {
  return {a.tau[k] + a.kp[k] * a.error[k] + a.kd[k] * a.v_ref[k], a.kd[k] + dt * a.kp[k]};
}

/// What the gains ask for at a velocity, where q has moved since its error was measured. (drive.1)
inline double asked_torque(const Actuation& a, int k, double v, double moved = 0) {
  return a.tau[k] + a.kp[k] * (a.error[k] - moved) + a.kd[k] * (a.v_ref[k] - v);
}

inline double within_limits(const Actuation& a, int k, double torque) {
  return std::clamp(torque, a.lower[k], a.upper[k]);
}

}  // namespace tribo
