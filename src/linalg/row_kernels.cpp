#include "linalg/row_kernels.hpp"

#include <algorithm>

#include "linalg/row_block.hpp"

namespace tribo::rows {
namespace {

bool wide() { return width() > 2; }

template <bool Indexed>
struct Combine {
  const Combination& s;
  template <class Pack, int Packs>
  [[gnu::always_inline]] void run(int c) const {
    combine<Pack, Packs, Indexed>(s, c);
  }
};

template <class Pack>
[[gnu::always_inline]] inline double dot_packs(const double* x, const double* y, int n) {
  constexpr int one = sizeof(Pack) / sizeof(double);
  Pack sum = {}, a, b;
  int i = 0;
  for (; i + one <= n; i += one) {
    load(x + i, a);
    load(y + i, b);
    sum += a * b;
  }
  double all = 0;
  for (; i < n; ++i) all += x[i] * y[i];
  for (int k = 0; k < one; ++k) all += sum[k];
  return all;
}

template <class Pack>
[[gnu::always_inline]] inline void add_packs(double a, const double* x, double* y, int n) {
  constexpr int one = sizeof(Pack) / sizeof(double);
  Pack from, to;
  int i = 0;
  for (; i + one <= n; i += one) {
    load(x + i, from);
    load(y + i, to);
    to += a * from;
    store(to, y + i);
  }
  for (; i < n; ++i) y[i] += a * x[i];
}

// Four rows at a time, whose sums are turned into one pack.
template <class Pack>
[[gnu::always_inline]] inline void dots_packs(const double* x, const double* Y, std::ptrdiff_t stride, int rows, int n,
                                              double* out) {
  constexpr int one = sizeof(Pack) / sizeof(double);
  int i = 0;
  for (; i + 4 <= rows; i += 4) {
    const double* const y = Y + i * stride;
    Pack s0 = {}, s1 = {}, s2 = {}, s3 = {}, a, b;
    for (int c = 0; c < n; c += one) {
      load(x + c, a);
      load(y + c, b);
      s0 += a * b;
      load(y + stride + c, b);
      s1 += a * b;
      load(y + 2 * stride + c, b);
      s2 += a * b;
      load(y + 3 * stride + c, b);
      s3 += a * b;
    }
    double sums[4] = {};
    for (int k = 0; k < one; ++k) {
      sums[0] += s0[k];
      sums[1] += s1[k];
      sums[2] += s2[k];
      sums[3] += s3[k];
    }
    std::copy_n(sums, 4, out + i);
  }
  for (; i < rows; ++i) out[i] = dot_packs<Pack>(x, Y + i * stride, n);
}

// Where the sum of all times 0 is 0.
template <class Pack>
[[gnu::always_inline]] inline bool finite_packs(const double* x, int n) {
  constexpr int one = sizeof(Pack) / sizeof(double);
  Pack s0 = {}, s1 = {}, s2 = {}, s3 = {}, a;
  int i = 0;
  for (; i + 4 * one <= n; i += 4 * one) {  // side by side: one sum waits for itself
    load(x + i, a);
    s0 += a * 0.0;
    load(x + i + one, a);
    s1 += a * 0.0;
    load(x + i + 2 * one, a);
    s2 += a * 0.0;
    load(x + i + 3 * one, a);
    s3 += a * 0.0;
  }
  double all = 0;
  for (; i < n; ++i) all += x[i] * 0.0;
  s0 += s1 + (s2 + s3);
  for (int k = 0; k < one; ++k) all += s0[k];
  return all == 0;
}

TRIBO_AVX2 void combine_wide(const Combination& s, int columns) { each_block<Pack4>(columns, Combine<false>{s}); }
TRIBO_AVX2 void combine_indexed_wide(const Combination& s, int columns) {
  each_block<Pack4>(columns, Combine<true>{s});
}
#ifdef TRIBO_WIDE
TRIBO_WIDE void combine_widest(const Combination& s, int columns) { each_block<Pack8>(columns, Combine<false>{s}); }
TRIBO_WIDE void combine_indexed_widest(const Combination& s, int columns) {
  each_block<Pack8>(columns, Combine<true>{s});
}
#endif
TRIBO_AVX2 void dots_wide(const double* x, const double* Y, int stride, int rows, int n, double* out) {
  dots_packs<Pack4>(x, Y, stride, rows, n, out);
}
TRIBO_AVX2 bool finite_wide(const double* x, int n) { return finite_packs<Pack4>(x, n); }
TRIBO_AVX2 void to_columns_wide(const double* X, std::ptrdiff_t stride, int rows, double* const to[4]) {
  for (int i = 0; i + 4 <= rows; i += 4) {
    Pack4 r0, r1, r2, r3;
    load(X + i * stride, r0);
    load(X + (i + 1) * stride, r1);
    load(X + (i + 2) * stride, r2);
    load(X + (i + 3) * stride, r3);
    const Pack4 a = __builtin_shufflevector(r0, r1, 0, 4, 2, 6), b = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
    const Pack4 c = __builtin_shufflevector(r2, r3, 0, 4, 2, 6), d = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
    store(__builtin_shufflevector(a, c, 0, 1, 4, 5), to[0] + i);
    store(__builtin_shufflevector(b, d, 0, 1, 4, 5), to[1] + i);
    store(__builtin_shufflevector(a, c, 2, 3, 6, 7), to[2] + i);
    store(__builtin_shufflevector(b, d, 2, 3, 6, 7), to[3] + i);
  }
}
TRIBO_AVX2 double dot_wide(const double* x, const double* y, int n) { return dot_packs<Pack4>(x, y, n); }
TRIBO_AVX2 void add_wide(double a, const double* x, double* y, int n) { add_packs<Pack4>(a, x, y, n); }

}  // namespace

void combine(double scale, double* y, const double* X, int stride, const int* index, const double* x, int n,
             int columns) {
  const Combination sum{scale, y, X, stride, index, x, n};
#ifdef TRIBO_WIDE
  if (width() == 8) return combine_indexed_widest(sum, columns);
#endif
  wide() ? combine_indexed_wide(sum, columns) : each_block<Pack2>(columns, Combine<true>{sum});
}

void combine(double scale, double* y, const double* X, int stride, const double* x, int n, int columns) {
  const Combination sum{scale, y, X, stride, nullptr, x, n};
#ifdef TRIBO_WIDE
  if (width() == 8) return combine_widest(sum, columns);
#endif
  wide() ? combine_wide(sum, columns) : each_block<Pack2>(columns, Combine<false>{sum});
}

double dot(const double* x, const double* y, int n) { return wide() ? dot_wide(x, y, n) : dot_packs<Pack2>(x, y, n); }

void add(double a, const double* x, double* y, int n) { wide() ? add_wide(a, x, y, n) : add_packs<Pack2>(a, x, y, n); }

void dots(const double* x, const double* Y, int stride, int rows, int n, double* out) {
  wide() ? dots_wide(x, Y, stride, rows, n, out) : dots_packs<Pack2>(x, Y, stride, rows, n, out);
}

bool all_finite(const double* x, int n) { return wide() ? finite_wide(x, n) : finite_packs<Pack2>(x, n); }

void to_columns(const double* X, int stride, int rows, double* const to[4]) {
  int i = 0;
  if (wide()) {
    to_columns_wide(X, stride, rows, to);
    i = rows / 4 * 4;
  }
  for (; i < rows; ++i)
    for (int k = 0; k < 4; ++k) to[k][i] = X[static_cast<std::ptrdiff_t>(i) * stride + k];
}

void lu_solve(const double* LU, int n, const int* pivot, RowMatrix& X) {
  const int columns = X.stride();
  const auto entry = [&](int i, int k) { return LU[static_cast<std::ptrdiff_t>(k) * n + i]; };
  for (int k = 0; k < n; ++k)
    if (pivot[k] != k) std::swap_ranges(X.row(k), X.row(k) + columns, X.row(pivot[k]));
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) add(-entry(i, k), X.row(k), X.row(i), columns);
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) add(-entry(i, k), X.row(k), X.row(i), columns);
    const double inverse = 1 / entry(i, i);
    for (int c = 0; c < columns; ++c) X(i, c) *= inverse;
  }
}

}  // namespace tribo::rows
