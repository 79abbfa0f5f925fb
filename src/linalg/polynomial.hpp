// The integrals of modal.hpp by Chebyshev polynomials in S, where few terms give all digits: no decomposition, and the
// same coefficients step after step.
//
// With S in [0, L], x = 2 S / L - 1 and each function of (modal.3), (modal.4) as u(l) = sum_k u_k T_k(x):
//   int (y + beta y') = sum_k T_k(x) (s_k y0 + u1_k y0' + u2_k g), and so on                          (polynomial.1)
// summed by Clenshaw's recurrence b_k = w_k + 2 x b_k+1 - b_k+2, both integrals at once               (polynomial.2)
// or, even and odd terms apart, in y = 2 x^2 - 1: T_2m(x) = T_m(y), T_2m+1(x) = x V_m(y), V_0 = 1, V_1 = 2 y - 1, with
// the same recurrence                                                                                 (polynomial.3)
// L is a bound of the norm of S, rounded up to a quarter power of 2: a function of the state alone.
#pragma once

#include <array>
#include <vector>

namespace tribo {

class Polynomial {
 public:
  static constexpr int most_terms = 64;
  static constexpr int most_rows = 24;

  /// A single h comes once: its coefficients do not push out those of others, and are found only where 32 will do.
  enum class Length { Usual, Single };

  /// G (n x n, symmetric, positive semi-definite, column-major) and the diagonal of K. False: n, or the number of terms
  /// that full accuracy takes, is too large, or G is not finite; use Modal.
  bool prepare(const double* G, const double* K, int n, double beta, double h, Length length = Length::Usual);
  /// first = int f, second = int int f over h, from p, p' and b; (n) each.
  void integrate(const double* p, const double* pdot, const double* b, double* first, double* second);

 private:
  struct Terms {
    double beta = -1, h = 0, bound = 0;
    int count = 0;  ///< 0: more than most_terms
    /// Of s, s1, u1 = s1 + beta s, u2 = s2 + beta s1, u3 = s3 + beta s2.
    std::array<std::array<double, most_terms>, 5> c;
  };
  const Terms& terms(double beta, double h, double bound, Length length);
  static void expand(Terms& t, Length length);
  static bool resolve(Terms& t, int n);

  int n_ = 0;
  const Terms* terms_ = nullptr;
  std::array<Terms, 8> known_;
  Terms single_;
  std::size_t next_ = 0;
  alignas(32) std::array<double, most_rows * most_rows> A_;  // 2 x, column by column, each padded to fours
  alignas(32) std::array<double, most_rows> root_;
};

}  // namespace tribo
