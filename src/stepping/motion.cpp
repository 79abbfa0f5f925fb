// The rate of rotation vectors, and the turning of base velocities.
#include <cmath>

#include "stepping/workspace.hpp"

namespace tribo {
// (rk.1)
Vec3 rotation_rate(const Vec3& r, const Vec3& w) {
  const double a2 = r.squaredNorm(), a = std::sqrt(a2);
  const double k = a2 < 1e-4 ? 1.0 / 12 + a2 / 720 : 1 / a2 - (1 + std::cos(a)) / (2 * a * std::sin(a));
  const Vec3 rw = r.cross(w);
  return w + 0.5 * rw + k * r.cross(rw);
}

void turn_velocity(const Model& model, const VecX& v_rotation, double dt, VecX& v) {
  for (const Tree& tree : model.trees) {
    const Body& root = model.bodies[at(tree.first_body)];
    if (root.joint != JointKind::Free) continue;
    const Vec3 w = v_rotation.segment<3>(root.iv + 3);
    if (w.isZero(0)) continue;
    const Quat back = rotation_exponential(-dt * w);
    v.segment<3>(root.iv) = back * Vec3(v.segment<3>(root.iv));
    // A turn about the angular velocity itself leaves it; recovery may have turned the body otherwise.
    const Vec3 angular = v.segment<3>(root.iv + 3);
    if (angular != w) v.segment<3>(root.iv + 3) = back * angular;
  }
}

}  // namespace tribo
