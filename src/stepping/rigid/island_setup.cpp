#include "stepping/rigid/island_setup.hpp"

#include <algorithm>
#include <cmath>

#include "contact/diagonal_block.hpp"
#include "stepping/rigid/recovery.hpp"

namespace tribo {
namespace {

constexpr double still_share = 1e-6;    // of the size of a pair: what moves less in a step is still
constexpr double never = 1e3;           // change of a speed by a step: what would need it does not act [m/s]
constexpr double carried_share = 1e-6;  // of the weight of an island: a contact with more force carried in that step

// Contacts and rows are asked for in about the order in which they are remembered: the next one first.
template <class Remembered>
const Remembered* recall(const std::vector<Remembered>& memory, std::uint64_t id, std::size_t& next) {
  if (next >= memory.size() || memory[next].id != id)
    next = static_cast<std::size_t>(std::lower_bound(memory.begin(), memory.end(), id,
                                                     [](const Remembered& m, std::uint64_t x) { return m.id < x; }) -
                                    memory.begin());
  return next < memory.size() && memory[next].id == id ? &memory[next++] : nullptr;
}

// Did any contact of the pair of geometries carry? A contact whose feature got another name carries on.
bool pair_carried(const std::vector<ContactMemory>& memory, std::uint64_t id, double least) {
  const auto before = [](const ContactMemory& m, std::uint64_t x) { return m.id < x; };
  for (auto m = std::lower_bound(memory.begin(), memory.end(), id & ~std::uint64_t{0xffff}, before);
       m != memory.end() && m->id >> 16 == id >> 16; ++m)
    if (m->f.z() > least) return true;
  return false;
}

/// How fast a contact slides or rolls: the velocity of b relative to a at the point, or a size above it [m/s].
double moved(const Start& start, const Contact& contact, double size) {
  Vec3 u = contact.v_given, w = contact.w_given;
  if (contact.body_b >= 0) {
    u += start.dynamics.point_velocity(contact.body_b, contact.p_WC);
    w += start.dynamics.body_velocity(contact.body_b).ang;
  }
  if (contact.body_a >= 0) {
    u -= start.dynamics.point_velocity(contact.body_a, contact.p_WC);
    w -= start.dynamics.body_velocity(contact.body_a).ang;
  }
  const Vec3 above = u + w.cross(size * contact.R_WC.col(2));
  return std::sqrt(std::max(u.squaredNorm(), above.squaredNorm()));
}

// Does no motion open or close the contact, as between links that turn about its normal? What it carried would be any force.
// Without a factor it has been asked already.
bool fixed_along_normal(const Model& model, const Contact& contact, const ContactProblem& problem, int i) {
  if (problem.factor.empty()) return false;
  const int body = contact.body_b >= 0 ? contact.body_b : contact.body_a;
  const Tree& tree = model.trees[at(model.bodies[at(body)].tree)];
  const bool of_one = contact.body_a >= 0 && contact.body_b >= 0 &&
                      model.bodies[at(contact.body_a)].tree == model.bodies[at(contact.body_b)].tree;
  if (!of_one && model.bodies[at(tree.first_body)].joint == JointKind::Free) return false;
  if (!contact.v_given.isZero(0)) return false;
  double D[9];
  factor_block(problem.factor, i, 3, D);
  return D[8] <= held_fast * std::max(D[0], D[4]);
}

// The equality that a row is of, or -1.
int element_of(const Row& row) {
  const EqualityPart* part = row.as<EqualityPart>();
  return part ? part->element : -1;
}

}  // namespace

IslandSetup::IslandSetup(const Model& model, const ContactOptions& contact, const RigidOptions& own, bool closures)
    : warm_start_(contact.warm_start),
      closures_(closures),
      touch_(own.touch),
      impact_(own.impact),
      target_compliance_(own.target_compliance),
      impacts_(model),
      sizes_(model) {}

void KeptForces::keep(std::span<const ContactReport> contacts, const StepRows& rows) {
  contacts_.resize(contacts.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) contacts_[i] = {contacts[i].id, contacts[i].f};
  rows_.resize(rows.size());
  for (std::size_t j = 0; j < rows.size(); ++j)
    rows_[j] = {rows.rows()[j].id, rows.forces()[static_cast<Eigen::Index>(j)], 0};
  std::sort(rows_.begin(), rows_.end(), [](const RowMemory& a, const RowMemory& b) { return a.id < b.id; });
}

void KeptForces::forget(std::size_t contacts, const StepRows& rows) {
  contacts_.clear();
  rows_.clear();
  contacts_.reserve(contacts);
  rows_.reserve(rows.rows().capacity());
}

bool IslandSetup::set(const Start& start, const StepRows& rows, const KeptForces& kept, bool bounce,
                      IslandSolution& s) {
  known_ = true;
  s.impact.resize(s.problem.nc());
  bool bounces = false;
  for (int i = 0; i < s.problem.nc(); ++i) bounces |= set_contact(start, i, kept, bounce, s);
  if (bounces) share_impact(start, s);
  if (s.problem.nr() > 0) set_rows(start, rows, kept, s);
  return known_;
}

// True where it bounces.
bool IslandSetup::set_contact(const Start& start, int i, const KeptForces& kept, bool bounce, IslandSolution& s) {
  const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
  const SurfacePair& surface = start.model.surface(contact.surface);
  const ContactMemory* memory = recall(start.state.memory.contacts, contact.id, next_contact_);
  const double dt = start.dt;
  const int o = 3 * i;
  auto g = s.problem.g();
  for (int k = 0; k < 3; ++k) g[o + k] = s.free[o + k] / dt;
  const double gap = contact.gap, speed = s.before[o + 2];
  const bool fixed = fixed_along_normal(start.model, contact, s.problem, i);
  const bool waits = fixed || this->waits(contact),
             bounces = bounce && !waits && surface.restitution > 0 && speed < -surface.restitution_speed &&
                       !(memory && memory->touched) && gap + dt * s.free[o + 2] < 0;
  s.impact[i] = bounces;
  if (waits) {
    g[o + 2] = (std::abs(s.free[o + 2]) + never) / dt;
  } else if (bounces) {
    g[o + 2] += surface.restitution * speed / dt;  // (rigid.3)
  } else if (surface.compliance > 0) {
    const double square = dt * surface.closing_time(gap, dt);
    g[o + 2] += gap / square;  // (rigid.4)
    s.problem.R()[o + 2] = surface.compliance / square;
  } else {
    // A gap within rounding under a contact that carries is none: else it takes all load off it for a step.
    // Where they move, curvature opens the gap anew in every step: that is closed in every step.
    const double size = sizes_.of(contact), least = carried_share * s.problem.weight;
    const bool carries =
        gap > 0 && gap < touching_share * size && dt * moved(start, contact, size) < still_share * size &&
        ((memory && memory->f.z() > least) || pair_carried(start.state.memory.contacts, contact.id, least));
    g[o + 2] += carries ? 0 : std::max(gap, 0.0) / (dt * dt);  // (rigid.2)
  }
  s.problem.mu()[i] = memory && memory->mode == ContactMode::Slip ? surface.mu_dynamic : surface.mu_static;
  const KeptForces::Found* found = recall(kept.contacts(), contact.id, next_kept_);
  known_ &= found != nullptr;
  const Vec3* guess = !warm_start_ || fixed ? nullptr : found ? &found->f : memory ? &memory->f : nullptr;
  s.f.map().segment<3>(o) = guess ? *guess : Vec3::Zero();
  return bounces;
}

// Where an impact sends bodies against others within the step, or another law than Newton's is asked for.
void IslandSetup::share_impact(const Start& start, IslandSolution& s) {
  const int nc = s.problem.nc();
  if (nc > Impacts::most_contacts) return;
  impacts_.pairs().resize(at(nc));
  for (int i = 0; i < nc; ++i) {
    const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
    const SurfacePair& surface = start.model.surface(contact.surface);
    const double touching = touching_share * sizes_.of(contact);
    impacts_.pairs()[at(i)] = {contact.gap, touching, surface.restitution, surface.restitution_speed, s.impact[i] != 0};
  }
  if (!impacts_.find(impact_, s.problem, s.before.data(), start.dt)) return;
  for (int i = 0; i < nc; ++i) {
    const double target = impacts_.target(i);
    if (std::isnan(target)) continue;
    s.impact[i] = shared_impact;
    s.problem.g()[3 * i + 2] = (s.free[3 * i + 2] - target) / start.dt;  // (rigid.3)
  }
}

void IslandSetup::set_rows(const Start& start, const StepRows& rows, const KeptForces& kept, IslandSolution& s) {
  ContactProblem& problem = s.problem;
  const auto told = [&](int j) { return rows[j].is<VelocityTarget>(); };
  const bool scaled = closures_ || std::any_of(s.island->rows.begin(), s.island->rows.end(), told);
  if (scaled && !problem.factor.empty()) {
    diagonal_.resize(problem.size());
    problem.diagonal(diagonal_.data());
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = rows[s.island->rows[at(j)]];
    const int o = 3 * problem.nc() + j;
    problem.g()[o] = s.free[o] / start.dt + row.bias;
    problem.R()[o] = row.is<VelocityTarget>() ? target_compliance_ * diagonal_[o] : row.compliance;  // (rigid.10)
    problem.lower()[j] = row.lower;
    problem.upper()[j] = row.upper;
    const RowMemory* memory = warm_start_ ? recall(kept.rows(), row.id, next_kept_row_) : nullptr;
    known_ &= memory != nullptr;
    if (!memory && warm_start_) memory = recall(start.state.memory.rows, row.id, next_row_);
    const double last = memory ? memory->f : 0.0;
    s.f[o] = row.is<TurnFriction>() ? last : std::clamp(last, row.lower, row.upper);
  }
  if (closures_ && !problem.factor.empty()) soften_closures(rows, s);
}

void IslandSetup::soften_closures(const StepRows& rows, IslandSolution& s) const {
  ContactProblem& problem = s.problem;
  const int first = 3 * problem.nc();
  for (int j = 0; j < problem.nr();) {
    const int element = element_of(rows[s.island->rows[at(j)]]);
    int end = j;
    double largest = 0;
    for (; end < problem.nr() && element_of(rows[s.island->rows[at(end)]]) == element; ++end)
      largest = std::max(largest, diagonal_[first + end]);
    if (element >= 0) problem.R().segment(first + j, end - j).setConstant(closure_compliance * largest);
    j = end;
  }
}

}  // namespace tribo
