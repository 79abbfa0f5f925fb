// What the motors of a run were asked for and gave.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

class MotorWatch {
 public:
  explicit MotorWatch(const Scene& scene);
  /// After each step.
  void observe(const Simulation& simulation, const StepReport& report, bool fallen);
  /// Where the reference of the pd controllers is now (nq): one outside a range is kept.
  void see_target(const double* q_ref, double t);
  /// Controls of the actuators of MJCF files, of all members in their order: those of servos are references.
  void see_controls(const VecX& controls, double t);
  /// Time between the calls of a controller [s].
  void see_period(double period) { period_ = std::max(period_, period); }

  /// Torque that is not finite.
  const std::optional<Finding>& control() const { return control_; }
  /// The first motor at its limit; empty where none ever was.
  const std::optional<Finding>& saturation() const { return saturation_; }
  /// A reference outside the range of its joint.
  const std::optional<Finding>& target() const { return target_; }
  /// Is it so far outside that it cannot be meant?
  bool target_absurd() const;
  /// Motors without effort of a robot that has others with.
  const std::optional<Finding>& idle() const { return idle_; }
  /// Is every joint where its reference has it, and is there one?
  bool obeyed() const;
  /// Were references changed in the run?
  bool commanded() const { return commanded_; }
  /// Is a joint that has none far from its reference?
  bool idle_gave_way() const;
  /// A motor that presses its joint against the end of its range, for long, and was not sent there.
  const std::optional<Finding>& pressing() const { return pressing_; }
  /// A joint that its own dry friction or damping keeps from its reference.
  const std::optional<Finding>& drag() const { return drag_; }
  /// Torque that goes from one side to the other at every step.
  std::optional<Finding> chatter(bool failed) const;
  /// Motors that were at their limits for long before a robot fell.
  std::optional<Finding> weak(const Finding& fall, double work) const;
  /// A motor at its limit that its load carries away from where it should be.
  std::optional<Finding> overloaded() const;
  const VecX& limits() const { return limit_; }

 private:
  void see_torque(const VecX& tau, const VecX& v, const StepReport& report);
  void see_flips(int k, double tau);
  void see_end(int k, const Body& body, double q, double tau, double t);
  void see_drag(int k, const Body& body, double tau, double v, double t);
  void see_joints(const State& state, const VecX& tau, double t);
  void see_reference(const Body& body, double to, double t, const std::string& who);
  double share(std::uint64_t n) const { return static_cast<double>(n) / static_cast<double>(steps_); }
  std::string joint_of(int dof) const;
  bool slides(int dof) const;
  std::string who_controls() const;
  void find_idle();

  const Scene& scene_;
  const Model& model_;
  std::uint64_t steps_ = 0;
  std::optional<Finding> control_, saturation_, target_, idle_, pressing_, drag_;
  std::vector<int> idle_joints_;  ///< velocity coordinates
  VecX limit_;                    ///< of the torques (nv)
  VecX lost_;                     ///< how far joints went against motors at their limits, less how far with them (nv)
  VecX last_torque_;
  VecX at_end_, held_back_;  ///< how long, without a break [s] (nv)
  double period_ = 0;        ///< the longest of the controllers; 0: every step [s]
  bool commanded_ = false;
  bool wild_ = false;                     ///< motion so fast that what motors do no longer matters
  VecX q_ref_;                            ///< (nq); NaN where no pd controller has a say
  VecX first_error_, error_;              ///< of the joints from their references (nv), at the start and now
  std::vector<std::uint64_t> flips_;      ///< steps at which a torque changed its sign by much, by velocity coordinate
  std::vector<std::uint64_t> saturated_;  ///< steps at its limit, likewise
  std::vector<std::uint64_t> upright_;    ///< those of them before a fall
  std::uint64_t upright_steps_ = 0;
};

}  // namespace tribo
