// The explicit midpoint rule for trees that nothing touches: second order where semi-implicit Euler has first.
//
//   q_h = q moved along v over dt/2,   v_h = (v + v_f) / 2,   v_f the free motion (rigid.1)               (midpoint.1)
//   (M_h + extra) (v' - v) = dt (f - h_h),   q+ = q moved along v_h over dt                               (midpoint.2)
// with M and h at (q_h, v_h) and f all forces but h, gains, damping and springs implicit as in (rigid.1): these stay of
// first order. Trees with a contact or a row in the step take it by semi-implicit Euler. A second pass of the dynamics
// is all that it costs. Floating trees are refused: their base velocity turns within the step.
// What the rule itself adds to the energy, with T_h the kinetic energy with M_h and v_m = (v + v') / 2:
//   W_int = T(q+, v') - T_h(v') + T_h(v) - T(q, v) + V(q+) - V(q) - dt v_m . h_h                          (midpoint.3)
#include "stepping/rigid/midpoint.hpp"

#include "dynamics/group.hpp"

namespace tribo {
Midpoint::Midpoint(const Model& model) : free_(model.trees.size(), 0), dynamics_(model) {
  for (const Tree& tree : model.trees) {
    const Body& root = model.bodies[at(tree.first_body)];
    if (root.joint == JointKind::Free)
      throw InvalidInput("stepper.smooth = \"midpoint\": body '" + root.name +
                         "' floats; the midpoint rule is for trees that are fixed to the world");
  }
  for (VecX* x : {&v_, &d_, &y_}) x->setZero(model.nv);
  q_.setZero(model.nq);
}

void Midpoint::step(const Start& start, const VecX& extra, VecX& v_new) {
  const Model& model = start.model;
  const State& state = start.state;
  const double dt = start.dt;
  bool any = false;
  for (std::size_t t = 0; t < free_.size(); ++t) any |= free_[t] = !start.assembly.touched(static_cast<int>(t));
  if (!any) return;
  q_ = state.q;
  integrate(model, state.v, 0.5 * dt, q_);
  v_ = 0.5 * (state.v + v_new);  // (midpoint.1)
  dynamics_.compute(q_, v_);
  dynamics_.factor(extra);
  d_ = v_new - state.v;
  for (int t = 0; t < static_cast<int>(free_.size()); ++t) {
    if (!free_[at(t)]) continue;
    const Tree& tree = model.trees[at(t)];
    start.dynamics.multiply(t, d_.data(), y_.data());
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      y_[k] += extra[k] * d_[k] + dt * (start.dynamics.h()[k] - dynamics_.h()[k]);
    dynamics_.solve_in_place(t, y_.data());
    v_new.segment(tree.iv, tree.nv) = state.v.segment(tree.iv, tree.nv) + y_.segment(tree.iv, tree.nv);  // (midpoint.2)
  }
}

void Midpoint::moves(const Model& model, VecX& motion) const {
  for (std::size_t t = 0; t < free_.size(); ++t) {
    const Tree& tree = model.trees[t];
    if (free_[t]) motion.segment(tree.iv, tree.nv) = v_.segment(tree.iv, tree.nv);
  }
}

// The work that the motion needs by (rigid.8), less that by (midpoint.3)
double Midpoint::charge(const Start& start, const VecX& v_new) {
  const Model& model = start.model;
  const State& state = start.state;
  const double dt = start.dt;
  double sum = 0;
  for (int t = 0; t < static_cast<int>(free_.size()); ++t) {
    if (!free_[at(t)]) continue;
    const int i = model.trees[at(t)].iv, n = model.trees[at(t)].nv;
    const auto v = state.v.segment(i, n), w = v_new.segment(i, n);
    auto twice_kinetic = [&](const Dynamics& dynamics, const VecX& x) {
      dynamics.multiply(t, x.data(), y_.data());
      return x.segment(i, n).dot(y_.segment(i, n));
    };
    sum += 0.5 * (twice_kinetic(start.dynamics, v_new) - twice_kinetic(dynamics_, v_new) +
                  twice_kinetic(dynamics_, state.v) - twice_kinetic(start.dynamics, state.v));
    sum += 0.5 * dt * (v + w).dot(start.dynamics.h().segment(i, n) - dynamics_.h().segment(i, n));
  }
  return sum;
}

}  // namespace tribo
