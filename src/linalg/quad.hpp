// Four doubles at once: a vector of three, whose last number is 0 or travels along. All of it is inlined, and so compiled for
// what its caller is compiled for (clones.hpp). For kernels; include it last.
#pragma once

namespace tribo {

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // of calls by value, of which there are none
#endif

using Quad = double __attribute__((vector_size(32)));

#define QUAD_INLINE [[gnu::always_inline]] inline

/// The same at any place. A typedef: of an alias clang drops the alignment.
typedef double LooseQuad __attribute__((vector_size(32), aligned(8), may_alias));

QUAD_INLINE Quad load(const double* p) { return *reinterpret_cast<const LooseQuad*>(p); }
QUAD_INLINE void store(double* p, const Quad& a) { *reinterpret_cast<LooseQuad*>(p) = a; }
/// The first three numbers, without the place behind them.
QUAD_INLINE void store_three(double* p, const Quad& a) {
  p[0] = a[0];
  p[1] = a[1];
  p[2] = a[2];
}
QUAD_INLINE Quad all(double x) { return Quad{x, x, x, x}; }
QUAD_INLINE Quad given(const double* p) { return Quad{p[0], p[1], p[2], 0}; }

/// The numbers I of a and b, counted through both.
template <int... I>
QUAD_INLINE Quad pick(const Quad& a, const Quad& b) {
  return __builtin_shufflevector(a, b, I...);
}
/// y, z, x
QUAD_INLINE Quad turned(const Quad& a) { return pick<1, 2, 0, 3>(a, a); }
QUAD_INLINE Quad cross(const Quad& a, const Quad& b) {
  const Quad c = a * turned(b) - turned(a) * b;
  return turned(c);
}
/// Number I, four times.
template <int I>
QUAD_INLINE Quad each(const Quad& a) {
  return pick<I, I, I, I>(a, a);
}
/// Of the first three.
QUAD_INLINE double sum(const Quad& a) { return (a[0] + a[2]) + a[1]; }
/// The sums of four, whose last numbers are 0.
QUAD_INLINE Quad sums(const Quad& a, const Quad& b, const Quad& c, const Quad& d) {
  const Quad ab = pick<0, 4, 2, 6>(a, b) + pick<1, 5, 3, 7>(a, b), cd = pick<0, 4, 2, 6>(c, d) + pick<1, 5, 3, 7>(c, d);
  return pick<0, 1, 4, 5>(ab, cd) + pick<2, 3, 6, 7>(ab, cd);
}

/// Three columns of a matrix.
struct Columns {
  Quad x, y, z;
};
QUAD_INLINE Columns load_columns(const double* p) { return {load(p), load(p + 4), load(p + 8)}; }
QUAD_INLINE void store_columns(double* p, const Columns& a) {
  store(p, a.x);
  store(p + 4, a.y);
  store(p + 8, a.z);
}
/// Times the three numbers at b.
QUAD_INLINE Quad times(const Columns& a, const double* b) { return a.x * b[0] + a.y * b[1] + a.z * b[2]; }
QUAD_INLINE Quad times(const Columns& a, const Quad& b) {
  return a.x * each<0>(b) + a.y * each<1>(b) + a.z * each<2>(b);
}
/// Times the 3 x 3 matrix at b, by columns.
QUAD_INLINE Columns product(const Columns& a, const double* b) {
  return {times(a, b), times(a, b + 3), times(a, b + 6)};
}

}  // namespace tribo
