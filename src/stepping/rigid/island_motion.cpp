#include "stepping/rigid/island_motion.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/clones.hpp"
#include "linalg/quad.hpp"

namespace tribo {
namespace {

constexpr double visible = 1e-4;  // [m/s], [rad/s]: what is faster has forces that change
constexpr double hardly_opens =
    1e-6;  // share of the squares of J: the normal row of a contact that might be fixed along it

/// Adds the velocity that V gives the point r beyond the origin.
QUAD_INLINE void add_at(const Spatial& V, const Quad& r, Quad& u) {
  u += load(V.lin.data()) + cross(load(V.ang.data()), r);
}

/// A vector of W, whose last number is 0, in the axes of a contact.
QUAD_INLINE Quad to_contact(const double* R, const Quad& u) {
  return sums(load(R) * u, load(R + 3) * u, load(R + 6) * u, Quad{});
}

}  // namespace

IslandMotion::IslandMotion(const Model& model) : model_(model), gravity_(model.gravity.norm()) {
  moved_.resize(model.bodies.size() + 1);
  place_.assign(model.bodies.size(), 0);
  for (const Body& b : model.bodies) {
    const Tree& tree = model.trees[at(b.tree)];
    roots_.push_back({b.tree, model.bodies[at(tree.first_body)].joint == JointKind::Free});
  }
  a_.setZero(model.nv);
}

void IslandMotion::list(const Start& start, int body) {
  if (body < 0 || place_[at(body)] != 0) return;
  place_[at(body)] = count_;
  Moved& m = moved_[at(count_++)];
  const Body& b = model_.bodies[at(body)];
  m.path = b.chain.data();
  m.depth = static_cast<int>(b.chain.size());
  m.start = start.dynamics.body_velocity(body);
  const Vec3& o = start.dynamics.origin(b.tree);
  for (int k = 0; k < 3; ++k) m.origin[k] = o[k];
}

bool IslandMotion::begin(const Start& start, std::span<const Row> rows, const Island& island) {
  const VecX& v = start.state.v;
  for (int t : island.trees) {
    const Tree& tree = model_.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      if (!(std::abs(v[k]) < visible)) return false;
    std::fill_n(place_.begin() + tree.first_body, tree.bodies, 0);
  }
  count_ = 1;
  for (int j : island.rows) {
    const Row& row = rows[at(j)];
    const bool turns = std::holds_alternative<BodyTurns>(row.along);
    if (!(turns || row.coordinate()) || row.is<VelocityTarget>() || row.is<EqualityPart>()) return false;
    if (turns)
      for (int body : {row.bodies()->body_a, row.bodies()->body_b}) list(start, body);
  }
  for (int i : island.contacts) {
    const Contact& c = start.contacts[at(i)];
    if (might_be_fixed(start, c)) return false;
    list(start, c.body_a);
    list(start, c.body_b);
  }
  return true;
}

// As fixed_along_normal() of island_setup.cpp has it, by J alone.
bool IslandMotion::might_be_fixed(const Start& start, const Contact& contact) const {
  const int a = contact.body_a, b = contact.body_b;
  const bool of_one = a >= 0 && b >= 0 && roots_[at(a)].tree == roots_[at(b)].tree;
  if (!of_one && ((a >= 0 && roots_[at(a)].floats) || (b >= 0 && roots_[at(b)].floats))) return false;
  Vec3 squares = Vec3::Zero();
  const auto add = [&](int body, int other) {
    if (body < 0) return;
    const std::vector<int>& chain = model_.bodies[at(body)].chain;
    const Vec3 r = contact.p_WC - start.dynamics.origin(model_.bodies[at(body)].tree);
    for (std::size_t k = 0; k < chain.size(); ++k) {
      if (of_one && k < model_.bodies[at(other)].chain.size() && model_.bodies[at(other)].chain[k] == chain[k])
        continue;
      const Spatial& S = start.dynamics.axis(chain[k]);
      squares += (contact.R_WC.transpose() * (S.lin + S.ang.cross(r))).cwiseAbs2();
    }
  };
  add(a, b);
  add(b, a);
  return squares.z() <= hardly_opens * std::max(squares.x(), squares.y());
}

void IslandMotion::velocities(const Start& start, std::span<const Row> rows, const VecX& v_free, IslandSolution& s) {
  const Island& island = *s.island;
  ContactProblem& problem = s.problem;
  const int nc = static_cast<int>(island.contacts.size()), nr = static_cast<int>(island.rows.size());
  problem.resize(nc, nr, false);
  problem.factor.start.clear();
  for (VectorBuffer* x : {&s.before, &s.free, &s.f, &s.c}) x->resize(problem.size());
  double mass = 0;
  for (int t : island.trees) mass += model_.trees[at(t)].mass;
  problem.weight = mass * gravity_;
  sum_axes(start, v_free, &Moved::free);
  meet({start.contacts.data(), island.contacts.data(), nc}, s.before.data(), s.free.data());
  for (int j = 0; j < nr; ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    s.before[3 * nc + j] = row.given() + along(row, start.state.v, &Moved::start);
    s.free[3 * nc + j] = row.given() + along(row, v_free, &Moved::free);
  }
}

void IslandMotion::act(const Start& start, std::span<const Row> rows, IslandSolution& s) {
  const Island& island = *s.island;
  const ContactProblem& problem = s.problem;
  const int nc = problem.nc();
  for (int m = 0; m < count_; ++m) moved_[at(m)].force = {};
  for (int t : island.trees) a_.segment(model_.trees[at(t)].iv, model_.trees[at(t)].nv).setZero();
  const Listed contacts{start.contacts.data(), island.contacts.data(), nc};
  gather(contacts, s.f.data());
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    const double f = s.f[3 * nc + j];
    if (const Coordinate* c = row.coordinate()) {
      a_[c->dof] += c->sign * f;
      continue;
    }
    const Vec3 torque = f * Vec3(row.bodies()->axis);
    moved_[at(place(row.bodies()->body_b))].force.ang += torque;
    moved_[at(place(row.bodies()->body_a))].force.ang -= torque;
  }
  pull(start);
  for (int t : island.trees) start.dynamics.solve_in_place(t, a_.data());
  sum_axes(start, a_, &Moved::a);
  part(contacts, s.c.data());
  for (int j = 0; j < problem.nr(); ++j) s.c[3 * nc + j] = along(rows[at(island.rows[at(j)])], a_, &Moved::a);
  const auto R = problem.R(), g = problem.g();
  for (int o = 0; o < problem.size(); ++o) s.c[o] += R[o] * s.f[o] + g[o];
}

void IslandMotion::add(const Start& start, const Island& island, VecX& v) const {
  for (int t : island.trees) {
    const Tree& tree = model_.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) v[k] += start.dt * a_[k];
  }
}

double IslandMotion::along(const Row& row, const VecX& x, Spatial Moved::*part) const {
  if (const Coordinate* c = row.coordinate()) return c->sign * x[c->dof];
  const BodyAxis& turn = *row.bodies();
  return Vec3(turn.axis).dot((moved_[at(place(turn.body_b))].*part).ang - (moved_[at(place(turn.body_a))].*part).ang);
}

// V = sum of S x along each chain.
TRIBO_CLONES void IslandMotion::sum_axes(const Start& start, const VecX& x, Spatial Moved::*part) {
  const Spatial* const S = &start.dynamics.axis(0);
  const double* const rate = x.data();
  for (int i = 1; i < count_; ++i) {
    Moved& m = moved_.data()[i];
    Quad lin{}, ang{};
    for (int k = 0; k < m.depth; ++k) {
      const int dof = m.path[k];
      lin += rate[dof] * load(S[dof].lin.data());
      ang += rate[dof] * load(S[dof].ang.data());
    }
    store((m.*part).lin.data(), lin);
    store((m.*part).ang.data(), ang);
  }
}

// The velocity of b relative to a at each contact, in its axes, by both velocities of the bodies. What stands behind a vector of
// three is read with it, and multiplied by 0.
TRIBO_CLONES void IslandMotion::meet(const Listed& x, double* before, double* free) const {
  const Moved* const moved = moved_.data();
  for (int i = 0; i < x.count; ++i) {
    const Contact& c = x.contacts[x.list[i]];
    const Quad p = load(c.p_WC.data());
    Quad u{}, w{};
    if (const int a = place(c.body_a)) {
      const Quad r = p + load(c.arm_a.data()) - load(moved[a].origin);
      add_at(moved[a].start, r, u);
      add_at(moved[a].free, r, w);
    }
    u = given(c.v_given.data()) - u;
    w = given(c.v_given.data()) - w;
    if (const int b = place(c.body_b)) {
      const Quad r = p + load(c.arm_b.data()) - load(moved[b].origin);
      add_at(moved[b].start, r, u);
      add_at(moved[b].free, r, w);
    }
    store_three(before + 3 * i, to_contact(c.R_WC.data(), u));
    store_three(free + 3 * i, to_contact(c.R_WC.data(), w));
  }
}

// The same by what forces give.
TRIBO_CLONES void IslandMotion::part(const Listed& x, double* out) const {
  const Moved* const moved = moved_.data();
  for (int i = 0; i < x.count; ++i) {
    const Contact& c = x.contacts[x.list[i]];
    const Quad p = load(c.p_WC.data());
    Quad u{};
    if (const int a = place(c.body_a)) add_at(moved[a].a, p + load(c.arm_a.data()) - load(moved[a].origin), u);
    u = -u;
    if (const int b = place(c.body_b)) add_at(moved[b].a, p + load(c.arm_b.data()) - load(moved[b].origin), u);
    store_three(out + 3 * i, to_contact(c.R_WC.data(), u));
  }
}

// (f, r x f) of each contact, on b and against it on a.
TRIBO_CLONES void IslandMotion::gather(const Listed& x, const double* f) {
  Moved* const moved = moved_.data();
  const auto add = [moved](int body, const Quad& arm, const Quad& force) __attribute__((always_inline)) {
    Spatial& F = moved[body].force;
    store(F.lin.data(), load(F.lin.data()) + force);
    store(F.ang.data(), load(F.ang.data()) + cross(arm - load(moved[body].origin), force));
  };
  for (int i = 0; i < x.count; ++i) {
    const Contact& c = x.contacts[x.list[i]];
    const double *R = c.R_WC.data(), *fi = f + 3 * i;
    const Quad force = fi[0] * given(R) + fi[1] * given(R + 3) + fi[2] * given(R + 6), p = load(c.p_WC.data());
    if (const int b = place(c.body_b)) add(b, p + load(c.arm_b.data()), force);
    if (const int a = place(c.body_a)) add(a, p + load(c.arm_a.data()), -force);
  }
}

// S . F along each chain, into a_.
TRIBO_CLONES void IslandMotion::pull(const Start& start) {
  const Spatial* const S = &start.dynamics.axis(0);
  double* const a = a_.data();
  for (int i = 1; i < count_; ++i) {
    const Moved& m = moved_.data()[i];
    const Quad lin = load(m.force.lin.data()), ang = load(m.force.ang.data());
    for (int k = 0; k < m.depth; ++k) {
      const int dof = m.path[k];
      a[dof] += sum(lin * load(S[dof].lin.data()) + ang * load(S[dof].ang.data()));
    }
  }
}

}  // namespace tribo
