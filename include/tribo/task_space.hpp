// Task-space inverse dynamics: torques that bring a robot's centre of mass,
// frames and posture where they should be, with contact forces inside their
// cones and torques inside their limits.
#pragma once

#include <memory>
#include <vector>

#include "tribo/controller.hpp"

namespace tribo {

/// How much a task counts, and how it is pulled to its reference: a = a_ref +
/// kp (x_ref - x) + kd (v_ref - v).
struct TaskGain {
  double weight = 0;  ///< of the squared error of the acceleration; 0: no task
  double kp = 1;      ///< [1/s^2], >= 0
  double kd = -1;     ///< [1/s]; negative: 2 sqrt(kp)
};

/// A frame held where it is at the start: its place, its rotation, or both.
struct FrameTask {
  int frame = -1;  ///< index in Model::frames
  TaskGain gain;
  bool position = true, rotation = true;
};

struct TaskSpaceOptions {
  int member = 0;
  double period = 0;                  ///< the torque is held in between [s]; 0: every step
  VecX q_ref;                         ///< posture, and where the tasks are held (nq of the member)
  TaskGain com{1, 2, -1};             ///< of the centre of mass
  Vec3 com_amplitude = Vec3::Zero();  ///< reference: com(q_ref) + amplitude sin(rate t) [m]
  double com_rate = 0;                ///< [rad/s]
  TaskGain posture{1e-3, 2, -1};
  std::vector<FrameTask> frames;
  double contact_kp = 1;       ///< feet are held at their place; kd = 2 sqrt(kp) [1/s^2]
  double force_weight = 1e-6;  ///< on the squares of the contact forces [1/kg^2]
  double mu = 0.7;             ///< of the pyramid inside the cone
  double least_force = 0.1;    ///< normal force of a foot [N]
};
/// Feet are the member's contact points, all on the ground along z.
/// InvalidInput for gains that are negative or not finite, a robot without feet
/// or without a floating base.
std::unique_ptr<Controller> make_task_space(const Model& model, const TaskSpaceOptions& options);

}  // namespace tribo
