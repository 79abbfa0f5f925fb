// A fluid that everything moves through: drag on the box of a body's inertia, with v and w its velocity against the fluid in
// the axes of the box, of the sizes b and the mean diameter d = (b_x + b_y + b_z) / 3:
//   f = -3 pi d viscosity v,  moment = -pi d^3 viscosity w                                               (medium.1)
//   f_i -= density / 2 b_j b_k |v_i| v_i,  moment_i -= density / 64 b_i (b_j^4 + b_k^4) |w_i| w_i        (medium.2)
#pragma once

#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// The box of uniform density that has the mass and inertia of a body.
struct FluidBox {
  int body = -1;
  Placement X_BF;            ///< centre and principal axes
  Vec3 size = Vec3::Zero();  ///< whole lengths [m]
};

struct Medium {
  double density = 0;           ///< [kg/m^3], >= 0
  double viscosity = 0;         ///< [Pa s], >= 0
  Vec3 wind = Vec3::Zero();     ///< velocity of the fluid, in W [m/s]
  std::vector<FluidBox> boxes;  ///< that it acts on
};

}  // namespace tribo
