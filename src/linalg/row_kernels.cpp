#include "linalg/row_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

// Two versions of each kernel, of packs that the machine has: what would be a pack of four on a machine with packs of two goes
// through memory, at a tenth of the speed. (`target_clones("arch=haswell")` picks its clone on that processor alone.)
#if defined(__x86_64__) && defined(__GNUC__)
#define TRIBO_AVX2 __attribute__((target("avx2,fma")))
#else
#define TRIBO_AVX2
#endif

namespace tribo::rows {
namespace {

using Pack2 [[gnu::vector_size(16)]] = double;
using Pack4 [[gnu::vector_size(32)]] = double;

// Rows are aligned to numbers, not to packs. By reference: a pack by value has no calling convention on every machine.
template <class Pack>
[[gnu::always_inline]] inline void load(const double* from, Pack& pack) {
  std::memcpy(&pack, from, sizeof(Pack));
}
template <class Pack>
[[gnu::always_inline]] inline void store(const Pack& pack, double* to) {
  std::memcpy(to, &pack, sizeof(Pack));
}

bool wide() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return found;
#else
  return false;
#endif
}

struct Combination {  // y = scale y + sum_i x_i X[index_i], or X[i]
  double scale;
  double* y;
  const double* X;
  int stride;
  const int* index;
  const double* x;
  int n, columns;
};

// Four packs at a time, then one at a time. Numbers in locals: what is stored might change those of the struct.
template <class Pack, bool Indexed>
[[gnu::always_inline]] inline void combine_packs(const Combination& s) {
  constexpr int one = sizeof(Pack) / sizeof(double), four = 4 * one;
  const double scale = s.scale, *const X = s.X, *const x = s.x;
  const std::ptrdiff_t stride = s.stride;
  const int *const index = s.index, n = s.n, columns = s.columns;
  int c = 0;
  for (; c + four <= columns; c += four) {
    double* out = s.y + c;
    Pack y0, y1, y2, y3, r0, r1, r2, r3;
    load(out, y0);
    load(out + one, y1);
    load(out + 2 * one, y2);
    load(out + 3 * one, y3);
    y0 *= scale;
    y1 *= scale;
    y2 *= scale;
    y3 *= scale;
    for (int i = 0; i < n; ++i) {
      const double *from = X + (Indexed ? index[i] : i) * stride + c, a = x[i];
      load(from, r0);
      load(from + one, r1);
      load(from + 2 * one, r2);
      load(from + 3 * one, r3);
      y0 += a * r0;
      y1 += a * r1;
      y2 += a * r2;
      y3 += a * r3;
    }
    store(y0, out);
    store(y1, out + one);
    store(y2, out + 2 * one);
    store(y3, out + 3 * one);
  }
  for (; c < columns; c += one) {
    Pack y, r;
    load(s.y + c, y);
    y *= scale;
    for (int i = 0; i < n; ++i) {
      load(X + (Indexed ? index[i] : i) * stride + c, r);
      y += x[i] * r;
    }
    store(y, s.y + c);
  }
}

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

TRIBO_AVX2 void combine_wide(const Combination& s) { combine_packs<Pack4, false>(s); }
TRIBO_AVX2 void combine_indexed_wide(const Combination& s) { combine_packs<Pack4, true>(s); }
TRIBO_AVX2 double dot_wide(const double* x, const double* y, int n) { return dot_packs<Pack4>(x, y, n); }
TRIBO_AVX2 void add_wide(double a, const double* x, double* y, int n) { add_packs<Pack4>(a, x, y, n); }

}  // namespace

void combine(double scale, double* y, const double* X, int stride, const int* index, const double* x, int n,
             int columns) {
  const Combination sum{scale, y, X, stride, index, x, n, columns};
  wide() ? combine_indexed_wide(sum) : combine_packs<Pack2, true>(sum);
}

void combine(double scale, double* y, const double* X, int stride, const double* x, int n, int columns) {
  const Combination sum{scale, y, X, stride, nullptr, x, n, columns};
  wide() ? combine_wide(sum) : combine_packs<Pack2, false>(sum);
}

double dot(const double* x, const double* y, int n) { return wide() ? dot_wide(x, y, n) : dot_packs<Pack2>(x, y, n); }

void add(double a, const double* x, double* y, int n) { wide() ? add_wide(a, x, y, n) : add_packs<Pack2>(a, x, y, n); }

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
