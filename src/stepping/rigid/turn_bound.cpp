#include "stepping/rigid/turn_bound.hpp"

#include <cmath>

namespace tribo {

bool bound_turn(const Model& model, const Dynamics& dynamics, int t, double time, VecX& bias, VecX& dv) {
  const Tree& tree = model.trees[at(t)];
  const auto gravity = dynamics.gravity_force().segment(tree.iv, tree.nv);
  auto b = bias.segment(tree.iv, tree.nv), d = dv.segment(tree.iv, tree.nv);
  d = -time * (b - gravity);
  const double most = 2 * dynamics.kinetic(t);
  dynamics.solve_in_place(t, dv.data());
  const double size = -time * d.dot(b - gravity);
  if (!(size > most)) return false;
  const double share = std::sqrt(most / size);
  d *= share;
  b = gravity + share * (b - gravity);
  return true;
}

}  // namespace tribo
