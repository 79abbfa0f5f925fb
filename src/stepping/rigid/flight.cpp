#include "stepping/rigid/flight.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/fluid.hpp"
#include "dynamics/group.hpp"
#include "stepping/rigid/springs.hpp"
#include "stepping/rigid/turn_bound.hpp"

namespace tribo {
namespace {

constexpr int most_passes = 3;
constexpr double settled = 1e-6;    // a pass that changes less of the energy is the last
constexpr double most_gain = 1e-3;  // of the kinetic energy, by a step that is not resolved

// (flight.4)
double share_at_end(double z) {
  if (z < 1e-2) return 0.5 + z / 12;
  return 1 / -std::expm1(-z) - 1 / z;
}

}  // namespace

double Flight::relief(const JointProperties& p, int k, double dt, double time) {
  return time < dt ? std::min(dt * dt * p.stiffness[k] / 6, 0.5 * p.armature[k]) : 0;  // (flight.9)
}

Flight::Flight(const Model& model, SmoothScheme smooth)
    : second_order_(smooth != SmoothScheme::Euler), springs_(!model.joints.stiffness.isZero(0)), end_(model) {
  const std::size_t n = model.trees.size();
  for (std::vector<char>* x : {&gyroscope_, &floats_, &may_, &alone_, &flies_, &late_, &held_, &rubs_, &by_stages_})
    x->assign(n, 0);
  // The force of a fluid follows the velocity: of second order too it takes stages.
  in_fluid_alone_ = smooth == SmoothScheme::Midpoint;
  if (smooth == SmoothScheme::RungeKutta || (in_fluid_alone_ && !model.medium.boxes.empty()))
    fourth_ = std::make_unique<RungeKuttaFlight>(model);
  change_.assign(n, 0);
  needed_.assign(n, 0);
  passes_.assign(n, 0);
  for (std::size_t t = 0; t < n; ++t) {
    const Tree& tree = model.trees[t];
    gyroscope_[t] = is_gyroscope(model, tree);
    floats_[t] = tree.bodies > 1 && model.bodies[at(tree.first_body)].joint == JointKind::Free;
    rubs_[t] = !model.joints.friction.segment(tree.iv, tree.nv).isZero(0);
  }
  motion_ = end_.make_motion();
  for (VecX* x : {&theta_, &spring_, &extra_, &force_, &deflection_, &w_, &trial_, &rate_, &lock_, &fluid_})
    x->setZero(model.nv);
}

void Flight::begin(const Start& start, const StepRows& rows) {
  arrived_ = false;
  work_ = {};
  if (fourth_ && !start.model.medium.boxes.empty()) {
    fluid_.setZero();
    add_fluid_forces(start.model.medium, start.dynamics, fluid_);
  }
  for (std::size_t t = 0; t < may_.size(); ++t) {
    const Tree& tree = start.model.trees[t];
    // A fluid is followed from stage to stage.
    const auto pushes = start.actuation.external.segment(tree.iv, tree.nv);
    const bool pushed = pushes != fluid_.segment(tree.iv, tree.nv);
    bool driven = false;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      driven |= rows.drive(k).gain != 0 || rows.drive(k).torque != 0 || rows.friction().guessed(k);
    late_[t] = !pushed && (!gyroscope_[t] || second_order_ || tree.nv == 3);
    may_[t] = !driven && (gyroscope_[t] || !pushed) && !rubs_[t];
    alone_[t] = may_[t] && !pushed && !start.assembly.touched(static_cast<int>(t));  // a push may send it against more
    flies_[t] = 0;
    change_[t] = needed_[t] = 0;
  }
}

double Flight::twice_kinetic(const Start& start, int t, const VecX& v) {
  const Tree& tree = start.model.trees[at(t)];
  start.dynamics.multiply(t, v.data(), lock_.data());
  return std::max(
      {2 * start.dynamics.kinetic(t), v.segment(tree.iv, tree.nv).dot(lock_.segment(tree.iv, tree.nv)), 1e-300});
}

void Flight::watch(int t, double change, double motion) {
  change_[at(t)] = change;
  needed_[at(t)] = motion;
}

void Flight::turn_in_place(const Start& start, int t, VecX& bias) {
  const Tree& tree = start.model.trees[at(t)];
  const Gyroscope body = make_gyroscope(start.model, tree);
  const int w = tree.iv + tree.nv - 3;
  const Vec3 before = start.state.v.segment<3>(w), turned = 2 * (body.mean(before, start.dt) - before);
  rate_.segment(tree.iv, tree.nv).setZero();
  rate_.segment<3>(w) = turned;
  if (tree.nv == 6) rate_.segment<3>(tree.iv) = -turned.cross(body.c);
  start.dynamics.multiply(t, rate_.data(), trial_.data());
  bias.segment(tree.iv, tree.nv) = start.dynamics.gravity_force().segment(tree.iv, tree.nv);
  bias.segment(tree.iv, tree.nv) -= trial_.segment(tree.iv, tree.nv) / start.dt;
}

void Flight::depart(const Start& start, const StepRows& rows, Outcome& out) {
  const Model& model = start.model;
  flies_ = may_;
  for (std::size_t t = 0; t < held_.size(); ++t) {
    const Tree& tree = model.trees[t];
    held_[t] = tree.carried > 0 || !start.actuation.external.segment(tree.iv, tree.nv).isZero(0);
  }
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    if (out.contacts[i].f.isZero(0)) continue;
    for (int b : {start.contacts[i].body_a, start.contacts[i].body_b})
      if (b >= 0) flies_[at(model.bodies[at(b)].tree)] = 0, held_[at(model.bodies[at(b)].tree)] = 1;
  }
  for (int i = 0; i < start.assembly.islands(); ++i) {
    const Island& island = start.assembly.island(i);
    bool acts = false, outside = false;
    for (int j : island.rows) {
      acts |= rows.forces()[j] != 0 || rows[j].is<EqualityPart>();
      outside |= !rows[j].coordinate() && !std::holds_alternative<CoordinatePair>(rows[j].along);
    }
    for (int t : island.trees) {
      if (acts) flies_[at(t)] = 0;
      if (outside) held_[at(t)] = 1;
    }
  }
  bool listed = false, staged = false;
  std::fill(by_stages_.begin(), by_stages_.end(), 0);
  for (int t = 0; t < static_cast<int>(flies_.size()); ++t) {
    const Tree& tree = model.trees[at(t)];
    if (!flies_[at(t)]) continue;
    if (!alone_[at(t)] && !out.correction.segment(tree.iv, tree.nv).isZero(0)) {
      flies_[at(t)] = 0;
      continue;
    }
    if (springs_ && !listed) spring_deflection(model, start.state.q, deflection_);
    listed = true;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) force_[k] = rows.drive(k).torque + start.actuation.external[k];
    const bool staged_kind = !in_fluid_alone_ || !fluid_.segment(tree.iv, tree.nv).isZero(0);
    by_stages_[at(t)] = fourth_ && staged_kind && fourth_->soft_enough(start, t);
    staged |= by_stages_[at(t)] != 0;
    if (by_stages_[at(t)]) force_.segment(tree.iv, tree.nv) -= fluid_.segment(tree.iv, tree.nv);
    if (!by_stages_[at(t)]) take_off(start, t, out);
  }
  if (!staged) return;
  fourth_->cross(start, by_stages_, force_, out, work_);
  for (std::size_t t = 0; t < late_.size(); ++t) late_[t] = late_[t] && !by_stages_[t];
}

// The kick at the start, and the flight.
void Flight::take_off(const Start& start, int t, Outcome& out) {
  const Tree& tree = start.model.trees[at(t)];
  const VecX& v = start.state.v;
  const bool half = late_[at(t)];
  const double time = half ? 0.5 * start.dt : start.dt;
  factor(start, start.dynamics, t, time);
  const VecX* bias = gyroscope_[at(t)] ? &start.dynamics.gravity_force() : &start.dynamics.h();
  kick(start, start.dynamics, t, time, v, *bias, w_);
  double fastest = 0;
  for (int k = tree.iv + (floats_[at(t)] ? 3 : 0); k < tree.iv + tree.nv; ++k)
    fastest = std::max(fastest, std::abs(w_[k]));
  const int passes = tree.bodies > 1 && start.dt * fastest > 1e-9 ? most_passes : 0;
  passes_[at(t)] = 0;
  const double energy = passes > 0 ? twice_kinetic(start, t, w_) : 1;
  for (int pass = 0; pass < passes; ++pass) {
    start.dynamics.bias(t, w_, motion_);
    if (change_[at(t)] > unresolved) bound_turn(start.model, start.dynamics, t, time, motion_.h, trial_);
    kick(start, start.dynamics, t, time, v, motion_.h, trial_);
    double change = 0;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) change += (motion_.h[k] - (*bias)[k]) * (trial_[k] - w_[k]);
    change = std::abs(time * change) / energy;  // (flight.5)
    if (pass == 0) change_[at(t)] = change;
    w_.segment(tree.iv, tree.nv) = trial_.segment(tree.iv, tree.nv);  // (flight.1)
    rate_.segment(tree.iv, tree.nv) = motion_.h.segment(tree.iv, tree.nv);
    bias = &rate_;
    ++passes_[at(t)];
    if (change < settled) break;
  }
  trial_.segment(tree.iv, tree.nv) = bias->segment(tree.iv, tree.nv);
  add_work(start, start.dynamics, t, time, v, trial_, w_);
  out.v_end.segment(tree.iv, tree.nv) = out.v_mean.segment(tree.iv, tree.nv) = w_.segment(tree.iv, tree.nv);
  if (gyroscope_[at(t)]) spin(start, t, start.dt, out);
}

// The flight of a single body: its centre goes straight on, in the axes of the start.
void Flight::spin(const Start& start, int t, double dt, Outcome& out) {
  const Tree& tree = start.model.trees[at(t)];
  const Gyroscope body = make_gyroscope(start.model, tree);
  const int i = tree.iv + tree.nv - 3;
  const Vec3 w = w_.segment<3>(i);
  const auto [after, turn] = body.fly(w, dt);
  out.v_mean.segment<3>(i) = turn / dt;
  out.v_end.segment<3>(i) = after;
  if (tree.nv != 6 || body.c.isZero(0)) return;
  const Mat3 R = rotation_exponential(turn).toRotationMatrix();
  const Vec3 centre = w_.segment<3>(tree.iv) + w.cross(body.c);
  out.v_mean.segment<3>(tree.iv) = centre - (R * body.c - body.c) / dt;
  out.v_end.segment<3>(tree.iv) = centre - R * after.cross(body.c);
}

void Flight::factor(const Start& start, Dynamics& dynamics, int t, double time) {
  const Tree& tree = start.model.trees[at(t)];
  const JointProperties& p = start.model.joints;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    const double M = dynamics.inertia(k), D = time * p.damping[k], K = time * start.dt * p.stiffness[k];
    theta_[k] = D > 0 ? share_at_end(D / M) : 0.5;
    spring_[k] = K > 0 ? share_at_end(K / M) * K - relief(p, k, start.dt, time) : 0;
    extra_[k] = theta_[k] * D + spring_[k];
  }
  dynamics.factor(t, extra_);
}

void Flight::kick(const Start& start, Dynamics& dynamics, int t, double time, const VecX& v, const VecX& bias,
                  VecX& to) {
  const Tree& tree = start.model.trees[at(t)];
  const JointProperties& p = start.model.joints;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
    to[k] = time * (force_[k] - p.damping[k] * v[k] - p.stiffness[k] * deflection_[k] - bias[k]);
  dynamics.solve_in_place(t, to.data());
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) to[k] += v[k];
}

// Lines of the ledger for a kick from v to `to`: (ledger.1), (ledger.2) with that instant.
void Flight::add_work(const Start& start, const Dynamics& dynamics, int t, double time, const VecX& v, const VecX& bias,
                      const VecX& to) {
  if (!start.audited && change_[at(t)] < unresolved) return;
  const Tree& tree = start.model.trees[at(t)];
  const JointProperties& p = start.model.joints;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) lock_[k] = to[k] - v[k];
  dynamics.multiply(t, lock_.data(), rate_.data());
  double motion = 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    const double d = lock_[k], mean = 0.5 * (v[k] + to[k]), way = time * mean;
    work_.actuators += way * (force_[k] - start.actuation.external[k]);
    work_.external += way * start.actuation.external[k];
    work_.damping -= way * p.damping[k] * (v[k] + theta_[k] * d);
    motion += way * (bias[k] + p.stiffness[k] * deflection_[k] + spring_[k] * d / time) + mean * rate_[k];
  }
  work_.motion += motion;
  needed_[at(t)] += motion;
}

int Flight::arrive(const Start& start, const VecX& q, VecX& v) {
  const Model& model = start.model;
  for (std::size_t t = 0; t < flies_.size(); ++t)
    arrived_ |= (flies_[t] && late_[t]) || keeps(static_cast<int>(t)) || change_[t] > unresolved;
  if (!arrived_) return 0;
  end_.compute(q, v);
  if (springs_) spring_deflection(model, q, deflection_);
  int calmed = 0;
  for (std::size_t i = 0; i < flies_.size(); ++i) {
    const int t = static_cast<int>(i);
    const Tree& tree = model.trees[i];
    const bool kicked = flies_[i] && late_[i], kept = keeps(t);
    if (kicked) {
      factor(start, end_, t, 0.5 * start.dt);
      const VecX* bias = gyroscope_[i] ? &end_.gravity_force() : &end_.h();
      if (change_[i] > unresolved && !gyroscope_[i]) {
        motion_.h.segment(tree.iv, tree.nv) = bias->segment(tree.iv, tree.nv);
        bound_turn(model, end_, t, 0.5 * start.dt, motion_.h, trial_);
        bias = &motion_.h;
      }
      kick(start, end_, t, 0.5 * start.dt, v, *bias, w_);  // (flight.3)
      add_work(start, end_, t, 0.5 * start.dt, v, *bias, w_);
      v.segment(tree.iv, tree.nv) = w_.segment(tree.iv, tree.nv);
    }
    if (kept) keep_momentum(start, t, kicked, v);
    if (kicked || kept) end_.move(t, q, v);
    if (change_[i] > unresolved) calmed += calm(start, t, q, v);
  }
  return calmed;
}

void Flight::keep_momentum(const Start& start, int t, bool moved, VecX& v) {
  const Tree& tree = start.model.trees[at(t)];
  const Spatial before = start.dynamics.momentum(t);
  const Vec3 P = before.lin + start.dt * tree.mass * start.model.gravity;
  const Vec3 about_centre =
      before.ang - (start.dynamics.center_of_mass(t) - start.dynamics.origin(t)).cross(before.lin);
  const Vec3 L = about_centre + (end_.center_of_mass(t) - end_.origin(t)).cross(P);
  const Mat3& R = end_.X_WB(tree.first_body).R;
  Eigen::Matrix<double, 6, 1> lost;
  if (moved) {  // since end_ was computed; the first six rows of M v are the momentum about O, in the axes of the base
    end_.multiply(t, v.data(), rate_.data());
    lost << R.transpose() * P, R.transpose() * L;
    lost -= rate_.segment<6>(tree.iv);
  } else {
    const Spatial& now = end_.momentum(t);
    lost << R.transpose() * (P - now.lin), R.transpose() * (L - now.ang);
  }
  v.segment<6>(tree.iv) += end_.base_inertia(t).llt().solve(lost);  // (rigid.9)
}

// (flight.7)
bool Flight::calm(const Start& start, int t, const VecX& q, VecX& v) {
  const Tree& tree = start.model.trees[at(t)];
  double gain =
      end_.kinetic(t) + end_.potential(t) - start.dynamics.kinetic(t) - start.dynamics.potential(t) - needed_[at(t)];
  if (springs_) {
    spring_deflection(start.model, start.state.q, trial_);
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      gain += 0.5 * start.model.joints.stiffness[k] * (deflection_[k] * deflection_[k] - trial_[k] * trial_[k]);
  }
  if (!(gain > most_gain * std::max(start.dynamics.kinetic(t), end_.kinetic(t)))) return false;
  const auto segment = [&](VecX& x) { return x.segment(tree.iv, tree.nv); };
  segment(lock_).setZero();  // the motion that stays
  if (floats_[at(t)] && !held_[at(t)]) {
    end_.multiply(t, v.data(), rate_.data());
    lock_.segment<6>(tree.iv) = end_.base_inertia(t).llt().solve(rate_.segment<6>(tree.iv));
  }
  segment(trial_) = segment(v) - segment(lock_);
  end_.multiply(t, trial_.data(), rate_.data());
  const double within = 0.5 * segment(trial_).dot(segment(rate_));
  const double share = within > gain ? std::sqrt((within - gain) / within) : 0;
  segment(v) = segment(lock_) + share * segment(trial_);
  end_.move(t, q, v);
  return true;
}

void Flight::charge(Work& work) const {
  work.actuators += work_.actuators;
  work.external += work_.external;
  work.damping += work_.damping;
  work.motion += work_.motion;
}

}  // namespace tribo
