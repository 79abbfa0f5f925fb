// The kernel of one instruction set. Each unit that includes it has named its own namespace and width before, and includes
// nothing else that has code: see data.hpp.
#include "lanes/data.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tribo::lanes {
namespace TRIBO_LANE_SET {

// In this order: each needs those before it.
// clang-format off
#include "lanes/pack.hpp"
#include "lanes/tree.hpp"
#include "lanes/problem.hpp"
#include "lanes/ground.hpp"
#include "lanes/listing.hpp"
#include "lanes/newton.hpp"
#include "lanes/free.hpp"
#include "lanes/overlap.hpp"
#include "lanes/step.hpp"
// clang-format on

unsigned long memory(const Shape& shape) { return TRIBO_LANES * (StepLanes::packs(shape) + 8); }
unsigned step(const Shape& shape, const PackArrays& arrays, double* room, unsigned running, const Finder* finder) {
  return StepLanes(shape, arrays, finder, Room{reinterpret_cast<Pack*>(room)}).run(running);
}
Motions motions(const Shape& shape, const PackArrays& arrays, double* room) {
  Room left{reinterpret_cast<Pack*>(room)};
  V3* origin = left.take<V3>(1);
  TreeLanes tree(shape, arrays, left);
  for (int b = 0; b < shape.bodies; ++b) tree.place_body(b, reinterpret_cast<const Pack*>(arrays.q));
  tree.velocities(reinterpret_cast<const Pack*>(arrays.v));
  *origin = tree.O;
  const auto plain = [](const void* x) { return static_cast<const double*>(x); };
  return {plain(origin), plain(tree.R), plain(tree.r), plain(tree.V)};
}

}  // namespace TRIBO_LANE_SET
}  // namespace tribo::lanes
