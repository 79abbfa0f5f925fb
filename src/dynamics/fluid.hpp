// Forces of the fluid that a model stands in: see tribo/medium.hpp.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

/// Adds their generalised force at the poses and velocities of the dynamics. They are held over a step.
void add_fluid_forces(const Medium& medium, const Dynamics& dynamics, VecX& tau);

}  // namespace tribo
