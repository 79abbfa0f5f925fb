// Motors that a robot file describes: what they pull on, and the force that a control gives.
//
//   l = sum over ends of gear . x,  ldot = gear . v                                  (act.1)
//   f = (g0 + g1 l + g2 ldot) u + b0 + b1 l + b2 ldot, within its range              (act.2)
//   tau = gear f                                                                     (act.3)
// x is the coordinate of a joint, the rotation vector of a spherical one; a free joint has no length. At a frame of a body
// (a thruster) the gear is a force and a moment in the axes of the frame; against another frame it is along the axes of
// that one, and l is the way and the turn between them. Where the motor has an activation a, it takes the place of u:
//   filter: a' = (u - a) / time,  integrator: a' = u                                 (act.5)
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// A joint that a motor pulls on.
struct ActuatorEnd {
  int body = -1;                 ///< whose joint it is
  std::array<double, 6> gear{};  ///< first 1, 3 (moment) or 6 (force in W, moment) by the kind of joint
  bool in_parent = false;        ///< moments of a spherical or free joint in the axes of the parent, not of the body
  bool at_frame = false;         ///< acts on a frame of `body`, gear: force and moment, instead of its joint
  Placement X_BF = {};           ///< that frame
  bool against = false;          ///< and back on another one, whose axes it acts along
  int other = -1;                ///< the body of that one; -1: the world
  Placement X_OR = {};           ///< and its place there
  int tendon = -1;               ///< acts on this tendon of the model, gear[0], instead of a joint
};

enum class ActivationKind { None, Filter, FilterExact, Integrator };

struct Actuator {
  std::string name;
  std::vector<ActuatorEnd> ends;
  std::array<double, 3> gain{}, bias{};  ///< (act.2)
  double control_lower = -std::numeric_limits<double>::infinity();
  double control_upper = std::numeric_limits<double>::infinity();
  double force_lower = -std::numeric_limits<double>::infinity();  ///< of f, before the gear
  double force_upper = std::numeric_limits<double>::infinity();
  ActivationKind activation = ActivationKind::None;
  double time = 0;     ///< of the filter [s]
  bool early = false;  ///< the force is that of the activation at the end of the step
  double activation_lower = -std::numeric_limits<double>::infinity();
  double activation_upper = std::numeric_limits<double>::infinity();
};

}  // namespace tribo
