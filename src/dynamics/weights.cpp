// Masses of trees as wholes, and weights that something carries.
#include "tribo/dynamics.hpp"

namespace tribo {

Vec3 Dynamics::carried_at(const Body& body, int i) const {
  return Eigen::Map<const Vec3>(frames_[at(i)].r) + X_WB_[at(i)].R * body.carried_at;
}

RigidInertia Dynamics::body_inertia(int body) const {
  const PaddedInertia& I = I_[at(body)];
  return {I.mc[3], Eigen::Map<const Vec3>(I.mc), Eigen::Map<const Mat3, 0, Eigen::OuterStride<4>>(I.I)};
}

void Dynamics::lift_carried(const Tree& tree, TreeMotion& motion) const {
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
    const Body& body = model_->bodies[at(i)];
    if (!(body.carried > 0)) continue;
    const Vec3 weight = body.carried * model_->gravity;
    motion.F[at(i)].lin += weight;  // (dyn.9)
    motion.F[at(i)].ang += carried_at(body, i).cross(weight);
  }
}

double Dynamics::carried_potential(const Tree& tree) const {
  double sum = 0;
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
    const Body& body = model_->bodies[at(i)];
    if (body.carried > 0) sum += model_->gravity.dot(body.carried * (origin_[at(body.tree)] + carried_at(body, i)));
  }
  return sum;
}

// What carries the weight of bodies, on the joints that bear them.
void Dynamics::take_carried(const Tree& tree) {
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
    const Body& body = model_->bodies[at(i)];
    if (!(body.carried > 0)) continue;
    const Vec3 weight = body.carried * model_->gravity, moment = carried_at(body, i).cross(weight);
    for (int k : body.chain) gravity_force_[k] += S_[at(k)].lin.dot(weight) + S_[at(k)].ang.dot(moment);
  }
}

Vec3 Dynamics::angular_momentum(int tree) const {
  const Spatial& P = motion_.momentum[at(tree)];
  return P.ang + origin_[at(tree)].cross(P.lin);
}

Vec3 Dynamics::center_of_mass(int t) const {
  const Tree& tree = model_->trees[at(t)];
  Vec3 sum = Vec3::Zero();
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
    const Inertia& I = model_->bodies[at(i)].inertia;
    sum += I.mass * (X_WB_[at(i)] * I.com);
  }
  return sum / tree.mass;
}

}  // namespace tribo
