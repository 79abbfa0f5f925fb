// A step of the compliant family: what is found of its contacts once the scheme has crossed it.
#include "stepping/compliant/compliant.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/contact_points.hpp"
#include "stepping/contact_report.hpp"
#include "stepping/rigid/rows.hpp"

namespace tribo {

SubstepRules Compliant::substeps() const {
  return {.touch = split_, .events = events(), .accuracy = options_.accuracy, .failure = failure(), .order = order()};
}

void Compliant::solve(const Start& start, Outcome& out) {
  joints_.list(start, lists_damping());
  joints_.feed_forward(start, out.torque);
  row_springs_.begin();
  out.judged = !options_.bilateral;
  if (!cross(start, out)) out.status = StepStatus::Unconverged;
  joints_.take_torque(out.torque);
  StepRows::miss_targets(start, out);
}

void Compliant::applied(const Start& start, const VecX& torque, VecX& tau) const {
  tau = torque + start.actuation.external - start.dynamics.h() - start.model.joints.damping.cwiseProduct(start.state.v);
}

void Compliant::finish(const Start& start, Outcome& out) {
  draw_anchors(start, out.v_mean);
  report(start, out);
  remember(start, out);
  joints_.remember(start.dt, out.v_mean, out.memory);
  row_springs_.remember(start, out.v_mean, out.memory);
}

void Compliant::report(const Start& start, Outcome& out) const {
  out.contacts.resize(start.contacts.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    ContactReport& r = out.contacts[i];
    list_contact(start.contacts[i], r);
    if (next == active_.size() || active_[next].listed != static_cast<int>(i)) {
      leave_open(start, start.contacts[i], out.v_end, r);
      continue;
    }
    const CompliantContact& s = active_[next];
    const double mu = s.mode == ContactMode::Slip ? s.mu() : s.mu_stick;
    add_action(s.mean, s.c, contact_velocity(start.model, start.dynamics, contacts_[next++], out.v_end), s.mode, mu, r);
  }
}

// (compliant.9) with the mean force of the step.
void Compliant::draw_anchors(const Start& start, const VecX& v_mean) {
  const double h = start.dt;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    CompliantContact& s = active_[i];
    if (s.drawn_by_stages) s.moved |= !s.drawn.isZero(0);
    if (s.mode == ContactMode::Stick || s.drawn_by_stages || !draws(s)) continue;
    s.moved = true;
    const Contact& contact = contacts_[i];
    const Vec3 turning = start.dynamics.point_bias(contact.body_b, contact.p_WC) -
                         start.dynamics.point_bias(contact.body_a, contact.p_WC);
    const Vec3 c =
        contact_velocity(start.model, start.dynamics, contact, v_mean) + 0.5 * h * (contact.R_WC.transpose() * turning);
    const Eigen::Vector2d excess = s.x.head<2>() + s.mean.head<2>() / s.K.x();
    s.drawn = h * c.head<2>() - std::expm1(-h * s.K.x() / s.B.x()) * excess;
  }
}

void Compliant::remember(const Start& start, Outcome& out) const {
  out.memory.begin(MemoryFamily::Compliant, start.contacts.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    ContactMemory& m = out.memory.contacts[i];
    m.id = start.contacts[i].id;
    m.t1 = start.contacts[i].R_WC.col(0);
    if (next == active_.size() || active_[next].listed != static_cast<int>(i)) continue;
    const CompliantContact& s = active_[next];
    const Contact& c = contacts_[next++];
    const Vec3 held = to_world(start, c.body_b, s.point);
    m.f = s.mean;
    m.mode = s.mode;
    if (m.mode == ContactMode::Slip && s.mu_slip < s.mu_stick && draws(s) &&
        s.drawn.norm() < options_.stribeck_speed * start.dt)
      m.mode = ContactMode::Stick;  // (compliant.10)
    m.touched = true;
    AnchorMemory& a = out.memory.anchors[i];
    a.rest = s.rest;
    a.point = s.point;
    // The anchor lies x_T behind the point, wherever along the normal. One that stays is kept to the bit.
    a.anchor = s.moved ? to_body(start, c.body_a, held - c.R_WC.leftCols<2>() * (s.x.head<2>() - s.drawn)) : s.anchor;
  }
}

// Instants of each scheme:
//   explicit Euler, exponential  the start; mean forces, (v + v') / 2 and (v' - v) / h: h v . M a = T(q, v') - T(q, v)
//   midpoint                     the same in the middle, with its M, J and bias, in its axes
//   implicit Euler               the end, v+
//   Runge-Kutta                  the four stages, with the weights of the method
void Compliant::add_instant(const Start& start, const VecX& torque, const Instant& m, Work& work) {
  const Model& model = start.model;
  work.actuators += m.time * m.v.dot(torque);  // (ledger.2)
  work.external += m.time * m.v.dot(start.actuation.external);
  if (!joints_.lists_damping())
    for (int k = 0; k < model.nv; ++k) work.damping -= m.time * m.v[k] * model.joints.damping[k] * m.damped[k];
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t)
    m.dynamics.multiply(t, m.a.data(), momentum_rate_.data());
  work.motion += m.time * (m.v.dot(momentum_rate_) + m.v.dot(m.dynamics.h()));
}

void Compliant::add_mean_forces(const Start& start, const std::vector<Contact>& contacts, const Instant& m,
                                Work& work) {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    work.contacts += m.time * active_[i].mean.dot(contact_velocity(start.model, m.dynamics, contacts[i], m.v));
    work.external -= m.time * (contacts[i].R_WC * active_[i].mean).dot(contacts[i].v_given);
  }
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const Coordinate& along = *rows_[j].coordinate();
    work.constraints += m.time * along.sign * limits_[j].mean * m.v[along.dof];
  }
  joints_.charge(m.time, m.v, work);
  for (const RowSpring& s : row_springs_.all()) {
    row_springs_.jacobian(s.at, m.dynamics, row_);
    RowSprings::charge(s, m.time, s.law.mean, row_.dot(m.v) + s.at.given(), work);
  }
}

void Compliant::charge(const Start& start, Outcome& out) {
  const VecX& v = start.state.v;
  mid_ = 0.5 * (v + out.v_end);
  vdot_mean_ = (out.v_end - v) / start.dt;
  damped_at_ = v + damping_at() * (out.v_end - v);
  const Instant instant{start.dynamics, mid_, vdot_mean_, damped_at_, start.dt};
  add_instant(start, out.torque, instant, out.work);
  add_mean_forces(start, contacts_, instant, out.work);
}

}  // namespace tribo
