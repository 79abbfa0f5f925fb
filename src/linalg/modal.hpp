// The linear dynamics of visco-elastic contacts with proportional damping, integrated in closed form.
//
//   p'' = -G (K p + beta K p') + b,   f = -(K p + beta K p')                                       (modal.1)
// With y = K^1/2 p and the symmetric S = K^1/2 G K^1/2 = V diag(l) V^T every mode is a scalar oscillator
//   y'' + beta l y' + l y = g                                                                      (modal.2)
// Let s(t) be its solution from y = 0, y' = 1, and s1, s2, s3 its first three integrals. Then
//   int (y + beta y')     = s  y0 + (s1 + beta s)  y0' + (s2 + beta s1) g                          (modal.3)
//   int int (y + beta y') = s1 y0 + (s2 + beta s1) y0' + (s3 + beta s2) g                          (modal.4)
// Exact at any step, stiffness and rank of G.
#pragma once

#include <vector>

#include "tribo/buffer.hpp"

namespace tribo {

/// s and its first three integrals at time t, for s'' + d s' + l s = 0, s(0) = 0, s'(0) = 1; l, d >= 0.
struct Oscillator {
  double s = 0, s1 = 0, s2 = 0, s3 = 0;
};
Oscillator oscillate(double l, double d, double t);
/// How s and its integrals go away from those of a free point, over l, for d = beta l: (s - t) / l, (s1 - t^2/2) / l and so on,
/// also where l = 0.
Oscillator remainders(double l, double beta, double t);

class Modal {
 public:
  /// G (n x n, symmetric, positive semi-definite, column-major) and the diagonal of K. False: G is not finite.
  bool decompose(const double* G, const double* K, int n);
  /// first = int f, second = int int f over h, from p, p' and b; (n) each.
  void integrate(double beta, double h, const double* p, const double* pdot, const double* b, double* first,
                 double* second);

 private:
  struct Turn {
    int i;
    double c, s;
  };
  void tridiagonalise();
  bool diagonalise();
  template <int Columns>
  void reflect(int k, double* x) const;
  template <int Columns>
  void to_modes(double* x) const;
  template <int Columns>
  void from_modes(double* x) const;

  int n_ = 0;
  std::vector<double> S_, root_, diagonal_, off_, scale_, p_;  // S_: Householder vectors below the first off-diagonal
  std::vector<Turn> turns_;
  std::vector<double> in_, out_;  // rows of 3 and of 2 numbers, one a coordinate
};

}  // namespace tribo
