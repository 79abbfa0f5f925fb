// A trained policy as a controller: a small network that moves the references of the joints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/controller.hpp"

namespace tribo {

/// What a policy observes, in the order in which its numbers name them. The robot has a free base.
enum class PolicyTerm {
  Gravity,          ///< direction of gravity in the axes of the base (3)
  Linear,           ///< velocity of the base in its axes (3) [m/s]
  Angular,          ///< angular velocity of the base in its axes (3) [rad/s]
  Joints,           ///< less the pose (joints) [rad]
  JointVelocities,  ///< (joints) [rad/s]
  Action,           ///< the last one (joints) [-]
  Command,          ///< velocity that is asked for: forward, to the left [m/s], yaw rate [rad/s] (3)
  Clock             ///< sine and cosine of the gait's clock (2)
};

/// y = clip((x - mean) / std, -10, 10);  y <- elu(W y + b) for each layer, the last one without elu.      (policy.1)
struct Policy {
  std::vector<MatX> weights;  ///< (out x in) of each layer
  std::vector<VecX> biases;   ///< (out)
  VecX mean, std;             ///< of the observation
  std::vector<PolicyTerm> layout;
  std::vector<std::string> joints;  ///< that it moves, without the name of the robot
  VecX pose;                        ///< of these joints [rad]
  double reach = 0;                 ///< what an action of 1 moves a reference by [rad]
  double kp = 0, kd = 0;            ///< [N m/rad], [N m s/rad]
  double period = 0;                ///< [s]
  double frequency = 0;             ///< of the gait's clock [Hz]
  VecX phase;                       ///< of the joints on the clock [-]
  VecX lift;                        ///< what the clock adds to the references [rad]
  MatX stride;                      ///< and of the command (joints x 3) [rad s/m], [rad s/rad]
};

/// From an .npz of tribo.Policy.save. InvalidInput names the file, the array and what is wrong with it.
Policy load_policy(const std::string& path);

struct PolicyOptions {
  int member = 0;
  std::shared_ptr<const Policy> policy;
  double forward = 0, left = 0, yaw = 0;  ///< what is asked for [m/s], [m/s], [rad/s]
  double phase = 0;                       ///< of the gait's clock at t = 0 [-]
};
/// reference = pose + lift arc(p) + stride command way(p) + reach clip(network(observation), -1, 1) with p = clock + phase,
/// every period, held by kp and kd.                                                                          (policy.2)
/// The last action is in the State. InvalidInput where the policy does not fit the robot.
std::unique_ptr<Controller> make_policy(const Model& model, const PolicyOptions& options);

}  // namespace tribo
