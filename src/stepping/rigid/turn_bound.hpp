// How far the forces of turning (Coriolis, centrifugal) may change a velocity in a step.
//
//   dv = -t (M + E)^-1 (b - h(q, 0)),   b <- h(q, 0) + s (b - h(q, 0)),   s = min(1, sqrt(2T / dv.(M + E) dv))  (rigid.14)
// They do no work: in truth they turn v and keep its size in M. A step that asks them to change v by more than that does
// not resolve the motion, and kicks that grow with the square of the speed would make energy of nothing.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

/// Bounds the bias of a tree by (rigid.14); dv is what it then does over a time. The factor of M + E must stand. Was it beyond?
bool bound_turn(const Model& model, const Dynamics& dynamics, int tree, double time, VecX& bias, VecX& dv);

}  // namespace tribo
