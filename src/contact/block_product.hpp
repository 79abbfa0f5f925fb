// The Jacobian of a contact of a free body (3 x 6, by columns) and its transpose, times vectors. What clones call is inlined, so
// that each has its own.
#pragma once

#include <cstring>

namespace tribo {

using JacobianPack [[gnu::vector_size(32)]] = double;

/// c (3) += Y w. The fourth number of a column is the first of the next.
[[gnu::always_inline]] inline void add_product_3x6(const double* Y, const double* w, double* c) {
  JacobianPack sum{c[0], c[1], c[2], 0};
  JacobianPack column;
  for (int k = 0; k < 5; ++k) {
    std::memcpy(&column, Y + 3 * k, sizeof(column));
    sum += w[k] * column;
  }
  std::memcpy(&column, Y + 14, sizeof(column));
  sum += w[5] * __builtin_shufflevector(column, column, 1, 2, 3, 0);
  c[0] = sum[0];
  c[1] = sum[1];
  c[2] = sum[2];
}

/// w (6) += Y^T f.
[[gnu::always_inline]] inline void add_transposed_3x6(const double* Y, const double* f, double* w) {
  JacobianPack a, b, c, sum;
  std::memcpy(&a, Y, sizeof(a));
  std::memcpy(&b, Y + 4, sizeof(b));
  std::memcpy(&c, Y + 8, sizeof(c));
  std::memcpy(&sum, w, sizeof(sum));
  const JacobianPack x = __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 3, 6, 6), c, 0, 1, 2, 5);
  const JacobianPack y = __builtin_shufflevector(__builtin_shufflevector(a, b, 1, 4, 7, 7), c, 0, 1, 2, 6);
  const JacobianPack z = __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 5, 5, 5), c, 0, 1, 4, 7);
  sum += f[0] * x + f[1] * y + f[2] * z;
  std::memcpy(w, &sum, sizeof(sum));
  for (int k = 4; k < 6; ++k) w[k] += Y[3 * k] * f[0] + Y[3 * k + 1] * f[1] + Y[3 * k + 2] * f[2];
}

}  // namespace tribo
