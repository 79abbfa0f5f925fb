#include "contact/dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "contact/clones.hpp"

namespace tribo::dense {
namespace {

constexpr int reciprocals = 64;  // up to here they are made first, in one go: a division in a chain of them has to wait
constexpr double enough = 0.1;   // of the largest entry of a column: then rows are not exchanged

}  // namespace

TRIBO_CLONES bool cholesky(double* A, int n) {
  for (int k = 0; k < n; ++k) {
    double* col = A + static_cast<std::ptrdiff_t>(k) * n;
    const double d = col[k];
    if (!(d > 0)) return false;
    const double inverse = 1.0 / std::sqrt(d);
    for (int i = k; i < n; ++i) col[i] *= inverse;
    for (int j = k + 1; j < n; ++j) {
      double* __restrict target = A + static_cast<std::ptrdiff_t>(j) * n;
      const double* __restrict source = col;
      const double x = source[j];
      for (int i = j; i < n; ++i) target[i] -= x * source[i];
    }
  }
  return true;
}

TRIBO_CLONES void cholesky_solve(const double* L, int n, double* b) {
  double inverse[reciprocals];
  const bool kept = n <= reciprocals;
  for (int k = 0; kept && k < n; ++k) inverse[k] = 1 / L[static_cast<std::ptrdiff_t>(k) * (n + 1)];
  for (int k = 0; k < n; ++k) {
    const double* col = L + static_cast<std::ptrdiff_t>(k) * n;
    const double x = b[k] = kept ? b[k] * inverse[k] : b[k] / col[k];
    for (int i = k + 1; i < n; ++i) b[i] -= x * col[i];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* col = L + static_cast<std::ptrdiff_t>(k) * n;
    double sum = b[k];
    for (int i = k + 1; i < n; ++i) sum -= col[i] * b[i];
    b[k] = kept ? sum * inverse[k] : sum / col[k];
  }
}

TRIBO_CLONES bool lu(double* A, int n, int* pivot) {
  for (int k = 0; k < n; ++k) {
    double* col = A + static_cast<std::ptrdiff_t>(k) * n;
    double largest = 0;
    for (int i = k; i < n; ++i) largest = std::max(largest, std::abs(col[i]));
    int p = k;
    if (!(std::abs(col[k]) >= enough * largest))
      while (p < n - 1 && std::abs(col[p]) < largest) ++p;
    pivot[k] = p;
    if (!(largest > 1e-300)) return false;
    if (p != k)
      for (int j = 0; j < n; ++j)
        std::swap(A[static_cast<std::ptrdiff_t>(j) * n + k], A[static_cast<std::ptrdiff_t>(j) * n + p]);
    const double inverse = 1.0 / col[k];
    for (int i = k + 1; i < n; ++i) col[i] *= inverse;
    for (int j = k + 1; j < n; ++j) {
      double* __restrict target = A + static_cast<std::ptrdiff_t>(j) * n;
      const double* __restrict source = col;
      const double x = target[k];
      for (int i = k + 1; i < n; ++i) target[i] -= x * source[i];
    }
  }
  return true;
}

TRIBO_CLONES void lu_solve(const double* LU, int n, const int* pivot, double* b) {
  double inverse[reciprocals];
  const bool kept = n <= reciprocals;
  for (int k = 0; kept && k < n; ++k) inverse[k] = 1 / LU[static_cast<std::ptrdiff_t>(k) * (n + 1)];
  for (int k = 0; k < n; ++k)
    if (pivot[k] != k) std::swap(b[k], b[pivot[k]]);
  for (int k = 0; k < n; ++k) {
    const double* col = LU + static_cast<std::ptrdiff_t>(k) * n;
    const double x = b[k];
    for (int i = k + 1; i < n; ++i) b[i] -= x * col[i];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* col = LU + static_cast<std::ptrdiff_t>(k) * n;
    const double x = b[k] = kept ? b[k] * inverse[k] : b[k] / col[k];
    for (int i = 0; i < k; ++i) b[i] -= x * col[i];
  }
}

TRIBO_CLONES void multiply(const double* A, int n, const double* x, double* y) {
  for (int i = 0; i < n; ++i) y[i] = 0;
  for (int j = 0; j < n; ++j) {
    const double* __restrict col = A + static_cast<std::ptrdiff_t>(j) * n;
    double* __restrict out = y;
    const double s = x[j];
    for (int i = 0; i < n; ++i) out[i] += s * col[i];
  }
}

TRIBO_CLONES void gram(const double* Y, int n, int m, double* G) {
  for (int i = 0; i < n * n; ++i) G[i] = 0;
  for (int k = 0; k < m; k += 4) {  // four columns at a time; those beyond the last count as zero
    const double* y0 = Y + static_cast<std::ptrdiff_t>(k) * n;
    const double* y1 = k + 1 < m ? y0 + n : y0;
    const double* y2 = k + 2 < m ? y1 + n : y0;
    const double* y3 = k + 3 < m ? y2 + n : y0;
    for (int j = 0; j < n; ++j) {
      const double a0 = y0[j], a1 = k + 1 < m ? y1[j] : 0, a2 = k + 2 < m ? y2[j] : 0, a3 = k + 3 < m ? y3[j] : 0;
      if (a0 == 0 && a1 == 0 && a2 == 0 && a3 == 0) continue;
      double* __restrict out = G + static_cast<std::ptrdiff_t>(j) * n;
      for (int i = j; i < n; ++i) out[i] += a0 * y0[i] + a1 * y1[i] + a2 * y2[i] + a3 * y3[i];
    }
  }
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i)
      G[static_cast<std::ptrdiff_t>(i) * n + j] = G[static_cast<std::ptrdiff_t>(j) * n + i];
}

TRIBO_CLONES void subtract_product(const double* A, const double* B, int rows, int inner, int columns, double* C) {
  if (rows == 6 && inner == 6) {  // free bodies: the compiler unrolls
    for (int j = 0; j < columns; ++j) {
      double* __restrict out = C + static_cast<std::ptrdiff_t>(j) * 6;
      const double* b = B + static_cast<std::ptrdiff_t>(j) * 6;
      double sum[6];
      for (int i = 0; i < 6; ++i) sum[i] = out[i];
      for (int k = 0; k < 6; ++k)
        for (int i = 0; i < 6; ++i) sum[i] -= A[6 * k + i] * b[k];
      for (int i = 0; i < 6; ++i) out[i] = sum[i];
    }
    return;
  }
  for (int j = 0; j < columns; ++j)
    for (int k = 0; k < inner; ++k) {
      double* __restrict out = C + static_cast<std::ptrdiff_t>(j) * rows;
      const double* __restrict a = A + static_cast<std::ptrdiff_t>(k) * rows;
      const double b = B[static_cast<std::ptrdiff_t>(j) * inner + k];
      for (int i = 0; i < rows; ++i) out[i] -= b * a[i];
    }
}

}  // namespace tribo::dense
