#include "stepping/rigid/rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/rolling.hpp"
#include "stepping/rigid/row_ids.hpp"

namespace tribo {
namespace {

constexpr double joint_touching =
    1e-6;                             // distance to a limit that counts as none, where the limit carried [rad] or [m]
constexpr double joint_still = 1e-7;  // a joint that moves less in a step is still [rad] or [m]
constexpr double energy_rounding = 1e-9;  // of the energy of a tree, that may be lost where a joint is stopped
constexpr double limit_carried = 0.1;     // of the joint's dry friction: a limit with more force carried

// A joint that rests at its limit, and has dry friction: a distance within rounding would ask for a motion that the
// friction opposes, step after step. As of contacts that carry (island_setup.cpp), it counts as none.
bool rests(const State& state, const Row& row, double friction, double dt) {
  const Coordinate& along = *row.coordinate();
  if (!(row.error > 0 && row.error < joint_touching && dt * std::abs(state.v[along.dof]) < joint_still)) return false;
  const std::vector<RowMemory>& memory = state.memory.rows;
  const auto m = std::lower_bound(memory.begin(), memory.end(), row.id,
                                  [](const RowMemory& x, std::uint64_t id) { return x.id < id; });
  return m != memory.end() && m->id == row.id && m->f > limit_carried * friction;
}

Row limit_row(const Coordinate& along, double distance, double dt) {
  return {.along = along,
          .law = LimitLaw{},
          .bias = std::max(distance, 0.0) / (dt * dt),
          .upper = inf,
          .error = distance,
          .id = coordinate_row_id(along.dof, RowRole::Limit, along.sign < 0)};
}

Row drive_row(const Actuation& a, int k, double dt) {
  Row row{.along = Coordinate{k}, .lower = a.lower[k], .upper = a.upper[k]};
  if (a.has_target(k)) {
    row.law = VelocityTarget{};
    row.bias = -a.target[k] / dt;
    row.id = coordinate_row_id(k, RowRole::Target);
    return row;
  }
  const auto [torque, gain] = implicit_drive(a, k, dt);
  row.law = LimitedDrive{};
  row.bias = -torque / (gain * dt);
  row.compliance = 1 / (gain * dt);
  row.id = coordinate_row_id(k, RowRole::Drive);
  return row;
}

}  // namespace

StepRows::StepRows(const Model& model)
    : friction_(model),
      bodies_(model),
      saturated_(at(model.nv), 0),
      drives_(at(model.nv)),
      coordinate_(at(model.nv), -1),
      tree_(at(model.nv), 0) {
  for (const Body& b : model.bodies)
    if (b.joint == JointKind::Revolute || b.joint == JointKind::Prismatic) coordinate_[at(b.iv)] = b.iq;
  reached_.setZero(model.nv);
  for (std::size_t t = 0; t < model.trees.size(); ++t)
    std::fill_n(tree_.begin() + model.trees[t].iv, model.trees[t].nv, static_cast<int>(t));
  momentum_.setZero(model.nv);
}

void StepRows::begin(const Start& start) {
  std::fill(saturated_.begin(), saturated_.end(), 0);
  begin_at_limits(start);
  reached_.setZero();
  all_limits_ = false;
  friction_.begin(start.state);
}

void StepRows::begin_at_limits(const Start& start) {
  const Actuation& a = start.actuation;
  for (const RowMemory& m : start.state.memory.rows) {
    const int k = driven_by_row(m.id);
    if (k < 0 || k >= start.model.nv || a.has_target(k)) continue;
    const Drive drive = implicit_drive(a, k, start.dt);
    const double asks = drive.at(start.state.v[k]);
    saturated_[at(k)] = drive.gain != 0 && (asks < a.lower[k] || asks > a.upper[k]);
  }
}

void StepRows::list(const Start& start, double margin) {
  rows_.clear();
  const State& state = start.state;
  const Actuation& a = start.actuation;
  const double dt = start.dt;
  const JointProperties& p = start.model.joints;
  for (int k = 0; k < start.model.nv; ++k) {
    drives_[at(k)] = free_drive(a, k, dt);
    const std::size_t before = rows_.size();
    if (const int iq = coordinate_[at(k)]; iq >= 0) {
      const double reach = margin + 2 * dt * std::max(std::abs(state.v[k]), reached_[k]);
      const double below = state.q[iq] - p.lower[k], above = p.upper[k] - state.q[iq];
      if (below < reach) rows_.push_back(limit_row({k, 1}, below, dt));
      if (above < reach) rows_.push_back(limit_row({k, -1}, above, dt));
    }
    if (p.friction[k] > 0 && !friction_.along_world(k)) {
      for (std::size_t j = before; j < rows_.size(); ++j)
        if (rests(state, rows_[j], p.friction[k], dt)) rows_[j].bias = 0;
      if (rows_.size() > before || row_driven(a, k)) friction_.make_row(k);  // what else it does is not known
      if (friction_.needs_row(k))
        rows_.push_back({.along = Coordinate{k},
                         .law = DryFriction{},
                         .lower = -p.friction[k],
                         .upper = p.friction[k],
                         .id = JointFriction::id(k)});
    }
    if (row_driven(a, k)) rows_.push_back(drive_row(a, k, dt));
  }
  bodies_.list(start, margin, all_limits_, rows_);
  Closures::list(start.model, state.q, start.dynamics, state.kinematic_time(), dt, rows_);
  list_rolling(start.model, start.contacts, rows_);
  forces_.setZero(static_cast<Eigen::Index>(rows_.size()));
}

Drive StepRows::free_drive(const Actuation& a, int k, double dt) const {
  if (known(a, k)) return {a.lower[k], 0};
  if (row_driven(a, k)) return {};
  Drive drive = implicit_drive(a, k, dt);
  if (drive.gain == 0) drive.torque = within_limits(a, k, drive.torque);
  return drive;
}

void StepRows::hold_joints(const Start& start, double smallest, VecX& v_end) {
  int known = -1;
  double twice_energy = 0;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const Coordinate* c = rows_[j].coordinate();
    if (!c || !rows_[j].is<DryFriction>() || v_end[c->dof] == 0) continue;
    if (!friction_.holds(c->dof, forces_[static_cast<Eigen::Index>(j)], smallest, v_end)) continue;
    const Tree& tree = start.model.trees[at(tree_[at(c->dof)])];
    if (known != tree_[at(c->dof)]) {
      known = tree_[at(c->dof)];
      start.dynamics.multiply(known, v_end.data(), momentum_.data());
      twice_energy = v_end.segment(tree.iv, tree.nv).dot(momentum_.segment(tree.iv, tree.nv));
    }
    const double taken = std::abs(momentum_[c->dof] * v_end[c->dof]);  // (dry.3)
    if (taken <= energy_rounding * twice_energy + friction_.bound(c->dof) * start.dt * smallest) v_end[c->dof] = 0;
  }
}

// Limits are listed with the velocities of the start. What an impact takes beyond another one is listed then.
bool StepRows::overrun(const Start& start, double margin, const VecX& v_end) {
  const JointProperties& p = start.model.joints;
  const VecX &q = start.state.q, &v = start.state.v;
  const bool beyond = !all_limits_ && bodies_.overrun(start, margin, v_end);
  bool again = beyond;
  for (int k = 0; k < start.model.nv && !again; ++k) {
    const int iq = coordinate_[at(k)];
    if (iq < 0) continue;
    const double reach = margin + 2 * start.dt * std::max(std::abs(v[k]), reached_[k]), end = start.dt * v_end[k];
    const double below = q[iq] - p.lower[k], above = p.upper[k] - q[iq];
    again = (below >= reach && below + end < 0) || (above >= reach && above - end < 0);
  }
  if (again) reached_ = reached_.cwiseMax(v_end.cwiseAbs());
  all_limits_ |= beyond;
  return again;
}

bool StepRows::torques(const Actuation& a, const VecX& v, VecX& torque) {
  bool again = false;
  for (int k = 0; k < static_cast<int>(v.size()); ++k) {
    if (row_driven(a, k)) continue;
    const Drive& d = drives_[at(k)];
    torque[k] = d.at(v[k]);
    if (d.gain == 0 || (torque[k] >= a.lower[k] && torque[k] <= a.upper[k])) continue;
    saturated_[at(k)] = 1;
    again = true;
  }
  for (std::size_t j = 0; j < rows_.size(); ++j)
    if (rows_[j].drives()) torque[rows_[j].coordinate()->dof] = forces_[static_cast<Eigen::Index>(j)];
  return again;
}

void StepRows::miss_targets(const Start& start, Outcome& out) {
  if (out.worst_target >= 0) out.target_miss.setZero();
  out.gave_way = 0;
  out.worst_target = -1;
  for (int k = 0; k < start.model.nv; ++k) {
    if (!start.actuation.has_target(k)) continue;
    const double miss = out.v_end[k] - start.actuation.target[k];
    out.target_miss[k] = miss;
    out.gave_way += std::abs(miss) > 1e-4;
    if (out.worst_target < 0 || std::abs(miss) > std::abs(out.target_miss[out.worst_target])) out.worst_target = k;
  }
}

}  // namespace tribo
