#include "linalg/polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "linalg/clones.hpp"
#include "linalg/modal.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TRIBO_WIDE_POLYNOMIAL 1
#endif

namespace tribo {
namespace {

constexpr int nodes = Polynomial::most_terms;
constexpr double tolerance = 1e-14;  // of what is left out, to the largest coefficient

// cos(pi k (j + 1/2) / n), row by row of j, for n = 16, 32, 64: T_k at the Chebyshev nodes.
const double* cosines(int n) {
  static const auto tables = [] {
    std::array<std::array<double, nodes * nodes>, 3> x;
    for (int i = 0; i < 3; ++i)
      for (int j = 0, m = 16 << i; j < m; ++j)
        for (int k = 0; k < m; ++k) x[at(i)][at(j * m + k)] = std::cos(M_PI * (k * (2 * j + 1) % (4 * m)) / (2 * m));
    return x;
  }();
  return tables[n == 16 ? 0 : n == 32 ? 1 : 2].data();
}

// c_k = sum_j u_j C_jk
TRIBO_CLONES void transform(const double* C, const double* u, int n, double* c) {
  for (int k = 0; k < n; ++k) c[k] = 0;
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k) c[k] += u[j] * C[j * n + k];
}

struct Sums {
  const double *A, *y, *ydot, *g;       // columns padded with zeros to fours
  const double *s, *s1, *u1, *u2, *u3;  // coefficients
  int count;
  double *first, *second;
};

// (polynomial.2), for N unknowns.
template <int N>
void clenshaw(const Sums& q) {
  constexpr int P = (N + 3) / 4 * 4;
  double a1[P] = {}, a2[P] = {}, b1[P] = {}, b2[P] = {};  // b_k+1 and b_k+2 of the two integrals
  for (int k = q.count - 1; k >= 0; --k) {
    const double half = k == 0 ? 0.5 : 1;  // T_1 = x, not 2 x
    double a0[P], b0[P];
    for (int i = 0; i < P; ++i) {
      a0[i] = q.s[k] * q.y[i] + q.u1[k] * q.ydot[i] + q.u2[k] * q.g[i] - a2[i];  // (polynomial.1)
      b0[i] = q.s1[k] * q.y[i] + q.u2[k] * q.ydot[i] + q.u3[k] * q.g[i] - b2[i];
      a2[i] = a1[i];
      b2[i] = b1[i];
    }
    for (int j = 0; j < N; ++j) {
      const double aj = half * a2[j], bj = half * b2[j];
      for (int i = 0; i < P; ++i) a0[i] += q.A[j * P + i] * aj;
      for (int i = 0; i < P; ++i) b0[i] += q.A[j * P + i] * bj;
    }
    std::copy_n(a0, P, a1);
    std::copy_n(b0, P, b1);
  }
  std::copy_n(a1, P, q.first);
  std::copy_n(b1, P, q.second);
}

#ifdef TRIBO_WIDE_POLYNOMIAL
// The same with four numbers in a register, all of them held there.
template <int N>
__attribute__((target("avx2,fma"))) void clenshaw_wide(const Sums& q) {
  constexpr int W = (N + 3) / 4;
  alignas(32) double a1[4 * W] = {}, b1[4 * W] = {};
  __m256d a2[W], b2[W];
  for (int i = 0; i < W; ++i) a2[i] = b2[i] = _mm256_setzero_pd();
  for (int k = q.count - 1; k >= 0; --k) {
    const __m256d s = _mm256_set1_pd(q.s[k]), s1 = _mm256_set1_pd(q.s1[k]), u1 = _mm256_set1_pd(q.u1[k]),
                  u2 = _mm256_set1_pd(q.u2[k]), u3 = _mm256_set1_pd(q.u3[k]);
    __m256d a0[W], b0[W];
#pragma GCC unroll 6
    for (int i = 0; i < W; ++i) {
      const __m256d y = _mm256_load_pd(q.y + 4 * i), v = _mm256_load_pd(q.ydot + 4 * i),
                    g = _mm256_load_pd(q.g + 4 * i);
      a0[i] = _mm256_fmadd_pd(s, y, _mm256_fmadd_pd(u1, v, _mm256_fmsub_pd(u2, g, a2[i])));
      b0[i] = _mm256_fmadd_pd(s1, y, _mm256_fmadd_pd(u2, v, _mm256_fmsub_pd(u3, g, b2[i])));
      a2[i] = _mm256_load_pd(a1 + 4 * i);
      b2[i] = _mm256_load_pd(b1 + 4 * i);
    }
    if (k == 0)
      for (int i = 0; i < N; ++i) a1[i] *= 0.5, b1[i] *= 0.5;
#pragma GCC unroll 24
    for (int j = 0; j < N; ++j) {
      const __m256d aj = _mm256_broadcast_sd(a1 + j), bj = _mm256_broadcast_sd(b1 + j);
#pragma GCC unroll 6
      for (int i = 0; i < W; ++i) {
        const __m256d c = _mm256_load_pd(q.A + 4 * (j * W + i));
        a0[i] = _mm256_fmadd_pd(c, aj, a0[i]);
        b0[i] = _mm256_fmadd_pd(c, bj, b0[i]);
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < W; ++i) {
      _mm256_store_pd(a1 + 4 * i, a0[i]);
      _mm256_store_pd(b1 + 4 * i, b0[i]);
    }
  }
  std::copy_n(a1, 4 * W, q.first);
  std::copy_n(b1, 4 * W, q.second);
}

// For few unknowns, where one sum would wait for itself: even and odd terms apart, four sums side by side
// (polynomial.3).
template <int N>
__attribute__((target("avx2,fma"))) void clenshaw_split(const Sums& q) {
  constexpr int W = (N + 3) / 4;
  alignas(32) double Y[4 * W * N], last[4][4 * W] = {};  // 2 y; b_m+1 of the integrals' even and odd sums
  __m256d before[4][W];                                  // b_m+2
  for (int j = 0; j < N; ++j) {
    __m256d column[W];
    for (int i = 0; i < W; ++i) column[i] = _mm256_setzero_pd();
#pragma GCC unroll 12
    for (int k = 0; k < N; ++k) {
      const __m256d factor = _mm256_broadcast_sd(q.A + 4 * j * W + k);
#pragma GCC unroll 3
      for (int i = 0; i < W; ++i) column[i] = _mm256_fmadd_pd(factor, _mm256_load_pd(q.A + 4 * (k * W + i)), column[i]);
    }
    for (int i = 0; i < W; ++i) _mm256_store_pd(Y + 4 * (j * W + i), column[i]);
    Y[4 * j * W + j] -= 2;
  }
  for (auto& b : before)
    for (int i = 0; i < W; ++i) b[i] = _mm256_setzero_pd();
  for (int m = (q.count - 1) / 2; m >= 0; --m) {
    __m256d sum[4][W];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const int k = 2 * m + c % 2;
      const __m256d by_y = _mm256_set1_pd(c < 2 ? q.s[k] : q.s1[k]), by_v = _mm256_set1_pd(c < 2 ? q.u1[k] : q.u2[k]),
                    by_g = _mm256_set1_pd(c < 2 ? q.u2[k] : q.u3[k]);
#pragma GCC unroll 3
      for (int i = 0; i < W; ++i) {
        const __m256d y = _mm256_load_pd(q.y + 4 * i), v = _mm256_load_pd(q.ydot + 4 * i),
                      g = _mm256_load_pd(q.g + 4 * i);
        sum[c][i] = _mm256_fmadd_pd(by_y, y, _mm256_fmadd_pd(by_v, v, _mm256_fmsub_pd(by_g, g, before[c][i])));
        before[c][i] = _mm256_load_pd(last[c] + 4 * i);
      }
    }
    if (m == 0)  // T_1 = y, not 2 y
      for (int i = 0; i < N; ++i) last[0][i] *= 0.5, last[2][i] *= 0.5;
#pragma GCC unroll 12
    for (int j = 0; j < N; ++j) {
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        const __m256d factor = _mm256_broadcast_sd(last[c] + j);
#pragma GCC unroll 3
        for (int i = 0; i < W; ++i) sum[c][i] = _mm256_fmadd_pd(_mm256_load_pd(Y + 4 * (j * W + i)), factor, sum[c][i]);
      }
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c)
#pragma GCC unroll 3
      for (int i = 0; i < W; ++i) _mm256_store_pd(last[c] + 4 * i, sum[c][i]);
  }
  for (int c = 0; c < 4; c += 2) {  // even + x odd, odd = b_0 - b_1
    double* out = c == 0 ? q.first : q.second;
    __m256d sum[W];
    for (int i = 0; i < W; ++i) {
      sum[i] = _mm256_load_pd(last[c] + 4 * i);
      _mm256_store_pd(last[c + 1] + 4 * i, _mm256_sub_pd(_mm256_load_pd(last[c + 1] + 4 * i), before[c + 1][i]));
    }
    for (int j = 0; j < N; ++j) {
      const __m256d factor = _mm256_set1_pd(0.5 * last[c + 1][j]);
      for (int i = 0; i < W; ++i) sum[i] = _mm256_fmadd_pd(_mm256_load_pd(q.A + 4 * (j * W + i)), factor, sum[i]);
    }
    for (int i = 0; i < W; ++i) _mm256_store_pd(out + 4 * i, sum[i]);
  }
}
#endif

using Sum = void (*)(const Sums&);

template <int N>
Sum pick() {
#ifdef TRIBO_WIDE_POLYNOMIAL
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    if constexpr (N <= 12)
      return clenshaw_split<N>;
    else
      return clenshaw_wide<N>;
  }
#endif
  return clenshaw<N>;
}

// By the number of unknowns; null: too many.
Sum sum_of(int n) {
  static const std::array<Sum, 8> sums = {pick<3>(), pick<6>(), pick<9>(), pick<12>(),
                                          nullptr,   nullptr,   nullptr,   pick<24>()};
  return n % 3 == 0 && n > 0 && n <= 24 ? sums[at(n / 3 - 1)] : nullptr;
}

// A <- root G root, padded; the smaller of two bounds of its norm.
double scaled(const double* G, const double* root, int n, int stride, double* A) {
  double norm = 0, square = 0;
  for (int j = 0; j < n; ++j) {
    double* column = A + j * stride;
    double sum = 0;
    for (int i = 0; i < n; ++i) column[i] = root[i] * G[i + j * n] * root[j];
    for (int i = 0; i < n; ++i) sum += std::abs(column[i]);
    for (int i = 0; i < n; ++i) square += column[i] * column[i];
    norm = std::max(norm, sum);
  }
  return square < HUGE_VAL ? std::min(norm, std::sqrt(square)) : HUGE_VAL;  // NaN is not less
}

}  // namespace

void Polynomial::expand(Terms& t, Length length) {
  const double expected = std::sqrt(-2 * std::log(tolerance) * t.beta * t.bound * t.h);
  const int most = length == Length::Single ? 32 : nodes;
  t.count = 0;
  int n = 16;
  while (n < nodes && n < expected) n *= 2;
  for (bool resolved = false; !resolved && n <= most; n *= 2) resolved = resolve(t, n);
}

// Coefficients from the values at n nodes; false where the last ones are not negligible: n do not resolve the
// functions.
bool Polynomial::resolve(Terms& t, int n) {
  std::array<std::array<double, nodes>, 5> u;
  const double* C = cosines(n);
  for (int j = 0; j < n; ++j) {
    const double l = 0.5 * t.bound * (1 + C[j * n + 1]);
    const Oscillator o = t.form == Form::Whole ? oscillate(l, t.beta * l, t.h) : remainders(l, t.beta, t.h);
    u[0][at(j)] = o.s;
    u[1][at(j)] = o.s1;
    u[2][at(j)] = o.s1 + t.beta * o.s;
    u[3][at(j)] = o.s2 + t.beta * o.s1;
    u[4][at(j)] = o.s3 + t.beta * o.s2;
  }
  int count = 1;
  for (std::size_t f = 0; f < 5; ++f) {
    transform(C, u[f].data(), n, t.c[f].data());
    double largest = 0;
    for (int k = 0; k < n; ++k) {
      t.c[f][at(k)] *= (k == 0 ? 1.0 : 2.0) / n;
      largest = std::max(largest, std::abs(t.c[f][at(k)]));
    }
    for (int k = count; k < n; ++k)
      if (std::abs(t.c[f][at(k)]) > tolerance * largest) count = k + 1;
  }
  const bool resolved = count + 2 <= n;
  t.count = resolved ? count : 0;
  for (auto& c : t.c) std::fill(c.begin() + count, c.end(), 0.0);
  return resolved;
}

const Polynomial::Terms& Polynomial::terms(double beta, double h, double bound, Length length, Form form) {
  auto fits = [&](const Terms& t) { return t.h == h && t.bound == bound && t.beta == beta && t.form == form; };
  if (length != Length::Usual && fits(single_) && (single_.count > 0 || length == Length::Single)) return single_;
  if (length == Length::Usual)
    for (const Terms& t : known_)
      if (fits(t)) return t;
  Terms& t = length != Length::Usual ? single_ : known_[next_];
  if (length == Length::Usual) next_ = (next_ + 1) % known_.size();
  t.beta = beta;
  t.h = h;
  t.bound = bound;
  t.form = form;
  expand(t, length);
  return t;
}

// At a norm that is rounded up to a quarter power of 2.
const Polynomial::Terms& Polynomial::bounded_terms(double norm, double beta, double h, Length length, Form form) {
  double bound = 1;
  if (norm > 0) {
    int exponent = 0;
    const double mantissa = std::frexp(norm, &exponent);  // in [1/2, 1)
    for (double step : {0.8408964152537145, M_SQRT1_2, 0.5946035575013605})
      if (mantissa <= step) bound = step;
    bound = std::ldexp(bound, exponent);
  }
  return terms(beta, h, bound, length, form);
}

bool Polynomial::prepare(double norm, double beta, double h, Length length) {
  if (!(norm < 1e300)) return false;
  terms_ = &bounded_terms(norm, beta, h, length, Form::Remainder);
  return terms_->count > 0;
}

bool Polynomial::prepare(const double* G, const double* K, int n, double beta, double h, Length length) {
  if (sum_of(n) == nullptr) return false;
  if (n != n_) A_.fill(0);
  n_ = n;
  const int stride = (n + 3) / 4 * 4;
  for (int i = 0; i < n; ++i) root_[at(i)] = std::sqrt(K[i]);
  const double norm = scaled(G, root_.data(), n, stride, A_.data());
  if (!(norm < 1e300)) return false;
  terms_ = &bounded_terms(norm, beta, h, length, Form::Whole);
  if (terms_->count == 0) return false;
  const double scale = 4 / terms_->bound;
  for (int i = 0; i < n * stride; ++i) A_[at(i)] *= scale;
  for (int i = 0; i < n; ++i) A_[at(i * (stride + 1))] -= 2;
  return true;
}

// One term of (polynomial.2) over pairs of numbers, four at a time.
TRIBO_CLONES void Polynomial::add_term(const Term& q) {
  using Pack4 [[gnu::vector_size(32)]] = double;
  const Pack4 s{q.s, q.s1, q.s, q.s1}, u{q.u1, q.u2, q.u1, q.u2}, w{q.u2, q.u3, q.u2, q.u3};
  Pack4 y, v, g, Sb, last, before;
  for (std::size_t i = 0; i < q.count; i += 4) {
    const auto load = [i](const double* from, Pack4& to) { std::memcpy(&to, from + i, sizeof(to)); };
    load(q.y, y);
    load(q.v, v);
    load(q.g, g);
    load(q.Sb, Sb);
    load(q.last, last);
    load(q.before, before);
    const Pack4 now = s * y + u * v + w * g - before + q.scale * Sb - q.twice * last;
    std::memcpy(q.before + i, &last, sizeof(last));
    std::memcpy(q.last + i, &now, sizeof(now));
  }
}

// u(0) of each, times p, p' and b.
void Polynomial::add_free(int n, const double* p, const double* pdot, const double* b, double* first,
                          double* second) const {
  const double h = terms_->h, beta = terms_->beta, s1 = h * h / 2, s2 = s1 * h / 3, s3 = s2 * h / 4;
  for (int i = 0; i < n; ++i) {
    first[i] += h * p[i] + (s1 + beta * h) * pdot[i] + (s2 + beta * s1) * b[i];
    second[i] += s1 * p[i] + (s2 + beta * s1) * pdot[i] + (s3 + beta * s2) * b[i];
  }
}

void Polynomial::integrate(const double* p, const double* pdot, const double* b, double* first, double* second) {
  alignas(32) double y[most_rows], ydot[most_rows], g[most_rows], one[most_rows], two[most_rows];
  const int n = n_;
  for (int i = n; i % 4 != 0; ++i) y[i] = ydot[i] = g[i] = 0;
  for (int i = 0; i < n; ++i) {
    const double root = root_[at(i)];
    y[i] = root * p[i];
    ydot[i] = root * pdot[i];
    g[i] = root * b[i];
  }
  const auto& c = terms_->c;
  sum_of(n)({A_.data(), y, ydot, g, c[0].data(), c[1].data(), c[2].data(), c[3].data(), c[4].data(), terms_->count, one,
             two});
  for (int i = 0; i < n; ++i) {
    const double root = root_[at(i)];
    first[i] = -root * one[i];
    second[i] = -root * two[i];
  }
}

}  // namespace tribo
