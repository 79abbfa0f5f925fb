// Derivatives of rotations, and of what springs make of them.
#pragma once

#include <Eigen/Core>

#include "tribo/model.hpp"

namespace tribo {

/// T^-1 of right_jacobian: d log(R exp(r)) = T^-1 r, with w the logarithm.
Mat3 right_jacobian_inverse(const Vec3& w);

/// X += factor k ds/dq of the springs of a tree (nv x nv). Entry (i, j) of X is X.data[i * X.row + j * X.column].
struct Entries {
  double* data;
  Eigen::Index row, column;
};
void add_springs(const Model& model, const VecX& q, const Tree& tree, double factor, const Entries& X);

}  // namespace tribo
