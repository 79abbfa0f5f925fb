// The linear dynamics of springs and dampers whose damping is not proportional to stiffness, in whitened coordinates, by
// one rational approximant of the exponential.
//
// Row r of Y takes the coordinates to the displacement of a spring, x_r = x0 + c0 t + b t^2/2 + Y_r u, and
//   u'' = Y^T f,  f = -(K x + B x'):   u'' + C u' + S u = w0 + w1 t + w2 t^2/2,  u(0) = u'(0) = 0         (rational.1)
//   S = Y^T K Y,  C = Y^T B Y,  w0 = -Y^T (K x0 + B c0),  w1 = -Y^T (K c0 + B b),  w2 = -Y^T K b
// The state, its integrals and the powers of t are one linear system z' = A z. Over d = h/m
//   exp(d A) = 2 Re sum of three r_j (s_j - d A)^-1, but for 4.5e-12 |d A|^12                             (rational.2)
// the Pade approximant of degrees 5 and 6: not above 0.03 where a mode is damped away within d. Each of its terms needs
// one factor of the symmetric s^2 + s d C + d^2 S, whose imaginary part is definite, so that no pivots are sought; the
// m steps share it                                                                                        (rational.3)
#pragma once

#include <array>

#include "tribo/buffer.hpp"

namespace tribo {

class Rational {
 public:
  /// n rows of N coordinates, row after row, and the diagonals of K and B (n); they must live until the last integrate.
  /// False: not finite.
  bool prepare(const double* Y, const double* K, const double* B, int n, int N, double h);
  /// first = int f, second = int int f over h, from x0, c0 and b; (n) each.
  void integrate(const double* x, const double* c, const double* b, double* first, double* second);
  /// Steps that prepare has chosen.
  int steps() const { return steps_; }

 private:
  struct Factor {
    VectorBuffer re, im;  // L below the diagonal, the inverse of D on it, column by column (N N)
    VectorBuffer x, y;    // real and imaginary part of a solution (N)
  };
  void sum_rows();
  void factor(std::size_t pole);
  void solve(std::size_t pole, double t);
  void step(double t);

  const double *Y_ = nullptr, *K_ = nullptr, *B_ = nullptr;
  int n_ = 0, N_ = 0, steps_ = 1;
  double h_ = 0, d_ = 0;
  VectorBuffer S_, C_;                   // (N N)
  VectorBuffer w_;                       // w0, w1, w2 (3 N)
  VectorBuffer u_, v_, first_, second_;  // u, u' and the integrals of u (N)
  VectorBuffer damped_, next_;           // C u (N); sums over the poles (4 N)
  std::array<Factor, 3> factors_;
};

}  // namespace tribo
