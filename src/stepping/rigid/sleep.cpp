#include "stepping/rigid/sleep.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "stepping/contact_report.hpp"
#include "stepping/rigid/row_ids.hpp"

namespace tribo {
namespace {

constexpr double slow_share =
    1e-4;  // of the speed that a fall by its own size gives: half a time of sleep later it is where it was
constexpr double usual_gravity = 9.81, usual_size = 0.1;

bool single_free(const Model& model, const Tree& tree) {
  return tree.bodies == 1 && model.bodies[at(tree.first_body)].joint == JointKind::Free;
}

}  // namespace

Sleep::Sleep(const Model& model, double time) : model_(model), time_(time) {
  if (!on()) return;
  const std::size_t n = model.trees.size();
  rests_.resize(n);
  slow_.assign(n, 0);
  reach_.assign(n, 0);
  for (const Geometry& g : model.geometries)
    if (g.body >= 0 && std::isfinite(g.radius)) {
      double& reach = reach_[at(model.bodies[at(g.body)].tree)];
      reach = std::max(reach, g.X_BG.p.norm() + g.radius);
    }
  const double gravity = model.gravity.norm() > 0 ? model.gravity.norm() : usual_gravity;
  for (std::size_t t = 0; t < n; ++t) {
    if (reach_[t] == 0) reach_[t] = usual_size;
    if (single_free(model, model.trees[t])) slow_[t] = slow_share * std::sqrt(gravity * reach_[t]);
  }
}

double Sleep::mark(int t, const VecX& q, const VecX& v) const {
  const Body& body = model_.bodies[at(model_.trees[at(t)].first_body)];
  Hash hash;
  for (int k = 0; k < 7; ++k) hash.word(q[body.iq + k]);
  for (int k = 0; k < 6; ++k) hash.word(v[body.iv + k]);
  hash.add(rests_[at(t)].contacts);
  return static_cast<double>(hash.value() >> 12);  // exact
}

// Does nothing drive the body?
bool Sleep::idle(const Start& start, int t) const {
  const Tree& tree = model_.trees[at(t)];
  const Actuation& a = start.actuation;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
    if (a.external[k] != 0 || a.tau[k] != 0 || a.kp[k] != 0 || a.kd[k] != 0 || a.has_target(k)) return false;
  return true;
}

void Sleep::recall(const Start& start) {
  for (Rest& r : rests_) r = {};
  for (const RowMemory& m : start.state.memory.rows) {
    if (!is_rest_id(m.id)) continue;
    const std::size_t t = rest_tree(m.id);
    if (t < rests_.size()) rests_[t].time = m.patience, rests_[t].mark = m.f;
  }
  for (const Contact& c : start.contacts)
    for (int body : {c.body_a, c.body_b})
      if (body >= 0) {
        std::uint64_t& x = rests_[at(model_.bodies[at(body)].tree)].contacts;
        x = (x ^ c.id) * 0x9e3779b97f4a7c15ull;
      }
}

void Sleep::begin(const Start& start) {
  if (!on()) return;
  recall(start);
  for (int t = 0; t < static_cast<int>(rests_.size()); ++t) {
    Rest& r = rests_[at(t)];
    if (!(slow_[at(t)] > 0 && r.time >= time_)) continue;
    r.may = idle(start, t) && mark(t, start.state.q, start.state.v) == r.mark;
    if (!r.may) r.time = 0;
  }
  count_ = 0;
  asleep_.assign(at(start.assembly.islands()), 0);
  for (int i = 0; i < start.assembly.islands(); ++i) {
    const Island& island = start.assembly.island(i);
    bool sleeps = !island.contacts.empty() && island.rows.empty();
    for (int t : island.trees) sleeps = sleeps && rests_[at(t)].may;
    for (int k : island.contacts) {
      const Contact& c = start.contacts[at(k)];
      sleeps = sleeps && c.v_given.isZero(0) && c.w_given.isZero(0);
    }
    if (!sleeps) continue;
    asleep_[at(i)] = 1;
    count_ += static_cast<int>(island.trees.size());
    for (int t : island.trees) rests_[at(t)].sleeps = true;
  }
}

void Sleep::keep(const Start& start, const Island& island, Outcome& out) const {
  for (int t : island.trees) {
    const Tree& tree = model_.trees[at(t)];
    out.v_end.segment(tree.iv, tree.nv).setZero();
  }
  const std::vector<ContactMemory>& memory = start.state.memory.contacts;
  for (int k : island.contacts) {
    const Contact& contact = start.contacts[at(k)];
    ContactReport& r = out.contacts[at(k)];
    list_contact(contact, r);
    const auto m = std::lower_bound(memory.begin(), memory.end(), contact.id,
                                    [](const ContactMemory& x, std::uint64_t id) { return x.id < id; });
    const bool known = m != memory.end() && m->id == contact.id;
    const SurfacePair& surface = model_.surface(contact.surface);
    const double mu = known && m->mode == ContactMode::Slip ? surface.mu_dynamic : surface.mu_static;
    add_action(known ? m->f : Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), known ? m->mode : ContactMode::Open, mu, r);
  }
}

void Sleep::end(const Start& start, VecX& q, VecX& v) {
  if (!on()) return;
  for (int t = 0; t < static_cast<int>(rests_.size()); ++t) {
    if (!(slow_[at(t)] > 0)) continue;
    Rest& r = rests_[at(t)];
    const Body& body = model_.bodies[at(model_.trees[at(t)].first_body)];
    if (r.sleeps) {
      q.segment<7>(body.iq) = start.state.q.segment<7>(body.iq);
      v.segment<6>(body.iv).setZero();
    }
    const double speed = v.segment<3>(body.iv).norm() + reach_[at(t)] * v.segment<3>(body.iv + 3).norm();
    r.time = speed < slow_[at(t)] ? std::min(r.time + start.dt, 2 * time_) : 0;
    if (r.time > 0) r.mark = mark(t, q, v);
  }
}

void Sleep::remember(std::vector<RowMemory>& rows) const {
  for (std::size_t t = 0; t < rests_.size(); ++t)
    if (rests_[t].time > 0) rows.push_back({rest_id(static_cast<int>(t)), rests_[t].mark, rests_[t].time});
}

}  // namespace tribo
