// Control: reads the state, writes the Actuation that the steppers read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/model.hpp"
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

/// Joint position control of one member: kp (q_ref - q) + kd (v_ref - v) + tau_ff, within the effort limits.
/// The gains are taken implicitly by steppers that can, unless implicit is false.
struct PdOptions {
  int member = 0;
  VecX q_ref;   ///< (nq of the member)
  VecX kp, kd;  ///< (nv of the member); 0 where not controlled
  VecX tau_ff;  ///< (nv of the member) [N m] or [N]
  bool implicit = true;
};
std::unique_ptr<Controller> make_pd(const Model& model, const PdOptions& options);

/// The motors that the file of a member describes (tribo/actuator.hpp), each under a control that stays.
struct ActuatorOptions {
  int member = 0;
  VecX control;  ///< one for each actuator of the member, in their units
};
std::unique_ptr<Controller> make_actuators(const Model& model, const ActuatorOptions& options);

}  // namespace tribo
