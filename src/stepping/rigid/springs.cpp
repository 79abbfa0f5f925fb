#include "stepping/rigid/springs.hpp"

#include <cmath>

namespace tribo {

void spring_deflection(const Model& model, const VecX& q, VecX& d) {
  const JointProperties& p = model.joints;
  d.setZero(model.nv);
  for (const Body& b : model.bodies) {
    if (p.stiffness[b.iv] == 0) continue;
    switch (b.joint) {
      case JointKind::Revolute:
      case JointKind::Prismatic:
        d[b.iv] = q[b.iq] - p.rest[b.iq];
        break;
      case JointKind::Continuous: {
        const double c = p.rest[b.iq], s = p.rest[b.iq + 1];
        d[b.iv] = std::atan2(c * q[b.iq + 1] - s * q[b.iq], c * q[b.iq] + s * q[b.iq + 1]);
        break;
      }
      case JointKind::Spherical: {
        const Quat rest(Eigen::Vector4d(p.rest.segment<4>(b.iq))), now(Eigen::Vector4d(q.segment<4>(b.iq)));
        const Eigen::AngleAxisd turn(rest.conjugate() * now);
        const double angle = turn.angle() > M_PI ? turn.angle() - 2 * M_PI : turn.angle();
        d.segment<3>(b.iv) = angle * turn.axis();
        break;
      }
      case JointKind::Free:
        break;
    }
  }
}

double spring_energy(const Model& model, const VecX& d) { return 0.5 * d.dot(model.joints.stiffness.cwiseProduct(d)); }

}  // namespace tribo
