#include "stepping/judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tribo {
namespace {

constexpr double gravity = 9.81;  // motions slower than what it makes in a step are small, with and without it [m/s^2]

// What must not be negative, and zero where the contact presses (judge.1) [m/s].
double separation(const SurfacePair& surface, const ContactReport& r, double dt) {
  if (r.mode == ContactMode::Impact) return r.c.z() + surface.restitution * r.c_start.z();
  if (surface.compliance > 0) return r.c.z() + (r.gap + surface.compliance * r.f.z()) / dt;
  return r.c.z() + std::max(r.gap, 0.0) / dt;
}

}  // namespace

Judge::Judge(const Model& model) : model_(model), parent_(model.trees.size()), scales_(model.trees.size()) {}

int Judge::root(int tree) {
  while (parent_[at(tree)] != tree) tree = parent_[at(tree)] = parent_[at(parent_[at(tree)])];
  return tree;
}

int Judge::tree_of(const Contact& c) const { return model_.bodies[at(c.body_b >= 0 ? c.body_b : c.body_a)].tree; }

void Judge::find_scales(const Start& start, const Outcome& outcome) {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const Contact& c = start.contacts[i];
    if (outcome.contacts[i].f.isZero(0) || c.body_a < 0 || c.body_b < 0) continue;
    const int a = root(model_.bodies[at(c.body_a)].tree), b = root(model_.bodies[at(c.body_b)].tree);
    parent_[at(std::max(a, b))] = std::min(a, b);
  }
  const double g = model_.gravity.norm();
  for (Scale& s : scales_) s = {};
  for (std::size_t t = 0; t < parent_.size(); ++t)
    scales_[at(root(static_cast<int>(t)))].force += g * model_.trees[t].mass;
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    if (r.f.isZero(0)) continue;
    Scale& s = scales_[at(root(tree_of(start.contacts[i])))];
    s.force = std::max(s.force, r.f.cwiseAbs().maxCoeff());
    s.motion = std::max(s.motion, r.c_start.cwiseAbs().maxCoeff() / start.dt);
  }
}

LawResiduals Judge::operator()(const Start& start, const Outcome& outcome) {
  if (!outcome.judged) return {};
  LawResiduals laws{0, 0, 0};
  if (outcome.contacts.empty()) return laws;
  find_scales(start, outcome);
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const Scale& scale = scales_[at(root(tree_of(start.contacts[i])))];
    const double F = std::max(scale.force, 1e-300), speed = (scale.motion + gravity) * start.dt;
    const double s = separation(model_.surface(start.contacts[i].surface), r, start.dt);
    laws.signorini = std::max(laws.signorini, std::abs(std::min(r.f.z() / F, s / speed)));  // (judge.1)
    if (r.f.isZero(0)) continue;
    const double ft = std::sqrt(r.f.x() * r.f.x() + r.f.y() * r.f.y());
    const double ct = std::sqrt(r.c.x() * r.c.x() + r.c.y() * r.c.y());
    const double power = r.f.x() * r.c.x() + r.f.y() * r.c.y() + r.mu * r.f.z() * ct;
    laws.coulomb = std::max(laws.coulomb, (ft - r.mu * std::max(r.f.z(), 0.0)) / F);    // (judge.2)
    laws.dissipation = std::max(laws.dissipation, std::abs(power) / (F * speed));       // (judge.3)
  }
  return laws;
}

}  // namespace tribo
