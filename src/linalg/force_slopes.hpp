// The integrals of spring forces over a step, and their slopes by all that they depend on.
//
//   x'' = -G (K x + B x') + b + G s,   f = -(K x + B x'),   f1 = int f / h,  f2 = 2 int int f / h^2           (flow.1)
// is linear in (x, c, b, s); G changes by dG_j along each of some coordinates, and then
//   dx'' = -G (K dx + B dx') + dG_j (f + s) - G (dK_j x + dB_j x')                                            (flow.2)
// The rational approximant (rational.2) of the two systems one behind the other is that of the flow, and that of its slope:
//   (z^2 + z d G B + d^2 G K) X = d c + (z + d G B) x + d^2 b/z,  dX the same of d^2 (dG_j (F + s/z) - G (dK_j X + dB_j C))  (flow.3)
// for each of its poles z, with C and F the velocity and the force of X.
//
// What b does over the step, T1 and T2, says what x and c do: x = 0 is a place like any other, and a velocity is what b has
// left behind before. With f_b(h) the force at the end by b,
//   f1 = T1 (b - G K x) - K x + f_b(h) c/h,   f2 = T2 (b - G K x) - K x + 2 T1 c/h                            (flow.4)
// which approximants of a linear system keep, so that n columns do for 3 n.
#pragma once

#include <complex>
#include <vector>

#include "linalg/row_matrix.hpp"

namespace tribo {

class ForceSlopes {
 public:
  /// G (n x n, column-major) and the diagonals of K and B (n); G must live until the last integrate. steps: those of another
  /// approximant of the same flow, whose slope is wanted to the last digit; 0: as many as are exact. False: not finite.
  bool prepare(const double* G, const double* K, const double* B, int n, double h, int steps);
  struct Input {
    const double *x, *c, *b, *s;  // (n); b has G s in it
  };
  /// A row whose B, and K where `stiffness` is not null, move with the coordinates.
  struct Damper {
    int row;
    const double *slope, *stiffness;  // (coordinates)
  };
  /// f1 and f2 of such a start (n).
  void values(const Input& in, double* f1, double* f2);
  /// F1 and F2 (n x columns) of slopes of x, c and b (n x columns).
  void slopes(const RowMatrix& x, const RowMatrix& c, const RowMatrix& b, RowMatrix& F1, RowMatrix& F2);
  /// Adds what comes of the change of G along coordinates 0, 1, …: dG_j(l, k) is row l n + k, column j.
  void add_along(const Input& in, const RowMatrix& dG, const std::vector<Damper>& dampers, RowMatrix& F1,
                 RowMatrix& F2);
  /// d f1 of row i by b of row j.
  double by_b(int i, int j) const { return T1_(i, j); }

 private:
  using Complex = std::complex<double>;
  /// State and integrals of columns that run together (n x columns).
  struct Run {
    RowMatrix x, c, one, two;
  };
  /// The same of the start that stands (n).
  struct Base {
    std::vector<double> x, c, one, two;
  };

  bool invert(std::size_t pole);
  void respond();
  void start(Run& run, int columns);
  void begin(const Run& run);
  void right_sides(std::size_t pole, const Run& run, const RowMatrix* b);
  void solve(std::size_t pole);
  void add_solution(std::size_t pole);
  void finish(Run& run);
  void begin_base();
  void solve_base(std::size_t pole, const Input& in);

  int n_ = 0, steps_ = 1;
  double h_ = 0, d_ = 0;
  const double* G_ = nullptr;
  std::vector<double> K_, B_;
  std::vector<Complex> inverse_[3], work_, speed_, place_;  // (n n); of the base at a pole
  std::vector<double> factor_[3];  // rows of the inverse: re and -im, then im and re (4 n each)
  std::vector<double> GB_, GK_;    // (n n), row after row
  RowMatrix T1_, T2_, end_;        // f1, f2 and f(h) by b
  Run by_b_, along_, next_;        // columns: b; coordinates
  Base base_, next_base_;
  RowMatrix b_, damped_, pushed_, turned_;
  RowMatrix sides_, X_;        // of a pole: right-hand sides and solutions, real parts above imaginary ones (2 n)
  std::vector<double> force_;  // F + s/z of the base, times d^2: real parts, then imaginary ones
};

}  // namespace tribo
