// Moving along velocities on the configuration manifold.
#include <cmath>

#include "stepping/workspace.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void rotate(VecX& q, int i, const Vec3& w) {
  Quat turned = Quat(q[i + 3], q[i], q[i + 1], q[i + 2]) * rotation_exponential(w);
  turned.normalize();
  q.segment<3>(i) = turned.vec();
  q[i + 3] = turned.w();
}

}  // namespace

// By sin(x)/x that is smooth at 0.
Quat rotation_exponential(const Vec3& w) {
  const double angle2 = w.squaredNorm() / 4;
  const double angle = std::sqrt(angle2);
  const double sinc = angle2 < 1e-8 ? 1 - angle2 / 6 + angle2 * angle2 / 120 : std::sin(angle) / angle;
  Quat q;
  q.w() = angle2 < 1e-8 ? 1 - angle2 / 2 + angle2 * angle2 / 24 : std::cos(angle);
  q.vec() = 0.5 * sinc * w;
  return q;
}

void integrate(const Model& model, const VecX& v, double dt, VecX& q) {
  for (const Body& b : model.bodies) {
    switch (b.joint) {
      case JointKind::Free: {
        const Quat R(q[b.iq + 6], q[b.iq + 3], q[b.iq + 4], q[b.iq + 5]);
        q.segment<3>(b.iq) += R * Vec3(dt * v.segment<3>(b.iv));
        rotate(q, b.iq + 3, dt * v.segment<3>(b.iv + 3));
        break;
      }
      case JointKind::Spherical:
        rotate(q, b.iq, dt * v.segment<3>(b.iv));
        break;
      case JointKind::Continuous: {
        const double c = std::cos(dt * v[b.iv]), s = std::sin(dt * v[b.iv]);
        const double x = c * q[b.iq] - s * q[b.iq + 1], y = s * q[b.iq] + c * q[b.iq + 1];
        const double length = std::hypot(x, y);
        q[b.iq] = x / length;
        q[b.iq + 1] = y / length;
        break;
      }
      case JointKind::Revolute:
      case JointKind::Prismatic:
        q[b.iq] += dt * v[b.iv];
        break;
    }
  }
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
