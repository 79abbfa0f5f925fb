// Which kernel this machine runs.
#include <cstdlib>
#include <cstring>

#include "lanes/data.hpp"

namespace tribo::lanes {
namespace {

const Kernel* known(int i) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  if (i == 0 && wide && __builtin_cpu_supports("avx512dq")) return kernel_avx512();
  if (i == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernel_avx2();
#endif
  return i == 2 ? kernel_base() : nullptr;
}

}  // namespace

const Kernel& best_kernel() {
  for (int i = 0; i < 2; ++i)
    if (const Kernel* kernel = known(i)) return *kernel;
  return *kernel_base();
}

const Kernel* kernel_named(const char* name) {
  for (int i = 0; i < 3; ++i)
    if (const Kernel* kernel = known(i); kernel != nullptr && std::strcmp(kernel->name, name) == 0) return kernel;
  return nullptr;
}

}  // namespace tribo::lanes
