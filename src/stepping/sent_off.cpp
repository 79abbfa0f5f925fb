#include "stepping/sent_off.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// Of half the margin: what moves less overlaps by less than matters. With all of it heaps end 4 times as deep in each other.
constexpr double looked_at = 0.1;
constexpr double turned_far =
    0.5;  // of half the margin: what is pressed and turns a point as far may meet with another feature

}  // namespace

SentOff::SentOff(const Model& model, double margin)
    : margin_(margin),
      sizes_(model),
      reach_(VecX::Ones(model.nv)),
      margins_(model.trees.size(), HUGE_VAL),
      turning_(at(model.nv), 0),
      sent_(model.trees.size()),
      turned_(model.trees.size()) {
  for (std::size_t g = 0; g < model.geometries.size(); ++g) {
    if (model.geometries[g].body < 0) continue;
    const int i = static_cast<int>(g);
    double& least = margins_[at(model.bodies[at(model.geometries[g].body)].tree)];
    least = std::min(least, 0.5 * (margin_ < 0 ? default_margin * sizes_.of(i, i) : margin_));
  }
  std::vector<double> extent(model.bodies.size(), 0);  // of a body and all that it carries, about its origin
  std::vector<char> round(model.bodies.size(), 1);     // a ball about its origin, which carries nothing
  std::vector<char> axial = round;                     // the same about its z axis
  for (const Geometry& g : model.geometries)
    if (g.body >= 0 && std::isfinite(g.radius)) {
      extent[at(g.body)] = std::max(extent[at(g.body)], g.X_BG.p.norm() + g.radius);
      const bool ball = g.kind == ShapeKind::Sphere,
                 rod = g.kind == ShapeKind::Capsule || g.kind == ShapeKind::Cylinder;
      if (!ball || !g.X_BG.p.isZero(0)) round[at(g.body)] = 0;
      if ((!ball && !rod) || !g.X_BG.p.head<2>().isZero(0) || !g.X_BG.R.isIdentity(0)) axial[at(g.body)] = 0;
    }
  for (std::size_t b = model.bodies.size(); b-- > 0;) {
    const Body& body = model.bodies[b];
    if (body.parent >= 0) round[at(body.parent)] = axial[at(body.parent)] = 0;
    if (body.parent >= 0) extent[at(body.parent)] = std::max(extent[at(body.parent)], body.X_PJ.p.norm() + extent[b]);
    const int first = body.joint == JointKind::Free ? 3 : body.joint == JointKind::Prismatic ? 1 : 0;
    for (int k = first; k < nv_of(body.joint); ++k)
      reach_[body.iv + k] = extent[b], turning_[at(body.iv + k)] = !round[b] && !(k == 5 && axial[b]);
  }
}

bool SentOff::operator()(const Start& start, const Outcome& outcome) const {
  return hit(start, outcome) || driven(start, outcome);
}

// A single body is foreseen to fall, and goes where its velocity takes it but for impacts and what pushes it.
bool SentOff::driven(const Start& start, const Outcome& outcome) const {
  for (std::size_t t = 0; t < start.model.trees.size(); ++t) {
    const Tree& tree = start.model.trees[t];
    const bool may = tree.bodies > 1 || !start.actuation.external.segment(tree.iv, tree.nv).isZero(0) ||
                     !start.actuation.tau.segment(tree.iv, tree.nv).isZero(0);
    if (may && farther(start, outcome, static_cast<int>(t), margins_[t])) return true;
  }
  return false;
}

bool SentOff::hit(const Start& start, const Outcome& outcome) const {
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const double half = length(r);
    if (!(r.f.z() > 0 && start.dt * (r.c.z() - r.c_start.z()) > half)) continue;
    for (int body : {start.contacts[i].body_a, start.contacts[i].body_b})
      if (body >= 0 && farther(start, outcome, start.model.bodies[at(body)].tree, half)) return true;
  }
  return false;
}

void SentOff::measure_turns(const Start& start, const Outcome& outcome) {
  const Model& model = start.model;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    turned_[t] = 0;
    bool told = false;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      told |= start.actuation.has_target(k);
      if (turning_[at(k)]) turned_[t] += start.dt * reach_[k] * std::abs(outcome.v_end[k]);
    }
    if (told) turned_[t] = 0;
  }
}

// The pair of a contact, in the last step: then its other ends were not looked ahead of, though it may bounce off now.
bool SentOff::pressed(const Start& start, std::uint64_t id) const {
  const auto& memory = start.state.memory.contacts;
  return std::any_of(memory.begin(), memory.end(),
                     [&](const ContactMemory& m) { return m.id >> 16 == id >> 16 && m.f.z() > 0; });
}

bool SentOff::turns(const Start& start, const Outcome& outcome) {
  const Model& model = start.model;
  measure_turns(start, outcome);
  const auto turned = [&](int body) { return body < 0 ? 0.0 : turned_[at(model.bodies[at(body)].tree)]; };
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const Contact& contact = start.contacts[i];
    const double most = std::max(turned(contact.body_a), turned(contact.body_b));
    if (most > turned_far * length(r) && (r.f.z() > 0 || pressed(start, contact.id))) return true;
  }
  return false;
}

std::span<const char> SentOff::trees(const Start& start, const Outcome& outcome) {
  measure_turns(start, outcome);
  for (std::size_t t = 0; t < sent_.size(); ++t)
    sent_[t] =
        turned_[t] > looked_at * margins_[t] || farther(start, outcome, static_cast<int>(t), looked_at * margins_[t]);
  for (std::size_t i = 0; i < outcome.contacts.size(); ++i) {
    const ContactReport& r = outcome.contacts[i];
    const bool carries = r.f.z() > 0;
    for (int body : {start.contacts[i].body_a, start.contacts[i].body_b}) {
      if (body < 0) continue;
      const int tree = start.model.bodies[at(body)].tree;
      if ((turned_[at(tree)] > turned_far * length(r) && (carries || pressed(start, start.contacts[i].id))) ||
          (carries && farther(start, outcome, tree, length(r))))
        sent_[at(tree)] = 1;
    }
  }
  return sent_;
}

bool SentOff::farther(const Start& start, const Outcome& outcome, int index, double length) const {
  const Tree& tree = start.model.trees[at(index)];
  double way = 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    if (start.actuation.has_target(k)) continue;
    way += reach_[k] * std::abs(outcome.v_end[k] - start.state.v[k]);
  }
  return start.dt * way > length;
}

}  // namespace tribo
