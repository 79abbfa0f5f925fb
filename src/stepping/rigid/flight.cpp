#include "stepping/rigid/flight.hpp"

namespace tribo {

void Flight::keep_momentum(const Start& start, const VecX& q, VecX& v) {
  const Model& model = start.model;
  bool computed = false;
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
    const Tree& tree = model.trees[at(t)];
    const Body& base = model.bodies[at(tree.first_body)];
    if (tree.single || base.joint != JointKind::Free) continue;
    if (start.assembly.touched(t) || !start.actuation.external.segment(tree.iv, tree.nv).isZero(0)) continue;
    if (!computed) end_.compute_motion(q, v);
    computed = true;
    const Vec3 before = start.dynamics.linear_momentum(t), gained = start.dt * tree.mass * model.gravity;
    const Vec3 lost = before + gained - end_.linear_momentum(t);
    v.segment<3>(base.iv) += end_.X_WB(tree.first_body).R.transpose() * lost / tree.mass;
  }
}

}  // namespace tribo
