// The derivative of an exponential step.
//
// All ways to take the integrals of the forces are exact, so that their slopes are those of one flow (force_slopes.hpp). With
// W = M^-1 J^T, and N_k = d_q[M W_k - J^T e_k] for each row k of contacts, limits and joint springs,
//   dG_lk = d_q[J_l] W_k - W_l . N_k                                                                          (deriv.25)
//   M d(vdot) = -d_q[M vdot + h] dq - h_v dv + d(tau),  db = J d(vdot) + slopes of the bias (deriv.23)        (deriv.26)
//   d(v') = dv + h (d(vdot) + W df1 - M^-1 sum_k N_k f1_k dq),  v_mean alike with h/2 and f2                  (deriv.27)
// Slip is solved as the step does it: with all springs, which say where friction points at first; with friction known along
// that and its size mu f1_N, which says where it points in the end (expo.6); and so once more. Each time with the friction s,
//   f1 = T (x, c, b + G s),  s = mu f1_N d                                                                    (deriv.28)
#pragma once

#include "derivatives/compliant_derivative.hpp"
#include "linalg/force_slopes.hpp"
#include "stepping/compliant/exponential.hpp"

namespace tribo {

class ExponentialDerivative final : public CompliantDerivative {
 public:
  ExponentialDerivative(const Model& model, const StepperOptions& options);

 private:
  enum class Hold : char { Stick, Slip, Open };

  const char* unsupported() const override;
  const char* cross(const Start& start, const Outcome& out) override;
  void list_rows(const Start& start);
  const char* start_rows(const Start& start, const Outcome& out);
  void solve(RowMatrix& X);
  void fill_tensor(const Start& start);
  void move_parameter(const Start& start, const Parameter& p, int tree, double* column, int stride) const;
  bool slips() const { return !own_.bilateral; }
  void begin_passes();
  void set_springs();
  bool integrate_slopes(const Start& start);
  bool classify(const Start& start);
  bool classify_contact(const Start& start, int i);
  double acceleration(int row) const;
  bool settle(const Start& start);
  ForceSlopes::Input flow_input() const { return {x_.data(), c_.data(), free_.data(), known_.data()}; }
  void integrate();
  void integrate_along();
  bool normal_matrix();
  void add_slopes();
  void set_direction(int i, const Eigen::Vector2d& f, const Eigen::Ref<const RowMatrix::Rows>& slope);
  void turn_directions(const Start& start);
  void take_forces();
  void project_second(const CompliantContact& s, int row);
  bool agrees() const;
  void end(const Start& start);

  const Exponential& stepper_;
  ExponentialOptions own_;
  int n_ = 0;                                // rows: contacts, limits, joint springs
  std::vector<std::pair<int, double>> row_;  // coordinate and sign of those behind the contacts
  std::vector<Hold> hold_;
  std::vector<char> pressed_, bound_, released_;  // of contacts; of joint springs
  std::vector<int> slipping_, pivot_;
  VectorBuffer K_, B_, x_, c_, b_, f1_, f2_;
  VectorBuffer free_;                                                    // b + G s
  VectorBuffer known_;                                                   // forces that are no springs (n)
  VectorBuffer directions_, normal_;                                     // d (2 a contact)
  RowMatrix jacobian_, W_;                                               // (n; nv), (nv; n)
  RowMatrix rows_x_, rows_c_, rows_b_, F1_, F2_, known_slope_, pushed_;  // (n; all columns)
  RowMatrix direction_slope_;                                            // (2 a contact; all columns)
  RowMatrix vdot_slope_;                                                 // (nv; all columns)
  RowMatrix turned_, bias_slope_;                                        // scratch
  MatrixBuffer G_, share_;
  std::vector<RowMatrix> N_;   // (nv; nv, parameters), by row
  RowMatrix tensor_;           // dG: of entry (l, k) in row l n + k (n n; nv, parameters)
  RowMatrix along1_, along2_;  // what it adds to F1 and F2 (n; nv, parameters)
  std::vector<ForceSlopes::Damper> damper_rows_;
  VecX vdot_, w_, extra_;
  Twists row_twists_;
  ForceSlopes flow_;
};

}  // namespace tribo
