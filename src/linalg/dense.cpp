#include "linalg/dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "linalg/clones.hpp"

namespace tribo::dense {
namespace {

using Pack4 [[gnu::vector_size(32)]] = double;

constexpr int panel = 4;
constexpr double enough = 0.1;  // of the largest entry of a column: then rows are not exchanged

}  // namespace

// Columns in panels of four: each later column is then read and written once for four of them. The roots of the pivots wait
// until the panel is done.
TRIBO_CLONES bool cholesky(double* A, int n) {
  auto column = [=](int k) { return A + static_cast<std::ptrdiff_t>(k) * n; };
  for (int first = 0; first < n; first += panel) {
    const int last = std::min(first + panel, n);
    double inverse[panel];
    for (int k = first; k < last; ++k) {
      double* __restrict col = column(k);
      if (!(col[k] > 0)) return false;
      inverse[k - first] = 1.0 / col[k];
      for (int j = k + 1; j < last; ++j) {
        double* __restrict target = column(j);
        const double x = col[j] * inverse[k - first];
        for (int i = j; i < n; ++i) target[i] -= x * col[i];
      }
    }
    if (last < n) {
      const double *c0 = column(first), *c1 = column(first + 1), *c2 = column(first + 2), *c3 = column(first + 3);
      for (int j = last; j < n; ++j) {
        double* __restrict target = column(j);
        const double x0 = c0[j] * inverse[0], x1 = c1[j] * inverse[1], x2 = c2[j] * inverse[2], x3 = c3[j] * inverse[3];
        for (int i = j; i < n; ++i) target[i] -= x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
      }
    }
    for (int k = first; k < last; ++k) {
      double* __restrict col = column(k);
      const double scale = std::sqrt(inverse[k - first]);
      for (int i = k; i < n; ++i) col[i] *= scale;
    }
  }
  return true;
}

// No division waits for the number before it: inverses of the diagonal are found on the way.
TRIBO_CLONES void cholesky_solve(const double* L, int n, double* b) {
  auto column = [=](int k) { return L + static_cast<std::ptrdiff_t>(k) * n; };
  int k = 0;
  for (; k + panel <= n; k += panel) {
    const double *c0 = column(k), *c1 = column(k + 1), *c2 = column(k + 2), *c3 = column(k + 3);
    const double i0 = 1 / c0[k], i1 = 1 / c1[k + 1], i2 = 1 / c2[k + 2], i3 = 1 / c3[k + 3];
    const double x0 = b[k] *= i0;
    const double x1 = b[k + 1] = (b[k + 1] - x0 * c0[k + 1]) * i1;
    const double x2 = b[k + 2] = (b[k + 2] - x0 * c0[k + 2] - x1 * c1[k + 2]) * i2;
    const double x3 = b[k + 3] = (b[k + 3] - x0 * c0[k + 3] - x1 * c1[k + 3] - x2 * c2[k + 3]) * i3;
    for (int i = k + panel; i < n; ++i) b[i] -= x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
  }
  const int left = k;  // columns beyond the panels
  for (; k < n; ++k) {
    const double* col = column(k);
    const double x = b[k] *= 1 / col[k];
    for (int i = k + 1; i < n; ++i) b[i] -= x * col[i];
  }
  for (k = n - 1; k >= left; --k) {
    const double* col = column(k);
    double sum = b[k];
    for (int i = k + 1; i < n; ++i) sum -= col[i] * b[i];
    b[k] = sum * (1 / col[k]);
  }
  for (k = left - panel; k >= 0; k -= panel) {
    const double *c0 = column(k), *c1 = column(k + 1), *c2 = column(k + 2), *c3 = column(k + 3);
    const double i0 = 1 / c0[k], i1 = 1 / c1[k + 1], i2 = 1 / c2[k + 2], i3 = 1 / c3[k + 3];
    double s0 = b[k], s1 = b[k + 1], s2 = b[k + 2], s3 = b[k + 3];
    for (int i = k + panel; i < n; ++i) {
      const double x = b[i];
      s0 -= c0[i] * x;
      s1 -= c1[i] * x;
      s2 -= c2[i] * x;
      s3 -= c3[i] * x;
    }
    const double x3 = b[k + 3] = s3 * i3;
    const double x2 = b[k + 2] = (s2 - c2[k + 3] * x3) * i2;
    const double x1 = b[k + 1] = (s1 - c1[k + 3] * x3 - c1[k + 2] * x2) * i1;
    b[k] = (s0 - c0[k + 3] * x3 - c0[k + 2] * x2 - c0[k + 1] * x1) * i0;
  }
}

namespace {

[[gnu::always_inline]] inline double largest_of(const double* x, int n) {
  Pack4 most{}, a;
  int i = 0;
  for (; i + panel <= n; i += panel) {
    std::memcpy(&a, x + i, sizeof(Pack4));
    a = a < 0.0 ? -a : a;
    most = a > most ? a : most;
  }
  double largest = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
  for (; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

[[gnu::always_inline]] inline bool lu_of(double* A, int n, int* pivot) {
  auto column = [=](int k) { return A + static_cast<std::ptrdiff_t>(k) * n; };
  for (int first = 0; first < n; first += panel) {
    const int last = std::min(first + panel, n);
    for (int k = first; k < last; ++k) {
      double* __restrict col = column(k);
      const double largest = largest_of(col + k, n - k);
      if (!(largest > 1e-300)) return false;
      int p = k;
      if (std::abs(col[k]) < enough * largest)
        while (std::abs(col[p]) < largest) ++p;
      pivot[k] = p;
      if (p != k)
        for (int j = 0; j < n; ++j) std::swap(column(j)[k], column(j)[p]);
      const double inverse = 1.0 / col[k];
      for (int i = k + 1; i < n; ++i) col[i] *= inverse;
      for (int j = k + 1; j < last; ++j) {
        double* __restrict target = column(j);
        const double x = target[k];
        for (int i = k + 1; i < n; ++i) target[i] -= x * col[i];
      }
    }
    if (last == n) break;
    const double *c0 = column(first), *c1 = column(first + 1), *c2 = column(first + 2), *c3 = column(first + 3);
    for (int j = last; j < n; ++j) {
      double* __restrict target = column(j);
      const double x0 = target[first];
      const double x1 = target[first + 1] -= x0 * c0[first + 1];
      const double x2 = target[first + 2] -= x0 * c0[first + 2] + x1 * c1[first + 2];
      const double x3 = target[first + 3] -= x0 * c0[first + 3] + x1 * c1[first + 3] + x2 * c2[first + 3];
      for (int i = last; i < n; ++i) target[i] -= x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
    }
  }
  return true;
}

}  // namespace

// Six unknowns of a free body are unrolled.
TRIBO_CLONES bool lu(double* A, int n, int* pivot) { return n == 6 ? lu_of(A, 6, pivot) : lu_of(A, n, pivot); }

namespace {

[[gnu::always_inline]] inline void lu_solve_of(const double* LU, int n, const int* pivot, double* b) {
  auto column = [=](int k) { return LU + static_cast<std::ptrdiff_t>(k) * n; };
  for (int k = 0; k < n; ++k)
    if (pivot[k] != k) std::swap(b[k], b[pivot[k]]);
  int k = 0;
  for (; k + panel <= n; k += panel) {
    const double *c0 = column(k), *c1 = column(k + 1), *c2 = column(k + 2), *c3 = column(k + 3);
    const double x0 = b[k];
    const double x1 = b[k + 1] -= x0 * c0[k + 1];
    const double x2 = b[k + 2] -= x0 * c0[k + 2] + x1 * c1[k + 2];
    const double x3 = b[k + 3] -= x0 * c0[k + 3] + x1 * c1[k + 3] + x2 * c2[k + 3];
    for (int i = k + panel; i < n; ++i) b[i] -= x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
  }
  for (; k < n; ++k) {
    const double* col = column(k);
    const double x = b[k];
    for (int i = k + 1; i < n; ++i) b[i] -= x * col[i];
  }
  for (k = n; k >= panel; k -= panel) {
    const double *c0 = column(k - 1), *c1 = column(k - 2), *c2 = column(k - 3), *c3 = column(k - 4);
    const double i0 = 1 / c0[k - 1], i1 = 1 / c1[k - 2], i2 = 1 / c2[k - 3], i3 = 1 / c3[k - 4];
    const double x0 = b[k - 1] *= i0;
    const double x1 = b[k - 2] = (b[k - 2] - x0 * c0[k - 2]) * i1;
    const double x2 = b[k - 3] = (b[k - 3] - x0 * c0[k - 3] - x1 * c1[k - 3]) * i2;
    const double x3 = b[k - 4] = (b[k - 4] - x0 * c0[k - 4] - x1 * c1[k - 4] - x2 * c2[k - 4]) * i3;
    for (int i = 0; i < k - panel; ++i) b[i] -= x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
  }
  for (--k; k >= 0; --k) {
    const double* col = column(k);
    const double x = b[k] *= 1 / col[k];
    for (int i = 0; i < k; ++i) b[i] -= x * col[i];
  }
}

}  // namespace

TRIBO_CLONES void lu_solve(const double* LU, int n, const int* pivot, double* b) {
  n == 6 ? lu_solve_of(LU, 6, pivot, b) : lu_solve_of(LU, n, pivot, b);
}

namespace {

// Rows [first, first + 4 Packs): they stay in registers.
template <int Packs>
[[gnu::always_inline]] inline void multiply_rows(const double* A, int n, const double* x, int first, double* y) {
  Pack4 sum[Packs] = {};
  for (int j = 0; j < n; ++j) {
    const double* col = A + static_cast<std::ptrdiff_t>(j) * n + first;
#pragma GCC unroll 4
    for (int p = 0; p < Packs; ++p) {
      Pack4 a;
      std::memcpy(&a, col + 4 * p, sizeof(Pack4));
      sum[p] += x[j] * a;
    }
  }
  std::memcpy(y + first, sum, sizeof(sum));
}

}  // namespace

TRIBO_CLONES void multiply(const double* A, int n, const double* x, double* y) {
  int i = 0;
  for (; i + 12 <= n; i += 12) multiply_rows<3>(A, n, x, i, y);
  for (; i + 4 <= n; i += 4) multiply_rows<1>(A, n, x, i, y);
  for (; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += A[static_cast<std::ptrdiff_t>(j) * n + i] * x[j];
    y[i] = sum;
  }
}

// Four columns of Y at a time (those beyond the last count as zero), four rows of G at a time. What this writes above the
// diagonal is overwritten in the end.
TRIBO_CLONES void gram(const double* Y, int n, int m, double* G) {
  if (m == 0) std::fill_n(G, static_cast<std::ptrdiff_t>(n) * n, 0.0);
  for (int k = 0; k < m; k += 4) {
    const double* y0 = Y + static_cast<std::ptrdiff_t>(k) * n;
    const double* y1 = k + 1 < m ? y0 + n : y0;
    const double* y2 = k + 2 < m ? y1 + n : y0;
    const double* y3 = k + 3 < m ? y2 + n : y0;
    for (int j = 0; j < n; ++j) {
      const double a0 = y0[j], a1 = k + 1 < m ? y1[j] : 0, a2 = k + 2 < m ? y2[j] : 0, a3 = k + 3 < m ? y3[j] : 0;
      if (k > 0 && a0 == 0 && a1 == 0 && a2 == 0 && a3 == 0) continue;
      double* __restrict out = G + static_cast<std::ptrdiff_t>(j) * n;
      int i = j & ~3;
      for (; i + 4 <= n; i += 4) {
        Pack4 g{}, x0, x1, x2, x3;
        std::memcpy(&x0, y0 + i, sizeof(Pack4));
        std::memcpy(&x1, y1 + i, sizeof(Pack4));
        std::memcpy(&x2, y2 + i, sizeof(Pack4));
        std::memcpy(&x3, y3 + i, sizeof(Pack4));
        if (k > 0) std::memcpy(&g, out + i, sizeof(Pack4));
        g += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3;
        std::memcpy(out + i, &g, sizeof(Pack4));
      }
      for (; i < n; ++i) out[i] = (k > 0 ? out[i] : 0) + (a0 * y0[i] + a1 * y1[i] + a2 * y2[i] + a3 * y3[i]);
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
