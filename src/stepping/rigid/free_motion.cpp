#include "stepping/rigid/free_motion.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/rigid/springs.hpp"
#include "stepping/rigid/turn_bound.hpp"

namespace tribo {
namespace {

constexpr double slow_turn = 1e-4;     // a tree that turns less in a step has its bias taken at the start [rad]
constexpr double settled_turn = 1e-6;  // a pass of the bias that changes less of the kinetic energy is the last

}  // namespace

FreeMotion::FreeMotion(const Model& model) : model_(model), springs_(!model.joints.stiffness.isZero(0)) {
  for (VecX* x : {&v_free_, &extra_, &extra_of_bias_, &deflection_, &force_, &bias_, &middle_, &change_, &rate_})
    x->setZero(model.nv);
  motion_ = Dynamics(model).make_motion();
  turned_.assign(model.trees.size(), 0);
  passes_.assign(model.trees.size(), 0);
  known_.assign(model.trees.size(), 0);
}

double FreeMotion::implicit(const Start& start, const StepRows& rows, int k) {
  const JointProperties& p = start.model.joints;
  return start.dt * (p.damping[k] + rows.drive(k).gain + start.dt * p.stiffness[k]);
}

void FreeMotion::solve(const Start& start, const StepRows& rows, Flight& flight, bool first) {
  const Model& model = start.model;
  const double dt = start.dt;
  const VecX &K = model.joints.stiffness, &v = start.state.v;
  const JointFriction& friction = rows.friction();
  if (springs_) spring_deflection(model, start.state.q, deflection_);
  v_free_ = v;
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
    if (first) {
      turned_[at(t)] = 0;
      passes_[at(t)] = known_[at(t)] = 0;
    }
    if (flight.alone(t)) continue;
    const Tree& tree = model.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      extra_[k] = implicit(start, rows, k) + friction.damping(k);
      force_[k] =
          dt * (rows.drive(k).torque + friction.torque(k) + start.actuation.external[k] - K[k] * deflection_[k]);
      if (!friction.held(k)) force_[k] -= extra_[k] * v[k];
    }
    start.dynamics.factor(t, extra_);
    if (known_[at(t)])
      move(start, rows, t);
    else
      find_bias(start, rows, flight, t);
  }
}

void FreeMotion::find_bias(const Start& start, const StepRows& rows, Flight& flight, int t) {
  const Tree& tree = start.model.trees[at(t)];
  bias_.segment(tree.iv, tree.nv) = start.dynamics.h().segment(tree.iv, tree.nv);
  extra_of_bias_.segment(tree.iv, tree.nv) = extra_.segment(tree.iv, tree.nv);
  if (flight.gyroscope(t)) flight.turn_in_place(start, t, bias_);
  move(start, rows, t);
  if (tree.bodies > 1) turn_on_the_way(start, rows, flight, t);
  known_[at(t)] = 1;
}

void FreeMotion::move(const Start& start, const StepRows& rows, int t) {
  const Tree& tree = start.model.trees[at(t)];
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) v_free_[k] = force_[k] - start.dt * bias_[k];
  start.dynamics.solve_in_place(t, v_free_.data());
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
    if (!rows.friction().held(k)) v_free_[k] += start.state.v[k];  // (rigid.1)
}

// The bias at the velocity that it leads to itself (rigid.12). Given velocities cannot run away: not for targets.
void FreeMotion::turn_on_the_way(const Start& start, const StepRows& rows, Flight& flight, int t) {
  const Tree& tree = start.model.trees[at(t)];
  const VecX& v = start.state.v;
  double fastest = 0;  // the speed of a base does not enter the bias
  const int first = start.model.bodies[at(tree.first_body)].joint == JointKind::Free ? 3 : 0;
  for (int k = tree.iv + first; k < tree.iv + tree.nv; ++k) {
    fastest = std::max(fastest, std::abs(v[k]));
    if (start.actuation.has_target(k)) return;
  }
  if (start.dt * fastest < slow_turn) return;
  for (int pass = 0; pass < 2; ++pass) {
    bound_turn(start.model, start.dynamics, t, start.dt, bias_, middle_);
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      middle_[k] = v[k] + 0.5 * middle_[k];
      change_[k] = v_free_[k];
      rate_[k] = bias_[k];
    }
    start.dynamics.bias(t, middle_, motion_);
    bias_.segment(tree.iv, tree.nv) = motion_.h.segment(tree.iv, tree.nv);
    move(start, rows, t);
    ++passes_[at(t)];
    double change = 0;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) change += (bias_[k] - rate_[k]) * (v_free_[k] - change_[k]);
    // The energy at the start is a bound below: where it tells that this was the last pass, no other is needed.
    change = std::abs(start.dt * change);
    const double known = 2 * start.dynamics.kinetic(t);
    change /= change < settled_turn * known ? known : flight.twice_kinetic(start, t, v_free_);
    if (pass == 0) turned_[at(t)] = change;
    if (change < settled_turn) break;
  }
  if (turned_[at(t)] > Flight::unresolved && bound_turn(start.model, start.dynamics, t, start.dt, bias_, middle_))
    move(start, rows, t);
}

void FreeMotion::release_joints(const Start& start, const StepRows& rows) {
  for (int k = 0; k < start.model.nv; ++k)
    if (rows.friction().damping(k) > 0) extra_[k] = implicit(start, rows, k);
  start.dynamics.factor(extra_);
}

double FreeMotion::work(const Start& start, const VecX& v_end, int t) {
  const Tree& tree = start.model.trees[at(t)];
  const VecX& v = start.state.v;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) change_[k] = v_end[k] - v[k];
  start.dynamics.multiply(t, change_.data(), rate_.data());
  double sum = 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    double force = start.dt * bias_[k] + rate_[k];
    if (springs_) force += start.dt * start.model.joints.stiffness[k] * (deflection_[k] + start.dt * v_end[k]);
    sum += 0.5 * (v[k] + v_end[k]) * force;
  }
  return sum;
}

double FreeMotion::spring_energy(const VecX& q) {
  if (!springs_) return 0;
  spring_deflection(model_, q, deflection_);
  return tribo::spring_energy(model_, deflection_);
}

}  // namespace tribo
