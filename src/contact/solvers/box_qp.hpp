// Principal pivoting on a box: min 1/2 x^T A x + b^T x,  lower <= x <= upper, A symmetric positive semidefinite.
//   w = A x + b;   w_i = 0 inside, >= 0 at lower, <= 0 at upper                                     (box_qp.1)
// [DantzigCottle1963; Baraff1994]: indices are taken up one after the other. x_d moves against w_d while those already
// taken up keep (box_qp.1): the free set C answers with
//   dx_C = -A_CC^-1 A_Cd,   and whoever meets a bound, or w_i = 0, changes sides                      (box_qp.2)
// Who leaves C takes a row out of the factor of A_CC, L L^T: rotations of neighbouring columns make the rest a triangle
// again, in the square of its size                                                                 (box_qp.3)
// A_CC never turns singular: an index whose w moves while w_C = 0 is held is independent of C.
#pragma once

#include <limits>
#include <vector>

#include "tribo/buffer.hpp"

namespace tribo {

class BoxQp {
 public:
  enum class Outcome { Solved, Unbounded, PivotLimit };
  enum class Side : char {
    Lower,
    Free,
    Upper,
    Held  ///< inside, and left where it is: its w is zero because it depends on the free
  };

  /// A: column-major n x n. x: guess in, solution out; where the guess names the right sides, no pivot is made.
  Outcome solve(const double* A, int n, const double* b, const double* lower, const double* upper, double* x,
                int most_pivots = std::numeric_limits<int>::max());
  const std::vector<Side>& sides() const { return side_; }
  int pivots() const { return pivots_; }

 private:
  void sides_from(const double* x);
  void solve_sides(double* x);
  bool settle(double* x);
  bool restart(double* x);
  bool content(int d) const;
  Outcome take_up(int d, double* x);
  Outcome move(int d, double* x, bool& done);
  void direction(int d, double sign);
  void add(int i);
  void drop(int position);
  bool factor();
  void solve_free(double* v);
  double diagonal(int i) const { return A_[static_cast<std::ptrdiff_t>(i) * (n_ + 1)]; }
  std::ptrdiff_t row(int a) const { return static_cast<std::ptrdiff_t>(a) * n_; }  // of L_
  bool fixed(int i) const { return lower_[i] == upper_[i]; }

  const double *A_ = nullptr, *b_ = nullptr, *lower_ = nullptr, *upper_ = nullptr;
  int n_ = 0, pivots_ = 0, most_pivots_ = 0, valid_ = 0;  // rows of L_ below valid_ are up to date
  std::vector<int> free_;                                 // C, in the order of L_
  std::vector<char> taken_;
  std::vector<Side> side_;
  MatrixBuffer L_;                       // row-major factor of A_CC
  VectorBuffer w_, dx_, dw_, v_, tiny_;  // tiny_: what of w_i is rounding
};

}  // namespace tribo
