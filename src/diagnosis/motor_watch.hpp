// What the motors of a run were asked for and gave.
#pragma once

#include <optional>
#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

class MotorWatch {
 public:
  explicit MotorWatch(const Scene& scene);
  /// After each step.
  void observe(const Simulation& simulation, const StepReport& report);
  /// Where the reference of the pd controllers is now (nq): one outside a range is kept.
  void see_target(const double* q_ref, double t);

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
  /// Torque that goes from one side to the other at every step.
  std::optional<Finding> chatter() const;
  /// Motors that were at their limits for long before a robot fell.
  std::optional<Finding> weak(const Finding& fall, double work) const;
  /// A motor at its limit that its load carries away from where it should be.
  std::optional<Finding> overloaded() const;
  const VecX& limits() const { return limit_; }

 private:
  void see_torque(const VecX& tau, const VecX& v, const StepReport& report);
  void see_errors(const State& state);
  double share(std::uint64_t n) const { return static_cast<double>(n) / static_cast<double>(steps_); }
  std::string joint_of(int dof) const;
  std::string who_controls() const;
  void find_idle();

  const Scene& scene_;
  const Model& model_;
  std::uint64_t steps_ = 0;
  std::optional<Finding> control_, saturation_, target_, idle_;
  VecX limit_;  ///< of the torques (nv)
  VecX lost_;   ///< how far joints went against motors at their limits, less how far with them (nv)
  VecX last_torque_;
  VecX q_ref_;                            ///< (nq); NaN where no pd controller has a say
  VecX first_error_, error_;              ///< of the joints from their references (nv), at the start and now
  std::vector<std::uint64_t> flips_;      ///< steps at which a torque changed its sign by much, by velocity coordinate
  std::vector<std::uint64_t> saturated_;  ///< steps at its limit, likewise
};

}  // namespace tribo
