// What a robot's file says beside its bodies, shapes and motors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tribo/shape.hpp"

namespace tribo {

/// A joint whose range of torque holds for all that motors give there together: those in the joint, those that pull on
/// frames and tendons, and the compensation of gravity where motors give that too.
struct SharedRange {
  int iv = 0;                   ///< velocity coordinate
  double lower = 0, upper = 0;  ///< [N m] or [N]
  bool carries = false;         ///< motors give the compensation of gravity
};

enum class FileSensorKind {
  JointPosition,
  JointVelocity,
  JointTorque,  ///< of its motors
  BallOrientation,
  BallVelocity,
  TendonPosition,
  TendonVelocity,
  ActuatorPosition,
  ActuatorVelocity,
  ActuatorForce,
  Velocimeter,
  Gyroscope,
  Accelerometer,
  Magnetometer,
  Force,
  Torque,
  Touch,
  Rangefinder,
  FramePosition,
  FrameOrientation,
  FrameX,
  FrameY,
  FrameZ,
  FrameLinearVelocity,
  FrameAngularVelocity,
  FrameLinearAcceleration,
  FrameAngularAcceleration,
  SubtreeCenter,
  SubtreeVelocity,
  SubtreeMomentum,
  Clock,
  TendonForce,  ///< of its motors
  JointLimitPosition,
  JointLimitVelocity,
  TendonLimitPosition,
  TendonLimitVelocity,
  PotentialEnergy,  ///< of weights and springs
  KineticEnergy,
  InsideZone
};

/// A place on a body; -1: the world; or a kinematic body.
struct SensorFrame {
  int body = -1;
  Placement X_BF;
};

/// A piece of what a sensor weighs.
struct SensorPart {
  int body = -1;
  Inertia inertia;  ///< in the frame of the body
};

/// An end of a piece of a tendon's path.
struct SensorPull {
  int tendon = -1, segment = -1;
  bool at_b = false;
};

/// A sensor that a file describes. Which fields mean something is up to its kind.
struct FileSensor {
  std::string name;
  FileSensorKind kind = FileSensorKind::Clock;
  int size = 1;                   ///< numbers
  int index = -1;                 ///< body of the joint, tendon, or actuator
  SensorFrame frame;              ///< that is measured
  bool relative = false;          ///< against another frame, along its axes
  SensorFrame reference;          ///< that one
  Vec3 field = Vec3::Zero();      ///< of a magnetometer, in W
  Geometry zone;                  ///< of a touch sensor, in its frame; or that a frame is inside of, in the reference
  std::vector<SensorPart> parts;  ///< what lies beyond a force sensor, or belongs to a subtree
  std::vector<int> geometries;    ///< of those; of the body of a touch sensor or rangefinder
  std::vector<SensorPull> pulls;  ///< by tendons on those parts
  std::vector<int> actuators;     ///< that pull on the tendon
  double cutoff = 0;              ///< of real numbers, both sides; 0: none
  bool positive = false;          ///< cut off from above alone
};

/// Where a mocap body stands.
struct MocapPlace {
  int body = 0;  ///< its place in Model::kinematic
  Placement X_WB;
};

struct RobotFile {
  std::map<std::string, VecX>
      velocities;  ///< by the name of the pose they belong to, where not all zero (nv of the member)
  std::map<std::string, VecX> activations;               ///< of its actuators, by that name, where not all zero
  std::map<std::string, std::vector<MocapPlace>> mocap;  ///< of its mocap bodies, by that name
  std::vector<SharedRange> ranges;
  std::vector<FileSensor> sensors;
};

}  // namespace tribo
