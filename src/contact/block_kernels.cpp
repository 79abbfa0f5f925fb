#include "contact/block_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "linalg/clones.hpp"

namespace tribo::kernels {
namespace {

using Pack4 [[gnu::vector_size(32)]] = double;
using Pack2 [[gnu::vector_size(16)]] = double;

// C -= sum of V_m W_m^T: six columns of C stay in registers.
TRIBO_CLONES void subtract_outers_6(const double* const* V, const double* const* W, int count, double* C) {
  Pack4 a[6];
  Pack2 b[6];
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    std::memcpy(&a[j], C + 6 * j, sizeof(Pack4));
    std::memcpy(&b[j], C + 6 * j + 4, sizeof(Pack2));
  }
  for (int m = 0; m < count; ++m)
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
      Pack4 v4;
      Pack2 v2;
      std::memcpy(&v4, V[m] + 6 * k, sizeof(Pack4));
      std::memcpy(&v2, V[m] + 6 * k + 4, sizeof(Pack2));
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        a[j] -= v4 * W[m][6 * k + j];
        b[j] -= v2 * W[m][6 * k + j];
      }
    }
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    std::memcpy(C + 6 * j, &a[j], sizeof(Pack4));
    std::memcpy(C + 6 * j + 4, &b[j], sizeof(Pack2));
  }
}

#ifdef TRIBO_WIDE
constexpr __mmask8 six = 0x3f;

// The same sums in the same order, so the same bits: a column of six in one register of eight.
TRIBO_WIDE void subtract_outers_6_wide(const double* const* V, const double* const* W, int count, double* C) {
  __m512d c[6];
  for (int j = 0; j < 6; ++j) c[j] = _mm512_maskz_loadu_pd(six, C + 6 * j);
  for (int m = 0; m < count; ++m)
    for (int k = 0; k < 6; ++k) {
      const __m512d v = _mm512_maskz_loadu_pd(six, V[m] + 6 * k);
      for (int j = 0; j < 6; ++j) c[j] = _mm512_fnmadd_pd(v, _mm512_set1_pd(W[m][6 * k + j]), c[j]);
    }
  for (int j = 0; j < 6; ++j) _mm512_mask_storeu_pd(C + 6 * j, six, c[j]);
}

// As divide_by_transposed_6.
TRIBO_WIDE void divide_by_transposed_6_wide(const double* LU, const int* from, double* B) {
  __m512d b[6];
  for (int k = 0; k < 6; ++k) b[k] = _mm512_maskz_loadu_pd(six, B + 6 * from[k]);
  for (int k = 1; k < 6; ++k)
    for (int j = 0; j < k; ++j) b[k] = _mm512_fnmadd_pd(_mm512_set1_pd(LU[k + 6 * j]), b[j], b[k]);
  for (int k = 5; k >= 0; --k) {
    for (int j = k + 1; j < 6; ++j) b[k] = _mm512_fnmadd_pd(_mm512_set1_pd(LU[k + 6 * j]), b[j], b[k]);
    b[k] = _mm512_mul_pd(b[k], _mm512_set1_pd(1 / LU[7 * k]));
  }
  for (int k = 0; k < 6; ++k) _mm512_mask_storeu_pd(B + 6 * k, six, b[k]);
}

const bool wide = has_wide_registers();
#endif

// column += x other, six long.
[[gnu::always_inline]] inline void add_scaled_6(double* column, double x, const double* other) {
  Pack4 a, c;
  Pack2 b, d;
  std::memcpy(&a, column, sizeof(Pack4));
  std::memcpy(&b, column + 4, sizeof(Pack2));
  std::memcpy(&c, other, sizeof(Pack4));
  std::memcpy(&d, other + 4, sizeof(Pack2));
  a += x * c;
  b += x * d;
  std::memcpy(column, &a, sizeof(Pack4));
  std::memcpy(column + 4, &b, sizeof(Pack2));
}

// from: the column that takes each place.
TRIBO_CLONES void divide_by_transposed_6(const double* LU, const int* from, double* B) {
  Pack4 a[6];
  Pack2 b[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    std::memcpy(&a[k], B + 6 * from[k], sizeof(Pack4));
    std::memcpy(&b[k], B + 6 * from[k] + 4, sizeof(Pack2));
  }
#pragma GCC unroll 6
  for (int k = 1; k < 6; ++k)
#pragma GCC unroll 6
    for (int j = 0; j < k; ++j) {
      a[k] -= LU[k + 6 * j] * a[j];
      b[k] -= LU[k + 6 * j] * b[j];
    }
#pragma GCC unroll 6
  for (int k = 5; k >= 0; --k) {
#pragma GCC unroll 6
    for (int j = k + 1; j < 6; ++j) {
      a[k] -= LU[k + 6 * j] * a[j];
      b[k] -= LU[k + 6 * j] * b[j];
    }
    const double inverse = 1 / LU[7 * k];
    a[k] *= inverse;
    b[k] *= inverse;
  }
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    std::memcpy(B + 6 * k, &a[k], sizeof(Pack4));
    std::memcpy(B + 6 * k + 4, &b[k], sizeof(Pack2));
  }
}

// A transpose by shuffles: out = four sums of four products.
[[gnu::always_inline]] inline void add_up(const Pack4& p, const Pack4& q, const Pack4& r, const Pack4& s, Pack4& out) {
  const Pack4 x = __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
  const Pack4 y = __builtin_shufflevector(r, s, 0, 4, 2, 6) + __builtin_shufflevector(r, s, 1, 5, 3, 7);
  out = __builtin_shufflevector(x, y, 0, 1, 4, 5) + __builtin_shufflevector(x, y, 2, 3, 6, 7);
}

// x -= A^T y, A 6 x 6.
[[gnu::always_inline]] inline void subtract_transposed_6(const double* A, const double* y, double* x) {
  Pack4 y4, p[6], sum, first, last;
  Pack2 y2, q[6], rest;
  std::memcpy(&y4, y, sizeof(Pack4));
  std::memcpy(&y2, y + 4, sizeof(Pack2));
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    std::memcpy(&p[k], A + 6 * k, sizeof(Pack4));
    std::memcpy(&q[k], A + 6 * k + 4, sizeof(Pack2));
    p[k] *= y4;
    q[k] *= y2;
  }
  std::memcpy(&sum, x, sizeof(Pack4));
  std::memcpy(&rest, x + 4, sizeof(Pack2));
  const Pack4 low{q[0][0] + q[0][1], q[1][0] + q[1][1], q[2][0] + q[2][1], q[3][0] + q[3][1]};
  add_up(p[0], p[1], p[2], p[3], first);
  add_up(p[4], p[5], p[4], p[5], last);
  sum -= first + low;
  rest -= Pack2{last[0] + (q[4][0] + q[4][1]), last[1] + (q[5][0] + q[5][1])};
  std::memcpy(x, &sum, sizeof(Pack4));
  std::memcpy(x + 4, &rest, sizeof(Pack2));
}

// A 3 x 6 matrix by rows.
struct Rows3 {
  Pack4 r4[3];
  Pack2 r2[3];
};

[[gnu::always_inline]] inline Rows3 rows_of(const double* Y) {
  Rows3 x;
  for (int r = 0; r < 3; ++r) {
    x.r4[r] = Pack4{Y[r], Y[3 + r], Y[6 + r], Y[9 + r]};
    x.r2[r] = Pack2{Y[12 + r], Y[15 + r]};
  }
  return x;
}

// out (6 x 6) += A^T B.
[[gnu::always_inline]] inline void add_product(const Rows3& A, const double* B, double* out) {
  for (int l = 0; l < 6; ++l) {
    const double a = B[3 * l], b = B[3 * l + 1], c = B[3 * l + 2];
    Pack4 p;
    Pack2 q;
    std::memcpy(&p, out + 6 * l, sizeof(Pack4));
    std::memcpy(&q, out + 6 * l + 4, sizeof(Pack2));
    p += a * A.r4[0] + b * A.r4[1] + c * A.r4[2];
    q += a * A.r2[0] + b * A.r2[1] + c * A.r2[2];
    std::memcpy(out + 6 * l, &p, sizeof(Pack4));
    std::memcpy(out + 6 * l + 4, &q, sizeof(Pack2));
  }
}

[[gnu::always_inline]] inline void multiply(const double* D, const double* Y, double* out) {
  for (int k = 0; k < 6; ++k) {
    const double x = Y[3 * k], y = Y[3 * k + 1], z = Y[3 * k + 2];
    for (int r = 0; r < 3; ++r) out[3 * k + r] = D[r] * x + D[r + 3] * y + D[r + 6] * z;
  }
}

}  // namespace

TRIBO_CLONES void multiply_3x6(const double* D, const double* Y, double* out) { multiply(D, Y, out); }

TRIBO_CLONES void add_product_6(const double* A, const double* B, double* out) { add_product(rows_of(A), B, out); }

TRIBO_CLONES void add_contact_6(const double* D, const double* Y, double* out) {
  double DY[18];
  multiply(D, Y, DY);
  add_product(rows_of(Y), DY, out);
}

TRIBO_CLONES void add_contact_6(const double* D, const double* early, const double* late, const PairBlocks& out) {
  double De[18], Dl[18];
  multiply(D, early, De);
  multiply(D, late, Dl);
  const Rows3 e = rows_of(early), l = rows_of(late);
  add_product(e, De, out.early);
  add_product(l, De, out.lower);
  add_product(rows_of(Dl), early, out.upper);
  add_product(l, Dl, out.late);
}

void subtract_outers_6x6(const double* const* V, const double* const* W, int count, double* C) {
#ifdef TRIBO_WIDE
  if (wide) return subtract_outers_6_wide(V, W, count, C);
#endif
  subtract_outers_6(V, W, count, C);
}

void subtract_outer(const double* V, const double* W, int rows, int inner, int columns, double* C) {
  if (rows == 6 && inner == 6 && columns == 6) return subtract_outers_6x6(&V, &W, 1, C);
  for (int k = 0; k < inner; ++k)
    for (int j = 0; j < columns; ++j) {
      const double x = W[k * columns + j];
      const double* v = V + static_cast<std::ptrdiff_t>(k) * rows;
      double* __restrict c = C + static_cast<std::ptrdiff_t>(j) * rows;
      for (int i = 0; i < rows; ++i) c[i] -= x * v[i];
    }
}

// B A^-T: with B P^T = Z, first Z <- Z L^-T, then Z <- Z U^-T.
void divide_by_transposed(const double* LU, int n, const int* pivot, int rows, double* B) {
  if (n == 6 && rows == 6) {
    int from[6] = {0, 1, 2, 3, 4, 5};
    for (int k = 0; k < 6; ++k) std::swap(from[k], from[pivot[k]]);
#ifdef TRIBO_WIDE
    if (wide) return divide_by_transposed_6_wide(LU, from, B);
#endif
    return divide_by_transposed_6(LU, from, B);
  }
  auto column = [&](int k) { return B + static_cast<std::ptrdiff_t>(k) * rows; };
  auto entry = [&](int i, int j) { return LU[i + static_cast<std::ptrdiff_t>(j) * n]; };
  for (int k = 0; k < n; ++k)
    if (pivot[k] != k) std::swap_ranges(column(k), column(k) + rows, column(pivot[k]));
  for (int k = 1; k < n; ++k)
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < rows; ++i) column(k)[i] -= entry(k, j) * column(j)[i];
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j)
      for (int i = 0; i < rows; ++i) column(k)[i] -= entry(k, j) * column(j)[i];
    for (int i = 0; i < rows; ++i) column(k)[i] /= entry(k, k);
  }
}

TRIBO_CLONES void subtract_times(const double* A, const double* x, int rows, int n, double* y) {
  if (rows == 6 && n == 6) {
    for (int k = 0; k < 6; ++k) add_scaled_6(y, -x[k], A + 6 * k);
    return;
  }
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < rows; ++i) y[i] -= x[k] * A[i + static_cast<std::ptrdiff_t>(k) * rows];
}

TRIBO_CLONES void subtract_transposed_times(const double* A, const double* y, int rows, int n, double* x) {
  if (rows == 6 && n == 6) return subtract_transposed_6(A, y, x);
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int i = 0; i < rows; ++i) sum += A[i + static_cast<std::ptrdiff_t>(k) * rows] * y[i];
    x[k] -= sum;
  }
}

}  // namespace tribo::kernels
