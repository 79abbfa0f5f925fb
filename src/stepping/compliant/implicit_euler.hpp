// Implicit Euler on visco-elastic contact [Hammoud2022b, (35)], by Newton's method on the velocities alone.
//
// Unknown z: velocity at the end, the free joints' linear part u in the axes of the start.
//   q+ = q moved along h z,  v+ = (exp(-h w) u, w, …),  a = (exp(-h w) (u - u_0), w - w_0, …) / h
//   r(z) = M(q+) a + bias(q+, v+) + D v+ - tau(q+, v+) - f_ext - J^T f(q+, v+) = 0                         (implicit.1)
// The matrix dr/dz is analytic: inverse dynamics (dyn.7), (dyn.8), the contact law with its projections, the change of
// J with q, and the group: with T the right Jacobian of the rotation h w,
//   dq = (h exp(-h w) du, h T dw, …),  dv_lin = exp(-h w) du + v_lin x h T dw,  da_lin alike              (implicit.2)
// It has a block for each tree, and for each two trees that a contact or a row lies between; they are eliminated in the
// order of least degree, without exchanges between blocks: M/h + B + h K has what it needs on its diagonal. Heaps cost
// what their contacts and the fill do.
// Departs from the paper: inverse dynamics instead of forward dynamics, so that the system has nv unknowns, not 2 nv;
// begins at the current velocity or at the explicit step, whichever has the smaller residual. Drives, joint springs,
// dry friction and joint damping are taken at the end of the step, torques within their limits.
#pragma once

#include <vector>

#include "contact/block_lu.hpp"
#include "dynamics/chart.hpp"
#include "dynamics/derivatives.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/compliant/implicit_view.hpp"

namespace tribo {

class ImplicitEuler final : public Compliant, public ImplicitView {
 public:
  ImplicitEuler(const Model& model, const ImplicitEulerOptions& options);

  bool factor_end(const Model& model, double h) override;
  void solve_end(double* x) override { A_.solve(x); }
  const MatX& slope_by_q() const override { return by_q_end_; }
  const InverseDynamics& end() const override { return inverse_; }
  const Dynamics& end_dynamics_view() const override { return stage_; }
  const Followed& followed(std::size_t i) const override { return followed_[i]; }
  Mat3 cone_slope(std::size_t i) const override;

 private:
  using Columns = Eigen::Matrix<double, 3, Eigen::Dynamic>;

  FailurePolicy failure() const override { return own_.failure; }
  void charge(const Start& start, Outcome& out) override;
  bool cross(const Start& start, Outcome& out) override;
  double first_guess(const Start& start);
  double residual(const Start& start, const VecX& z);
  void drive(double h, const VecX& z);
  void contact_forces(const Start& start, const VecX& z);
  void row_forces(const Start& start);

  // implicit_euler_matrix.cpp
  /// How the columns of a free or spherical joint change with its unknowns (implicit.2).
  struct Turn {
    int linear = -1, angular = 0;                ///< its first coordinates; -1: spherical
    Mat3 T = Mat3::Zero(), back = Mat3::Zero();  ///< h times the right Jacobian; exp(-h w)
    Mat3 v = Mat3::Zero(), a = Mat3::Zero();  ///< cross products with the linear velocity and acceleration at the end
  };
  bool newton_step(const Model& model, double h, double reg);
  bool factor(const Model& model, double h, double reg);
  void gather_rows();
  void list_pairs(const Model& model);
  void find_turns(double h);
  void add_contact(const Model& model, std::size_t i, double h);
  void add_side(const Model& model, std::size_t i, double sign);
  void add_row(std::size_t i, double h);
  void add_coupling(double h);
  void add_tree(const Model& model, int t, double h, double reg);

  ImplicitEulerOptions own_;
  Dynamics stage_;
  Chart chart_;
  InverseDynamics inverse_;
  VecX given_, torque_, z_, trial_, step_, v_end_, a_, q_end_, r_, gain_, weight_, vdot_;
  std::vector<Followed> followed_;
  std::vector<Vec3> wanted_;  // forces before projection

  BlockLu A_;      // dr/dz, its nodes the trees
  MatX by_q_end_;  // dr/dq+ (nv x nv), for the derivative alone
  bool linearising_ = false;
  std::vector<Turn> turns_;
  std::vector<int> turn_of_;              // by coordinate: of the joint that it is part of, or -1
  std::vector<int> joint_end_, tree_of_;  // by coordinate
  std::vector<int> pairs_, tree_start_;   // of A_
  std::vector<int> dofs_;                 // that a contact or row lies on, tree by tree
  VecX row_;                              // J of a row, and those of all that are not at a bound, one behind the other
  std::vector<int> row_dofs_, row_start_;
  std::vector<double> row_entries_;
  Columns J_, Jx_, by_q_, Fq_, Fv_, F_;  // by coordinate; those of dofs_ are in use
};

}  // namespace tribo
