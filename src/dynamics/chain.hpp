// Numbers along a chain of coordinates, whose first six, those of a free base, are kept in registers. For kernels.
#pragma once

#include "linalg/quad.hpp"
#include "tribo/model.hpp"

namespace tribo {

constexpr int base_size = 6;

/// Six if the chains of a tree begin at a free base, else none.
QUAD_INLINE int base_of(const Model& model, const Tree& tree) {
  return model.bodies[at(tree.first_body)].joint == JointKind::Free ? base_size : 0;
}

/// Numbers 0 to 3 and 2 to 5: loads of whole fours. Where products are summed, one side has 0 for what stands twice.
struct Base {
  Quad a, b;
};
QUAD_INLINE Base base_at(const double* p) { return {load(p), load(p + 2)}; }
QUAD_INLINE Base once(const Base& x) { return {x.a, pick<4, 5, 2, 3>(x.b, Quad{})}; }
/// Of one that has each once.
QUAD_INLINE double dot(const Base& once, const Base& x) {
  const Quad p = once.a * x.a + once.b * x.b;
  return (p[0] + p[2]) + (p[1] + p[3]);
}
QUAD_INLINE void add(Base& to, double share, const Base& x) {
  to.a += share * x.a;
  to.b += share * x.b;
}
/// Of numbers that were found one by one.
QUAD_INLINE Base base_of(const double* x) { return {Quad{x[0], x[1], x[2], x[3]}, Quad{0, 0, x[4], x[5]}}; }

/// sum of r_a x_path[a] from coordinate `first` of the chain on.
QUAD_INLINE double along(const double* r, const int* path, int first, int depth, const double* x) {
  double sum = 0;
  for (int a = first; a < depth; ++a) sum += r[a] * x[path[a]];
  return sum;
}
/// x_path[a] += r_a y
QUAD_INLINE void add_along(const double* r, const int* path, int first, int depth, double y, double* x) {
  for (int a = first; a < depth; ++a) x[path[a]] += r[a] * y;
}

}  // namespace tribo
