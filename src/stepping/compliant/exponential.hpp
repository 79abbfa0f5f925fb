// Exponential integration of visco-elastic contact [Hammoud2022].
//   x = (p - p0, c),  x' = A x + b,  A = [0 I; -G K  -G B],  b = (0, J vdot_free + Jdot v), held over the step (expo.3)
//   f1 = int f / h,  f2 = 2 int int f / h^2,  both into the cone                                               (expo.4)
//   v' = v + h (vdot_free + M^-1 J^T f1),  q+ = q moved along h v + h^2/2 (vdot_free + M^-1 J^T f2) (expo.5)
// Where f1 leaves the cone the contact slips, and the step is solved again without its springs along the surface, with
// friction mu f_N as a known force, until f_N is settled; then once more with friction as spring and damper point in
// the middle of the step, order 2. What pulls is taken out with all its springs (expo.6). The paper cuts f1 and f2 and
// stops there (project_only); the stick forces that are cut have then tilted the body already, and a box that slides at
// a long step is lifted. Where damping is proportional to stiffness in an island, the integrals come from a polynomial
// in K^1/2 G K^1/2 if a short one is exact, or from its modes; else from the exponential of an augmented matrix.
// Many contacts of many bodies: the polynomial is summed by products with the sparse Y^T K Y (polynomial.4). More contacts than
// the bodies have coordinates, or damping in other proportions: in whitened coordinates (rational.1).
// Joint limits are unknowns beside the contacts. So are equality constraints, torsional and rolling friction, drives, joint springs, dry friction of joints and, with them,
// joint damping: x is then the way of the joint since the start, a of (joint.1) part of vdot_free, and the integrals
// come from a rational approximant (rational.1). What leaves its bounds is a known force                      (expo.9)
// Without any of those, joint damping is taken at the end of the step, in M.
// Midpoint: with v_mean found so, M, J and b are taken again at q moved along h/2 v_mean and at v_mean, and the step is
// crossed from its start with those: order 2; joint damping is then that of the middle                       (expo.7)
// Events, accuracy: a substep ends where a contact begins to slip, sticks again, lets go or presses             (expo.8)
#pragma once

#include <vector>

#include "contact/whitened_stiffness.hpp"
#include "dynamics/chart.hpp"
#include "linalg/matrix_exponential.hpp"
#include "linalg/modal.hpp"
#include "linalg/polynomial.hpp"
#include "linalg/rational.hpp"
#include "stepping/compliant/compliant.hpp"

namespace tribo {

class Exponential final : public Compliant {
 public:
  /// settled: relative change of friction that ends its passes.
  Exponential(const Model& model, const ExponentialOptions& options, double settled);

  /// Steps of the rational approximant in the last solve, where that was in use for its last island; else 0.
  int rational_steps() const { return reduced_ ? rational_.steps() : 0; }

 private:
  enum class Hold : char { Stick, Slip, Open };

  double damping_at() const override { return 1; }
  bool lists_damping() const override { return true; }
  int order() const override { return own_.midpoint ? 2 : 1; }
  bool events() const override { return own_.events; }
  bool cross(const Start& start, Outcome& out) override;
  void charge(const Start& start, Outcome& out) override;

  bool foresee(const Start& start, Outcome& out);
  void list_rows();
  bool cross_with(const Start& start, const Dynamics& dynamics, const VecX& v, const std::vector<Contact>& contacts,
                  Outcome& out);
  bool cross_from_middle(const Start& start, Outcome& out);
  bool cross_island(const Start& start, const Dynamics& dynamics, const VecX& v, const std::vector<Contact>& contacts,
                    const Island& island, Outcome& out);
  void gather(const Dynamics& d, const std::vector<Contact>& contacts, const Island& island);
  void spread_rows();
  double proportion() const;
  void choose_method(std::size_t trees, double h);
  void integrate_sparse(bool changed);
  /// Y^T f of f1 or f2, once it is asked for.
  struct Whitened {
    VectorBuffer w;
    bool known = false;
  };
  /// Rows of contact i of G f.
  Vec3 moved(int i, const VectorBuffer& f, Whitened& w) const;
  bool integrate_forces(double h, bool changed);
  void scatter(const Island& island);

  // exponential_slip.cpp: which contacts slip or let go, which joint springs are at a bound.
  bool let_slip(const Island& island, double h, bool cones);
  void classify(const CompliantContact& s, int i, double h);
  void classify(JointSpring& s, int unknown, double h);
  void let_go(int i);
  void set_friction(const Eigen::Vector2d& friction, int i);
  void set_known(double force, int unknown);
  Vec3 mean_velocity(int i, double h);
  void turn_friction(const CompliantContact& s, int i, double h);
  bool would_push(const CompliantContact& s, int i, double h);
  void settle(const CompliantContact& s, int i);
  double watch(const Island& island, double h);
  double share_held(const CompliantContact& s, int i, double h) const;

  /// Spring of row j of the island, on a joint or along a row, or null: it is a limit.
  JointSpring* joint(const Island& island, int j) {
    std::size_t row = static_cast<std::size_t>(island.rows[static_cast<std::size_t>(j)]);
    if (row < limits_.size()) return nullptr;
    row -= limits_.size();
    if (row < joints_.all().size()) return &joints_.all()[row];
    return &along_row(row)->law;
  }
  /// The same counted behind the limits; null where it is on a joint.
  RowSpring* along_row(std::size_t row) {
    return row < joints_.all().size() ? nullptr : &row_springs_.all()[row - joints_.all().size()];
  }

  ExponentialOptions own_;
  double settled_;
  bool damped_;
  bool whole_ = true;    // the step is not divided
  bool driven_ = false;  // the island has joint springs
  Dynamics stage_;       // at the middle of the step
  Chart chart_;
  std::vector<Contact> stage_contacts_;
  VecX move_, q_stage_, v_stage_, change_;
  double beta_ = 0;
  std::vector<Hold> hold_;  // empty: forces are only cut
  std::vector<char> pushed_;
  bool other_springs_ = false, other_forces_ = false;
  ContactProblem problem_;
  VectorBuffer against_;  // unit vectors against the slip, where contacts slip
  VectorBuffer before_, free_, known_, K_, B_, x_, c_, f1_, f2_, end_x_, end_c_;
  VectorBuffer Y_;                         // whitened Jacobians, row after row
  bool sparse_ = false, reduced_ = false;  // of the island: G is not made; Rational is in use
  WhitenedStiffness stiffness_;
  VectorBuffer pending_, Gf1_, Gf2_;  // known forces that are not in free_ yet
  Whitened w1_, w2_;
  VectorBuffer scaled_, in_, sums_, work_;  // of integrate_sparse
  VecX extra_, vdot_, pair_;
  Modal modal_;
  Polynomial polynomial_;
  bool few_terms_ = false;  // the polynomial is in use
  MatrixExponential exponential_;
  Rational rational_;
};

}  // namespace tribo
