// Sums of rows over a block of columns that stays in registers. All of it is inlined, and so compiled for what its caller is.
#pragma once

#include <cstddef>
#include <cstring>

#include "linalg/clones.hpp"

// A version of each kernel for packs that the machine has: what would be a pack of four on a machine with packs of two goes
// through memory, at a tenth of the speed. (`target_clones("arch=haswell")` picks its clone on that processor alone.)
#if defined(__x86_64__) && defined(__GNUC__)
#define TRIBO_AVX2 __attribute__((target("avx2,fma")))
#else
#define TRIBO_AVX2
#endif

namespace tribo::rows {

/// Of the packs that the machine has.
inline int find_width() {
#ifdef TRIBO_WIDE
  if (has_wide_registers()) return 8;
#endif
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 4;
#endif
  return 2;
}
inline int width() {
  static const int found = find_width();
  return found;
}

using Pack2 [[gnu::vector_size(16)]] = double;
using Pack4 [[gnu::vector_size(32)]] = double;
using Pack8 [[gnu::vector_size(64)]] = double;

// Rows are aligned to numbers, not to packs. By reference: a pack by value has no calling convention on every machine.
template <class Pack>
[[gnu::always_inline]] inline void load(const double* from, Pack& pack) {
  std::memcpy(&pack, from, sizeof(Pack));
}
template <class Pack>
[[gnu::always_inline]] inline void store(const Pack& pack, double* to) {
  std::memcpy(to, &pack, sizeof(Pack));
}

struct Combination {  // y = scale y + sum_i x_i X[index_i], or X[i]
  double scale;
  double* y;
  const double* X;
  std::ptrdiff_t stride;
  const int* index;
  const double* x;
  int n;
};

/// Columns [c, c + Packs packs).
template <class Pack, int Packs, bool Indexed>
[[gnu::always_inline]] inline void combine(const Combination& s, int c) {
  constexpr int one = sizeof(Pack) / sizeof(double);
  Pack y[Packs], r;
#pragma GCC unroll 8
  for (int p = 0; p < Packs; ++p) {
    load(s.y + c + p * one, y[p]);
    y[p] *= s.scale;
  }
  const double *const X = s.X + c, *const x = s.x;
  for (int i = 0; i < s.n; ++i) {
    const double *const from = X + (Indexed ? s.index[i] : i) * s.stride, a = x[i];
#pragma GCC unroll 8
    for (int p = 0; p < Packs; ++p) {
      load(from + p * one, r);
      y[p] += a * r;
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < Packs; ++p) store(y[p], s.y + c + p * one);
}

/// Calls f.run<Pack, Packs>(c) for blocks of at most eight packs, alike in size; `columns` is a multiple of four.
template <class Pack, class F>
[[gnu::always_inline]] inline void each_block(int columns, const F& f) {
  constexpr int one = sizeof(Pack) / sizeof(double), most = 8;
  const int packs = columns / one;
  int c = 0;
  for (int left = packs, blocks = (packs + most - 1) / most; blocks > 0; --blocks) {
    const int size = (left + blocks - 1) / blocks;
    switch (size) {
      case 1:
        f.template run<Pack, 1>(c);
        break;
      case 2:
        f.template run<Pack, 2>(c);
        break;
      case 3:
        f.template run<Pack, 3>(c);
        break;
      case 4:
        f.template run<Pack, 4>(c);
        break;
      case 5:
        f.template run<Pack, 5>(c);
        break;
      case 6:
        f.template run<Pack, 6>(c);
        break;
      case 7:
        f.template run<Pack, 7>(c);
        break;
      default:
        f.template run<Pack, 8>(c);
    }
    left -= size;
    c += size * one;
  }
  if (one == 8 && c < columns) f.template run<Pack4, 1>(c);
}

}  // namespace tribo::rows
