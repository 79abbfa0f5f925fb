// Springs along the lengths of tendons, the angles of spherical joints and the ways of free joints: (row.4) to (row.6).
//   length        lddot = sum of along . (a_b - a_a) + |turning|^2 / |p_b - p_a| / divisor,
//                 turning: the part of v_b - v_a across the piece                                              (row.7)
#include <algorithm>
#include <cmath>

#include "base/limits.hpp"
#include "dynamics/tendons.hpp"
#include "stepping/compliant/row_springs.hpp"
#include "stepping/rigid/row_ids.hpp"

namespace tribo {

void RowSprings::list_bodies(const Start& start) {
  for (int t : bodies_.tendons()) list_tendon(start, t);
  for (int b : bodies_.swings()) {
    const Swing swing = swing_of(*model_, start.state.q, start.dynamics, b);
    if (swing.distance < 0 && swing.turned)
      add_limit({.along = swing.along, .law = LimitLaw{}, .error = swing.distance}, b, 0);
  }
  for (int b : bodies_.frees()) {
    const Body& body = model_->bodies[at(b)];
    for (int k = 0; k < 3; ++k) {
      const double most = model_->joints.friction[body.iv + k];
      if (!(most > 0)) continue;
      BodyPoints along;
      along.body_b = b;
      along.axis = Vec3::Unit(k);
      along.p_b = start.dynamics.X_WB(b).p;
      add_friction(start,
                   {.along = along, .law = DryFriction{}, .id = coordinate_row_id(body.iv + k, RowRole::FreeFriction)},
                   most, b, start.dynamics.X_WB(b).p[k]);
    }
  }
}

void RowSprings::list_tendon(const Start& start, int index) {
  const Tendon& t = model_->tendons[at(index)];
  const double length = tendon_length(*model_, t, start.state.q, start.dynamics);
  for (const double sign : {1.0, -1.0}) {
    const double distance = sign > 0 ? length - t.lower : t.upper - length;
    if (distance < 0)
      add_limit({.along = TendonLength{index, sign}, .law = LimitLaw{}, .error = distance}, index, length);
  }
  const double deflection = tendon_deflection(t, length), K = deflection == 0 ? 0 : t.stiffness;
  if (K > 0 || t.damping > 0) {
    RowSpring& s =
        add({.along = TendonLength{index}, .law = TendonSpring{}, .error = deflection}, K, t.damping, inf);  // (row.4)
    s.element = index;
    s.from = length;
  }
  if (t.friction > 0)
    add_friction(start,
                 {.along = TendonLength{index}, .law = DryFriction{}, .id = tendon_row_id(index, RowRole::Friction)},
                 t.friction, index, length);
}

void RowSprings::add_limit(const Row& row, int element, double from) {
  RowSpring& s = add(row, limit_K_, limit_B_, inf);  // (row.5)
  s.law.lower = 0;
  s.element = element;
  s.from = from;
}

// The inertia that rings on it: 1 / sum of J_k^2 / M_kk.
void RowSprings::add_friction(const Start& start, Row row, double most, int element, double from) {
  double f = 0;
  if (start.state.memory.family == MemoryFamily::Compliant)
    for (const RowMemory& m : start.state.memory.rows)
      if (m.id == row.id) f = std::clamp(m.f, -most, most);
  const double K = most / deflection_;
  jacobian(row, start.dynamics, J_);
  double softness = 0;
  for (int k = 0; k < model_->nv; ++k)
    if (J_[k] != 0) softness += J_[k] * J_[k] / start.dynamics.inertia(k);
  row.error = -f / K;
  RowSpring& s = add(row, K, softness > 0 ? 2 * std::sqrt(K / softness) : 0, most);  // (row.6)
  s.element = element;
  s.from = from;
}

void RowSprings::follow(const RowSpring& s, const VecX& q, const Dynamics& dynamics, Row& row) const {
  if (const auto* l = std::get_if<TendonLength>(&row.along)) {
    const Tendon& t = model_->tendons[at(l->tendon)];
    const double length = tendon_length(*model_, t, q, dynamics);
    row.error = row.is<TendonSpring>() ? tendon_deflection(t, length) : s.x + l->sign * (length - s.from);
  } else if (auto* points = std::get_if<BodyPoints>(&row.along)) {
    points->p_b = dynamics.X_WB(s.element).p;
    row.error = s.x + Vec3(points->axis).dot(dynamics.X_WB(s.element).p) - s.from;
  } else {
    const Swing swing = swing_of(*model_, q, dynamics, s.element);
    row.error = swing.distance;
    if (swing.turned) row.along = swing.along;
  }
}

double RowSprings::tendon_bias(int index, const Dynamics& dynamics) const {
  double sum = 0;
  for (const TendonSegment& s : model_->tendons[at(index)].path) {
    const TendonLine line = line_of(s, dynamics);
    Vec3 passing = Vec3::Zero(), turning = Vec3::Zero();
    for (const double sign : {1.0, -1.0}) {
      const int body = sign > 0 ? s.body_b : s.body_a;
      if (body < 0) continue;
      const Vec3& p = sign > 0 ? line.p_b : line.p_a;
      passing += sign * dynamics.point_velocity(body, p);
      turning += sign * dynamics.point_bias(body, p);
    }
    const double way = (line.p_b - line.p_a).norm();
    if (!(way > 0)) continue;
    const Vec3 unit = (line.p_b - line.p_a) / way;
    sum += line.along.dot(turning) + (passing - unit.dot(passing) * unit).squaredNorm() / (way * s.divisor);  // (row.7)
  }
  return sum;
}

void RowSprings::remember(const Start& start, const VecX& v_mean, Memory& memory) {
  const double h = start.dt;
  bool any = false;
  for (const RowSpring& s : springs_) {
    if (!s.row.is<DryFriction>()) continue;
    any = true;
    jacobian(s.row, start.dynamics, J_);
    const JointSpring& law = s.law;
    const double a = -law.K * s.x;
    const bool slips = std::abs(law.mean) >= law.upper && law.B > 0;
    const double f = slips ? law.mean + (a - law.mean) * std::exp(-h * law.K / law.B)  // (compliant.9)
                           : law.within(a - law.K * h * J_.dot(v_mean));
    memory.rows.push_back({s.row.id, f, 0});
  }
  if (any)
    std::sort(memory.rows.begin(), memory.rows.end(),
              [](const RowMemory& a, const RowMemory& b) { return a.id < b.id; });
}

}  // namespace tribo
