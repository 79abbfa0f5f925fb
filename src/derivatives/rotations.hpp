// Derivatives of rotations, and of what springs make of them.
#pragma once

#include <Eigen/Core>

#include "tribo/model.hpp"

namespace tribo {

/// T^-1 of right_jacobian: d log(R exp(r)) = T^-1 r, with w the logarithm.
Mat3 right_jacobian_inverse(const Vec3& w);

/// X += factor k ds/dq of the springs of a tree (nv x nv).
void add_springs(const Model& model, const VecX& q, const Tree& tree, double factor, Eigen::Ref<MatX> X);

}  // namespace tribo
