// What a user commands of one world between steps: targets of its pd controllers, torques, controls of the actuators that
// its robots' files describe, wrenches on its bodies, and velocities of its 'walk' controllers.
#pragma once

#include <string>
#include <vector>

#include "tribo/scene.hpp"

namespace tribo {

/// Numbers that belong to whoever steps the world; they stay in place as long as it lives.
struct CommandRows {
  double* target =
      nullptr;  ///< q_ref of the 'pd' controllers (nq); a moving reference goes on until this is written to
  double* torque = nullptr;  ///< added to that of the controllers, within the limits (nv) [N m] or [N]
  double* ctrl = nullptr;    ///< of the actuators, in their order (nu), in their units
  double* wrench = nullptr;  ///< force at the centre of mass and torque of every body, in W (bodies x 6) [N], [N m]
  double* gains = nullptr;   ///< factors on kp and kd of the 'pd' controllers (nv) [-]
  double* force = nullptr;  ///< where the actuators write the force that each gave in the last step (nu); null: nowhere
  /// Forward, to the left [m/s], turning [rad/s] of each member that walks (members x 3); NaN: as the scene says. Null:
  /// the scene alone commands.
  double* walk = nullptr;
};

/// Of the actuators that the files of the robots describe: "robot/name", member by member.
std::vector<std::string> actuator_names(const Model& model);
/// 'actuators' controllers of a scene: only theirs read ctrl.
bool has_actuators(const Scene& scene);
bool has_pd(const Scene& scene);
/// Members of 'walk' controllers: only these read walk.
std::vector<int> walkers(const Scene& scene);

/// Adds the controllers of a scene to a simulation of its model, so that they follow the rows; and those that add the
/// torques and wrenches, last, which remember nothing.
void add_commanded(Simulation& simulation, const Scene& scene, const CommandRows& rows);
void add_direct(Simulation& simulation, const CommandRows& rows);
/// The rows as the scene has them: targets and controls of its controllers, no torque and no wrench. Gains stay.
void clear_commands(const Scene& scene, const CommandRows& rows);
/// The state has the activations that belong to a keyframe, where 'actuators' controllers remember them, and its mocap bodies
/// stand where it puts them. q, v and controls are not touched.
void begin_at(const Scene& scene, const std::string& pose, State& state);
/// What is not finite in them, in words; "" where all is.
std::string unusable(const Model& model, const CommandRows& rows);

}  // namespace tribo
