// The alternating direction method of multipliers on  min 1/2 x^T A x + b^T x,  x in a set that can be projected onto.
//   x <- -(A + rho + m)^-1 (b + y - rho z - m x)                                                   (admm.1)
//   x^ = a x + (1 - a) z,   z <- P(x^ + y / rho),   y <- y + rho (x^ - z)                           (admm.2)
// [LeLidec2024, alg. 3]. m keeps the matrix invertible where A is not. rho from the spectrum of A, with L its largest
// eigenvalue and m the least that A + m can have:
//   rho_0 = sqrt(L m) (L/m)^0.4                                                                    (admm.3)
//   rho <- rho k^(+-1),  k = (L/m)^0.05, where |x^ - z| and rho |z - z-| differ by more than 10      (admm.4)
// Departs from the paper: k shrinks to sqrt k whenever the direction of (admm.4) turns, so that rho cannot run in a
// cycle, and a changed rho (a new Cholesky factor) rests for a few iterations. L comes from power iterations that
// always start from the same vector: nothing is kept from solve to solve, so a restored state gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"
#include "tribo/buffer.hpp"

namespace tribo {

/// A that is not kept as a matrix; diagonal near 1.
class AdmmOperator {
 public:
  virtual ~AdmmOperator() = default;
  virtual double trace() const = 0;
  virtual void multiply(const double* x, double* y) = 0;  ///< y = A x
  virtual bool factor(double shift) = 0;                  ///< of A + shift; false where it is singular
  virtual void solve(double* x) = 0;                      ///< with the last factor, in place
};

class AdmmCore {
 public:
  /// The caller fills matrix(n), with a diagonal near 1, or gives an operator that outlives the solve; then prepare()
  /// estimates the spectrum.
  MatrixBuffer::Map matrix(int n);
  void use(AdmmOperator& A, int n);
  void prepare();
  /// Guess of x = z, and of the multiplier y.
  VectorBuffer& z() { return z_; }
  VectorBuffer& y() { return y_; }
  void start();

  /// One iteration; project(double* z) works in place. False where the factorisation failed.
  template <class Project>
  bool step(const double* b, Project&& project) {
    if (!factor()) return false;
    half_step(b);
    project(z_.data());
    finish();
    return true;
  }
  double change() const { return change_; }  ///< largest |z - z-| of the last step
  double gap() const { return primal_; }     ///< largest |x^ - z| of the last step
  double rho() const { return rho_; }

 private:
  void resize(int n);
  bool factor();
  void half_step(const double* b);
  void finish();
  void adapt();

  static constexpr double relaxation_ = 1.6;  // a in (admm.2), the usual choice between 1.5 and 1.8
  static constexpr double proximal_ = 1e-6;   // m over the mean diagonal

  int n_ = 0, rest_ = 0, last_turn_ = 0;
  double rho_ = 1, m_ = 0, log_k_ = 0;
  double primal_ = 0, change_ = 0;
  bool stale_ = true;
  AdmmOperator* operator_ = nullptr;
  MatrixBuffer A_, L_;
  VectorBuffer x_, z_, y_, z_old_, hat_;
};

}  // namespace tribo
