// Lengths of actuators, and what they pull on: see tribo/actuator.hpp.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

inline bool on_joint(const ActuatorEnd& end) { return !end.at_frame && end.tendon < 0; }

/// Gear of an end on a joint along the velocities of that joint (up to 6); returns the length along it.
double gear_of(const Model& model, const ActuatorEnd& end, const VecX& q, const Dynamics& dynamics, double* gear);
/// dl/dq of an end that is not on a joint (nv); returns the length along it.
double pull_of(const Model& model, const ActuatorEnd& end, const VecX& q, const KinematicTime& time,
               const Dynamics& dynamics, VecX& pull);

struct ActuatorLength {
  double length = 0, speed = 0;
};
/// Allocates.
ActuatorLength length_of(const Model& model, const Actuator& actuator, const VecX& q, const VecX& v,
                         const KinematicTime& time, const Dynamics& dynamics);

}  // namespace tribo
