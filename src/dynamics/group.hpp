// Moving along velocities on the configuration manifold, and the way back.
//
// The free joint's linear part stands in the axes of where the motion starts, and is not bent by the rotation:
//   q moved along (u, w):  p + R u,  R exp(w)                                                                (group.1)
#pragma once

#include "tribo/model.hpp"

namespace tribo {

/// q <- q moved along v over dt: translations as they are, rotations by the exponential. (group.1)
void integrate(const Model& model, const VecX& v, double dt, VecX& q);

/// The v that moves `from` to `to` in unit time, on the coordinates of one member; (nv), the others are left.
/// Rotations go the short way round.
void difference(const Model& model, const Member& member, const VecX& from, const VecX& to, VecX& v);

/// Quaternion of a rotation vector.
Quat rotation_exponential(const Vec3& w);
/// T with d exp(w) = exp(w) [T dw].
Mat3 right_jacobian(const Vec3& w);
/// Rotation vector of a quaternion, of length pi at most.
Vec3 rotation_logarithm(const Quat& q);

}  // namespace tribo
