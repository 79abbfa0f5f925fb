// Springs in joints: torque -k d, d the way from the rest position to q along the joint, in velocity coordinates.
#pragma once

#include "tribo/model.hpp"

namespace tribo {

/// d of every velocity coordinate with a spring (nv) [rad] or [m]; 0 elsewhere.
void spring_deflection(const Model& model, const VecX& q, VecX& d);
/// Energy in the springs [J].
double spring_energy(const Model& model, const VecX& d);

}  // namespace tribo
