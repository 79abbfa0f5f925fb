// Four lanes by AVX2 and FMA.
#define TRIBO_LANES 4
#define TRIBO_LANE_SET avx2
#include "lanes/data.hpp"
#ifdef __AVX2__
#include "lanes/kernel.hpp"
#endif

namespace tribo::lanes {

const Kernel* kernel_avx2() {
#ifdef __AVX2__
  static constexpr Kernel kernel{"avx2", TRIBO_LANES, avx2::memory, avx2::step, avx2::motions};
  return &kernel;
#else
  return nullptr;
#endif
}

}  // namespace tribo::lanes
