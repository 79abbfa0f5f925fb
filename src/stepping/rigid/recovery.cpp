#include "stepping/rigid/recovery.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stepping/touching.hpp"

namespace tribo {
namespace {

constexpr double joint_slop = 1e-7;           // of joints beyond their limits, what is left alone [rad] or [m]
constexpr double joint_size = 0.1;            // links that a joint moves: their fall takes 0.05 s on earth [m]
constexpr double steps_of_recovery = 50;      // its time constant, where there is no gravity to fall by
constexpr double begins = 1.05;               // of what is left alone: else it would be approached for ever
constexpr double recovery_compliance = 1e-4;  // of the diagonal of G
constexpr double most_tolerance = 1e-6;       // of what is asked, stricter where forces are found more exactly than
constexpr double default_tolerance = 1e-8;    // by default
constexpr double large_tolerance = 1e-4;      // the same of heaps
constexpr double rough_share = 0.3;           // of what is asked at most: what heaps that move may lack in a step
constexpr double moving_share = 1e-3;         // of the smaller shape: a contact that moves so far in a step moves
constexpr double deep_share = 5e-4;  // of the smaller shape: overlap from which on it matters how fast they turn
constexpr double most_way = 2;       // of the largest opening that is asked for: sideways motion, and that of a turn
constexpr double far_way = 3;        // the same, from which on it gives way
constexpr int heap_sweeps = 64;      // of heaps, before they are solved
constexpr int few = 128, few_coordinates = 36;  // normals and rows: those that act are solved for at once

// How far the turning of what touches closes the gap within the step, beside its velocity: (dt^2/2) n . (J' v). Round
// shapes touch with whichever point faces the other, so theirs is the way of the centre [m].
double turned_in(const Start& start, const Contact& contact) {
  const Vec3 n = contact.R_WC.col(2);
  const auto bias = [&](int geometry, int body, const Vec3& out) {
    const Geometry& g = start.model.geometries[at(geometry)];
    const bool round = g.kind == ShapeKind::Sphere || g.kind == ShapeKind::Capsule;
    return start.dynamics.point_bias(body, contact.p_WC - (round ? g.size.x() : 0) * out);
  };
  const Vec3 apart = bias(contact.geometry_b, contact.body_b, -n) - bias(contact.geometry_a, contact.body_a, n);
  return std::max(0.0, -0.5 * start.dt * start.dt * n.dot(apart));
}

// Distance of a joint to its limit at the end of the step, negative beyond it; infinite for other rows.
double beyond(const Row& row, double dt, const VecX& v_end) {
  const LimitLaw* limit = row.as<LimitLaw>();
  if (!limit) return std::numeric_limits<double>::infinity();
  const Coordinate* c = row.coordinate();
  return row.error + dt * (c ? c->sign * v_end[c->dof] : limit->end);
}

}  // namespace

Recovery::Recovery(const Model& model, const ContactOptions& options, bool waits)
    : time_(options.recovery_time),
      tolerance_(options.tolerance.rel),
      gravity_(model.gravity.norm()),
      waits_(waits),
      sizes_(model),
      newton_(few, model.nv) {
  SolverOptions solver;
  solver.max_iterations = options.max_iterations;
  solver_ = make_contact_solver("newton", solver);
  zero_.setZero(model.nv);
  work_.setZero(model.nv);
}

// Gap at the end of the step as the velocities have it; compliant surfaces keep theirs.
double Recovery::gap_at_end(const Start& start, int listed, const Outcome& out) const {
  const Contact& contact = start.contacts[at(listed)];
  if (start.model.surface(contact.surface).compliance > 0) return 0;
  const double gap = contact.gap + start.dt * out.contacts[at(listed)].c.z();
  return waits_ && contact.gap > gap_of_touch(sizes_, contact) ? std::max(gap, 0.0) : gap;
}

void Recovery::solve(const Start& start, std::span<const Row> rows, bool same_mass, std::span<const char> asleep,
                     Outcome& out) {
  out.correction.setZero();
  out.recovery.clear();
  shortened_ = false;
  if (time_ == 0) return;
  for (int i = 0; i < start.assembly.islands(); ++i) {
    const Island& island = start.assembly.island(i);
    if ((!asleep.empty() && asleep[at(i)]) || !overlaps(start, island, rows, out)) continue;
    IslandSolution& s = out.recovery.next();
    s.island = &island;
    if (!same_mass || !take_over(out, s))
      start.assembly.build(island, start.contacts, rows, start.dynamics, zero_, zero_, false, s.problem, s.before,
                           s.free);
    solve_island(start, rows, out, s);
  }
}

// J and G are those of the step's own problem, where it has one, and a factor of G.
bool Recovery::take_over(const Outcome& out, IslandSolution& s) {
  for (std::size_t k = 0; k < out.islands.size(); ++k) {
    const IslandSolution& solved = out.islands[k];
    if (solved.island != s.island) continue;
    if (solved.problem.factor.empty()) return false;
    s.problem = solved.problem;
    s.problem.discs.clear();
    s.problem.R().setZero();
    s.before.setZero(s.problem.size());
    s.free.setZero(s.problem.size());
    return true;
  }
  return false;
}

bool Recovery::needed(const Start& start, std::span<const Row> rows, const Outcome& out) const {
  for (int i = 0; time_ != 0 && i < start.assembly.islands(); ++i)
    if (overlaps(start, start.assembly.island(i), rows, out)) return true;
  return false;
}

bool Recovery::overlaps(const Start& start, const Island& island, std::span<const Row> rows, const Outcome& out) const {
  bool overlap = false;
  for (int k : island.contacts) overlap |= gap_at_end(start, k, out) < -begins * overlap_share * size_of(start, k);
  for (int j : island.rows) overlap |= beyond(rows[at(j)], start.dt, out.v_end) < -begins * joint_slop;
  return overlap;
}

double Recovery::size_of(const Start& start, int listed) const {
  const Contact& contact = start.contacts[at(listed)];
  return sizes_.of(contact);
}

// What a step takes off an overlap; size: of the smaller shape.
double Recovery::share(double dt, double size) const {
  const double natural = gravity_ > 0 ? 0.5 * std::sqrt(size / gravity_) : steps_of_recovery * dt;
  return 1 - std::exp(-dt / (time_ < 0 ? natural : time_));
}

double Recovery::by_inertia(const Start& start, int listed, int body, double gap) const {
  const Contact& contact = start.contacts[at(listed)];
  const double size = size_of(start, listed), part = share(start.dt, size);
  const double share_by_size = time_ < 0 && gravity_ > 0 ? (1 - part) * std::log1p(-part) / (2 * size) : 0;
  for (int g : {contact.geometry_a, contact.geometry_b}) {
    const Geometry& shape = start.model.geometries[at(g)];
    if (shape.kind != ShapeKind::Point || shape.body != body || sizes_[g] != size) continue;
    const double size_by_inertia = 1 / (4 * start.model.bodies[at(body)].inertia.mass * size);
    return size_by_inertia * (share_by_size * (gap + overlap_share * size) + part * overlap_share);  // (param.6)
  }
  return 0;
}

bool Recovery::turns_in(const Start& start, const Outcome& out, int listed) const {
  const double gap = gap_at_end(start, listed, out), size = size_of(start, listed);
  return removed(start, listed, gap) > -share(start.dt, size) * (gap + overlap_share * size);
}

// Overlap that turning brings in faster than shares of it are taken off would add up over the steps. What is deep is opened
// by as much as turns in within a step or so, and by what will have turned in by its end                   (rigid.16)
double Recovery::removed(const Start& start, int listed, double gap) const {
  const double size = size_of(start, listed), overlap = -(gap + overlap_share * size);
  const double part = share(start.dt, size) * overlap;
  const double deep = std::min(1.0, overlap / (deep_share * size) - 1);
  if (!(deep > 0)) return part;
  const double turns = deep * turned_in(start, start.contacts[at(listed)]);
  return std::max(part, std::min(overlap + turns, 3 * turns));
}

double Recovery::joint_share(double dt) const { return share(dt, joint_size); }

void Recovery::solve_island(const Start& start, std::span<const Row> rows, Outcome& out, IslandSolution& s) {
  const Island& island = *s.island;
  ContactProblem& problem = s.problem;
  const double dt = start.dt;
  s.f.setZero(problem.size());
  problem.mu().setZero();
  problem.g().setZero();
  s.c.resize(problem.size());
  problem.diagonal(s.c.data());
  bool stuck = false, moves = false;
  double asked = 0;  // at most, where something moves
  for (int k = 0; k < problem.nc(); ++k) {
    const int n = 3 * k + 2;
    const int listed = island.contacts[at(k)];
    const double size = size_of(start, listed), gap = gap_at_end(start, listed, out);
    const double across = std::max(s.c[n - 1], s.c[n - 2]);
    if (s.c[n] <= held_fast * across) {  // nothing opens it or closes it
      problem.R()[n] = across;           // nor shall rounding
      stuck |= gap < -wedged_share * size;
      continue;
    }
    problem.g()[n] = (gap < -overlap_share * size ? -removed(start, listed, gap) : std::max(gap, 0.0)) / (dt * dt);
    problem.R()[n] = recovery_compliance * s.c[n];
    asked = std::max(asked, -problem.g()[n]);
    moves |= out.contacts[at(listed)].f.z() > 0 && dt * out.contacts[at(listed)].c_start.norm() > moving_share * size;
  }
  for (int j = 0; j < problem.nr(); ++j) set_row(rows[at(island.rows[at(j)])], j, dt, out.v_end, s);
  const double most = problem.dense() ? most_tolerance : large_tolerance;
  const Tolerance tolerance{0, std::min(most, most / default_tolerance * tolerance_)};
  remove(tolerance, moves ? asked : 0, s);
  move(start, s, out.correction);
  Way led = way(start, s, out.correction);
  if (soften(led, s)) {
    remove(tolerance, moves ? asked : 0, s);
    move(start, s, out.correction);
    led = way(start, s, out.correction);
  }
  shorten(start, led, s, out.correction);
  if (out.status == StepStatus::Ok && (stuck || wedged(start, s))) out.status = StepStatus::Wedged;
}

void Recovery::move(const Start& start, IslandSolution& s, VecX& correction) {
  s.problem.velocity(s.f.data(), s.c.data());
  for (int t : s.island->trees) {
    const Tree& tree = start.model.trees[at(t)];
    correction.segment(tree.iv, tree.nv).setZero();
  }
  start.assembly.apply<1>(*s.island, start.dynamics, s.problem, {{{s.f.data(), start.dt, &correction}}}, work_);
}

// Few, on few bodies, are solved for at once, and if that fails from where sweeps lead.
void Recovery::remove(const Tolerance& tolerance, double asked, IslandSolution& s) {
  const bool at_once = s.problem.blocks() <= few && (s.problem.dense() || s.problem.factor.nw <= few_coordinates);
  if (at_once && (s.solve = newton_.solve(s.problem, tolerance, s.f.map())).status == SolveStatus::Converged) return;
  const bool roughly = asked > 0 && !s.problem.dense() && tolerance_ >= default_tolerance;
  s.solve = roughly ? sweeps_.solve_to(s.problem, rough_share * asked, heap_sweeps, s.f.map())
                    : sweeps_.solve(s.problem, tolerance, heap_sweeps, s.f.map());
  const bool swept = s.solve.status == SolveStatus::Converged;
  if (at_once) {  // what sweeps leave depends on the order of the contacts
    const SolveReport polished = newton_.solve(s.problem, tolerance, s.f.map());
    if (polished.status == SolveStatus::Converged) s.solve = polished;
    if (polished.status == SolveStatus::Converged) return;
  }
  if (swept) return;
  s.solve = solver_->solve(s.problem, tolerance, s.f.map());
}

// Limits are opened as contacts are, equality constraints hold, and nothing else stands in the way.
void Recovery::set_row(const Row& row, int j, double dt, const VecX& v_end, IslandSolution& s) const {
  ContactProblem& problem = s.problem;
  const bool limit = row.is<LimitLaw>(), closes = row.is<EqualityPart>();
  const int o = 3 * problem.nc() + j;
  problem.lower()[j] = closes ? row.lower : 0;
  problem.upper()[j] = limit || closes ? row.upper : 0;
  if (!limit && !closes) return;
  const double gap = limit ? beyond(row, dt, v_end) : 0;
  problem.g()[o] = (gap < 0 ? joint_share(dt) * std::min(gap + joint_slop, 0.0) : gap) / (dt * dt);
  problem.R()[o] = (limit ? recovery_compliance : closure_compliance) * std::max(s.c[o], 1e-300);
}

// How far the removal leads, and the largest opening that is asked for.
Recovery::Way Recovery::way(const Start& start, const IslandSolution& s, const VecX& correction) const {
  const auto g = s.problem.g();
  Way x;
  double size = 0;
  for (int k = 0; k < s.problem.nc(); ++k) {
    const int n = 3 * k + 2;
    if (-g[n] > x.asked) x.asked = -g[n], size = size_of(start, s.island->contacts[at(k)]);
    if (g[n] < 0 && s.f[n] > 0) {
      ++x.opened;
      x.led = std::max(x.led, std::hypot(s.c[n - 1], s.c[n - 2]));
    }
  }
  if (x.asked == 0) return x;
  for (int t : s.island->trees) {
    const Tree& tree = start.model.trees[at(t)];
    for (int b = tree.first_body; b < tree.first_body + tree.bodies; ++b) {
      const Body& body = start.model.bodies[at(b)];
      if (body.joint == JointKind::Free || body.joint == JointKind::Prismatic) continue;
      x.led = std::max(x.led, size * correction.segment(body.iv, nv_of(body.joint)).cwiseAbs().maxCoeff() / start.dt);
    }
  }
  return x;
}

// Normals and levers are those of the start: what opens only by sliding far along the other body, or by turning a joint far,
// would lead elsewhere, and back from there in the next step. It gets a compliance, that of a quarter of this lever, so that it
// comes to rest where it overlaps least. False where nothing leads so far                                  (rigid.18)
bool Recovery::soften(const Way& x, IslandSolution& s) {
  shortened_ |= x.led > most_way * x.asked;
  if (!(x.led > far_way * x.asked)) return false;
  auto R = s.problem.R();
  const auto g = s.problem.g();
  double energy = 0;  // f . G f
  for (int i = 0; i < s.problem.size(); ++i) energy += s.f[i] * (s.c[i] - g[i] - R[i] * s.f[i]);
  if (!(energy > 0)) return true;
  const double softness = x.opened * x.led * x.led / (4 * most_way * most_way * energy);
  for (int k = 0; k < s.problem.nc(); ++k)
    if (g[3 * k + 2] < 0) R[3 * k + 2] = std::max(R[3 * k + 2], softness);
  return true;
}

// What still leads farther is taken in part.
void Recovery::shorten(const Start& start, const Way& x, IslandSolution& s, VecX& correction) {
  if (!(x.led > most_way * x.asked)) return;
  const double taken = most_way * x.asked / x.led;
  s.f.map() *= taken;
  s.problem.velocity(s.f.data(), s.c.data());
  for (int t : s.island->trees) {
    const Tree& tree = start.model.trees[at(t)];
    correction.segment(tree.iv, tree.nv) *= taken;
  }
}

// Did a deep contact open by less than half of what was asked?
bool Recovery::wedged(const Start& start, const IslandSolution& s) const {
  const double dt = start.dt;
  for (int k = 0; k < s.problem.nc(); ++k) {
    const int n = 3 * k + 2;
    const double asked = s.problem.g()[n], moved = s.c[n] - asked - s.problem.R()[n] * s.f[n];
    const double size = size_of(start, s.island->contacts[at(k)]);
    if (asked * dt * dt < -share(dt, size) * wedged_share * size && moved < -0.5 * asked) return true;
  }
  return false;
}

}  // namespace tribo
