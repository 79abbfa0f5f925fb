#include "stepping/compliant/joint_springs.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "dynamics/drive.hpp"
#include "stepping/rigid/springs.hpp"
#include "stepping/targets.hpp"

namespace tribo {
namespace {

// Since control measured its error.
double joint_move(const Body& b, const Start& start) {
  const VecX &q = start.state.q, &q0 = start.q_control;
  if (b.joint != JointKind::Continuous) return q[b.iq] - q0[b.iq];
  const double c = q[b.iq], s = q[b.iq + 1];
  return std::atan2(s * q0[b.iq] - c * q0[b.iq + 1], c * q0[b.iq] + s * q0[b.iq + 1]);
}

bool driven(const Actuation& a, int k) { return a.kp[k] != 0 || a.kd[k] != 0 || a.has_target(k); }

}  // namespace

bool JointSpring::saturate(double f) {
  if (bound != 0 || (f >= lower && f <= upper)) return false;
  bound = f < lower ? -1 : 1;
  return true;
}

bool JointSpring::release(double f) {
  if (bound == 0 || released) return false;
  if (bound < 0 ? f <= lower : f >= upper) return false;
  bound = 0;
  released = true;
  return true;
}

JointSprings::JointSprings(const Model& model, double deflection)
    : model_(&model),
      deflection_(deflection),
      sprung_(!model.joints.stiffness.isZero(0)),
      scalar_(at(model.nv), -1),
      target_gains_(target_gains(model)),
      stretch_(VecX::Zero(model.nv)) {
  for (std::size_t b = 0; b < model.bodies.size(); ++b)
    if (nv_of(model.bodies[b].joint) == 1) scalar_[at(model.bodies[b].iv)] = static_cast<int>(b);
  for (const Body& b : model.bodies)  // along the axes of W a free joint rubs by rows (row.6)
    for (int k = b.iv + (b.joint == JointKind::Free ? 3 : 0); k < b.iv + nv_of(b.joint); ++k)
      if (model.joints.friction[k] > 0) rubbing_.push_back(k);
}

void JointSprings::list(const Start& start, bool damping) {
  using enum JointSpring::Kind;
  const Actuation& a = start.actuation;
  const JointProperties& p = model_->joints;
  springs_.clear();
  for (int k = 0; k < model_->nv; ++k) {
    if (!driven(a, k)) continue;
    if (a.has_target(k)) {
      const double gain = target_gains_[k] / start.dt;
      springs_.push_back({Drive, k, gain * a.target[k], 0, gain, a.lower[k], a.upper[k]});
      springs_.back().target = true;
      continue;
    }
    const double moved = scalar_[at(k)] >= 0 ? joint_move(model_->bodies[at(scalar_[at(k)])], start) : 0;
    springs_.push_back({Drive, k, asked_torque(a, k, 0, moved), a.kp[k], a.kd[k], a.lower[k], a.upper[k]});
  }
  if (sprung_) {
    spring_deflection(*model_, start.state.q, stretch_);
    for (int k = 0; k < model_->nv; ++k)
      if (p.stiffness[k] > 0)
        springs_.push_back({Spring, k, -p.stiffness[k] * stretch_[k], p.stiffness[k], 0, -inf, inf});
  }
  const std::vector<RowMemory>& rows = start.state.memory.rows;
  const bool own = start.state.memory.family == MemoryFamily::Compliant;
  std::size_t next = 0;
  for (int k : rubbing_) {
    while (next < rows.size() && rows[next].id < friction_id(k)) ++next;
    const bool known = own && next < rows.size() && rows[next].id == friction_id(k);
    const double K = stiffness(k), F = p.friction[k];
    springs_.push_back({Friction, k, known ? std::clamp(rows[next].f, -F, F) : 0, K,
                        2 * std::sqrt(K * start.dynamics.inertia(k)), -F, F});
  }
  damping_ = damping && !springs_.empty();
  if (!damping_) return;
  for (int k = 0; k < model_->nv; ++k)
    if (p.damping[k] > 0) springs_.push_back({Damping, k, 0, 0, p.damping[k], -inf, inf});
}

void JointSprings::feed_forward(const Start& start, VecX& torque) const {
  const Actuation& a = start.actuation;
  for (int k = 0; k < model_->nv; ++k) torque[k] = driven(a, k) ? 0 : within_limits(a, k, a.tau[k]);
}

void JointSprings::take_torque(VecX& torque) const {
  for (const JointSpring& s : springs_)
    if (s.kind == JointSpring::Kind::Drive) torque[s.dof] = s.mean;
}

void JointSprings::remember(double h, const VecX& v_mean, Memory& memory) const {
  memory.rows.clear();
  for (const JointSpring& s : springs_) {
    if (s.kind != JointSpring::Kind::Friction) continue;
    const bool slips = std::abs(s.mean) >= s.upper;
    const double f = slips ? s.mean + (s.a - s.mean) * std::exp(-h * s.K / s.B)  // (compliant.9)
                           : s.within(s.a - s.K * h * v_mean[s.dof]);
    memory.rows.push_back({friction_id(s.dof), f, 0});
  }
}

void JointSprings::charge(double time, const VecX& v, Work& work) const {
  for (const JointSpring& s : springs_) {
    const double done = time * s.mean * v[s.dof];
    if (s.kind == JointSpring::Kind::Spring) work.motion -= done;  // (ledger.1): its energy is part of E
    if (s.kind == JointSpring::Kind::Friction) work.constraints += done;
    if (s.kind == JointSpring::Kind::Damping) work.damping += done;
  }
}

Elastic JointSprings::stored(const State& state) {
  Elastic energy;
  if (sprung_) {
    spring_deflection(*model_, state.q, stretch_);
    energy.joints = spring_energy(*model_, stretch_);
  }
  if (state.memory.family != MemoryFamily::Compliant) return energy;
  std::size_t next = 0;
  const std::vector<RowMemory>& rows = state.memory.rows;
  for (int k : rubbing_) {
    while (next < rows.size() && rows[next].id < friction_id(k)) ++next;
    if (next < rows.size() && rows[next].id == friction_id(k))
      energy.contacts += 0.5 * rows[next].f * rows[next].f / stiffness(k);
  }
  return energy;
}

}  // namespace tribo
