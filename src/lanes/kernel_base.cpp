// Two lanes, on every machine.
#define TRIBO_LANES 2
#define TRIBO_LANE_SET base
#include "lanes/kernel.hpp"

namespace tribo::lanes {

const Kernel* kernel_base() {
  static constexpr Kernel kernel{"base", TRIBO_LANES, base::memory, base::step, base::motions};
  return &kernel;
}

}  // namespace tribo::lanes
