#include "stepping/rigid/flight.hpp"

namespace tribo {
void Flight::begin(const Model& model, const Workspace& work) {
  trees_.clear();
  momentum_.clear();
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
    const Tree& tree = model.trees[at(t)];
    if (tree.single || model.bodies[at(tree.first_body)].joint != JointKind::Free) continue;
    if (work.assembly.touched(t) || !work.actuation.external.segment(tree.iv, tree.nv).isZero(0)) continue;
    trees_.push_back(t);
    momentum_.push_back(work.dynamics.linear_momentum(t));
  }
}

void Flight::end(const Model& model, State& state, Workspace& work, double dt) const {
  for (std::size_t k = 0; k < trees_.size(); ++k) {
    const Tree& tree = model.trees[at(trees_[k])];
    work.update(state);
    const Body& base = model.bodies[at(tree.first_body)];
    const Vec3 lost = momentum_[k] + dt * tree.mass * model.gravity - work.dynamics.linear_momentum(trees_[k]);
    state.v.segment<3>(base.iv) += work.dynamics.X_WB(tree.first_body).R.transpose() * lost / tree.mass;
  }
  if (!trees_.empty()) work.current = false;
}

}  // namespace tribo
