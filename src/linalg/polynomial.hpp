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
  /// Long: a single one with as many as it takes.
  enum class Length { Usual, Single, Long };

  /// G (n x n, symmetric, positive semi-definite, column-major) and the diagonal of K. False: n, or the number of terms
  /// that full accuracy takes, is too large, or G is not finite; use Modal.
  bool prepare(const double* G, const double* K, int n, double beta, double h, Length length = Length::Usual);
  /// The same where S is known by its products alone: `norm` is a bound of it, and there may be any number of unknowns.
  bool prepare(double norm, double beta, double h, Length length = Length::Usual);
  /// first = int int of (polynomial.1) from y, y' and g, by times(x, S x); (n) each. work: (6 n).
  template <class Times>
  void sum(const Times& times, int n, const double* y, const double* ydot, const double* g, double* first,
           double* second, double* work) const;
  /// first = int f, second = int int f over h, from p, p' and b; (n) each.
  void integrate(const double* p, const double* pdot, const double* b, double* first, double* second);

 private:
  struct Terms {
    double beta = -1, h = 0, bound = 0;
    int count = 0;  ///< 0: more than most_terms
    /// Of s, s1, u1 = s1 + beta s, u2 = s2 + beta s1, u3 = s3 + beta s2.
    std::array<std::array<double, most_terms>, 5> c;
  };
  const Terms& bounded_terms(double norm, double beta, double h, Length length);
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

// (polynomial.2) with 2 x = 4 S / L - 2.
template <class Times>
void Polynomial::sum(const Times& times, int n, const double* y, const double* ydot, const double* g, double* first,
                     double* second, double* work) const {
  const auto& [s, s1, u1, u2, u3] = terms_->c;
  double *a1 = work, *a2 = a1 + n, *b1 = a2 + n, *b2 = b1 + n, *Sa = b2 + n, *Sb = Sa + n;
  for (int i = 0; i < 6 * n; ++i) work[i] = 0;
  for (int k = terms_->count - 1; k >= 0; --k) {
    const std::size_t c = static_cast<std::size_t>(k);
    const double half = k == 0 ? 0.5 : 1, scale = half * 4 / terms_->bound;
    times(a1, Sa);
    times(b1, Sb);
    for (int i = 0; i < n; ++i) {
      const double a0 = s[c] * y[i] + u1[c] * ydot[i] + u2[c] * g[i] - a2[i] + scale * Sa[i] - 2 * half * a1[i];
      const double b0 = s1[c] * y[i] + u2[c] * ydot[i] + u3[c] * g[i] - b2[i] + scale * Sb[i] - 2 * half * b1[i];
      a2[i] = a1[i];
      b2[i] = b1[i];
      a1[i] = a0;
      b1[i] = b0;
    }
  }
  for (int i = 0; i < n; ++i) {
    first[i] = a1[i];
    second[i] = b1[i];
  }
}

}  // namespace tribo
