#include "stepping/rigid/body_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "dynamics/tendons.hpp"
#include "stepping/rigid/row_ids.hpp"

namespace tribo {

Swing swing_of(const Model& model, const VecX& q, const Dynamics& dynamics, int b) {
  const Body& body = model.bodies[at(b)];
  const Quat turn(Eigen::Vector4d(q.segment<4>(body.iq)));
  const double sine = turn.vec().norm(), sign = turn.w() < 0 ? -1 : 1;
  Swing swing;
  swing.distance = model.joints.upper[body.iv] - 2 * std::atan2(sine, sign * turn.w());
  swing.turned = sine > 0;
  swing.along.body_a = body.parent;
  swing.along.body_b = b;
  if (swing.turned) swing.along.axis = -(sign / sine) * (dynamics.X_WB(b).R * turn.vec());
  return swing;
}

BodyRows::BodyRows(const Model& model) {
  for (std::size_t i = 0; i < model.tendons.size(); ++i)
    if (acts(model.tendons[i]) && body_of(model.tendons[i]) >= 0) tendons_.push_back(static_cast<int>(i));
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (body.joint == JointKind::Spherical && std::isfinite(model.joints.upper[body.iv]))
      swings_.push_back(static_cast<int>(b));
    if (body.joint == JointKind::Free && !model.joints.friction.segment<3>(body.iv).isZero(0))
      frees_.push_back(static_cast<int>(b));
  }
}

void BodyRows::list(const Start& start, double margin, bool all, std::vector<Row>& rows) const {
  for (int i : tendons_) list_tendon(start, i, margin, all, rows);
  for (int b : swings_) list_swing(start, b, margin, all, rows);
  for (int b : frees_) {
    const Body& body = start.model.bodies[at(b)];
    for (int k = 0; k < 3; ++k) {
      BodyPoints along;
      along.body_b = b;
      along.axis = Vec3::Unit(k);
      along.p_b = start.dynamics.X_WB(b).p;
      const double most = start.model.joints.friction[body.iv + k];  // (free.1)
      rows.push_back({.along = along,
                      .law = DryFriction{},
                      .lower = -most,
                      .upper = most,
                      .id = coordinate_row_id(body.iv + k, RowRole::FreeFriction)});
    }
  }
}

bool BodyRows::overrun(const Start& start, double margin, const VecX& v_end) const {
  const double dt = start.dt;
  const VecX& v = start.state.v;
  const auto beyond = [&](double distance, double speed, double speed_end) {
    return distance >= margin + 2 * dt * speed && distance < dt * speed_end;
  };
  const auto pulled = [&](int i) {
    const Tendon& tendon = start.model.tendons[at(i)];
    const double length = tendon_length(start.model, tendon, start.state.q, start.dynamics);
    return beyond(std::min(length - tendon.lower, tendon.upper - length),
                  std::abs(tendon_rate(start.model, tendon, v, start.dynamics)),
                  std::abs(tendon_rate(start.model, tendon, v_end, start.dynamics)));
  };
  const auto swung = [&](int b) {
    const Swing swing = swing_of(start.model, start.state.q, start.dynamics, b);
    const int iv = start.model.bodies[at(b)].iv;
    return swing.turned && beyond(swing.distance, v.segment<3>(iv).norm(), v_end.segment<3>(iv).norm());
  };
  return std::any_of(tendons_.begin(), tendons_.end(), pulled) || std::any_of(swings_.begin(), swings_.end(), swung);
}

void BodyRows::list_tendon(const Start& start, int index, double margin, bool all, std::vector<Row>& rows) {
  const Tendon& tendon = start.model.tendons[at(index)];
  const double dt = start.dt;
  const double length = tendon_length(start.model, tendon, start.state.q, start.dynamics);
  const double reach =
      all ? inf : margin + 2 * dt * std::abs(tendon_rate(start.model, tendon, start.state.v, start.dynamics));
  for (const double sign : {1.0, -1.0}) {
    const double distance = sign > 0 ? length - tendon.lower : tendon.upper - length;
    if (!(distance < reach)) continue;
    rows.push_back({.along = TendonLength{index, sign},
                    .law = LimitLaw{},
                    .bias = std::max(distance, 0.0) / (dt * dt),  // (tendon.4)
                    .upper = inf,
                    .error = distance,
                    .id = tendon_row_id(index, RowRole::Limit, sign < 0)});
  }
  const double deflection = tendon_deflection(tendon, length), k = deflection == 0 ? 0 : tendon.stiffness;
  const double gain = k * dt + tendon.damping;
  if (gain > 0)
    rows.push_back({.along = TendonLength{index},
                    .law = TendonSpring{},
                    .bias = k * deflection / (gain * dt),  // (tendon.5)
                    .compliance = 1 / (gain * dt),
                    .lower = -inf,
                    .upper = inf,
                    .id = tendon_row_id(index, RowRole::Spring)});
  if (tendon.friction > 0)
    rows.push_back({.along = TendonLength{index},
                    .law = DryFriction{},
                    .lower = -tendon.friction,  // (tendon.6)
                    .upper = tendon.friction,
                    .id = tendon_row_id(index, RowRole::Friction)});
}

void BodyRows::list_swing(const Start& start, int b, double margin, bool all, std::vector<Row>& rows) {
  const Body& body = start.model.bodies[at(b)];
  const Swing swing = swing_of(start.model, start.state.q, start.dynamics, b);
  const double reach = all ? inf : margin + 2 * start.dt * start.state.v.segment<3>(body.iv).norm();
  if (!(swing.distance < reach) || !swing.turned) return;
  rows.push_back({.along = swing.along,
                  .law = LimitLaw{},
                  .bias = std::max(swing.distance, 0.0) / (start.dt * start.dt),  // (swing.1)
                  .upper = inf,
                  .error = swing.distance,
                  .id = coordinate_row_id(body.iv, RowRole::Swing)});
}

}  // namespace tribo
