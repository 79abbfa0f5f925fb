// Masses of trees as wholes, and weights that something carries.
#include "tribo/dynamics.hpp"

namespace tribo {

Vec3 Dynamics::carried_at(const Body& body, int i) const { return r_[at(i)] + X_WB_[at(i)].R * body.carried_at; }

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
