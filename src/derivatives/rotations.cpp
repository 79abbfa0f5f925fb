#include "derivatives/rotations.hpp"

#include <cmath>

#include "dynamics/group.hpp"

namespace tribo {

Mat3 right_jacobian_inverse(const Vec3& w) {
  const double a2 = w.squaredNorm(), a = std::sqrt(a2);
  const double c = a2 < 1e-4 ? 1.0 / 12 + a2 / 720 : 1 / a2 - (1 + std::cos(a)) / (2 * a * std::sin(a));
  const Mat3 X = skew(w);
  return Mat3::Identity() + 0.5 * X + c * X * X;
}

void add_springs(const Model& model, const VecX& q, const Tree& tree, double factor, const Entries& X) {
  const auto add = [&](int i, int j, double x) { X.data[i * X.row + j * X.column] += factor * x; };
  const JointProperties& p = model.joints;
  for (int b = tree.first_body; b < tree.first_body + tree.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    const double k = p.stiffness[body.iv];
    if (k == 0 || body.joint == JointKind::Free) continue;
    const int i = body.iv - tree.iv;
    if (body.joint != JointKind::Spherical) {
      add(i, i, k);
      continue;
    }
    const Quat rest(Eigen::Vector4d(p.rest.segment<4>(body.iq))), now(Eigen::Vector4d(q.segment<4>(body.iq)));
    const Mat3 T = k * right_jacobian_inverse(rotation_logarithm(rest.conjugate() * now));
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) add(i + r, i + c, T(r, c));
  }
}

}  // namespace tribo
