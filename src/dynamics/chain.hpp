// Products along the chain of a coordinate, from the root on. What clones call is inlined.
#pragma once

namespace tribo {

// The first six coordinates of a chain, those of a free base: its triangle (rows of 1 to 6) loses r r^T / d.
constexpr int base_size = 6;
[[gnu::always_inline]] inline void subtract_from_base(const double* r, double inverse, double* triangle) {
  const double x[base_size] = {r[0], r[1], r[2], r[3], r[4], r[5]};
#pragma GCC unroll 6
  for (int a = 0; a < base_size; ++a) {
    const double coef = x[a] * inverse;
#pragma GCC unroll 6
    for (int b = 0; b <= a; ++b) triangle[a * (a + 1) / 2 + b] -= coef * x[b];
  }
}

// Products along a chain, whose first six coordinates follow each other where a free base is its root.
//   sum_a l_a x_chain[a],   x_chain[a] -= l_a y
[[gnu::always_inline]] inline double along(const double* l, const int* chain, int depth, int base, const double* x) {
  double sum = 0;
  int a = 0;
  if (depth >= base_size && base) {
    const double* first = x + chain[0];
    double even = l[0] * first[0], odd = l[1] * first[1];
    even += l[2] * first[2];
    odd += l[3] * first[3];
    even += l[4] * first[4];
    odd += l[5] * first[5];
    sum = even + odd;
    a = base_size;
  }
  for (; a < depth; ++a) sum += l[a] * x[chain[a]];
  return sum;
}

[[gnu::always_inline]] inline void subtract_along(const double* l, const int* chain, int depth, int base, double y,
                                                  double* x) {
  int a = 0;
  if (depth >= base_size && base) {
    double* first = x + chain[0];
#pragma GCC unroll 6
    for (; a < base_size; ++a) first[a] -= l[a] * y;
  }
  for (; a < depth; ++a) x[chain[a]] -= l[a] * y;
}

}  // namespace tribo
