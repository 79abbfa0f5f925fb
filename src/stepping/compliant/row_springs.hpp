// Spring-dampers along scalar rows J v that are not one coordinate: equality constraints, torsional and rolling friction.
//   f = -K x - B c  within [-bound, bound],  c = J v                                                          (row.1)
//   equality             K, B: closure_stiffness, closure_damping along a way; times (0.1 m)^2 about an axis  (row.2)
//   torsional, rolling   K = 0, B = bound / w_0, bound = length f_N: by the speed of turning; full at w_0     (row.3)
// f_N is that at the start of the step. A contact that is twisted by less than its bound creeps, slower than w_0.
#pragma once

#include <vector>

#include "stepping/compliant/joint_springs.hpp"
#include "tribo/compliant.hpp"

namespace tribo {

struct CompliantContact;

struct RowSpring {
  Row row;          ///< at the start
  double x = 0;     ///< at the start [m] or [rad]
  double f = 0;     ///< at the start [N] or [N m]
  Row at;           ///< where the scheme takes its force
  JointSpring law;  ///< K, B, bounds and mean
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
  static double velocity(const Row& row, const Dynamics& dynamics, const VecX& v);
  /// tau += J^T f.
  static void add_force(const Row& row, const Dynamics& dynamics, double f, VecX& tau);
  /// J (nv).
  void jacobian(const Row& row, const Dynamics& dynamics, VecX& J) const;
  /// J' v of a row.
  static double bias(const Row& row, const Dynamics& dynamics);
  /// Work of a force on a row that moves with c, for a time.
  static void charge(const Row& row, double time, double f, double c, Work& work);
  double energy() const;

 private:
  void add(const Row& row, double K, double B, double bound);

  const Model* model_;
  double K_, B_;
  bool turns_;  // there is torsional or rolling friction
  std::vector<RowSpring> springs_;
  std::vector<Row> rows_;
};

}  // namespace tribo
