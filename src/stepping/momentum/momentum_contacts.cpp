// Contacts of the momentum family: which touch, their referential points, what is reported and remembered of them.
#include <algorithm>
#include <cmath>

#include "stepping/contact_points.hpp"
#include "stepping/contact_report.hpp"
#include "stepping/momentum/momentum.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/targets.hpp"

namespace tribo {
namespace {

constexpr double release_share = 0.5;  // of |g| dt^2
// Of the size of the smaller shape.
constexpr double touch_share = 2e-8;  // a gap that counts as touching
constexpr double deep_share = 0.02;   // overlap that a run may have begun with
constexpr double roll_share = 2e-8;   // the point of contact has moved over b

}  // namespace

MomentumFamily::MomentumFamily(const Model& model, const MomentumFamilyOptions& options)
    : articulated_(model),
      ramp_(options.ramp),
      model_(&model),
      sizes_(model),
      sprung_(!model.joints.stiffness.isZero(0)),
      target_gains_(target_gains(model)),
      stage_(model),
      chart_(model) {
  for (const Body& b : model.bodies) {
    for (int k = b.iv; k < b.iv + nv_of(b.joint); ++k)
      if (model.joints.friction[k] > 0) rubbing_.push_back(k);
    if (b.joint != JointKind::Revolute && b.joint != JointKind::Prismatic) continue;
    if (std::isfinite(model.joints.lower[b.iv]) || std::isfinite(model.joints.upper[b.iv]))
      limited_.push_back({b.iv, b.iq});
  }
  saturated_.assign(at(model.nv), 0);
  for (VecX* x : {&applied_, &x0_, &extra_, &zero_, &damping_, &joint_tau_, &held_, &tau_stage_, &x_, &move_, &u_,
                  &v_stage_, &a_, &v_mean_, &stretch_, &spring_})
    x->setZero(model.nv);
  for (int s = 0; s < 4; ++s)
    for (VecX* x : {&k_move_[s], &k_u_[s]}) x->setZero(model.nv);
}

void MomentumFamily::begin(const Start& start) {
  touching_.clear();
  // What touched stays while free fall would close the gap within a step.
  const double release = release_share * start.model.gravity.norm() * start.dt * start.dt;
  const Memory& m = start.state.memory;
  const std::size_t remembered = m.references.size();  // one for each contact, or none where another family wrote
  std::size_t k = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    const Contact& c = start.contacts[i];
    while (k < remembered && m.contacts[k].id < c.id) ++k;
    const bool known = k < remembered && m.contacts[k].id == c.id;
    const double touching = touch_share * sizes_.of(c);
    if (c.gap > (known && m.contacts[k].touched ? std::max(touching, release) : touching)) continue;
    add_touching(start, static_cast<int>(i), known ? Remembered{&m.contacts[k], &m.references[k]} : Remembered{});
  }
  list_joints(start);
}

void MomentumFamily::add_touching(const Start& start, int listed, const Remembered& memory) {
  const Model& model = start.model;
  const Dynamics& dynamics = start.dynamics;
  Touching& t = touching_.emplace_back();
  t.listed = listed;
  t.c = start.contacts[at(listed)];
  Contact& c = t.c;
  if (c.body_a < 0) {  // fixed surfaces: the point of b itself
    c.p_WC += 0.5 * c.gap * c.R_WC.col(2);
    c.arm_a = c.arm_b = Vec3::Zero();
  }
  t.surface = model.surface(c.surface);
  t.v = c.R_WC.transpose() *
        (dynamics.point_velocity(c.body_b, c.p_WC) - dynamics.point_velocity(c.body_a, c.p_WC) + c.v_given);
  t.off_a = core_radius(model, c.geometry_a) * c.R_WC.col(2);
  t.off_b = -core_radius(model, c.geometry_b) * c.R_WC.col(2);
  t.on_a = to_body(dynamics, c.body_a, c.p_WC - t.off_a);
  t.on_b = to_body(dynamics, c.body_b, c.p_WC - t.off_b);
  set_reference(start, t, memory);
}

// (momentum.3), (momentum.4)
void MomentumFamily::set_reference(const Start& start, Touching& t, const Remembered& memory) const {
  const Contact& c = t.c;
  t.fresh = memory.contact == nullptr || !memory.contact->touched;
  if (!t.fresh) t.f = memory.contact->f;
  t.loaded = !t.fresh && memory.contact->f.z() > 0;
  t.slid = !t.fresh && memory.contact->mode == ContactMode::Slip;
  t.point = to_body(start, c.body_b, c.p_WC);
  t.d = Vec3(0, 0, c.gap);
  if (!t.fresh)
    t.rest = std::min(0.0, memory.reference->last_gap + 0.5 * start.dt * std::sqrt(-9.81 * memory.reference->last_gap));
  else if (c.gap < -deep_share * sizes_.of(c) && -c.gap > 2 * start.dt * std::max(-t.v.z(), 0.0))
    t.rest = c.gap;
  if (!t.fresh && !t.slid) {
    const Vec3 held = to_world(start, c.body_b, memory.reference->point);
    const Vec3 rolled = c.R_WC.transpose() * (held - c.p_WC);
    t.d.head<2>() = (c.R_WC.transpose() * (held - to_world(start, c.body_a, memory.reference->reference))).head<2>();
    if (std::hypot(rolled.x(), rolled.y()) < roll_share * sizes_.of(c)) {
      t.point = memory.reference->point;
      t.reference = memory.reference->reference;  // kept to the bit
      return;
    }
  } else if (t.fresh) {
    // One step before: as remembered, or as the velocity has it.
    double gap = c.gap - start.dt * t.v.z();
    Vec3 moved = start.dt * t.v;
    if (memory.reference != nullptr) {
      gap = memory.reference->last_gap;
      moved = c.R_WC.transpose() * (c.p_WC - to_world(start, c.body_a, memory.reference->last));
    }
    const double s = gap > 0 ? gap / (gap - std::min(c.gap, 0.0)) : 0;
    t.d.head<2>() = (1 - s) * moved.head<2>();
  }
  t.reference = to_body(start, c.body_a, c.p_WC - c.R_WC.leftCols<2>() * t.d.head<2>());
}

void MomentumFamily::list_joints(const Start& start) {
  const Model& model = start.model;
  const State& state = start.state;
  joints_.clear();
  for (const auto& [dof, iq] : limited_)
    for (double sign : {1.0, -1.0}) {
      const double gap = sign > 0 ? state.q[iq] - model.joints.lower[dof] : model.joints.upper[dof] - state.q[iq];
      if (gap <= 0) joints_.push_back({dof, iq, sign, gap, 0, 0});
    }
  for (int k : rubbing_) joints_.push_back({k, -1, 1, 0, 0, model.joints.friction[k]});
  if (model.equalities.empty()) return;
  equalities_.clear();
  Closures::list(model, state.q, start.dynamics, state.kinematic_time(), start.dt, equalities_);
  for (const Row& row : equalities_) {
    if (const Coordinate* c = row.coordinate())
      joints_.push_back({c->dof, -1, c->sign, row.error, 0, HUGE_VAL});
    else if (const auto* pair = std::get_if<CoordinatePair>(&row.along))
      joints_.push_back({pair->dof, -1, 1, row.error, 0, HUGE_VAL, pair->other, pair->slope});
  }
}

double MomentumFamily::ramp(double speed) const { return std::isinf(k_w_) ? 1.0 : -std::expm1(-k_w_ * speed); }

Vec3 MomentumFamily::stage_force(const Touching& t, double, const Vec3&) const { return t.f; }

double MomentumFamily::stage_force(const JointForce& j, double, double) const { return j.f; }

void MomentumFamily::finish(const Start& start, Outcome& out) {
  report(start, out);
  remember(start, out);
}

void MomentumFamily::report(const Start& start, Outcome& out) const {
  out.contacts.resize(start.contacts.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    ContactReport& r = out.contacts[i];
    list_contact(start.contacts[i], r);
    if (next == touching_.size() || touching_[next].listed != static_cast<int>(i)) {
      leave_open(start, start.contacts[i], out.v_end, r);
      continue;
    }
    const Touching& t = touching_[next++];
    const double mu = t.mode == ContactMode::Slip ? t.surface.mu_dynamic : t.surface.mu_static;
    add_action(t.mean, t.v, contact_velocity(start.model, start.dynamics, t.c, out.v_end), t.mode, mu, r);
  }
}

void MomentumFamily::remember(const Start& start, Outcome& out) const {
  out.memory.begin(MemoryFamily::Momentum, start.contacts.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    const Contact& listed = start.contacts[i];
    ContactMemory& m = out.memory.contacts[i];
    ReferenceMemory& reference = out.memory.references[i];
    m.id = listed.id;
    m.t1 = listed.R_WC.col(0);
    if (next == touching_.size() || touching_[next].listed != static_cast<int>(i)) {
      // Open: where it is now, for the crossing of the surface.
      const Vec3 p = listed.body_a < 0 ? Vec3(listed.p_WC + 0.5 * listed.gap * listed.R_WC.col(2)) : listed.p_WC;
      reference.last = to_body(start, listed.body_a, p);
      reference.last_gap = listed.gap;
      continue;
    }
    const Touching& t = touching_[next++];
    m.f = t.mean;
    // What slid goes on sliding when it is loaded again.
    m.mode = t.mode == ContactMode::Open && t.slid ? ContactMode::Slip : t.mode;
    m.touched = true;
    reference.point = t.point;
    reference.reference = t.reference;
    reference.last_gap = t.rest;
    if (!t.slid || t.mode != ContactMode::Stick) continue;
    // It came to rest within the step: there.
    const Vec3 moved = t.c.R_WC.leftCols<2>() * (0.5 * start.dt * (t.v + t.v_end).head<2>());
    reference.reference = to_body(start, t.c.body_a, t.c.p_WC + moved);
  }
}

}  // namespace tribo
