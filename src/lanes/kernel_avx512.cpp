// Eight lanes by AVX-512.
#define TRIBO_LANES 8
#define TRIBO_LANE_SET avx512
#include "lanes/data.hpp"
#ifdef __AVX512VL__
#include "lanes/kernel.hpp"
#endif

namespace tribo::lanes {

const Kernel* kernel_avx512() {
#ifdef __AVX512VL__
  static constexpr Kernel kernel{"avx512", TRIBO_LANES, avx512::memory, avx512::step, avx512::motions};
  return &kernel;
#else
  return nullptr;
#endif
}

}  // namespace tribo::lanes
