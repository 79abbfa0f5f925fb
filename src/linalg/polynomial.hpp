// The integrals of modal.hpp by Chebyshev polynomials in S, where few terms give all digits: no decomposition, and the
// same coefficients step after step.
//
// With S in [0, L], x = 2 S / L - 1 and each function of (modal.3), (modal.4) as u(l) = sum_k u_k T_k(x):
//   int (y + beta y') = sum_k T_k(x) (s_k y0 + u1_k y0' + u2_k g), and so on                          (polynomial.1)
// summed by Clenshaw's recurrence b_k = w_k + 2 x b_k+1 - b_k+2, both integrals at once               (polynomial.2)
// or, even and odd terms apart, in y = 2 x^2 - 1: T_2m(x) = T_m(y), T_2m+1(x) = x V_m(y), V_0 = 1, V_1 = 2 y - 1, with
// the same recurrence                                                                                 (polynomial.3)
// For S = Z Z^T, Z with many more rows than columns, in Z^T Z instead, with q(l) = (u(l) - u(0)) / l for each function u:
//   u(S) y = u(0) y + Z q(Z^T Z) Z^T y                                                                (polynomial.4)
// L is a bound of the norm of S, rounded up to a quarter power of 2: a function of the state alone.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tribo/buffer.hpp"

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
  /// For S = Z Z^T with many rows, by products with Z^T Z: `norm` is a bound of it.
  bool prepare(double norm, double beta, double h, Length length = Length::Usual);
  /// The sums of q(Z^T Z) Z^T (y, y', g) for both integrals, side by side (2 n), by times(x, Z^T Z x) of two vectors side by
  /// side. y, y', g: (n) each, times Z^T; work: memory.
  template <class Times>
  void sum(const Times& times, int n, const double* y, const double* ydot, const double* g, VectorBuffer& sums,
           VectorBuffer& work) const;
  /// first += u(0) of each, times y, y' and g; second alike; (n) each.
  void add_free(int n, const double* y, const double* ydot, const double* g, double* first, double* second) const;
  /// first = int f, second = int int f over h, from p, p' and b; (n) each.
  void integrate(const double* p, const double* pdot, const double* b, double* first, double* second);

 private:
  enum class Form : char { Whole, Remainder };
  struct Terms {
    double beta = -1, h = 0, bound = 0;
    Form form = Form::Whole;
    int count = 0;  ///< 0: more than most_terms
    /// Of s, s1, u1 = s1 + beta s, u2 = s2 + beta s1, u3 = s3 + beta s2.
    std::array<std::array<double, most_terms>, 5> c;
  };
  struct Term {
    double s, s1, u1, u2, u3, scale, twice;
    const double *y, *v, *g, *Sb;
    double *last, *before;
    std::size_t count;
  };
  static void add_term(const Term& term);
  const Terms& bounded_terms(double norm, double beta, double h, Length length, Form form);
  const Terms& terms(double beta, double h, double bound, Length length, Form form);
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

// (polynomial.2) with 2 x = 4 Z^T Z / L - 2, in pairs; rows are filled up to fours with zeros.
template <class Times>
void Polynomial::sum(const Times& times, int n, const double* y, const double* ydot, const double* g,
                     VectorBuffer& sums, VectorBuffer& work) const {
  const auto& [s, s1, u1, u2, u3] = terms_->c;
  const int m = (2 * n + 3) / 4 * 4;
  sums.setZero(m);
  work.setZero(5 * m);
  double *y2 = work.data(), *v2 = y2 + m, *g2 = v2 + m, *Sb = g2 + m, *before = Sb + m;
  for (int i = 0; i < 2 * n; ++i) {
    y2[i] = y[i / 2];
    v2[i] = ydot[i / 2];
    g2[i] = g[i / 2];
  }
  for (int k = terms_->count - 1; k >= 0; --k) {
    const std::size_t c = static_cast<std::size_t>(k);
    const double half = k == 0 ? 0.5 : 1;
    times(sums.data(), Sb);
    add_term({s[c], s1[c], u1[c], u2[c], u3[c], half * 4 / terms_->bound, 2 * half, y2, v2, g2, Sb, sums.data(), before,
              static_cast<std::size_t>(m)});
  }
}

}  // namespace tribo
