// A step of the momentum family: free motion, held torque, Runge-Kutta-Gill, energy.
#include <algorithm>
#include <cmath>

#include "stepping/momentum/momentum.hpp"

namespace tribo {
namespace {

constexpr double c = 0.70710678118654752440;  // 1/sqrt(2)
constexpr double weight[] = {1.0 / 6, (1 - c) / 3, (1 + c) / 3, 1.0 / 6};
constexpr double tableau[4][3] = {{0, 0, 0}, {0.5, 0, 0}, {c - 0.5, 1 - c, 0}, {0, -c, 1 + c}};  // (momentum.5)
constexpr int most_saturations = 5;

}  // namespace

StepReport MomentumFamily::advance(const Model& model, State& state, Workspace& work, double dt) {
  StepReport report;
  const double g = model.gravity.norm();
  k_w_ = !std::isnan(options_.momentum.ramp) ? options_.momentum.ramp
         : default_kw_ > 0                   ? default_kw_
                                             : ramp_of_gravity / ((g > 0 ? g : 9.81) * dt);
  prepare(model, state, work, dt);
  std::fill(saturated_.begin(), saturated_.end(), 0);
  for (int pass = 0; pass < most_saturations; ++pass) {
    free_motion(model, state, work, dt);
    solve(model, state, dt, report);
    if (!hold_torque(model, state, work, dt)) break;
  }
  if (report.status == StepStatus::Stopped) {
    report.t = state.t;
    return report;
  }
  elastic_before_ = stored();
  gill(model, state, dt);
  if (!commit(model, state, work, dt, report)) {
    report.status = StepStatus::NotFinite;
    report.t = state.t;
  }
  return report;
}

// (momentum.2). A drive that left its limits is a constant torque.
void MomentumFamily::free_motion(const Model& model, const State& state, const Workspace& work, double dt) {
  const Actuation& a = work.actuation;
  const VecX& D = model.joints.damping;
  for (int k = 0; k < model.nv; ++k) {
    double gain = a.kd[k] + dt * a.kp[k];
    double tau = a.tau[k] + a.kp[k] * a.error[k] + a.kd[k] * a.v_ref[k];
    if (saturated_[at(k)]) tau = torque_[k];
    if (saturated_[at(k)]) gain = 0;
    if (gain == 0) tau = std::clamp(tau, a.lower[k], a.upper[k]);
    extra_[k] = dt * (D[k] + gain);
    applied_[k] = tau - (D[k] + gain) * state.v[k] + a.external[k] - dynamics_.h()[k];
  }
  articulated_.factor(dynamics_, extra_);
  articulated_.solve(applied_, x0_);
}

// Torque of the gains and of damping at the end of the step; true where a drive left its limits.
bool MomentumFamily::hold_torque(const Model& model, const State& state, const Workspace& work, double dt) {
  const Actuation& a = work.actuation;
  joint_tau_.setZero();
  for (const JointForce& j : joints_) joint_tau_[j.dof] += j.sign * j.f;
  for (const Touching& t : touching_) {
    const Vec3 f_W = t.c.R_WC * t.f;
    articulated_.load(t.c.body_b, t.c.p_WC, f_W);
    articulated_.load(t.c.body_a, t.c.p_WC, -f_W);
  }
  tau_stage_ = applied_ + joint_tau_;
  articulated_.solve(tau_stage_, x_);
  for (Touching& t : touching_) t.v_end = t.v + dt * point_acceleration(t.c);
  bool again = false;
  for (int k = 0; k < model.nv; ++k) {
    const double v_end = state.v[k] + dt * x_[k];
    damping_[k] = -model.joints.damping[k] * v_end;
    if (saturated_[at(k)]) continue;
    const double gain = a.kd[k] + dt * a.kp[k];
    const double wanted = a.tau[k] + a.kp[k] * a.error[k] + a.kd[k] * a.v_ref[k] - gain * v_end;
    torque_[k] = std::clamp(wanted, a.lower[k], a.upper[k]);
    if (gain == 0 || wanted == torque_[k]) continue;
    saturated_[at(k)] = 1;
    again = true;
  }
  held_ = torque_ + damping_ + work.actuation.external;
  return again;
}

// Acceleration of the point of b relative to that of a, in C, by the accelerations of the last solve.
Vec3 MomentumFamily::point_acceleration(const Contact& k) const {
  return k.R_WC.transpose() *
         (dynamics_.point_bias(k.body_b, k.p_WC) + articulated_.point_acceleration(k.body_b, k.p_WC) -
          dynamics_.point_bias(k.body_a, k.p_WC) - articulated_.point_acceleration(k.body_a, k.p_WC));
}

// (momentum.5)
void MomentumFamily::gill(const Model& model, const State& state, double dt) {
  rate_ = contact_power_ = limit_power_ = 0;
  v_mean_.setZero();
  for (Touching& t : touching_) t.mean.setZero();
  for (int s = 0; s < 4; ++s) {
    move_.setZero();
    u_ = state.v;
    for (int r = 0; r < s; ++r) {
      if (tableau[s][r] == 0) continue;
      move_ += dt * tableau[s][r] * k_move_[r];
      u_ += dt * tableau[s][r] * k_u_[r];
    }
    rates(model, state, s);
  }
  move_.setZero();
  v_new_ = state.v;
  for (int s = 0; s < 4; ++s) {
    move_ += weight[s] * k_move_[s];
    v_new_ += dt * weight[s] * k_u_[s];
  }
  q_new_ = state.q;
  integrate(model, move_, dt, q_new_);
  for (int i : free_) {
    const Vec3 w = move_.segment<3>(i + 3);
    if (!w.isZero(0)) v_new_.segment<3>(i) = rotation_exponential(-dt * w) * Vec3(v_new_.segment<3>(i));
  }
}

// Rates of the coordinates at (move_, u_), and what the stage adds to means and powers.
void MomentumFamily::rates(const Model& model, const State& state, int s) {
  const Dynamics* motion = &dynamics_;
  v_stage_ = u_;
  if (s > 0) {
    q_stage_ = state.q;
    integrate(model, move_, 1, q_stage_);
    for (int i : free_)
      v_stage_.segment<3>(i) = rotation_exponential(-move_.segment<3>(i + 3)) * Vec3(u_.segment<3>(i));
    stage_.compute_motion(q_stage_, v_stage_);
    motion = &stage_;
  }
  articulated_.factor(*motion, zero_);
  load_contacts(*motion, weight[s]);
  tau_stage_ = held_ - motion->h();
  for (const JointForce& j : joints_) {
    const double f = stage_force(j, j.d + j.sign * move_[j.dof], j.sign * v_stage_[j.dof]);
    tau_stage_[j.dof] += j.sign * f;
    limit_power_ += weight[s] * j.sign * f * v_stage_[j.dof];
  }
  articulated_.solve(tau_stage_, a_);
  k_move_[s] = u_;
  for (int i : turning_) k_move_[s].segment<3>(i) = rotation_rate(move_.segment<3>(i), u_.segment<3>(i));
  k_u_[s] = a_;
  for (int i : free_) k_u_[s].segment<3>(i) = rotation_exponential(move_.segment<3>(i + 3)) * Vec3(a_.segment<3>(i));
  if (options_.audit != AuditLevel::Full) return;
  v_mean_ += weight[s] * v_stage_;
  rate_ += weight[s] * articulated_.energy_rate(v_stage_);
}

void MomentumFamily::load_contacts(const Dynamics& motion, double w) {
  auto place = [&](int body, const Vec3& on, const Vec3& off) {
    return body < 0 ? Vec3(on + off) : Vec3(motion.X_WB(body) * on + off);
  };
  for (Touching& t : touching_) {
    const Contact& k = t.c;
    const Vec3 p_b = place(k.body_b, t.on_b, t.off_b), p_a = place(k.body_a, t.on_a, t.off_a);
    const Vec3 velocity =
        k.R_WC.transpose() * (motion.point_velocity(k.body_b, p_b) - motion.point_velocity(k.body_a, p_a));
    const double gap = k.gap + k.R_WC.col(2).dot(p_b - p_a);
    const Vec3 f = stage_force(t, gap, velocity), f_W = k.R_WC * f;
    t.mean += w * f;
    contact_power_ += w * f.dot(velocity);
    articulated_.load(k.body_b, p_b, f_W);
    articulated_.load(k.body_a, p_a, -f_W);
  }
}

// Writes the state, or leaves it and says so.
bool MomentumFamily::commit(const Model& model, State& state, Workspace& work, double dt, StepReport& report) {
  if (!q_new_.allFinite() || !v_new_.allFinite()) return false;
  report_contacts(model, work, dt, report, work.contacts);
  remember(state, work, dt);
  const bool ledger = options_.audit == AuditLevel::Full;
  const double before = dynamics_.kinetic() + dynamics_.potential();
  state.q.swap(q_new_);
  state.v.swap(v_new_);
  state.t += dt;
  ++state.step;
  work.current = false;
  work.torque = torque_;
  report.t = state.t;
  if (!ledger) return true;
  charge(work, dt, report.energy);
  move_to(state);  // the next step needs it anyway
  report.energy.kinetic = dynamics_.kinetic();
  report.energy.potential = dynamics_.potential();
  report.energy.elastic = elastic(model, state, work);
  report.energy.contacts += report.energy.elastic - elastic_before_;
  // What the scheme itself added: the change of energy less its rate at the stages, as the bodies move there:
  //   W_int = E(q+, v+) - E(q, v) - dt sum weight_s dE/dt_s, dE/dt by (aba.4)                   (momentum.6)
  report.energy.integrator = report.energy.kinetic + report.energy.potential - before - dt * rate_;
  return true;
}

// Work of the forces: their power at the stages, with the weights of the method.
void MomentumFamily::charge(const Workspace& work, double dt, EnergyLines& lines) const {
  lines = {};
  lines.actuators = dt * v_mean_.dot(torque_);
  lines.damping = dt * v_mean_.dot(damping_);
  lines.external = dt * v_mean_.dot(work.actuation.external);
  lines.constraints = dt * limit_power_;
  lines.contacts = dt * contact_power_;
}

}  // namespace tribo
