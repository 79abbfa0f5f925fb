// Lengths of tendons and what they pull on, at a configuration: see tribo/tendon.hpp.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

/// A straight piece of a path, in W.
struct TendonLine {
  Vec3 p_a, p_b;
  Vec3
      along;  ///< unit vector from a to b, over the divisor of the piece: the rate of its length is along . (v_b - v_a)
  double length = 0;  ///< over the divisor
};
TendonLine line_of(const TendonSegment& segment, const Dynamics& dynamics);

/// (tendon.1), (tendon.2)
double tendon_length(const Model& model, const Tendon& tendon, const VecX& q, const Dynamics& dynamics);
double tendon_rate(const Model& model, const Tendon& tendon, const VecX& v, const Dynamics& dynamics);
/// tau += f dl/dq
void add_tendon_force(const Model& model, const Tendon& tendon, double f, const Dynamics& dynamics, VecX& tau);
/// How far l lies outside of the rest of its spring, with the sign of that side.
double tendon_deflection(const Tendon& tendon, double length);

/// A body that the tendon pulls on; -1 where none moves.
int body_of(const Tendon& tendon);
/// Does it do anything by itself: a limit, a spring, damping, friction?
bool acts(const Tendon& tendon);

}  // namespace tribo
