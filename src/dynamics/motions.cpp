#include "dynamics/motions.hpp"

namespace tribo {

void fill_motions(const Model& model, const Dynamics& dynamics, const KinematicTime& time, double dt,
                  std::vector<BodyMotion>& motions) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    BodyMotion& m = motions[b];
    const int i = static_cast<int>(b);
    const Spatial& V = dynamics.body_velocity(i);
    m.X_WB = dynamics.X_WB(i);
    m.w = V.ang;
    m.v = V.lin + V.ang.cross(m.X_WB.p - dynamics.origin(model.bodies[b].tree));
    const Tree& tree = model.trees[at(model.bodies[b].tree)];
    if (tree.bodies == 1 && model.bodies[b].joint == JointKind::Free)
      m.v += dt * (1 - tree.carried / tree.mass) * model.gravity;
  }
  for (std::size_t k = 0; k < model.kinematic.size(); ++k) {
    const Twist twist = kinematic_twist(model, static_cast<int>(k), time, dt);
    motions[model.bodies.size() + k] = {kinematic_pose(model, static_cast<int>(k), time), twist.v, twist.w};
  }
}

void set_velocities(const Model& model, const Dynamics& dynamics, const VecX& v, std::vector<BodyMotion>& motions) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    BodyMotion& m = motions[b];
    Spatial V;  // about the origin of the tree (dyn.1)
    const Vec3& O = dynamics.origin(body.tree);
    if (body.parent >= 0) {
      const BodyMotion& p = motions[at(body.parent)];
      V = {p.v - p.w.cross(p.X_WB.p - O), p.w};
    }
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      V.lin += dynamics.axis(k).lin * v[k];
      V.ang += dynamics.axis(k).ang * v[k];
    }
    m.w = V.ang;
    m.v = V.lin + V.ang.cross(m.X_WB.p - O);
  }
}

}  // namespace tribo
