#include "dynamics/group.hpp"

#include <cmath>

namespace tribo {
namespace {

void rotate(VecX& q, int i, const Vec3& w) {
  Quat turned = Quat(q[i + 3], q[i], q[i + 1], q[i + 2]) * rotation_exponential(w);
  turned.normalize();
  q.segment<3>(i) = turned.vec();
  q[i + 3] = turned.w();
}

Quat quaternion(const VecX& q, int i) { return Quat(q[i + 3], q[i], q[i + 1], q[i + 2]); }

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

Mat3 right_jacobian(const Vec3& w) {
  const double a2 = w.squaredNorm(), a = std::sqrt(a2);
  const double b = a2 < 1e-6 ? 0.5 - a2 / 24 : (1 - std::cos(a)) / a2;
  const double c = a2 < 1e-6 ? 1.0 / 6 - a2 / 120 : (a - std::sin(a)) / (a2 * a);
  const Mat3 X = skew(w);
  return Mat3::Identity() - b * X + c * X * X;
}

Vec3 rotation_logarithm(const Quat& q) {
  const double sign = q.w() < 0 ? -1 : 1, sine = q.vec().norm();
  // angle / sin(angle / 2) at 0 is 2, with no term of first order.
  const double scale = sine < 1e-8 ? 2 : 2 * std::atan2(sine, sign * q.w()) / sine;
  return sign * scale * q.vec();
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

void difference(const Model& model, const Member& member, const VecX& from, const VecX& to, VecX& v) {
  for (int i = member.first_body; i < member.first_body + member.bodies; ++i) {
    const Body& b = model.bodies[at(i)];
    switch (b.joint) {
      case JointKind::Free: {
        const Quat R = quaternion(from, b.iq + 3);
        v.segment<3>(b.iv) = R.conjugate() * Vec3(to.segment<3>(b.iq) - from.segment<3>(b.iq));
        v.segment<3>(b.iv + 3) = rotation_logarithm(R.conjugate() * quaternion(to, b.iq + 3));
        break;
      }
      case JointKind::Spherical:
        v.segment<3>(b.iv) = rotation_logarithm(quaternion(from, b.iq).conjugate() * quaternion(to, b.iq));
        break;
      case JointKind::Continuous: {
        const double c = from[b.iq], s = from[b.iq + 1];
        v[b.iv] = std::atan2(c * to[b.iq + 1] - s * to[b.iq], c * to[b.iq] + s * to[b.iq + 1]);
        break;
      }
      case JointKind::Revolute:
      case JointKind::Prismatic:
        v[b.iv] = to[b.iq] - from[b.iq];
        break;
    }
  }
}

}  // namespace tribo
