// Spring-dampers along scalar rows J v that are not one coordinate: equality constraints, tendons, largest angles of
// spherical joints, dry friction of free joints, torsional and rolling friction.
//   f = -K x - B c  within [-bound, bound],  c = J v                                                          (row.1)
//   equality             K, B: closure_stiffness, closure_damping along a way; times (0.1 m)^2 about an axis  (row.2)
//   torsional, rolling   K = 0, B = bound / w_0, bound = length f_N: by the speed of turning; full at w_0     (row.3)
//   spring of a tendon   K, B: its own; x: how far its length lies outside of its rest                       (row.4)
//   limit                K, B: limit_stiffness, limit_damping where it is passed, f >= 0                      (row.5)
//   dry friction         spring, damper and slider in series, as in a joint (joint.2)                         (row.6)
// f_N is that at the start of the step. A contact that is twisted by less than its bound creeps, slower than w_0.
#pragma once

#include <vector>

#include "stepping/compliant/joint_springs.hpp"
#include "stepping/rigid/body_rows.hpp"
#include "tribo/compliant.hpp"

namespace tribo {

struct CompliantContact;

struct RowSpring {
  Row row;           ///< at the start
  double x = 0;      ///< at the start [m] or [rad]
  double f = 0;      ///< at the start [N] or [N m]
  int element = -1;  ///< the tendon or body it is of
  double from = 0;   ///< length or place at the start, that x goes on from [m] or [rad]
  Row at;            ///< where the scheme takes its force
  JointSpring law;   ///< K, B, bounds and mean
  double force(double x_, double c) const { return law.within(-law.K * x_ - law.B * c); }
};

class RowSprings {
 public:
  RowSprings(const Model& model, const CompliantOptions& options);

  /// Anew for a start; contacts that act, as collision lists them and as springs.
  void list(const Start& start, const std::vector<Contact>& contacts, const std::vector<CompliantContact>& active);
  /// A scheme begins to cross the step, perhaps not for the first time.
  void begin();
  bool empty() const { return springs_.empty(); }
  std::vector<RowSpring>& all() { return springs_; }
  const std::vector<RowSpring>& all() const { return springs_; }

  /// Rows at a later pose of the same step: those of equalities anew, those of contacts as they are.
  const std::vector<Row>& rows_at(const VecX& q, const Dynamics& dynamics, const KinematicTime& time);
  /// J v of a row at the velocities of the dynamics, v (nv) for rows on joints.
  double velocity(const Row& row, const Dynamics& dynamics, const VecX& v) const;
  /// tau += J^T f.
  void add_force(const Row& row, const Dynamics& dynamics, double f, VecX& tau) const;
  /// J (nv).
  void jacobian(const Row& row, const Dynamics& dynamics, VecX& J) const;
  /// J' v of a row.
  double bias(const Row& row, const Dynamics& dynamics) const;
  /// Work of a force on a row that moves with c, for a time.
  static void charge(const RowSpring& spring, double time, double f, double c, Work& work);
  /// What dry friction leaves to the next step, behind that of joints; v_mean: along which q moved in a time h.
  void remember(const Start& start, const VecX& v_mean, Memory& memory);
  /// In all but the springs of tendons; in those.
  double energy() const;
  double tendon_energy() const;

 private:
  RowSpring& add(const Row& row, double K, double B, double bound);
  bool closes() const { return !model_->equalities.empty() || !model_->ties.empty(); }
  // body_springs.cpp
  void list_bodies(const Start& start);
  void list_tendon(const Start& start, int tendon);
  void add_limit(const Row& row, int element, double from);
  void add_friction(const Start& start, Row row, double most, int element, double from);
  /// Moves its row to another pose of the step.
  void follow(const RowSpring& spring, const VecX& q, const Dynamics& dynamics, Row& row) const;
  double tendon_bias(int tendon, const Dynamics& dynamics) const;

  const Model* model_;
  BodyRows bodies_;
  double K_, B_, limit_K_, limit_B_, deflection_;
  bool turns_;  // there is torsional or rolling friction
  std::vector<RowSpring> springs_;
  std::vector<Row> rows_;
  VecX J_;
};

}  // namespace tribo
