// Bodies whose motion is given: platforms, conveyors, shakers. Forces do not move them, they move what touches them.
//
//   p(t) = p_0 + velocity t + amplitude (sin(omega t + phase) - sin(phase))          (kinematic.1)
//   R(t) = R_0 exp(angular_velocity t + swing (sin(omega t + phase) - sin(phase)))   (kinematic.2)
// with omega = 2 pi frequency; angular_velocity and swing along one axis of the body, so that the angles add.
// One that was commanded goes steadily from where it is to a pose, and stays there; the state holds the command:
//   p(t) = p_0 + s (p_1 - p_0),  R(t) = R_0 exp(s r),  R_1 = R_0 exp(r),  s = (t - start) / (end - start) in [0, 1]   (kinematic.3)
#pragma once

#include <span>
#include <string>

#include "tribo/types.hpp"

namespace tribo {

struct Motion {
  Vec3 velocity = Vec3::Zero();          ///< in W [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< in the axes of the body [rad/s]
  Vec3 amplitude = Vec3::Zero();         ///< in W [m]
  Vec3 swing = Vec3::Zero();             ///< in the axes of the body, along angular_velocity where both are [rad]
  double frequency = 0;                  ///< [Hz], >= 0
  double phase = 0;                      ///< [rad]
};

struct KinematicBody {
  std::string name;
  Placement X_WB;  ///< at t = 0
  Motion motion;

  Placement pose(double t) const;  ///< (kinematic.1), (kinematic.2)
};

/// Motion of a rigid body at an instant, in W.
struct Twist {
  Vec3 v = Vec3::Zero();  ///< of the body's origin [m/s]
  Vec3 w = Vec3::Zero();  ///< [rad/s]
};

struct KinematicCommand {
  int body = 0;               ///< its place in Model::kinematic
  double start = 0, end = 0;  ///< [s], start < end
  Placement from, to;         ///< in W

  Placement pose(double t) const;  ///< (kinematic.3)
  Twist mean_twist(double t, double dt) const;
};

/// A time, and what kinematic bodies are told then: this says where they are.
struct KinematicTime {
  double t = 0;                                ///< [s]
  std::span<const KinematicCommand> commands;  ///< sorted by body; the others move as the model says
  KinematicTime later(double time) const { return {t + time, commands}; }
};

class Model;
Placement kinematic_pose(const Model& model, int k, const KinematicTime& time);
Twist kinematic_twist(const Model& model, int k, const KinematicTime& time, double dt);
/// InvalidInput where one names no kinematic body of the model, is not sorted, or holds no times or poses.
void check_commands(const Model& model, std::span<const KinematicCommand> commands);

/// Steady motion that takes the body from its pose at t to its pose at t + dt: what it touches goes with it exactly.
Twist mean_twist(const KinematicBody& body, double t, double dt);

/// Geometry::body of kinematic body k, and back; k is -1 for the world and for bodies of trees.
inline int kinematic_body(int k) { return -2 - k; }
inline int kinematic_index(int body) { return body <= -2 ? -2 - body : -1; }

}  // namespace tribo
