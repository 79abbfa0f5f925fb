#include "dynamics/motions.hpp"

namespace tribo {

void fill_motions(const Model& model, const Dynamics& dynamics, double t, double dt, std::vector<BodyMotion>& motions) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    BodyMotion& m = motions[b];
    const int i = static_cast<int>(b);
    const Spatial& V = dynamics.body_velocity(i);
    m.X_WB = dynamics.X_WB(i);
    m.w = V.ang;
    m.v = V.lin + V.ang.cross(m.X_WB.p - dynamics.origin(model.bodies[b].tree));
    const Tree& tree = model.trees[at(model.bodies[b].tree)];
    if (tree.bodies == 1 && model.bodies[b].joint == JointKind::Free) m.v += dt * model.gravity;
  }
  for (std::size_t k = 0; k < model.kinematic.size(); ++k) {
    const Twist twist = mean_twist(model.kinematic[k], t, dt);
    motions[model.bodies.size() + k] = {model.kinematic[k].pose(t), twist.v, twist.w};
  }
}

}  // namespace tribo
