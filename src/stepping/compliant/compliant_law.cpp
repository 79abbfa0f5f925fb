// The law of compliant contact: which contacts act, their displacements and forces, and the energy that they store.
#include <algorithm>
#include <cmath>

#include "stepping/compliant/compliant.hpp"
#include "stepping/contact_points.hpp"
#include "stepping/touching.hpp"

namespace tribo {
namespace {

constexpr double bilateral_margin = 1;  // contacts that pull are kept up to this gap [m]
constexpr double deep_limit = 0.02;     // of a joint beyond its range, where a run may have begun [rad] or [m]
constexpr double return_rate = 9.81;    // overlap d goes at the order of sqrt(9.81 d) [m/s^2], [rad/s^2]
constexpr double most_damped = 0.2;     // of explicit steppers: B dt over the inertia of the joint

// Of the size of the smaller shape.
constexpr double roll_share = 2e-8;     // the point of contact has moved over b
constexpr double closed_share = 2e-11;  // a gap of rounding: what just touches does not fall for a step
constexpr double deep_share = 0.02;     // overlap that a run may have begun with

}  // namespace

Compliant::Compliant(const Model& model, const CompliantOptions& options)
    : options_(options),
      joints_(model, options.friction_deflection),
      row_springs_(model, options),
      law_(make_contact_law(options.law, options.law_options)),
      linear_(law_->linear()),
      sizes_(model) {
  for (int i = 0; i < model.surfaces(); ++i)
    by_surface_.push_back(law_->slope({model.surface(i), Vec3::Zero(), Vec3::Zero()}));
  for (const Body& b : model.bodies) {
    if (b.joint != JointKind::Revolute && b.joint != JointKind::Prismatic) continue;
    if (std::isfinite(model.joints.lower[b.iv]) || std::isfinite(model.joints.upper[b.iv]))
      limited_.push_back({b.iv, b.iq});
  }
  split_ = options.anchor == AnchorRule::Surface && !options.bilateral;
  for (VecX* x : {&zero_, &mid_, &vdot_mean_, &damped_at_, &momentum_rate_}) x->setZero(model.nv);
}

double Compliant::contact_margin(double margin) const {
  return options_.bilateral ? std::max(margin, bilateral_margin) : margin;
}

void Compliant::begin(const Start& start) {
  active_.clear();
  contacts_.clear();
  open_.clear();
  const Memory& m = start.state.memory;
  const std::size_t remembered = m.anchors.size();  // one for each contact, or none where another family wrote
  std::size_t k = 0;
  for (std::size_t i = 0; i < start.contacts.size(); ++i) {
    while (k < remembered && m.contacts[k].id < start.contacts[i].id) ++k;
    const bool known = k < remembered && m.contacts[k].id == start.contacts[i].id;
    add_contact(start, static_cast<int>(i), known ? Remembered{&m.contacts[k], &m.anchors[k]} : Remembered{});
  }
  list_limits(start);
  row_springs_.list(start, contacts_, active_);
  factored_ = false;
}

// Where the feature of a pair changed while it touched, the new contact goes on with the displacement of the nearest.
Compliant::Remembered Compliant::neighbour(const Start& start, const Contact& contact) const {
  const Memory& memory = start.state.memory;
  Remembered nearest;
  if (memory.anchors.empty()) return nearest;
  double distance = 0;
  const std::uint64_t pair = contact.id >> 16;
  auto it = std::lower_bound(memory.contacts.begin(), memory.contacts.end(), pair << 16,
                             [](const ContactMemory& m, std::uint64_t id) { return m.id < id; });
  for (; it != memory.contacts.end() && it->id >> 16 == pair; ++it) {
    if (!it->touched) continue;
    const AnchorMemory& anchor = memory.anchors[static_cast<std::size_t>(it - memory.contacts.begin())];
    const double d = (to_world(start, contact.body_b, anchor.point) - contact.p_WC).squaredNorm();
    if (nearest.contact == nullptr || d < distance) {
      nearest = {&*it, &anchor};
      distance = d;
    }
  }
  return nearest;
}

void Compliant::add_contact(const Start& start, int listed, const Remembered& memory) {
  const Model& model = start.model;
  const CompliantOptions& rules = options_;
  const Dynamics& dynamics = start.dynamics;
  Contact c = start.contacts[at(listed)];
  if (c.body_a < 0) {  // fixed surfaces: the point of b itself
    c.p_WC += 0.5 * c.gap * c.R_WC.col(2);
    c.arm_a = c.arm_b = Vec3::Zero();
  }
  const Vec3 velocity = c.R_WC.transpose() * (dynamics.point_velocity(c.body_b, c.p_WC) -
                                              dynamics.point_velocity(c.body_a, c.p_WC) + c.v_given);
  const bool touched = memory.touched();
  const double size = sizes_.of(c), touching = gap_of_touch(sizes_, c);
  const bool landing = split_ && c.gap <= touching && velocity.z() < 0;
  const bool active =
      touched ? rules.bilateral || c.gap <= std::max(memory.anchor->rest, 0.0) : c.gap < closed_share * size || landing;
  if (!active) {
    open_.push_back({c.id, c.gap, velocity.z()});
    return;
  }
  const SurfacePair& surface = model.surface(c.surface);
  CompliantContact s;
  s.listed = listed;
  s.surface = &surface;
  s.K = by_surface_[at(c.surface)].K;
  s.B = by_surface_[at(c.surface)].B;
  s.mu_stick = surface.mu_static;
  s.mu_slip = surface.mu_dynamic;
  s.c = velocity;
  s.off_a = core_radius(model, c.geometry_a) * c.R_WC.col(2);
  s.off_b = -core_radius(model, c.geometry_b) * c.R_WC.col(2);
  s.on_a = to_body(dynamics, c.body_a, c.p_WC - s.off_a);
  s.on_b = to_body(dynamics, c.body_b, c.p_WC - s.off_b);
  s.point = to_body(start, c.body_b, c.p_WC);
  s.fresh = !touched;
  if (touched) s.last = memory.contact->f;
  const Remembered source = touched ? memory : c.gap < -touching ? neighbour(start, c) : Remembered{};
  if (source.contact != nullptr) {
    const Vec3 held = to_world(start, c.body_b, source.anchor->point);
    const Vec3 x = c.R_WC.transpose() * (held - to_world(start, c.body_a, source.anchor->anchor));
    s.x = Vec3(x.x(), x.y(), 0);
    s.rest = source.anchor->rest;
    s.slipping = source.contact->mode == ContactMode::Slip;
    const Vec3 rolled = c.R_WC.transpose() * (held - c.p_WC);
    if (touched && rolled.head<2>().norm() < roll_share * size) {
      s.point = source.anchor->point;
      s.anchor = source.anchor->anchor;
      s.moved = false;
    }
  } else if (rules.anchor == AnchorRule::Detected || (split_ && std::abs(c.gap) <= touching)) {
    s.rest = c.gap;
  } else if (!rules.bilateral && c.gap < -deep_share * size && -c.gap > 2 * start.dt * std::max(-velocity.z(), 0.0)) {
    s.rest = c.gap;  // it began here, and was not pressed in: a spring would throw it
  }
  if (touched && split_ && s.rest < -touching)  // (compliant.12)
    s.rest = std::min(0.0, s.rest + 0.5 * start.dt * std::sqrt(return_rate * -s.rest));
  s.x.z() = c.gap - s.rest;
  if (source.contact != nullptr && !rules.bilateral) limit_stretch(s, source.contact->f.z());
  if (rules.slip == SlipAnchor::Drawn && s.mu_slip < s.mu_stick && !(s.last.z() > 0))
    s.slipping = velocity.head<2>().norm() > rules.stribeck_speed;  // it touches anew: (compliant.10)
  if (s.slipping && rules.slip == SlipAnchor::SetUndamped) s.B.x() = s.B.y() = 0;
  s.f = force(s, s.x, s.c, s.mode);
  if (s.mode == ContactMode::Slip && !draws(s)) {
    s.x.head<2>() = -s.f.head<2>().cwiseQuotient(s.K.head<2>());  // (compliant.3)
    s.moved = true;
  }
  active_.push_back(s);
  contacts_.push_back(c);
}

// A drawn anchor follows the motion of the start of a step. Where the body turned by a radian since, it was left behind:
// friction has not stretched the spring that far, and it must not store what nobody put in.
void Compliant::limit_stretch(CompliantContact& s, double last) const {
  const double normal = std::max({last, free_force(s, s.x, s.c).z(), 0.0});
  s.stretch = 2 * (s.mu_stick * normal + s.B.x() * s.c.head<2>().norm()) / s.K.x();  // (compliant.11)
  const double stretch = s.x.head<2>().norm();
  if (!(stretch > s.stretch)) return;
  s.x.head<2>() *= s.stretch / stretch;
  s.moved = true;
}

void Compliant::list_limits(const Start& start) {
  const VecX &q = start.state.q, &v = start.state.v;
  const VecX &lower = start.model.joints.lower, &upper = start.model.joints.upper;
  limits_.clear();
  rows_.clear();
  for (const auto& [iv, iq] : limited_) {
    for (double sign : {1.0, -1.0}) {
      const double gap = sign > 0 ? q[iq] - lower[iv] : upper[iv] - q[iq];
      if (!(gap < 0)) continue;
      LimitSpring limit;
      limit.gap = gap;
      limit.c = sign * v[iv];
      limit.B = options_.limit_damping;
      if (limit.c >= 0 && -gap > deep_limit) {  // (compliant.13)
        const double held = options_.limit_stiffness * std::sqrt(-gap / return_rate);
        const double stable = takes_start_forces() ? most_damped * start.dynamics.inertia(iv) / start.dt : HUGE_VAL;
        limit.B = std::max(limit.B, std::min(held, stable));
      }
      limit.f = limit_force(limit, limit.gap, limit.c);
      limits_.push_back(limit);
      rows_.push_back({.along = Coordinate{iv, sign}});
    }
  }
}

double Compliant::limit_force(const LimitSpring& limit, double gap, double c) const {
  if (gap >= 0) return 0;
  return std::max(0.0, -options_.limit_stiffness * gap - limit.B * c);
}

Vec3 Compliant::project(const CompliantContact& s, const Vec3& f, ContactMode& mode) const {
  mode = ContactMode::Stick;
  if (options_.bilateral) return f;
  if (!(f.z() > 0)) {  // (compliant.2)
    mode = ContactMode::Open;
    return Vec3::Zero();
  }
  const double tangential = f.head<2>().norm();
  if (tangential <= s.mu() * f.z()) return f;
  mode = ContactMode::Slip;
  const double share = s.mu() * f.z() / tangential;  // (compliant.3)
  return Vec3(share * f.x(), share * f.y(), f.z());
}

Vec3 Compliant::force(const CompliantContact& s, const Vec3& x, const Vec3& c, ContactMode& mode) const {
  if (!options_.bilateral && x.z() + s.rest > std::max(s.rest, 0.0)) {
    mode = ContactMode::Open;
    return Vec3::Zero();
  }
  return project(s, free_force(s, x, c), mode);
}

// The core moves with the body and the point stays at its place under the core; the body's surface passes by it as
//   core - core_0 + theta x off,  theta: half of the skew part of the turn (compliant.7)
Followed Compliant::follow(std::size_t i, const Start& start, const Dynamics& stage, double time) const {
  const CompliantContact& s = active_[i];
  const Contact& c = contacts_[i];
  Followed f;
  Vec3 passed = time * c.v_given, rate = c.v_given;
  auto side = [&](int body, const Vec3& on, const Vec3& off, double sign, Vec3& p, Mat3& turn) {
    p = c.p_WC;
    turn.setIdentity();
    if (body < 0) return;
    const Placement &X = stage.X_WB(body), &X0 = start.dynamics.X_WB(body);
    p = X * on + off;
    passed += sign * (p - c.p_WC);
    rate += sign * stage.point_velocity(body, p);
    if (off.isZero(0)) return;
    turn.noalias() = X.R * X0.R.transpose();
    const Vec3 theta(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1));
    passed += 0.5 * sign * theta.cross(off);
  };
  side(c.body_b, s.on_b, s.off_b, 1, f.p_b, f.turn_b);
  side(c.body_a, s.on_a, s.off_a, -1, f.p_a, f.turn_a);
  f.x = s.x + c.R_WC.transpose() * passed;
  f.c = c.R_WC.transpose() * rate;
  return f;
}

// Springs that are stretched along the normal hold nothing: they do not pull.
Elastic Compliant::stored(const State& state) {
  Elastic elastic = joints_.stored(state);
  double& energy = elastic.contacts;
  energy += row_springs_.energy();
  elastic.joints += row_springs_.tendon_energy();
  for (const CompliantContact& s : active_) {
    if (s.x.z() > 0 && !options_.bilateral) continue;
    energy += linear_ ? 0.5 * s.x.cwiseProduct(s.K).dot(s.x) : law_->energy({*s.surface, s.x, s.c});
  }
  for (const LimitSpring& l : limits_) energy += 0.5 * options_.limit_stiffness * l.gap * l.gap;
  return elastic;
}

void Compliant::add_generalised(const Dynamics& dynamics, VecX& tau) const {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Contact& c = contacts_[i];
    const Vec3 f_W = c.R_WC * active_[i].f;
    dynamics.add_force(c.body_b, c.p_WC, f_W, tau);
    if (c.body_a >= 0) dynamics.add_force(c.body_a, c.p_WC, -f_W, tau);
  }
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const Coordinate& along = *rows_[j].coordinate();
    tau[along.dof] += along.sign * limits_[j].f;
  }
  for (const RowSpring& s : row_springs_.all()) row_springs_.add_force(s.row, dynamics, s.f, tau);
}

void Compliant::to_acceleration(const Model& model, const Dynamics& dynamics, VecX& tau) const {
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) dynamics.solve_in_place(t, tau.data());
}

}  // namespace tribo
