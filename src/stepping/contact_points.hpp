// Points that contacts remember: kept in the frames of their bodies, in W where a body is fixed.
#pragma once

#include "dynamics/dynamics.hpp"

namespace tribo {

inline Vec3 to_body(const Dynamics& dynamics, int body, const Vec3& p_W) {
  if (body < 0) return p_W;
  const Placement& X = dynamics.X_WB(body);
  return X.R.transpose() * (p_W - X.p);
}

inline Vec3 to_world(const Dynamics& dynamics, int body, const Vec3& p_B) {
  return body < 0 ? p_B : dynamics.X_WB(body) * p_B;
}

/// Radius about the core of a shape: the point of contact stays under the core while the surface passes by [m].
inline double core_radius(const Model& model, int geometry) {
  const Geometry& g = model.geometries[static_cast<std::size_t>(geometry)];
  return g.kind == ShapeKind::Sphere || g.kind == ShapeKind::Capsule ? g.size.x() : 0;
}

}  // namespace tribo
