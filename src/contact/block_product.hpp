// The Jacobian of a contact of a free body times its velocity.
#pragma once

namespace tribo {

/// c (3) += Y w, Y 3 x 6 by columns. What clones call is inlined, so that each has its own.
[[gnu::always_inline]] inline void add_product_3x6(const double* Y, const double* w, double* c) {
  double x = c[0], y = c[1], z = c[2];
  for (int k = 0; k < 6; ++k) {
    x += Y[3 * k] * w[k];
    y += Y[3 * k + 1] * w[k];
    z += Y[3 * k + 2] * w[k];
  }
  c[0] = x;
  c[1] = y;
  c[2] = z;
}

}  // namespace tribo
