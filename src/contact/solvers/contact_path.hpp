// Lemke's method on the round cone: contacts begin open, held off, and are let go along a path. See contact_path.cpp.
#pragma once

#include <vector>

#include "contact/solvers/box_qp.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo {

class ContactPath final : public ContactSolver {
 public:
  /// f is left alone where the path does not get there.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override;

 private:
  enum class Mode : char { Open, Slip, Stick, Lower, Free, Upper };
  /// Where a contact or a row leaves its mode for the next one.
  struct Border {
    int block = -1;  ///< -1: the end of the path
    Mode next = Mode::Open;
  };
  enum class Progress { On, Arrived, Lost };

  void prepare(const ContactProblem& problem);
  bool begin(int attempt);
  bool begin_rows();
  bool follow();
  bool point_on();
  Progress advance();
  bool finish();

  void list_active();
  void set_forces();
  void residual(double* h) const;
  bool turns(int index) const;
  void acceleration_row(int i, double* row) const;
  bool factor();
  bool correct(double reach, const Border* border);
  double distance() const;
  bool ends_within(double reach);
  bool strayed(double reach) const;

  template <class Visit>
  void visit_borders(Visit&& visit) const;
  double value(const Border& border) const;
  void gradient(const Border& border, double* row) const;
  bool first_border(const Border* met, Border& first, double& share) const;
  void cross(const Border& border);
  int offset(int block) const { return block < nc_ ? 3 * block : 2 * nc_ + block; }

  // The problem, scaled.
  int nc_ = 0, nr_ = 0, n_ = 0;
  MatrixBuffer A_, row_matrix_;
  VectorBuffer g_, away_, centre_, mu_, lower_, upper_, scale_;  // away_: d; centre_: f_k
  double unit_ = 1;                                              // a scaled force of 1, before its scale
  BoxQp rows_;

  // The point on the path, and the direction in which it goes on.
  VectorBuffer x_, f_, c_, dx_;
  double t_ = 0, dt_ = 1, sign_ = 0, reach_ = 0;
  std::vector<Mode> mode_;
  std::vector<int> active_, place_;  // unknowns; the place of each among them or -1

  // A step.
  VectorBuffer start_x_, rhs_, null_, border_, gradient_;  // null_: the direction, at the unknowns and t
  double start_t_ = 0;
  std::vector<double> start_value_;
  MatrixBuffer LU_;
  std::vector<int> pivot_;

  VectorBuffer answer_, judged_;
  double work_ = 0;
  int steps_ = 0;
};

}  // namespace tribo
