// A step of the momentum family: free motion, held torque, Runge-Kutta-Gill, energy.
#include <algorithm>
#include <cmath>

#include "dynamics/group.hpp"
#include "stepping/momentum/momentum.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/rigid/springs.hpp"

namespace tribo {
namespace {

constexpr double c = 0.70710678118654752440;  // 1/sqrt(2)
constexpr double weight[] = {1.0 / 6, (1 - c) / 3, (1 + c) / 3, 1.0 / 6};
constexpr double tableau[4][3] = {{0, 0, 0}, {0.5, 0, 0}, {c - 0.5, 1 - c, 0}, {0, -c, 1 + c}};  // (momentum.5)
constexpr double node[] = {0, 0.5, 0.5, 1};
constexpr int most_saturations = 5;

}  // namespace

void MomentumFamily::solve(const Start& start, Outcome& out) {
  const double g = start.model.gravity.norm();
  k_w_ = !std::isnan(ramp_) ? ramp_ : default_kw_ > 0 ? default_kw_ : ramp_of_gravity / ((g > 0 ? g : 9.81) * start.dt);
  std::fill(saturated_.begin(), saturated_.end(), 0);
  for (int pass = 0; pass < most_saturations; ++pass) {
    free_motion(start, out.torque);
    find_forces(start, out);
    if (!hold_torque(start, out)) break;
  }
  gill(start, out);
  StepRows::miss_targets(start, out);
}

Drive MomentumFamily::drive(const Actuation& a, int k, double dt) const {
  if (!a.has_target(k)) return implicit_drive(a, k, dt);
  const double gain = target_gains_[k] / dt;
  return {gain * a.target[k], gain};  // (target.1)
}

// (momentum.2), with joint springs k (s + dt v'). A drive that left its limits is a constant torque.
void MomentumFamily::free_motion(const Start& start, const VecX& torque) {
  const Actuation& a = start.actuation;
  const double dt = start.dt;
  const VecX& D = start.model.joints.damping;
  for (int k = 0; k < start.model.nv; ++k) {
    auto [tau, gain] = saturated_[at(k)] ? Drive{torque[k], 0} : drive(a, k, dt);
    if (gain == 0) tau = within_limits(a, k, tau);
    extra_[k] = dt * (D[k] + gain);
    applied_[k] = tau - (D[k] + gain) * start.state.v[k] + a.external[k] - start.dynamics.h()[k];
  }
  if (sprung_) {
    spring_deflection(start.model, start.state.q, stretch_);
    const VecX& K = start.model.joints.stiffness;
    extra_ += dt * dt * K;
    applied_ -= K.cwiseProduct(stretch_ + dt * start.state.v);
  }
  articulated_.factor(start.dynamics, extra_);
  articulated_.solve(applied_, x0_);
}

// Torque of the gains and of damping at the end of the step; true where a drive left its limits.
bool MomentumFamily::hold_torque(const Start& start, Outcome& out) {
  const Actuation& a = start.actuation;
  const double dt = start.dt;
  joint_tau_.setZero();
  for (const JointForce& j : joints_) j.add_force(j.f, joint_tau_);
  for (const Touching& t : touching_) {
    const Vec3 f_W = t.c.R_WC * t.f;
    articulated_.load(t.c.body_b, t.c.p_WC, f_W);
    articulated_.load(t.c.body_a, t.c.p_WC, -f_W);
  }
  tau_stage_ = applied_ + joint_tau_;
  articulated_.solve(tau_stage_, x_);
  for (Touching& t : touching_) t.v_end = t.v + dt * point_acceleration(start.dynamics, t.c);
  bool again = false;
  for (int k = 0; k < start.model.nv; ++k) {
    const double v_end = start.state.v[k] + dt * x_[k];
    damping_[k] = -start.model.joints.damping[k] * v_end;
    if (sprung_) spring_[k] = -start.model.joints.stiffness[k] * (stretch_[k] + dt * v_end);
    if (saturated_[at(k)]) continue;
    const Drive asked = drive(a, k, dt);
    const double wanted = asked.at(v_end);
    out.torque[k] = within_limits(a, k, wanted);
    if (asked.gain == 0 || wanted == out.torque[k]) continue;
    saturated_[at(k)] = 1;
    again = true;
  }
  held_ = out.torque + damping_ + a.external;
  if (sprung_) held_ += spring_;
  return again;
}

// Acceleration of the point of b relative to that of a, in C, by the accelerations of the last solve.
Vec3 MomentumFamily::point_acceleration(const Dynamics& dynamics, const Contact& k) const {
  return k.R_WC.transpose() *
         (dynamics.point_bias(k.body_b, k.p_WC) + articulated_.point_acceleration(k.body_b, k.p_WC) -
          dynamics.point_bias(k.body_a, k.p_WC) - articulated_.point_acceleration(k.body_a, k.p_WC));
}

// (momentum.5)
void MomentumFamily::gill(const Start& start, Outcome& out) {
  const VecX& v = start.state.v;
  const double dt = start.dt;
  rate_ = contact_power_ = limit_power_ = given_power_ = 0;
  v_mean_.setZero();
  for (Touching& t : touching_) t.mean.setZero();
  for (int s = 0; s < 4; ++s) {
    move_.setZero();
    u_ = v;
    for (int r = 0; r < s; ++r) {
      if (tableau[s][r] == 0) continue;
      move_ += dt * tableau[s][r] * k_move_[r];
      u_ += dt * tableau[s][r] * k_u_[r];
    }
    rates(start, s);
  }
  out.v_mean.setZero();
  out.v_end = v;
  for (int s = 0; s < 4; ++s) {
    out.v_mean += weight[s] * k_move_[s];
    out.v_end += dt * weight[s] * k_u_[s];
  }
}

// Rates of the coordinates at (move_, u_), and what the stage adds to means and powers.
void MomentumFamily::rates(const Start& start, int s) {
  const Dynamics* motion = &start.dynamics;
  v_stage_ = u_;
  if (s > 0) {
    q_stage_ = start.state.q;
    integrate(start.model, move_, 1, q_stage_);
    chart_.turn(move_, -1, v_stage_);
    stage_.compute_motion(q_stage_, v_stage_);
    motion = &stage_;
  }
  articulated_.factor(*motion, zero_);
  load_contacts(*motion, weight[s], node[s] * start.dt);
  tau_stage_ = held_ - motion->h();
  for (const JointForce& j : joints_) {
    const double rate = j.along(v_stage_), f = stage_force(j, j.d + j.along(move_), rate);
    j.add_force(f, tau_stage_);
    limit_power_ += weight[s] * f * rate;
  }
  articulated_.solve(tau_stage_, a_);
  chart_.rate(move_, u_, k_move_[s]);
  k_u_[s] = a_;
  chart_.turn(move_, 1, k_u_[s]);
  if (!start.audited) return;
  v_mean_ += weight[s] * v_stage_;
  rate_ += weight[s] * articulated_.energy_rate(v_stage_);
}

void MomentumFamily::load_contacts(const Dynamics& motion, double w, double time) {
  auto place = [&](int body, const Vec3& on, const Vec3& off) {
    return body < 0 ? Vec3(on + off) : Vec3(motion.X_WB(body) * on + off);
  };
  for (Touching& t : touching_) {
    const Contact& k = t.c;
    const Vec3 p_b = place(k.body_b, t.on_b, t.off_b), p_a = place(k.body_a, t.on_a, t.off_a);
    const Vec3 velocity =
        k.R_WC.transpose() * (motion.point_velocity(k.body_b, p_b) - motion.point_velocity(k.body_a, p_a) + k.v_given);
    const double gap = k.gap + k.R_WC.col(2).dot(p_b - p_a + time * k.v_given);
    const Vec3 f = stage_force(t, gap, velocity), f_W = k.R_WC * f;
    t.mean += w * f;
    contact_power_ += w * f.dot(velocity);
    given_power_ += w * f_W.dot(k.v_given);
    articulated_.load(k.body_b, p_b, f_W);
    articulated_.load(k.body_a, p_a, -f_W);
  }
}

// Work of the forces: their power at the stages, with the weights of the method. The rate of the energy as the bodies
// move there, by (aba.4), is the work that the motion needs                                         (momentum.6)
void MomentumFamily::charge(const Start& start, Outcome& out) {
  const double dt = start.dt;
  out.work.actuators = dt * v_mean_.dot(out.torque);
  out.work.damping = dt * v_mean_.dot(damping_);
  out.work.external = dt * (v_mean_.dot(start.actuation.external) - given_power_);
  out.work.constraints = dt * limit_power_;
  out.work.contacts = dt * contact_power_;
  out.work.motion = dt * rate_;
  if (sprung_) out.work.motion -= dt * v_mean_.dot(spring_);
}

Elastic MomentumFamily::stored(const State& state) {
  if (!sprung_) return {};
  spring_deflection(*model_, state.q, stretch_);
  return {0, spring_energy(*model_, stretch_)};
}

}  // namespace tribo
