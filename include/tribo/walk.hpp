// A quadruped that walks where it is told: gait and footholds, predictive control of one body, whole-body control,
// feedback of the joints.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "tribo/controller.hpp"

namespace tribo {

/// What the robot is to do from a time on, in the axes of its heading.
struct WalkCommand {
  double t = 0;                  ///< [s]
  Vec3 velocity = Vec3::Zero();  ///< forward, to the left [m/s], turning to the left [rad/s]
};

/// How the predictive control weighs squared errors of the body and its forces.
struct WalkWeights {
  double position = 2, height = 20;      ///< [1/m^2]
  double tilt = 2, heading = 10;         ///< of roll and pitch, of yaw [1/rad^2]
  double velocity = 0.2;                 ///< [s^2/m^2]
  double tilting = 0.02, turning = 0.3;  ///< of the angular velocity [s^2/rad^2]
  double force = 3e-4;                   ///< of a force over the mass [s^4/m^2]
};

/// NaN: by the size of the robot.
struct WalkOptions {
  static constexpr double by_size = std::numeric_limits<double>::quiet_NaN();
  int member = 0;
  VecX q_stand;                       ///< all four feet stand (nq of the model)
  std::vector<WalkCommand> commands;  ///< in the order of their times; none: step on the spot
  double acceleration = 1;            ///< at which the command is followed [m/s^2]; twice that for turning [rad/s^2]
  double start = 0.3;                 ///< until then it stands [s]
  double gait_period = by_size;       ///< [s]
  double duty = 0.5;                  ///< share of it for which a foot stands
  double swing_height = by_size;      ///< of a foot over what lies between its footholds [m]
  double foothold_gain = by_size;     ///< of the velocity error [s]
  double lock = 0.04;                 ///< a foothold stays for this time before touch-down [s]
  int nodes = 16;                     ///< of the predictive control, over one gait period
  double mu = 0.6;                    ///< of its friction pyramid
  double most_force = 1.5;            ///< of a foot over the weight [-]
  WalkWeights weights;
  double base_kp = 30, base_kd = 8;   ///< of the body towards its reference, between solutions [1/s^2], [1/s]
  double force_weight = 0.1;          ///< of changing the forces of the prediction, over the mass [-]
  double kp = by_size, kd = by_size;  ///< of the joints [N m/rad], [N m s/rad]
  double period = 1e-3;               ///< between ticks; 0: every step [s]
};
/// InvalidInput for what is no quadruped, and for values out of their range.
std::unique_ptr<Controller> make_walk(const Model& model, const WalkOptions& options);

}  // namespace tribo
