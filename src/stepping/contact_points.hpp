// Points that contacts remember: kept in the frames of their bodies, kinematic ones too, in W where a body is fixed.
#pragma once

#include "tribo/contact.hpp"
#include "tribo/step.hpp"

namespace tribo {

inline Vec3 to_body(const Dynamics& dynamics, int body, const Vec3& p_W) {
  if (body < 0) return p_W;
  const Placement& X = dynamics.X_WB(body);
  return X.R.transpose() * (p_W - X.p);
}

inline Vec3 to_world(const Dynamics& dynamics, int body, const Vec3& p_B) {
  return body < 0 ? p_B : dynamics.X_WB(body) * p_B;
}

/// The same with the poses of the start, those of kinematic bodies too.
inline Vec3 to_body(const Start& start, int body, const Vec3& p_W) {
  if (body >= -1) return to_body(start.dynamics, body, p_W);
  const Placement X = kinematic_pose(start.model, kinematic_index(body), start.state.kinematic_time());
  return X.R.transpose() * (p_W - X.p);
}

inline Vec3 to_world(const Start& start, int body, const Vec3& p_B) {
  if (body >= -1) return to_world(start.dynamics, body, p_B);
  return kinematic_pose(start.model, kinematic_index(body), start.state.kinematic_time()) * p_B;
}

/// Velocity of b relative to a at the point of a contact, where coordinates move with v; in C [m/s].
inline Vec3 contact_velocity(const Model& model, const Dynamics& dynamics, const Contact& c, const VecX& v) {
  Vec3 velocity = c.v_given;
  for (double sign : {1.0, -1.0}) {
    const int body = sign > 0 ? c.body_b : c.body_a;
    if (body < 0) continue;
    const Vec3 r = c.p_WC - dynamics.origin(model.bodies[at(body)].tree);
    for (int k : model.bodies[at(body)].chain) {
      const Spatial& S = dynamics.axis(k);
      velocity += sign * v[k] * (S.lin + S.ang.cross(r));
    }
  }
  return c.R_WC.transpose() * velocity;
}

/// Radius about the core of a shape: the point of contact stays under the core while the surface passes by [m].
inline double core_radius(const Model& model, int geometry) {
  const Geometry& g = model.geometries[static_cast<std::size_t>(geometry)];
  return g.kind == ShapeKind::Sphere || g.kind == ShapeKind::Capsule ? g.size.x() : 0;
}

}  // namespace tribo
