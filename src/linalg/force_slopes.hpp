// The integrals of spring forces over a step, and their slopes by all that they depend on.
//
//   x'' = -G (K x + B x') + b + G s,   f = -(K x + B x'),   f1 = int f / h,  f2 = 2 int int f / h^2           (flow.1)
// is linear in (x, c, b, s); G changes by dG_j along each of some coordinates, and then
//   dx'' = -G (K dx + B dx') + dG_j (f + s) - G (dK_j x + dB_j x')                                            (flow.2)
// The rational approximant (rational.2) of the two systems one behind the other is that of the flow, and that of its slope:
//   (z^2 + z d G B + d^2 G K) X = d c + (z + d G B) x + d^2 b/z,  dX the same of d^2 (dG_j (F + s/z) - G (dK_j X + dB_j C))  (flow.3)
// for each of its poles z, with C and F the velocity and the force of X.
#pragma once

#include <complex>
#include <vector>

#include "linalg/row_matrix.hpp"

namespace tribo {

class ForceSlopes {
 public:
  /// G (n x n, column-major), the diagonals of K and B (n). steps: those of another approximant of the same flow, whose slope is
  /// wanted to the last digit; 0: as many as are exact. False: not finite.
  bool prepare(const double* G, const double* K, const double* B, int n, double h, int steps);
  struct Input {
    const double *x, *c, *b, *s;  // (n); b has G s in it
  };
  /// A row whose B, and K where `stiffness` is not null, move with the coordinates.
  struct Damper {
    int row;
    const double *slope, *stiffness;  // (coordinates)
  };
  /// f1 and f2 and their slopes by (x, c, b); and along `coordinates` by which G changes, dG[l + n (k + n j)].
  void integrate(const Input& in, const double* dG, const std::vector<Damper>& dampers, int coordinates);

  /// f1, f2 (n).
  double first(int row) const { return first_(row, 3 * n_); }
  double second(int row) const { return second_(row, 3 * n_); }
  /// By entry `by` of (x, c, b), or by coordinate j.
  double first(int row, int by) const { return first_(row, by); }
  double second(int row, int by) const { return second_(row, by); }
  double first_along(int row, int j) const { return first_(row, 3 * n_ + 1 + j); }
  double second_along(int row, int j) const { return second_(row, 3 * n_ + 1 + j); }

 private:
  using Complex = std::complex<double>;

  bool invert(std::size_t pole);
  void solve(std::size_t pole, int first, int last);
  void step(const std::vector<Damper>& dampers);

  int n_ = 0, columns_ = 0, coordinates_ = 0, steps_ = 1;
  double h_ = 0, d_ = 0;
  const double *G_ = nullptr, *K_ = nullptr, *B_ = nullptr, *s_ = nullptr, *dG_ = nullptr;
  std::vector<Complex> factor_[3], work_, force_, speed_, place_;
  std::vector<double> GB_, GK_;               // (n n)
  RowMatrix x_, c_, b_, one_, two_, damped_;  // columns: x, c, b one by one, the base, then coordinates
  RowMatrix next_[4], re_, im_, out_re_, out_im_;
  RowMatrix first_, second_, start_;
};

}  // namespace tribo
