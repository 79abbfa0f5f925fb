// CPU time of this process: what other programs on the machine do disturbs it least, and the minimum of repeats less.
#pragma once

#include <time.h>

#include <algorithm>
#include <limits>

namespace tribo::bench {

inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Smallest CPU time of one call [s]: repeats of about a fifth of a millisecond each, so that the clock costs nothing.
template <class F>
double least_time(F&& f, int repeats) {
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
