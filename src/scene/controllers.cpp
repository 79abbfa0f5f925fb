// Every controller: one line each, and the keys of each.
#include "base/table.hpp"
#include "tribo/controller.hpp"
#include "tribo/policy.hpp"
#include "tribo/task_space.hpp"
#include "tribo/tracking.hpp"
#include "tribo/walk.hpp"

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
  t.mention("feedforward", "none or gravity", "none", "torques that hold the reference against gravity are added");
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
  t.mention("motion", "a file .npz: dt, com, posture, frame.NAME, stands.NAME", "",
            "where the tasks go, and which feet stand");
  t.add("contact_kp", &Own::contact_kp, at_least(0), "1/s^2", "feet are held at their place");
  t.add("force_weight", &Own::force_weight, positive(), "1/kg^2", "on the squares of the contact forces");
  t.add("mu", &Own::mu, at_least(0), "", "of the pyramid inside the friction cone");
  t.add("least_force", &Own::least_force, at_least(0), "N", "normal force of a foot");
  t.mention("frame", "tables: name, position, rotation, weight, kp, kd", "",
            "frames that are held where they are, or led by the motion");
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

// A number that the robot's size gives where the scene does not.
void by_size(Field& field, const std::string& words) { field.fallback_words = words; }

OptionTable walk_keys() {
  using Own = WalkOptions;
  FieldTable<Own> t;
  t.mention("velocity", "three numbers", "0", "[m/s] forward and to the left, [rad/s] turning to the left");
  t.mention("command", "tables: t, velocity", "", "the same from a time on");
  t.add("acceleration", &Own::acceleration, positive(), "m/s^2", "at which a new velocity is approached");
  t.add("start", &Own::start, at_least(0), "s", "it stands until then");
  by_size(t.add("gait_period", &Own::gait_period, positive(10), "s", "both diagonals step once"), "2 sqrt(height/g)");
  t.add("duty", &Own::duty, within(0.3, 0.9), "", "share of the period for which a foot stands");
  by_size(t.add("swing_height", &Own::swing_height, positive(), "m", "of a foot over what lies on its way"),
          "height/5");
  by_size(t.add("foothold_gain", &Own::foothold_gain, at_least(0), "s", "footholds by the error of velocity"),
          "sqrt(height/g)/2");
  t.add("lock", &Own::lock, at_least(0), "s", "a foothold stays for this time before the foot lands");
  t.add("nodes", &Own::nodes, within(4, 64), "", "of the predictive control, over one period");
  t.add("mu", &Own::mu, positive(), "", "of its friction pyramid");
  t.add("most_force", &Own::most_force, positive(), "", "of a foot, over the weight");
  auto weight = [](double WalkWeights::*member) { return [member](Own& o) -> double& { return o.weights.*member; }; };
  t.add("weight_position", weight(&WalkWeights::position), at_least(0), "1/m^2", "of the place of the centre of mass");
  t.add("weight_height", weight(&WalkWeights::height), at_least(0), "1/m^2", "of its height");
  t.add("weight_tilt", weight(&WalkWeights::tilt), at_least(0), "1/rad^2", "of roll and pitch");
  t.add("weight_heading", weight(&WalkWeights::heading), at_least(0), "1/rad^2", "of yaw");
  t.add("weight_velocity", weight(&WalkWeights::velocity), at_least(0), "s^2/m^2", "of the velocity");
  t.add("weight_tilting", weight(&WalkWeights::tilting), at_least(0), "s^2/rad^2",
        "of the angular velocity of roll and pitch");
  t.add("weight_turning", weight(&WalkWeights::turning), at_least(0), "s^2/rad^2", "of that of yaw");
  t.add("weight_force", weight(&WalkWeights::force), at_least(0), "s^4/m^2", "of the forces over the mass");
  t.add("base_kp", &Own::base_kp, at_least(0), "1/s^2", "of the body, between predictions");
  t.add("base_kd", &Own::base_kd, at_least(0), "1/s", "the same of its velocity");
  t.add("force_weight", &Own::force_weight, positive(), "", "of changing predicted forces over the mass");
  by_size(t.add("kp", &Own::kp, at_least(0), "N m/rad", "of the joints"), "m g height/2");
  by_size(t.add("kd", &Own::kd, at_least(0), "N m s/rad", "of the joints"), "0.3 m g height sqrt(height/g)");
  t.add("period", &Own::period, at_least(0), "s", "between ticks; 0: every step");
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
      {"walk", "a quadruped that walks at a commanded velocity: footholds, predictive and whole-body control",
       walk_keys()},
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
