#include "stepping/rigid/runge_kutta_flight.hpp"

#include "dynamics/fluid.hpp"
#include "dynamics/group.hpp"
#include "stepping/rigid/springs.hpp"

namespace tribo {

RungeKuttaFlight::RungeKuttaFlight(const Model& model)
    : stage_(model), chart_(model), springs_(!model.joints.stiffness.isZero(0)) {
  for (VecX* x :
       {&zero_, &move_, &u_, &v_, &a_, &k_move_, &k_u_, &sum_move_, &sum_u_, &deflection_, &inertial_, &fluid_})
    x->setZero(model.nv);
}

bool RungeKuttaFlight::soft_enough(const Start& start, int t) const {
  const Tree& tree = start.model.trees[at(t)];
  const JointProperties& p = start.model.joints;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
    if (start.dt * (p.damping[k] + start.dt * p.stiffness[k]) > start.dynamics.inertia(k)) return false;
  return true;
}

void RungeKuttaFlight::cross(const Start& start, const std::vector<char>& trees, const VecX& force, Outcome& out,
                             Work& work) {
  constexpr double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const double h = start.dt;
  sum_move_.setZero();
  sum_u_.setZero();
  for (int k = 0; k < 4; ++k) {
    move_.setZero();
    u_ = start.state.v;
    if (k > 0) {
      move_ = node[k] * h * k_move_;
      u_ += node[k] * h * k_u_;
    }
    rates(start, trees, force, weight[k] * h, work);
    sum_move_ += weight[k] * k_move_;
    sum_u_ += weight[k] * k_u_;
  }
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (!trees[t]) continue;
    const Tree& tree = start.model.trees[t];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      out.v_end[k] = start.state.v[k] + h * sum_u_[k];
      out.v_mean[k] = sum_move_[k];
    }
  }
}

// (flight.8) at (move_, u_); the other trees stand still.
void RungeKuttaFlight::rates(const Start& start, const std::vector<char>& trees, const VecX& force, double time,
                             Work& work) {
  const Model& model = start.model;
  const JointProperties& p = model.joints;
  q_ = start.state.q;
  integrate(model, move_, 1, q_);
  v_ = u_;
  chart_.turn(move_, -1, v_);
  stage_.compute(q_, v_);
  if (springs_) spring_deflection(model, q_, deflection_);
  fluid_.setZero();
  add_fluid_forces(model.medium, stage_, fluid_);
  a_.setZero();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!trees[i]) continue;
    const int t = static_cast<int>(i);
    const Tree& tree = model.trees[i];
    stage_.factor(t, zero_);
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      a_[k] = force[k] + fluid_[k] - p.damping[k] * v_[k] - p.stiffness[k] * deflection_[k] - stage_.h()[k];
    stage_.solve_in_place(t, a_.data());
    if (!start.audited) continue;
    stage_.multiply(t, a_.data(), inertial_.data());
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      const double way = time * v_[k];
      work.motion += way * (inertial_[k] + stage_.h()[k] + p.stiffness[k] * deflection_[k]);
      work.damping -= way * p.damping[k] * v_[k];
      work.external += way * (force[k] + fluid_[k]);  // nothing drives a tree that flies
    }
  }
  chart_.rate(move_, u_, k_move_);
  k_u_ = a_;
  chart_.turn(move_, 1, k_u_);
}

}  // namespace tribo
