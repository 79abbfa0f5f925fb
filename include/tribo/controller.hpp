// Control: reads the state, writes the Actuation that the steppers read.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/model.hpp"
#include "tribo/options.hpp"
#include "tribo/reference.hpp"
#include "tribo/state.hpp"

namespace tribo {

class Dynamics;

class Controller {
 public:
  virtual ~Controller() = default;
  /// Time between ticks [s]; 0: every step. Between ticks what it wrote is held, in the State.
  virtual double period() const { return 0; }
  /// Does it set velocity targets? Only steppers that solve rows take them.
  virtual bool sets_targets() const { return false; }
  /// Numbers that the controller remembers from tick to tick; they live in the State.
  virtual int memory() const { return 0; }
  /// Adds what it decides to the actuation, whose limits are those of the model and may be narrowed. dynamics holds M,
  /// h and the poses at (q, v).
  virtual void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
                       Actuation& actuation) = 0;
};

/// What `[controller] name` may be.
struct ControllerEntry {
  std::string name = {};
  std::string summary = {};  ///< one line for `tribo list controllers`
  OptionTable options = {};  ///< its keys in [controller]
  /// A controller of one member of the model, by its index. Null where the library makes it from more than plain
  /// options: see the makers below.
  std::function<std::unique_ptr<Controller>(const Model&, int member, const Options&)> make = {};
};
/// In the order in which they were registered, those of the library first.
const std::deque<ControllerEntry>& controllers();
const ControllerEntry& controller_entry(const std::string& name);
/// Adds a controller to the table, for scenes, lists and pages. Before it is used, and not from two threads at once.
/// InvalidInput where the name is taken.
void register_controller(ControllerEntry entry);

/// Of the torque or force of each joint; empty: those of the model. Shape (nv of the member).
struct EffortLimits {
  VecX lower, upper;  ///< [N m] or [N]
};

/// Joint position control of one member: kp (q_ref - q) + ki times its integral + kd (v_ref - v) + tau_ff, within the
/// effort limits. The gains are taken implicitly by steppers that can, unless implicit is false.
struct PdOptions {
  int member = 0;
  VecX q_ref;                                  ///< (nq of the member)
  std::shared_ptr<const Reference> reference;  ///< moving; null: q_ref
  VecX kp, kd;                                 ///< (nv of the member); 0 where not controlled
  VecX ki;                                     ///< (nv of the member) [N m/(rad s)] or [N/(m s)]; empty: 0
  VecX tau_ff;                                 ///< (nv of the member) [N m] or [N]
  /// Of a fixed base: in place of tau_ff, what holds this model against gravity where the reference is. Null: tau_ff.
  std::shared_ptr<const Model> weight;
  EffortLimits limits;
  double period = 0;  ///< between ticks [s]; 0: every step
  bool implicit = true;
  /// Factors on kp and kd (nv of the member), read at every tick; they belong to the caller. Null: 1.
  const double* gains = nullptr;
};
std::unique_ptr<Controller> make_pd(const Model& model, const PdOptions& options);

/// The motors that the file of a member describes (tribo/actuator.hpp), each under a control that stays.
struct ActuatorOptions {
  int member = 0;
  VecX control;          ///< one for each actuator of the member, in their units
  VecX activation = {};  ///< of each actuator at the start; empty: 0
};
std::unique_ptr<Controller> make_actuators(const Model& model, const ActuatorOptions& options);

/// Joint velocities as constraints of the step, within the effort limits: see velocity_constraint.cpp.
struct VelocityConstraintOptions {
  int member = 0;
  std::shared_ptr<const Reference> reference;
  TargetOptions target;
  EffortLimits limits;
  VecX driven;  ///< (nv of the member), not 0 where a target is set; empty: every joint with a motor
};
std::unique_ptr<Controller> make_velocity_constraint(const Model& model, const VelocityConstraintOptions& options);

/// A trot whose joint velocities are constraints of the step, and whose stance feet do not slip: see
/// trot_constraint.cpp.
struct TrotConstraintOptions {
  int member = 0;
  Trot trot;
  VecX q_stand;  ///< the pose in which all four feet stand (nq of the model)
  EffortLimits limits;
  double rate = 20;  ///< at which the base returns to its plan [1/s]
};
std::unique_ptr<Controller> make_trot_constraint(const Model& model, const TrotConstraintOptions& options);

/// Torques by inverse dynamics; those of a floating base with the contact forces that they predict: see
/// inverse_dynamics.cpp.
struct InverseDynamicsOptions {
  int member = 0;
  std::shared_ptr<const Reference> reference;
  TargetOptions target;
  EffortLimits limits;
  double period = 0;  ///< between ticks [s]; 0: every step
};
std::unique_ptr<Controller> make_inverse_dynamics(const Model& model, const InverseDynamicsOptions& options);

}  // namespace tribo
