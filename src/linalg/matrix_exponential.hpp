// The linear dynamics of visco-elastic contacts, integrated by one exponential of an augmented matrix.
//
//   x' = A x + b,  A = [0 I; -G K  -G B],  b = (0, c)                                             (expo.1)
//   [int x, int int x] = last two columns, upper 2n rows, of the exponential of
//       h [A b x0 0; 0 0 1 0; 0 0 0 1; 0 0 0 0]                             [Hammoud2022, (29)]    (expo.2)
// Full: Pade approximant of the scaled matrix, squared back [Higham2005], after balancing by powers of two.
// Reduced: one approximant of order 1, 2, 3, 5 or 7 (0 to 4 matrix products), unscaled, on the two columns alone.
// Departs from the paper: balancing is used with Full only; a fixed-order approximant does not change under it.
#pragma once

#include <vector>

#include "tribo/types.hpp"

namespace tribo {

class MatrixExponential {
 public:
  /// exp(A) V for a square A (n x n) and V (n x columns), column-major. order 0: full accuracy, else 1, 2, 3, 5, 7.
  /// A is overwritten, V holds the result. False where the matrix is not finite or the denominator is singular.
  bool apply(double* A, int n, double* V, int columns, int order);
  /// exp(A) itself to full accuracy, into A.
  bool exponentiate(double* A, int n);

  /// first = int f, second = int int f over h, f = -(K p + B p'), from p, p' and c; (n) each, K and B diagonals.
  bool integrate(const double* G, const double* K, const double* B, int n, double h, int order, const double* p,
                 const double* pdot, const double* c, double* first, double* second);

 private:
  void resize(int n);
  void balance(double* A, int n);
  /// U (odd part) and V (even part) of the approximant's numerator.
  void parts(const double* A, int n, int order);

  std::vector<double> A_, A2_, A4_, A6_, U_, V_, work_, scale_, columns_;
  std::vector<int> pivot_;
};

}  // namespace tribo
