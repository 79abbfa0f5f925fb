// The least CPU time of many calls.
#pragma once

#include <algorithm>
#include <limits>

#include "base/cpu_time.hpp"

namespace tribo::bench {

/// Smallest CPU time of one call [s]: repeats of about a fifth of a millisecond each, so that the clock costs nothing. The first
/// call, which makes room, does not say how many those are.
template <class F>
double least_time(F&& f, int repeats) {
  f();
  double begin = cpu_seconds();
  f();
  double least = cpu_seconds() - begin;
  const int calls = std::clamp(static_cast<int>(2e-4 / std::max(least, 1e-9)), 1, 20000);
  if (least > 0.05) return least;
  for (int r = 0; r < repeats; ++r) {
    begin = cpu_seconds();
    for (int k = 0; k < calls; ++k) f();
    least = std::min(least, (cpu_seconds() - begin) / calls);
  }
  return least;
}

}  // namespace tribo::bench
