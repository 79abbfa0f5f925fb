#pragma once
// CPU time of this process: what other programs on the machine do disturbs it least, and the minimum of repeats less.
#include <time.h>

namespace tribo {

inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace tribo
