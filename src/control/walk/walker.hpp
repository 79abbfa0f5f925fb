// What the parts of the walking controller share: the robot as one body on four legs, and an instant of it.
#pragma once

#include <array>

#include "control/gait.hpp"
#include "tribo/walk.hpp"

namespace tribo::walk {

/// The robot as it stands.
struct Walker {
  Walker(const Model& model, const WalkOptions& options);

  int member = 0, tree = 0, base = 0;  ///< base: its body
  double mass = 0;                     ///< [kg]
  Mat3 inertia = Mat3::Zero();         ///< about the centre of mass, in the axes of the heading [kg m^2]
  double height = 0;                   ///< of the centre of mass above the soles [m]
  std::array<Leg, 4> legs;
  std::array<double, 4> radius{};  ///< of the feet; 0: points [m]
  std::array<Vec3, 4> home;        ///< soles about their middle, in the axes of the heading
};

/// The body at an instant.
struct Instant {
  Vec3 com = Vec3::Zero(), v = Vec3::Zero();     ///< centre of mass, in W
  Vec3 angles = Vec3::Zero(), w = Vec3::Zero();  ///< roll, pitch, yaw; angular velocity of the base in W
  std::array<Vec3, 4> foot;                      ///< centres of the feet in W
};
/// The yaw is that turn of the circle which is nearest to `near`.
Instant look(const Walker& walker, const Dynamics& dynamics, double near);

/// Rotation about z.
Mat3 heading(double yaw);
/// The one of x + k 2 pi that is nearest.
double nearest_turn(double x, double near);

/// What the controller remembers from tick to tick, all of it: plain numbers, so that the State can hold them. Zeros at
/// first.
struct WalkMemory {
  double begun;
  double node;        ///< at which the forces were found
  double command[3];  ///< that is followed now
  double ref[3];      ///< where the centre of mass is to be: x, y, yaw
  double force[12];   ///< of the feet, in W [N]
  struct Foot {
    double swings;
    double from[3], to[3];  ///< of its centre: where it left, where it lands or landed
  } foot[4];
};
constexpr int memory_size = static_cast<int>(sizeof(WalkMemory) / sizeof(double));

}  // namespace tribo::walk
