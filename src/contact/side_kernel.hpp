// One side of a contact: its Jacobian along the chain of a body.
#pragma once

#include "tribo/dynamics.hpp"

namespace tribo {

struct SideOfContact {
  const Spatial* axes;  ///< by coordinate
  const int* path;      ///< coordinates of the chain
  int depth;
  Vec3 r;           ///< the point, from the origin of the tree [m]
  const double* R;  ///< axes of the contact in W, by columns
  double sign;      ///< of the side
  const double *v, *v_free;
};

/// J, columns of four numbers of which the last is 0; before and free (3) += J v and J v_free.
void side_jacobian(const SideOfContact& side, double* J, double* before, double* free);
/// Columns of four to columns of three, in place.
void pack_columns(double* J, int columns);

}  // namespace tribo
