// Steps of the compliant family: parts between new contacts, sub-steps by an error estimate, reports.
//
// AnchorRule::Surface: a part ends where the next new contact touches. Its time is foreseen from gap, speed and
// acceleration; where the point is found too deep after all, the part is taken back and shortened         (compliant.4)
// Accuracy: a part h is kept where it and two of h/2 agree; the two are what is kept                      (compliant.5)
// Within it, or with events, a part also ends where a contact changes its law (expo.8).
#include "stepping/compliant/compliant.hpp"

#include <algorithm>
#include <cmath>

#include "stepping/contact_report.hpp"

namespace tribo {
namespace {

constexpr double touch_slop = 1e-7;  // [m]
constexpr int most_parts = 64;       // in a step, or in a sub-step; what touches then is taken late
constexpr int most_retries = 8;
constexpr double least_held = 1e-3;   // shortest part for a change of a contact, of the step
constexpr double least_share = 1e-9;  // shortest part, of the step

// First time at which gap + speed t + acceleration t^2 / 2 falls to 0, or infinity.
double touching_time(double gap, double speed, double acceleration) {
  const double discriminant = speed * speed - 2 * acceleration * gap;
  if (discriminant < 0) return HUGE_VAL;
  const double root = std::sqrt(discriminant);
  if (speed < 0) return 2 * gap / (root - speed);  // no cancellation, whatever the acceleration
  return acceleration < 0 ? -(speed + root) / acceleration : HUGE_VAL;
}

}  // namespace

StepReport Compliant::advance(const Model& model, State& state, Workspace& work, double dt) {
  if (dt != dt_) prepared_ = false;
  dt_ = dt;
  StepReport report;
  save(state, work, report, start_);
  prepare(model, state, work);
  hold_torque(model, state, work);
  work.contacts.clear();
  merged_parts_ = 0;
  report.substeps = 0;
  report.contacts = 0;
  const bool done = options_.compliant.accuracy > 0 ? run_accurate(model, state, work, dt, report)
                                                    : run(model, state, work, dt, report);
  if (!done) {
    const StepStatus status = report.status;
    restore(start_, state, work, report);
    report.status = status;
    report.t = state.t;
    return report;
  }
  state.t = start_.t + dt;
  t_known_ = state.t;
  ++state.step;
  work.torque = torque_;
  report.t = state.t;
  report.contacts = static_cast<int>(work.contacts.size());
  for (ContactReport& r : work.contacts) {
    if (report.substeps > 1) r.f /= dt;  // impulses were summed
    report.closed += r.f.z() > 0;
    report.penetration = std::max(report.penetration, -r.gap);
  }
  return report;
}

// Gains are taken at the start of the step, within the limits, and the torque is held.
void Compliant::hold_torque(const Model& model, const State& state, const Workspace& work) {
  const Actuation& a = work.actuation;
  for (int k = 0; k < model.nv; ++k) {
    const double wanted = a.tau[k] + a.kp[k] * a.error[k] + a.kd[k] * (a.v_ref[k] - state.v[k]);
    torque_[k] = std::clamp(wanted, a.lower[k], a.upper[k]);
  }
}

void Compliant::applied(const Model& model, const State& state, const Workspace& work, VecX& tau) const {
  tau = torque_ + work.actuation.external - work.dynamics.h() - model.joints.damping.cwiseProduct(state.v);
}

bool Compliant::run(const Model& model, State& state, Workspace& work, double duration, StepReport& report) {
  double left = duration;
  parts_ = 0;
  while (left > least_share * duration) {
    double taken = 0;
    if (!part(model, state, work, left, report, taken)) return false;
    left -= taken;
    ++parts_;
    ++report.substeps;
  }
  return true;
}

// (compliant.5)
bool Compliant::run_accurate(const Model& model, State& state, Workspace& work, double dt, StepReport& report) {
  double left = dt, h = dt;
  while (left > least_share * dt) {
    h = std::min(h, left);
    save(state, work, report, before_pair_);
    double taken = 0;  // up to h: both ways must cross the same contacts
    parts_ = 0;
    if (!part(model, state, work, h, report, taken)) return false;
    q_single_ = state.q;
    v_single_ = state.v;
    restore(before_pair_, state, work, report);
    for (int k = 0; k < 2; ++k)
      if (!run(model, state, work, 0.5 * taken, report)) return false;
    const double error =
        std::max((state.q - q_single_).cwiseAbs().maxCoeff(), (state.v - v_single_).cwiseAbs().maxCoeff());
    const double share = error > 0 ? 0.9 * std::pow(options_.compliant.accuracy / error, 1.0 / (order() + 1)) : 5;
    if (error > options_.compliant.accuracy && taken > 1e-6 * dt) {
      restore(before_pair_, state, work, report);
      h = taken * std::clamp(share, 0.1, 0.8);
      continue;
    }
    if (error > options_.compliant.accuracy) report.status = StepStatus::Unconverged;
    left -= taken;
    h = taken * std::clamp(share, 0.2, 5.0);
  }
  return true;
}

// One part: as long as h, or until a new contact touches (compliant.4).
bool Compliant::part(const Model& model, State& state, Workspace& work, double h, StepReport& report, double& taken) {
  const bool may_split = split_ && parts_ < most_parts;
  const double least = least_share * dt_;
  if (may_split) save(state, work, report, before_part_);
  for (int attempt = 0;; ++attempt) {
    prepare(model, state, work);
    bool converged = solve(model, state, work, h, report);
    if (may_split && attempt == 0) {
      const double t = std::max(crossing(model, state, work, h), least);
      if (t < h) {
        h = t;
        converged = solve(model, state, work, h, report);
      }
    }
    while (converged && held() < 1 && h > dt_ * least_held && parts_ < most_parts) {
      h *= std::max(held(), 0.02);
      converged = solve(model, state, work, h, report);
    }
    while (!converged && options_.compliant.failure == FailurePolicy::Substep && h > dt_ / 64) {
      h *= 0.5;
      converged = solve(model, state, work, h, report);
    }
    if (!converged) report.status = StepStatus::Unconverged;
    if (!converged && options_.compliant.failure == FailurePolicy::Stop) {
      report.status = StepStatus::Stopped;
      return false;
    }
    if (!commit(model, state, work, h)) {
      report.status = StepStatus::NotFinite;
      return false;
    }
    if (!split_ && !audited()) break;
    prepare(model, state, work);  // the next part needs it anyway
    if (!may_split || attempt == most_retries) break;
    const double t = late(h);
    if (!(t < h) || h <= 2 * least) break;
    h = std::max(t, least);
    const StepReport kept = report;
    restore(before_part_, state, work, report);
    report = kept;
  }
  merge_part(work, h, report);
  taken = h;
  return true;
}

// When the first contact that is open now will touch, as the motion of the whole part has it.
double Compliant::crossing(const Model& model, const State& state, const Workspace& work, double h) const {
  double first = HUGE_VAL;
  std::size_t next = 0;
  for (const OpenContact& o : open_) {
    const auto contacts = work.collision.contacts();
    while (contacts[next].id != o.id) ++next;
    const Contact& c = contacts[next];
    Vec3 acceleration = Vec3::Zero();
    for (double sign : {1.0, -1.0}) {
      const int body = sign > 0 ? c.body_b : c.body_a;
      if (body < 0) continue;
      acceleration += sign * work.dynamics.point_bias(body, c.p_WC);
      const Vec3 r = c.p_WC - work.dynamics.origin(model.bodies[at(body)].tree);
      for (int k : model.bodies[at(body)].chain) {
        const Spatial& S = work.dynamics.axis(k);
        acceleration += (sign * 2 / h * (v_mean_[k] - state.v[k])) * (S.lin + S.ang.cross(r));
      }
    }
    const double t = touching_time(std::max(o.gap, 0.0), o.speed, c.R_WC.col(2).dot(acceleration));
    if (t < first) first = t;
  }
  return first;
}

// Contacts that were open at the start of the part and are deep now: when they touched, from both ends.
double Compliant::late(double h) const {
  double first = HUGE_VAL;
  auto open = open_before_.begin();
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    if (!springs_[i].fresh || contacts_[i].gap >= -touch_slop) continue;
    while (open != open_before_.end() && open->id < contacts_[i].id) ++open;
    if (open == open_before_.end()) break;
    if (open->id != contacts_[i].id || open->gap <= touch_slop) continue;
    const double acceleration = 2 * (contacts_[i].gap - open->gap - h * open->speed) / (h * h);
    first = std::min(first, touching_time(open->gap, open->speed, acceleration));
  }
  return first;
}

// Writes the state at the end of the part; false where it is not finite.
bool Compliant::commit(const Model& model, State& state, Workspace& work, double h) {
  q_new_ = state.q;
  integrate(model, v_mean_, h, q_new_);
  if (!q_new_.allFinite() || !v_new_.allFinite()) return false;
  draw_anchors(model, work, h);
  report_part(model, work, h);
  if (audited()) {
    charge(model, state, work, h);
    energy_before_ = work.dynamics.kinetic() + work.dynamics.potential();
    elastic_before_ = stored();
  }
  remember(state, work);
  for (const Tree& tree : model.trees) {
    const Body& root = model.bodies[at(tree.first_body)];
    if (root.joint != JointKind::Free) continue;
    const Vec3 w = v_mean_.segment<3>(root.iv + 3);
    if (w.isZero(0)) continue;
    v_new_.segment<3>(root.iv) = rotation_exponential(-h * w) * Vec3(v_new_.segment<3>(root.iv));
  }
  state.q.swap(q_new_);
  state.v.swap(v_new_);
  state.t += h;
  work.current = false;
  prepared_ = false;
  return true;
}

// Reports, events and laws of the part, before the state moves on.
void Compliant::report_part(const Model& model, const Workspace& work, double h) {
  const auto contacts = work.collision.contacts();
  part_reports_.resize(contacts.size());
  part_ = {};
  double F = model.mass() * model.gravity.norm();
  for (const Spring& s : springs_) F = std::max(F, s.mean.cwiseAbs().maxCoeff());
  std::size_t next = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    ContactReport& r = part_reports_[i];
    r = listed_report(contacts[i]);
    if (next == springs_.size() || springs_[next].listed != static_cast<int>(i)) continue;
    const Spring& s = springs_[next];
    const double mu = s.mode == ContactMode::Slip ? s.mu_slip : s.mu_stick;
    const double ft = add_action(s.mean, velocity_of(model, work.dynamics, contacts_[next++], v_new_), s.mode, mu, r);
    part_.made += s.fresh && r.f.z() > 0;
    part_.broken += !s.fresh && s.f.z() > 0 && !(r.f.z() > 0);
    part_.slipped += s.mode == ContactMode::Slip && !s.slipping;
    if (options_.audit == AuditLevel::Off || options_.compliant.bilateral) continue;
    part_.laws.signorini = std::max(part_.laws.signorini, -r.f.z() / F);
    part_.laws.coulomb = std::max(part_.laws.coulomb, (ft - mu * std::max(r.f.z(), 0.0)) / F);
    if (r.mode != ContactMode::Slip) continue;  // what sticks on springs creeps, and friction need not oppose it
    const double speed = r.c.head<2>().norm(), power = r.f.head<2>().dot(r.c.head<2>());
    const double scale = F * (r.c.norm() + h * model.gravity.norm());
    if (scale > 0) part_.laws.dissipation = std::max(part_.laws.dissipation, std::abs(power + ft * speed) / scale);
  }
}

// (compliant.9) with the mean force of the part.
void Compliant::draw_anchors(const Model& model, const Workspace& work, double h) {
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    Spring& s = springs_[i];
    if (s.drawn_by_stages) s.moved |= !s.drawn.isZero(0);
    if (s.mode == ContactMode::Stick || s.drawn_by_stages || !draws(s)) continue;
    s.moved = true;
    const Contact& contact = contacts_[i];
    const Vec3 turning =
        work.dynamics.point_bias(contact.body_b, contact.p_WC) - work.dynamics.point_bias(contact.body_a, contact.p_WC);
    const Vec3 c = velocity_of(model, work.dynamics, contact, v_mean_) + 0.5 * h * (contact.R_WC.transpose() * turning);
    const Eigen::Vector2d excess = s.x.head<2>() + s.mean.head<2>() / s.K.x();
    s.drawn = h * c.head<2>() - std::expm1(-h * s.K.x() / s.B.x()) * excess;
  }
}

Vec3 Compliant::velocity_of(const Model& model, const Dynamics& dynamics, const Contact& c, const VecX& v) {
  Vec3 velocity = Vec3::Zero();
  for (double sign : {1.0, -1.0}) {
    const int body = sign > 0 ? c.body_b : c.body_a;
    if (body < 0) continue;
    const Vec3 r = c.p_WC - dynamics.origin(model.bodies[at(body)].tree);
    for (int k : model.bodies[at(body)].chain) {
      const Spatial& S = dynamics.axis(k);
      velocity += sign * v[k] * (S.lin + S.ang.cross(r));
    }
  }
  return c.R_WC.transpose() * velocity;
}

// Into the report of the step: impulses, the union of the contacts, the worst of each law, work.
void Compliant::merge_part(Workspace& work, double h, StepReport& report) {
  report.made += part_.made;
  report.broken += part_.broken;
  report.slipped += part_.slipped;
  report.laws.signorini = std::max(report.laws.signorini, part_.laws.signorini);
  report.laws.coulomb = std::max(report.laws.coulomb, part_.laws.coulomb);
  report.laws.dissipation = std::max(report.laws.dissipation, part_.laws.dissipation);
  if (merged_parts_++ == 0) {
    first_part_ = h;
    work.contacts = part_reports_;  // copies: each list keeps the memory that it has grown to
  } else {
    if (merged_parts_ == 2)
      for (ContactReport& r : work.contacts) r.f *= first_part_;
    for (ContactReport& r : part_reports_) r.f *= h;
    merged_.clear();
    auto a = work.contacts.begin();
    for (const ContactReport& r : part_reports_) {
      while (a != work.contacts.end() && a->id < r.id) merged_.push_back(*a++);
      merged_.push_back(r);
      if (a == work.contacts.end() || a->id != r.id) continue;
      ContactReport& m = merged_.back();
      m.f += a->f;
      m.gap = a->gap;
      m.cone_margin = std::min(m.cone_margin, a->cone_margin);
      if (m.mode == ContactMode::Open) m.mode = a->mode;
      ++a;
    }
    merged_.insert(merged_.end(), a, work.contacts.end());
    work.contacts = merged_;
  }
  if (audited()) close_charge(work, report.energy);
}

void Compliant::save(const State& state, const Workspace& work, const StepReport& report, Saved& saved) const {
  saved.q = state.q;
  saved.v = state.v;
  saved.t = state.t;
  saved.contacts = state.contacts;
  saved.reports = work.contacts;
  saved.merged_parts = merged_parts_;
  saved.report = report;
}

void Compliant::restore(const Saved& saved, State& state, Workspace& work, StepReport& report) {
  state.q = saved.q;
  state.v = saved.v;
  state.t = saved.t;
  state.contacts = saved.contacts;
  work.contacts = saved.reports;
  merged_parts_ = saved.merged_parts;
  report = saved.report;
  work.current = false;
  prepared_ = false;
}

}  // namespace tribo
