// Spatial vectors and inertias by fours. For kernels.
#pragma once

#include "linalg/quad.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {

/// nv_of, seen by the compiler.
QUAD_INLINE int dofs(const Body& body) {
  return body.joint == JointKind::Free ? 6 : body.joint == JointKind::Spherical ? 3 : 1;
}

/// Motion and force alike: lin and ang are one after the other, each with a 0 behind it.
struct Pair {
  Quad lin, ang;
};
QUAD_INLINE Pair pair_at(const Spatial& s) { return {load(s.lin.data()), load(s.ang.data())}; }
QUAD_INLINE void put(Spatial& s, const Pair& a) {
  store(s.lin.data(), a.lin);
  store(s.ang.data(), a.ang);
}
QUAD_INLINE void add(Pair& to, const Pair& a) {
  to.lin += a.lin;
  to.ang += a.ang;
}
QUAD_INLINE Quad multiplied(const Pair& a, const Pair& b) { return a.lin * b.lin + a.ang * b.ang; }
/// V x S
QUAD_INLINE Pair turned_by(const Pair& V, const Pair& S) {
  return {cross(V.ang, S.lin) + cross(V.lin, S.ang), cross(V.ang, S.ang)};
}
/// V x* F
QUAD_INLINE Pair turned_force(const Pair& V, const Pair& F) {
  return {cross(V.ang, F.lin), cross(V.ang, F.ang) + cross(V.lin, F.lin)};
}

struct Inertias {
  Columns I;
  Quad mc;  // the mass behind it
};
QUAD_INLINE Inertias inertia_at(const PaddedInertia& I) { return {load_columns(I.I), load(I.mc)}; }
QUAD_INLINE Pair momentum_of(const Inertias& I, const Pair& s) {
  return {each<3>(I.mc) * s.lin + cross(s.ang, I.mc), times(I.I, s.ang) + cross(I.mc, s.lin)};
}
QUAD_INLINE void add(PaddedInertia& to, const Inertias& I) {
  store(to.I, load(to.I) + I.I.x);
  store(to.I + 4, load(to.I + 4) + I.I.y);
  store(to.I + 8, load(to.I + 8) + I.I.z);
  store(to.mc, load(to.mc) + I.mc);
}

/// Of a body at r with its axes in R (columns of four numbers), about the origin. Its mc, with the mass behind it.
QUAD_INLINE Quad put_inertia(const double* R, const Quad& r, const Inertia& inertia, PaddedInertia& I) {
  const Quad unit_x{1, 0, 0, 0}, unit_y{0, 1, 0, 0}, unit_z{0, 0, 1, 0}, unit_m{0, 0, 0, 1};
  const Columns axes = load_columns(R), T = product(axes, inertia.about_com.data());
  const Quad c = r + times(axes, inertia.com.data()), mc = inertia.mass * c, square = all(sum(mc * c));
  // R I R^T: the rows of R are the columns of its transpose
  store(I.I, T.x * R[0] + T.y * R[4] + T.z * R[8] + (square * unit_x - mc * each<0>(c)));
  store(I.I + 4, T.x * R[1] + T.y * R[5] + T.z * R[9] + (square * unit_y - mc * each<1>(c)));
  store(I.I + 8, T.x * R[2] + T.y * R[6] + T.z * R[10] + (square * unit_z - mc * each<2>(c)));
  const Quad mass = mc + inertia.mass * unit_m;
  store(I.mc, mass);
  return mass;
}

}  // namespace tribo
