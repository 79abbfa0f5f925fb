#include "stepping/compliant/row_springs.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "dynamics/tendons.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/rigid/closures.hpp"

namespace tribo {
namespace {

constexpr double lever = 0.1 * 0.1;  // of (row.2) [m^2]
constexpr double full_turn = 0.05;   // w_0 of (row.3) [rad/s]

bool about_an_axis(const Model& model, const Row& row) {
  if (row.bodies()) return std::holds_alternative<BodyTurns>(row.along);
  const auto* length = std::get_if<TendonLength>(&row.along);
  const auto* lengths = std::get_if<TendonPair>(&row.along);
  if (length || lengths) {
    const Tendon& tendon = model.tendons[at(length ? length->tendon : lengths->tendon)];
    return !tendon.joints.empty() && model.bodies[at(tendon.joints[0].body)].joint != JointKind::Prismatic;
  }
  const auto* pair = std::get_if<CoordinatePair>(&row.along);
  const int dof = pair ? pair->dof : row.coordinate()->dof;
  for (const Body& b : model.bodies)
    if (b.iv == dof) return b.joint != JointKind::Prismatic;
  return true;
}

}  // namespace

RowSprings::RowSprings(const Model& model, const CompliantOptions& options)
    : model_(&model),
      bodies_(model),
      K_(options.closure_stiffness),
      B_(options.closure_damping),
      limit_K_(options.limit_stiffness),
      limit_B_(options.limit_damping),
      deflection_(options.friction_deflection),
      turns_(false),
      J_(VecX::Zero(model.nv)) {
  for (int i = 0; i < model.surfaces(); ++i) turns_ |= model.surface(i).torsional > 0 || model.surface(i).rolling > 0;
}

RowSpring& RowSprings::add(const Row& row, double K, double B, double bound) {
  RowSpring& s = springs_.emplace_back();
  s.row = row;
  s.x = row.error;
  s.law.K = K;
  s.law.B = B;
  s.law.lower = -bound;
  s.law.upper = bound;
  return s;
}

void RowSprings::list(const Start& start, const std::vector<Contact>& contacts,
                      const std::vector<CompliantContact>& active) {
  springs_.clear();
  if (closes()) {
    rows_.clear();
    Closures::list(*model_, start.state.q, start.dynamics, start.state.kinematic_time(), start.dt, rows_);
    for (const Row& row : rows_) {
      const double scale = about_an_axis(*model_, row) ? lever : 1;
      add(row, scale * K_, scale * B_, inf);  // (row.2)
    }
  }
  list_bodies(start);
  for (std::size_t i = 0; i < active.size() && turns_; ++i) {
    const SurfacePair& surface = *active[i].surface;
    const double normal = std::max(active[i].f.z(), 0.0);
    for (int k = 0; k < 3; ++k) {
      const double bound = normal * (k == 2 ? surface.torsional : surface.rolling);
      if (!(bound > 0)) continue;
      const Vec3 axis = contacts[i].R_WC.col(k);
      const Row row{
          .along = BodyTurns{{contacts[i].body_a, contacts[i].body_b, axis, axis.dot(contacts[i].w_given)}},
          .law = TurnFriction{static_cast<int>(i), k == 2 ? 0 : k + 1, k == 2 ? surface.torsional : surface.rolling}};
      add(row, 0, bound / full_turn, bound);  // (row.3)
    }
  }
  for (RowSpring& s : springs_) s.f = s.force(s.x, velocity(s.row, start.dynamics, start.state.v));
}

void RowSprings::begin() {
  for (RowSpring& s : springs_) {
    s.at = s.row;
    s.law.bound = 0;
    s.law.released = false;
    s.law.mean = s.f;
  }
}

const std::vector<Row>& RowSprings::rows_at(const VecX& q, const Dynamics& dynamics, const KinematicTime& time) {
  rows_.clear();
  if (closes()) Closures::list(*model_, q, dynamics, time, 0, rows_);
  for (std::size_t j = 0; j < springs_.size(); ++j) {
    if (j < rows_.size()) {
      rows_[j].set_given(springs_[j].row.given());
      continue;
    }
    rows_.push_back(springs_[j].row);
    if (springs_[j].element >= 0) follow(springs_[j], q, dynamics, rows_.back());
  }
  return rows_;
}

double RowSprings::velocity(const Row& row, const Dynamics& dynamics, const VecX& v) const {
  const auto rate = [&](int tendon) { return tendon_rate(*model_, model_->tendons[at(tendon)], v, dynamics); };
  if (const auto* l = std::get_if<TendonLength>(&row.along)) return l->sign * rate(l->tendon);
  if (const auto* l = std::get_if<TendonPair>(&row.along)) return rate(l->tendon) + l->slope * rate(l->other);
  if (const Coordinate* c = row.coordinate()) return c->sign * v[c->dof];
  if (const auto* pair = std::get_if<CoordinatePair>(&row.along)) return v[pair->dof] + pair->slope * v[pair->other];
  if (const auto* points = std::get_if<BodyPoints>(&row.along))
    return Vec3(points->axis)
               .dot(dynamics.point_velocity(points->body_b, points->p_b) -
                    dynamics.point_velocity(points->body_a, points->p_a)) +
           points->given;
  const BodyAxis& b = *row.bodies();
  const Vec3 axis = b.axis;
  double turn = b.given;
  if (b.body_b >= 0) turn += axis.dot(dynamics.body_velocity(b.body_b).ang);
  if (b.body_a >= 0) turn -= axis.dot(dynamics.body_velocity(b.body_a).ang);
  return turn;
}

void RowSprings::add_force(const Row& row, const Dynamics& dynamics, double f, VecX& tau) const {
  const auto pull = [&](int tendon, double by) {
    add_tendon_force(*model_, model_->tendons[at(tendon)], by, dynamics, tau);
  };
  if (const auto* l = std::get_if<TendonLength>(&row.along)) return pull(l->tendon, l->sign * f);
  if (const auto* l = std::get_if<TendonPair>(&row.along)) {
    pull(l->tendon, f);
    return pull(l->other, l->slope * f);
  }
  if (const Coordinate* c = row.coordinate()) {
    tau[c->dof] += c->sign * f;
    return;
  }
  if (const auto* pair = std::get_if<CoordinatePair>(&row.along)) {
    tau[pair->dof] += f;
    tau[pair->other] += pair->slope * f;
    return;
  }
  const auto* points = std::get_if<BodyPoints>(&row.along);
  const BodyAxis& b = *row.bodies();
  for (double sign : {1.0, -1.0}) {
    const int body = sign > 0 ? b.body_b : b.body_a;
    if (body < 0) continue;
    const Vec3 force = sign * f * Vec3(b.axis);
    if (points)
      dynamics.add_force(body, sign > 0 ? points->p_b : points->p_a, force, tau);
    else
      dynamics.add_torque(body, force, tau);
  }
}

void RowSprings::jacobian(const Row& row, const Dynamics& dynamics, VecX& J) const {
  J.setZero(model_->nv);
  add_force(row, dynamics, 1, J);
}

double RowSprings::bias(const Row& row, const Dynamics& dynamics) const {
  if (const auto* l = std::get_if<TendonLength>(&row.along)) return l->sign * tendon_bias(l->tendon, dynamics);
  if (const auto* l = std::get_if<TendonPair>(&row.along))
    return tendon_bias(l->tendon, dynamics) + l->slope * tendon_bias(l->other, dynamics);
  const BodyAxis* b = row.bodies();
  if (!b) return 0;
  const Vec3 axis = b->axis;
  if (const auto* points = std::get_if<BodyPoints>(&row.along))
    return axis.dot(dynamics.point_bias(b->body_b, points->p_b) - dynamics.point_bias(b->body_a, points->p_a));
  double turn = 0;
  if (b->body_b >= 0) turn += axis.dot(dynamics.angular_bias(b->body_b));
  if (b->body_a >= 0) turn -= axis.dot(dynamics.angular_bias(b->body_a));
  return turn;
}

// Of a tendon's spring and damper, the damper's share is that at the speed c.
void RowSprings::charge(const RowSpring& s, double time, double f, double c, Work& work) {
  if (s.row.is<TendonSpring>()) {
    const double damped = -time * s.law.B * c * c;
    work.damping += damped;
    work.motion -= time * f * c - damped;  // (ledger.1): its energy is part of E
    return;
  }
  (s.row.is<TurnFriction>() ? work.contacts : work.constraints) += time * f * c;
  work.external -= time * f * s.at.given();
}

double RowSprings::energy() const {
  double sum = 0;
  for (const RowSpring& s : springs_)
    if (!s.row.is<TendonSpring>()) sum += 0.5 * s.law.K * s.x * s.x;
  return sum;
}

double RowSprings::tendon_energy() const {
  double sum = 0;
  for (const RowSpring& s : springs_)
    if (s.row.is<TendonSpring>()) sum += 0.5 * s.law.K * s.x * s.x;
  return sum;
}

}  // namespace tribo
