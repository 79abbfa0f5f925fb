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

TRIBO_CLONES void subtract_outer_6(const double* V, const double* W, double* C) {
  Pack4 v4[6];
  Pack2 v2[6];
  for (int k = 0; k < 6; ++k) {
    std::memcpy(&v4[k], V + 6 * k, sizeof(Pack4));
    std::memcpy(&v2[k], V + 6 * k + 4, sizeof(Pack2));
  }
  for (int j = 0; j < 6; ++j) {
    Pack4 a;
    Pack2 b;
    std::memcpy(&a, C + 6 * j, sizeof(Pack4));
    std::memcpy(&b, C + 6 * j + 4, sizeof(Pack2));
    for (int k = 0; k < 6; ++k) {
      a -= v4[k] * W[6 * k + j];
      b -= v2[k] * W[6 * k + j];
    }
    std::memcpy(C + 6 * j, &a, sizeof(Pack4));
    std::memcpy(C + 6 * j + 4, &b, sizeof(Pack2));
  }
}

#ifdef TRIBO_WIDE
// The same sums in the same order, so the same bits: a column of six in one register of eight.
TRIBO_WIDE void subtract_outer_6_wide(const double* V, const double* W, double* C) {
  constexpr __mmask8 six = 0x3f;
  __m512d v[6], c[6];
  for (int k = 0; k < 6; ++k) {
    v[k] = _mm512_maskz_loadu_pd(six, V + 6 * k);
    c[k] = _mm512_maskz_loadu_pd(six, C + 6 * k);
  }
  for (int k = 0; k < 6; ++k)
    for (int j = 0; j < 6; ++j) c[j] = _mm512_fnmadd_pd(v[k], _mm512_set1_pd(W[6 * k + j]), c[j]);
  for (int j = 0; j < 6; ++j) _mm512_mask_storeu_pd(C + 6 * j, six, c[j]);
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

TRIBO_CLONES void divide_by_transposed_6(const double* LU, const int* pivot, double* B) {
  for (int k = 0; k < 6; ++k)
    if (pivot[k] != k)
      for (int i = 0; i < 6; ++i) std::swap(B[6 * k + i], B[6 * pivot[k] + i]);
  for (int k = 1; k < 6; ++k)
    for (int j = 0; j < k; ++j) add_scaled_6(B + 6 * k, -LU[k + 6 * j], B + 6 * j);
  for (int k = 5; k >= 0; --k) {
    for (int j = k + 1; j < 6; ++j) add_scaled_6(B + 6 * k, -LU[k + 6 * j], B + 6 * j);
    const double inverse = 1 / LU[7 * k];
    for (int i = 0; i < 6; ++i) B[6 * k + i] *= inverse;
  }
}

}  // namespace

TRIBO_CLONES void multiply_3x6(const double* D, const double* Y, double* out) {
  for (int k = 0; k < 6; ++k) {
    const double x = Y[3 * k], y = Y[3 * k + 1], z = Y[3 * k + 2];
    for (int r = 0; r < 3; ++r) out[3 * k + r] = D[r] * x + D[r + 3] * y + D[r + 6] * z;
  }
}

TRIBO_CLONES void add_product_6(const double* A, const double* B, double* out) {
  double x[6], y[6], z[6];
  for (int k = 0; k < 6; ++k) {
    x[k] = A[3 * k];
    y[k] = A[3 * k + 1];
    z[k] = A[3 * k + 2];
  }
  Pack4 x4, y4, z4;
  Pack2 x2, y2, z2;
  std::memcpy(&x4, x, sizeof(Pack4));
  std::memcpy(&y4, y, sizeof(Pack4));
  std::memcpy(&z4, z, sizeof(Pack4));
  std::memcpy(&x2, x + 4, sizeof(Pack2));
  std::memcpy(&y2, y + 4, sizeof(Pack2));
  std::memcpy(&z2, z + 4, sizeof(Pack2));
  for (int l = 0; l < 6; ++l) {
    const double a = B[3 * l], b = B[3 * l + 1], c = B[3 * l + 2];
    Pack4 p;
    Pack2 q;
    std::memcpy(&p, out + 6 * l, sizeof(Pack4));
    std::memcpy(&q, out + 6 * l + 4, sizeof(Pack2));
    p += a * x4 + b * y4 + c * z4;
    q += a * x2 + b * y2 + c * z2;
    std::memcpy(out + 6 * l, &p, sizeof(Pack4));
    std::memcpy(out + 6 * l + 4, &q, sizeof(Pack2));
  }
}

void subtract_outer(const double* V, const double* W, int rows, int inner, int columns, double* C) {
  if (rows == 6 && inner == 6 && columns == 6) {
#ifdef TRIBO_WIDE
    if (wide) return subtract_outer_6_wide(V, W, C);
#endif
    return subtract_outer_6(V, W, C);
  }
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
    divide_by_transposed_6(LU, pivot, B);
    return;
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
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int i = 0; i < rows; ++i) sum += A[i + static_cast<std::ptrdiff_t>(k) * rows] * y[i];
    x[k] -= sum;
  }
}

}  // namespace tribo::kernels
