// Arrays that kernels read: aligned to the widest vector.
#pragma once

#include <algorithm>
#include <memory>
#include <new>

namespace tribo::lanes {

constexpr std::size_t alignment = 64;  // [bytes]

struct FreeAligned {
  void operator()(double* p) const { ::operator delete[](p, std::align_val_t(alignment)); }
};
using Buffer = std::unique_ptr<double, FreeAligned>;

/// Zeros.
inline Buffer make_buffer(std::size_t doubles) {
  double* p = static_cast<double*>(::operator new[](doubles * sizeof(double), std::align_val_t(alignment)));
  std::fill_n(p, doubles, 0.0);
  return Buffer(p);
}

}  // namespace tribo::lanes
