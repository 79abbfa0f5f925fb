// The rows of a step beside its contacts, and the drives that may become rows.
//
// A drive with gains acts implicitly, tau = tau_ff + kp (e - dt v') + kd (v_ref - v'), as long as that lies within its
// limits. One that does not becomes a row, and so does a velocity target: the row's force is then the drive's whole
// torque, exactly within the limits. A drive whose limits coincide (no effort: 0) decides nothing: its torque is known.
#pragma once

#include <span>
#include <vector>

#include "dynamics/drive.hpp"
#include "stepping/rigid/body_rows.hpp"
#include "stepping/rigid/joint_friction.hpp"
#include "tribo/step.hpp"

namespace tribo {

class StepRows {
 public:
  explicit StepRows(const Model& model);

  /// Guesses which drives are at their limits, of those that were rows in the last step, and what dry friction will do.
  void begin(const Start& start);
  /// Joint limits within reach, dry friction that needs a row, velocity targets, drives at their limits, tendons, equality
  /// constraints, torsional and rolling friction of the contacts. Sets forces to zero.
  void list(const Start& start, double margin);

  const std::vector<Row>& rows() const { return rows_; }
  std::size_t size() const { return rows_.size(); }
  const Row& operator[](int j) const { return rows_[static_cast<std::size_t>(j)]; }
  /// What the solve found: J v at the end of the step. Limits keep it.
  void set_end(int j, double speed) {
    if (auto* limit = std::get_if<LimitLaw>(&rows_[at(j)].law)) limit->end = speed;
  }

  VectorBuffer& forces() { return forces_; }
  const VectorBuffer& forces() const { return forces_; }

  JointFriction& friction() { return friction_; }
  const JointFriction& friction() const { return friction_; }
  /// Once the step is solved: joints whose friction holds them have no velocity left, below `smallest`, unless stopping
  /// them took energy from what else moves (dry.3).
  void hold_joints(const Start& start, double smallest, VecX& v_end);

  /// Nothing where a row is in its place.
  const Drive& drive(int k) const { return drives_[at(k)]; }
  /// How far the step left velocity targets behind.
  static void miss_targets(const Start& start, Outcome& out);
  /// Do the velocities v_end take a joint beyond a limit that is not listed? Then the next list has it.
  bool overrun(const Start& start, double margin, const VecX& v_end);
  /// Torque of every drive at the velocities v; true where one is beyond its limits: the step must be solved again.
  bool torques(const Actuation& actuation, const VecX& v, VecX& torque);

 private:
  void begin_at_limits(const Start& start);
  Drive free_drive(const Actuation& a, int k, double dt) const;
  static bool known(const Actuation& actuation, int k) { return actuation.lower[k] == actuation.upper[k]; }
  bool row_driven(const Actuation& actuation, int k) const {
    return !known(actuation, k) && (saturated_[at(k)] || actuation.has_target(k));
  }

  JointFriction friction_;
  BodyRows bodies_;
  std::vector<Row> rows_;
  VectorBuffer forces_;
  std::vector<char> saturated_;
  std::vector<Drive> drives_;    // as list() found them
  std::vector<int> coordinate_;  // q of each velocity that may have limits, or -1
  std::vector<int> tree_;        // of each velocity
  VecX momentum_, reached_;      // reached: sizes of velocities that solves of this step led to
  bool all_limits_ = false;      // of tendons and spherical joints
};

}  // namespace tribo
