#include "stepping/judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tribo {
namespace {

constexpr double usual_gravity =
    9.81;  // motions slower than what it makes in a step are small, with and without it [m/s^2]

bool acts(const ContactReport& r) { return r.f.z() != 0 || r.f.x() != 0 || r.f.y() != 0; }

}  // namespace

Judge::Judge(const Model& model)
    : model_(model),
      gravity_(model.gravity.norm()),
      soft_(false),
      sizes_(model),
      parent_(model.trees.size()),
      scales_(model.trees.size()) {
  for (int i = 0; i < model.surfaces(); ++i) soft_ |= model.surface(i).compliance > 0;
}

// What must not be negative, and zero where the contact presses (judge.1) [m/s].
double Judge::separation(const Contact& contact, const ContactReport& r, double dt) const {
  if (r.mode == ContactMode::Impact) return r.c.z() + model_.surface(contact.surface).restitution * r.c_start.z();
  if (soft_)
    if (const SurfacePair& surface = model_.surface(contact.surface); surface.compliance > 0)
      return r.c.z() + (r.gap + surface.compliance * r.f.z()) / surface.closing_time(r.gap, dt);
  const double closed = r.c.z(), open = r.c.z() + std::max(r.gap, 0.0) / dt;
  if (!(r.f.z() > 0 && r.gap < touching_share * sizes_.of(r))) return open;
  return closed > 0 ? closed : std::min(open, 0.0);  // a gap within rounding may close, or stay as if it were none
}

void Judge::find_scales(const Start& start, const Outcome& outcome) {
  const std::size_t trees = parent_.size();
  std::iota(parent_.begin(), parent_.end(), 0);
  if (trees > 1)
    for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
      const Contact& c = start.contacts[i];
      if (!acts(outcome.contacts[i]) || c.body_a < 0 || c.body_b < 0) continue;
      const int a = root(model_.bodies[at(c.body_a)].tree), b = root(model_.bodies[at(c.body_b)].tree);
      parent_[at(std::max(a, b))] = std::min(a, b);
    }
  for (Scale& s : scales_) s = {};
  for (std::size_t t = 0; t < trees; ++t) scales_[at(root(static_cast<int>(t)))].mass += model_.trees[t].mass;
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    if (!acts(r)) continue;
    Scale& s = scales_[at(root(tree_of(start.contacts[i])))];
    s.force = std::max({s.force, std::abs(r.f.x()), std::abs(r.f.y()), std::abs(r.f.z())});
    s.speed = std::max({s.speed, std::abs(r.c_start.x()), std::abs(r.c_start.y()), std::abs(r.c_start.z())});
  }
}

const Judge::Scale& Judge::scale_of(const Contact& contact, double dt) {
  Scale& s = scales_[at(root(tree_of(contact)))];
  if (s.per_force > 0) return s;
  const double F = std::max({s.force, gravity_ * s.mass, 1e-300});
  s.per_force = 1 / F;
  s.per_speed = 1 / (s.speed + dt * std::max(F / s.mass, usual_gravity));
  return s;
}

LawResiduals Judge::operator()(const Start& start, const Outcome& outcome) {
  if (!outcome.judged) return {};
  LawResiduals laws{0, 0, 0};
  if (outcome.contacts.empty()) return laws;
  find_scales(start, outcome);
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const Scale& scale = scale_of(start.contacts[i], start.dt);
    const double s = separation(start.contacts[i], r, start.dt);
    laws.signorini =
        std::max(laws.signorini, std::abs(std::min(r.f.z() * scale.per_force, s * scale.per_speed)));  // (judge.1)
    if (!acts(r)) continue;
    const double outside = r.f.z() < 0 ? r.mu * r.f.z() - r.cone_margin : -r.cone_margin;  // |f_T| - mu max(f_N, 0)
    const double ct = std::sqrt(r.c.x() * r.c.x() + r.c.y() * r.c.y());
    const double power = r.f.x() * r.c.x() + r.f.y() * r.c.y() + r.mu * r.f.z() * ct;
    laws.coulomb = std::max(laws.coulomb, outside * scale.per_force);                                    // (judge.2)
    laws.dissipation = std::max(laws.dissipation, std::abs(power) * scale.per_force * scale.per_speed);  // (judge.3)
  }
  return laws;
}

}  // namespace tribo
