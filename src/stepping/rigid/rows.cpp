#include "stepping/rigid/rows.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/rolling.hpp"

namespace tribo {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

StepRows::StepRows(const Model& model)
    : friction_(model),
      bodies_(model),
      saturated_(at(model.nv), 0),
      drives_(at(model.nv)),
      coordinate_(at(model.nv), -1) {
  for (const Body& b : model.bodies)
    if (b.joint == JointKind::Revolute || b.joint == JointKind::Prismatic) coordinate_[at(b.iv)] = b.iq;
}

void StepRows::begin(const State& state) {
  std::fill(saturated_.begin(), saturated_.end(), 0);
  friction_.begin(state);
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
      const double reach = margin + 2 * dt * std::abs(state.v[k]);
      const double below = state.q[iq] - p.lower[k], above = p.upper[k] - state.q[iq];
      if (below < reach) rows_.push_back({k, 1, std::max(below, 0.0) / (dt * dt), 0, 0, inf, Row::Kind::Limit, below});
      if (above < reach) rows_.push_back({k, -1, std::max(above, 0.0) / (dt * dt), 0, 0, inf, Row::Kind::Limit, above});
    }
    if (p.friction[k] > 0 && !friction_.along_world(k)) {
      if (rows_.size() > before || row_driven(a, k)) friction_.make_row(k);  // what else it does is not known
      if (friction_.needs_row(k)) rows_.push_back({k, 1, 0, 0, -p.friction[k], p.friction[k], Row::Kind::Friction});
    }
    if (!row_driven(a, k)) continue;
    if (a.has_target(k)) {
      rows_.push_back({k, 1, -a.target[k] / dt, 0, a.lower[k], a.upper[k], Row::Kind::Target});
    } else {
      const auto [torque, gain] = implicit_drive(a, k, dt);
      rows_.push_back({k, 1, -torque / (gain * dt), 1 / (gain * dt), a.lower[k], a.upper[k], Row::Kind::Drive});
    }
  }
  bodies_.list(start, margin, rows_);
  Closures::list(start.model, state.q, start.dynamics, state.t, dt, rows_);
  list_rolling(start.model, start.contacts, rows_);
  forces_.setZero(static_cast<Eigen::Index>(rows_.size()));
}

std::uint64_t StepRows::id(const Row& row, std::span<const Contact> contacts) {
  const auto component = static_cast<std::uint64_t>(row.component);
  if (row.contact >= 0) {  // a contact's id has no room for more: spread, then cut
    const std::uint64_t mixed = (contacts[at(row.contact)].id * 4 + component) * 0x9e3779b97f4a7c15ull;
    return (std::uint64_t{7} << 61) | (mixed >> 3);
  }
  if (row.closes()) return (std::uint64_t{3} << 62) | static_cast<std::uint64_t>(row.element) << 8 | component;
  if (row.tendon >= 0)
    return (std::uint64_t{5} << 61) | static_cast<std::uint64_t>(row.tendon) << 8 |
           static_cast<std::uint64_t>(row.kind) << 1 | (row.sign < 0 ? 1 : 0);
  return (std::uint64_t{1} << 63) | static_cast<std::uint64_t>(row.dof) << 8 |
         static_cast<std::uint64_t>(row.kind) << 1 | (row.sign < 0 ? 1 : 0);
}

Drive StepRows::free_drive(const Actuation& a, int k, double dt) const {
  if (known(a, k)) return {a.lower[k], 0};
  if (row_driven(a, k)) return {};
  Drive drive = implicit_drive(a, k, dt);
  if (drive.gain == 0) drive.torque = within_limits(a, k, drive.torque);
  return drive;
}

void StepRows::hold_joints(double smallest, VecX& v_end) const {
  for (std::size_t j = 0; j < rows_.size(); ++j)
    if (rows_[j].kind == Row::Kind::Friction && rows_[j].tendon < 0)
      friction_.settle(rows_[j].dof, forces_[static_cast<Eigen::Index>(j)], smallest, v_end);
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
    if (rows_[j].drives()) torque[rows_[j].dof] = forces_[static_cast<Eigen::Index>(j)];
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
