// Task-space inverse dynamics: torques that bring a robot's centre of mass, frames and posture where they should be, with
// contact forces inside their cones and torques inside their limits.
#pragma once

#include <memory>
#include <string>
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

/// A frame held where it is at the start, or led along a course: its place, its rotation, or both.
struct FrameTask {
  int frame = -1;  ///< index in Model::frames
  TaskGain gain;
  bool position = true, rotation = true;
};

/// Where tasks go and which feet stand over time. What is null or empty is held as at the start. Rotations go along the
/// shortest turn from knot to knot; after the last knot all is at rest.
struct TaskCourse {
  double dt = 0;                             ///< between knots [s]
  std::shared_ptr<const Reference> com;      ///< of the centre of mass, in the world (3) [m]
  std::shared_ptr<const Reference> posture;  ///< of the joints (nv of the member)
  struct Way {
    std::shared_ptr<const Reference> place;  ///< in the world (3) [m]
    std::vector<Quat> turns;                 ///< from the frame to the world, by knot
  };
  std::vector<Way> frames;                ///< by frame task
  std::vector<std::vector<char>> stands;  ///< by foot body, by knot: does it stand from this knot to the next
};
/// Bodies that carry feet, in the order of the member's feet.
std::vector<int> foot_bodies(const Model& model, const Member& member);
/// From an .npz with dt and any of: com (n, 3), posture (n, joints), frame.NAME (n, 3) or (n, 7) for each frame task,
/// stands.NAME (n), 0 or 1, of the foot that NAME (a body, or a frame on it) means. InvalidInput names the array and what is
/// wrong with it.
TaskCourse load_task_course(const std::string& path, const Model& model, const Member& member,
                            const std::vector<FrameTask>& frames);

struct TaskSpaceOptions {
  int member = 0;
  double period = 0;                  ///< the torque is held in between [s]; 0: every step
  VecX q_ref;                         ///< posture, and where the tasks are held (nq of the member)
  TaskGain com{1, 2, -1};             ///< of the centre of mass
  Vec3 com_amplitude = Vec3::Zero();  ///< reference: com(q_ref) + amplitude sin(rate t) [m]
  double com_rate = 0;                ///< [rad/s]
  std::shared_ptr<const TaskCourse> course;
  TaskGain posture{1e-3, 2, -1};
  std::vector<FrameTask> frames;
  double contact_kp = 1;       ///< feet are held at their place; kd = 2 sqrt(kp) [1/s^2]
  double force_weight = 1e-6;  ///< on the squares of the contact forces [1/kg^2]
  double mu = 0.7;             ///< of the pyramid inside the cone
  double least_force = 0.1;    ///< normal force of a foot [N]
};
/// Feet are the member's contact points, on the ground along z: all of them, or those that the course has stand. A foot that
/// lands is held where it is when it does.
/// InvalidInput for gains that are negative or not finite, a robot without feet
/// or without a floating base.
std::unique_ptr<Controller> make_task_space(const Model& model, const TaskSpaceOptions& options);

}  // namespace tribo
