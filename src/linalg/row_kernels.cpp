#include "linalg/row_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "linalg/clones.hpp"

namespace tribo::rows {
namespace {

using Pack4 [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

}  // namespace

TRIBO_CLONES void combine(double scale, double* y, const double* X, int stride, const int* index, const double* x,
                          int n, int columns) {
  int c = 0;
  for (; c + 16 <= columns; c += 16) {
    Pack4* out = reinterpret_cast<Pack4*>(y + c);
    Pack4 y0 = scale * out[0], y1 = scale * out[1], y2 = scale * out[2], y3 = scale * out[3];
    for (int i = 0; i < n; ++i) {
      const Pack4* r = reinterpret_cast<const Pack4*>(X + static_cast<std::ptrdiff_t>(index[i]) * stride + c);
      const double a = x[i];
      y0 += a * r[0];
      y1 += a * r[1];
      y2 += a * r[2];
      y3 += a * r[3];
    }
    out[0] = y0;
    out[1] = y1;
    out[2] = y2;
    out[3] = y3;
  }
  for (; c < columns; c += 4) {
    Pack4* out = reinterpret_cast<Pack4*>(y + c);
    Pack4 y0 = scale * out[0];
    for (int i = 0; i < n; ++i)
      y0 += x[i] * *reinterpret_cast<const Pack4*>(X + static_cast<std::ptrdiff_t>(index[i]) * stride + c);
    out[0] = y0;
  }
}

TRIBO_CLONES void combine(double scale, double* y, const double* X, int stride, const double* x, int n, int columns) {
  int c = 0;
  for (; c + 16 <= columns; c += 16) {
    Pack4* out = reinterpret_cast<Pack4*>(y + c);
    Pack4 y0 = scale * out[0], y1 = scale * out[1], y2 = scale * out[2], y3 = scale * out[3];
    const double* r = X + c;
    for (int i = 0; i < n; ++i, r += stride) {
      const Pack4* p = reinterpret_cast<const Pack4*>(r);
      const double a = x[i];
      y0 += a * p[0];
      y1 += a * p[1];
      y2 += a * p[2];
      y3 += a * p[3];
    }
    out[0] = y0;
    out[1] = y1;
    out[2] = y2;
    out[3] = y3;
  }
  for (; c < columns; c += 4) {
    Pack4* out = reinterpret_cast<Pack4*>(y + c);
    Pack4 y0 = scale * out[0];
    const double* r = X + c;
    for (int i = 0; i < n; ++i, r += stride) y0 += x[i] * *reinterpret_cast<const Pack4*>(r);
    out[0] = y0;
  }
}

TRIBO_CLONES double dot(const double* x, const double* y, int n) {
  Pack4 sum = {0, 0, 0, 0};
  int i = 0;
  for (; i + 4 <= n; i += 4) sum += *reinterpret_cast<const Pack4*>(x + i) * *reinterpret_cast<const Pack4*>(y + i);
  double rest = 0;
  for (; i < n; ++i) rest += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

TRIBO_CLONES void add(double a, const double* x, double* y, int n) {
  int i = 0;
  for (; i + 4 <= n; i += 4) *reinterpret_cast<Pack4*>(y + i) += a * *reinterpret_cast<const Pack4*>(x + i);
  for (; i < n; ++i) y[i] += a * x[i];
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
