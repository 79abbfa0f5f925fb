// Every controller: one line each, and the keys of each.
#include "base/table.hpp"
#include "tribo/controller.hpp"
#include "tribo/policy.hpp"
#include "tribo/task_space.hpp"
#include "tribo/tracking.hpp"

namespace tribo {
namespace {

// What joints should do, in the keys of several controllers.
template <class T>
void mention_reference(FieldTable<T>& t) {
  t.mention("pose", "a name, or numbers", "as the robot stands", "that is held, or about which the reference moves");
  t.mention("joints", "a table by joint", "", "positions of single joints in that pose");
  t.mention("sinusoid", "a table: amplitude, frequency, phase", "", "joints swing about the pose");
  t.mention("trot", "a table: period, swing, height, speed, ramp, duration", "", "legs trot from the pose");
  t.mention("motion", "a file .npz: dt, q, v", "", "a motion over time");
}

template <class T>
void mention_limits(FieldTable<T>& t) {
  t.mention("effort", "a number, or a table by joint", "of the model", "largest torque or force, both ways");
  t.mention("effort_lower", "a number, or a table by joint", "of the model", "the same, downwards");
  t.mention("effort_upper", "a number, or a table by joint", "of the model", "the same, upwards");
}

template <class T>
void mention_target(FieldTable<T>& t) {
  t.mention("target", "position or velocity", "position",
            "asked for at the end of a step: the place of the reference, or its velocity");
  t.mention("share", "a number from 0 to 1", "1", "of the error of position that a step undoes");
}

template <class T>
void add_period(FieldTable<T>& t) {
  t.add("period", &T::period, at_least(0), "s", "the torque is held in between; 0: every step");
}

OptionTable pd_keys(bool integral) {
  FieldTable<PdOptions> t;
  t.mention("kp", "a number, or a table by joint", "0", "[N m/rad] or [N/m]");
  if (integral) t.mention("ki", "a number, or a table by joint", "0", "[N m/(rad s)] or [N/(m s)]");
  t.mention("kd", "a number, or a table by joint", "0", "[N m s/rad] or [N s/m]");
  mention_reference(t);
  t.mention("feedforward", "none or gravity", "none", "torques that hold the pose against gravity are added");
  t.add("implicit", &PdOptions::implicit, "steppers that can take the gains at the end of the step");
  add_period(t);
  mention_limits(t);
  return t;
}

OptionTable actuator_keys() {
  FieldTable<ActuatorOptions> t;
  t.mention("control", "numbers, or a table by actuator", "0", "of each actuator, in its unit");
  t.mention("pose", "the name of a keyframe", "", "whose control is taken where none is given");
  return t;
}

OptionTable tracking_keys() {
  FieldTable<TrackingOptions> t;
  t.mention("motion", "a file .npz: states, controls, gains, dt", "", "that is followed");
  add_period(t);
  t.add("start", &TrackingOptions::start, any_number(), "s", "time of the first knot");
  return t;
}

OptionTable policy_keys() {
  FieldTable<PolicyOptions> t;
  t.mention("file", "a file .npz of tribo.Policy.save", "", "network, observations, reach, gains and period");
  t.add("forward", &PolicyOptions::forward, any_number(), "m/s", "velocity that is asked for");
  t.add("left", &PolicyOptions::left, any_number(), "m/s", "the same, to the left");
  t.add("yaw", &PolicyOptions::yaw, any_number(), "rad/s", "turning that is asked for");
  t.add("phase", &PolicyOptions::phase, any_number(), "", "of the gait's clock at t = 0");
  return t;
}

OptionTable task_space_keys() {
  using Own = TaskSpaceOptions;
  FieldTable<Own> t;
  t.mention("com", "a table: weight, kp, kd", "1, 2, 2 sqrt(kp)", "task of the centre of mass");
  t.mention("posture", "a table: weight, kp, kd", "1e-3, 2, 2 sqrt(kp)", "task of the joints");
  t.mention("amplitude", "three numbers", "0", "[m] the centre of mass swings by amplitude sin(rate t)");
  t.add("rate", &Own::com_rate, any_number(), "rad/s", "of that swing");
  t.add("contact_kp", &Own::contact_kp, at_least(0), "1/s^2", "feet are held at their place");
  t.add("force_weight", &Own::force_weight, positive(), "1/kg^2", "on the squares of the contact forces");
  t.add("mu", &Own::mu, at_least(0), "", "of the pyramid inside the friction cone");
  t.add("least_force", &Own::least_force, at_least(0), "N", "normal force of a foot");
  t.mention("frame", "tables: name, position, rotation, weight, kp, kd", "", "frames that are held where they are");
  add_period(t);
  return t;
}

OptionTable inverse_dynamics_keys() {
  FieldTable<InverseDynamicsOptions> t;
  mention_reference(t);
  mention_target(t);
  mention_limits(t);
  add_period(t);
  return t;
}

OptionTable velocity_constraint_keys() {
  FieldTable<VelocityConstraintOptions> t;
  mention_reference(t);
  mention_target(t);
  mention_limits(t);
  t.mention("driven", "a table by joint", "every joint with a motor", "not 0 where a target is set");
  return t;
}

OptionTable trot_keys() {
  FieldTable<TrotConstraintOptions> t;
  t.mention("trot", "a table: period, swing, height, speed, ramp, duration", "", "the gait");
  t.add("rate", &TrotConstraintOptions::rate, positive(), "1/s", "at which the base returns to its plan");
  mention_limits(t);
  return t;
}

std::deque<ControllerEntry>& table_of_controllers() {
  static std::deque<ControllerEntry> table = {
      {"pd", "joint positions held by springs and dampers, within the effort limits", pd_keys(false)},
      {"actuators", "the motors that the robot's MJCF file describes, under constant controls", actuator_keys()},
      {"tracking", "a motion from a file, by feed-forward and linear feedback", tracking_keys()},
      {"policy", "a trained network that moves the references of the joints", policy_keys()},
      {"task-space", "inverse dynamics of centre of mass, frames, posture and contacts, by a quadratic program",
       task_space_keys()},
      {"pid", "the same with an integral", pd_keys(true)},
      {"inverse-dynamics", "torques that would give the joints the velocities of a reference, contact forces predicted",
       inverse_dynamics_keys()},
      {"velocity-constraint", "joint velocities of a reference as constraints of the step, within the effort limits",
       velocity_constraint_keys()},
      {"trot", "a trot whose stance feet do not slip: joint velocities as constraints of the step, from the feet",
       trot_keys()},
  };
  return table;
}

}  // namespace

const std::deque<ControllerEntry>& controllers() { return table_of_controllers(); }

const ControllerEntry& controller_entry(const std::string& name) {
  return find_entry(controllers(), name, "controller");
}

void register_controller(ControllerEntry entry) { add_entry(table_of_controllers(), std::move(entry), "controller"); }

}  // namespace tribo
