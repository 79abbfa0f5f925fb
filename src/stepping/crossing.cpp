// The ledger of a step. A scheme takes its forces at instants, each for a time t; the times add up to the step's. With
// M, h, v and a of each instant, E = T + V and the energy of joint springs, what the scheme itself adds and the work of a
// force f are
//   W_int = E(q+, v+) - E(q, v) - sum t v . (M a + h) - W_recovery                                       (ledger.1)
//   W_f = sum t v . f                                                                                    (ledger.2)
// M a + h is the force that the motion needs; no force that acts stands in (ledger.1). The ledger closes because the
// accelerations satisfy the equations of motion with the forces that are charged, and for no other reason. The line of
// contacts is their work and the change of what their springs store.
#include "stepping/crossing.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

/// False where the numbers have run away: nothing is faster than light.
bool moves(const VecX& v) {
  constexpr double fastest = 3e8;                                                // [m/s], [rad/s]
  return v.size() == 0 || (v.allFinite() && v.cwiseAbs().maxCoeff() < fastest);  // a maximum may leave NaN out
}

}  // namespace

Crossing::Crossing(const Model& model, Scheme& scheme, const StepperOptions& options)
    : model_(model),
      scheme_(scheme),
      relisting_(dynamic_cast<Relisting*>(&scheme)),
      margin_(scheme.contact_margin(options.contact.margin)),
      audit_(options.audit),
      divides_(scheme.substeps().any()),
      looks_(scheme.substeps().touch || (options.audit == AuditLevel::Full && scheme.stores_energy())),
      chart_(model),
      judge_(model),
      sent_off_(model, margin_) {
  outcome_.resize(model.nv);
}

void Crossing::open(State& state, Workspace& work, double dt, StepReport& report) {
  if (dt != dt_) begun_ = false;
  state_ = &state;
  work_ = &work;
  report_ = &report;
  dt_ = h_ = dt;
  state.clock.set(state.t, dt);
  if (divides_) {
    q_control_ = state.q;
    v_control_ = state.v;
  }
  contacts_.clear();
  report.substeps = 0;
  outcome_.solve = {};
}

Start Crossing::start(double h) const {
  return {.model = model_,
          .state = *state_,
          .dynamics = work_->dynamics,
          .contacts = work_->collision.contacts(),
          .assembly = work_->assembly,
          .actuation = work_->actuation,
          .q_control = divides_ ? q_control_ : state_->q,
          .v_control = divides_ ? v_control_ : state_->v,
          .dt = h,
          .step = dt_,
          .audited = audit_ == AuditLevel::Full,
          .times = work_->times};
}

// A function of the state alone, so that a restored run goes on bit for bit.
void Crossing::begin() {
  const State& state = *state_;
  if (looks_ && begun_ && work_->stands() && state.t == t_known_ && state.q == q_known_ && state.v == v_known_) return;
  work_->update(state, scheme_.needs_mass_matrix());
  {
    const StageTimer timer(work_->times, Stage::Collision);
    fill_motions(model_, work_->dynamics, state.kinematic_time(), dt_, work_->motions);
    work_->collision.detect(work_->motions, {margin_, dt_}, state.memory.contacts);
  }
  scheme_.begin(start(dt_));
  if (!looks_) return;
  q_known_ = state.q;
  v_known_ = state.v;
  t_known_ = state.t;
  begun_ = true;
}

bool Crossing::solve(double h, int most) {
  h_ = h;
  for (int round = 0;; ++round) {
    listings_ = round;
    outcome_.status = StepStatus::Ok;
    outcome_.held = 1;
    outcome_.unresolved = outcome_.sleeping = 0;
    outcome_.island_count = 0;
    outcome_.islands.clear();
    outcome_.recovery.clear();
    start_.emplace(start(h));
    if (relisting_) relisting_->listed(round);
    {
      const StageTimer timer(scheme_.times_stages() ? nullptr : work_->times, Stage::Solve);
      scheme_.solve(*start_, outcome_);
    }
    if (round == most || !scheme_.lists_again() || !list_again()) break;
  }
  if (relisting_ && most == most_listings) relisting_->complete(*start_, outcome_);
  return outcome_.status != StepStatus::Unconverged;
}

// Contacts were listed with the velocities of the start. An impact may send bodies elsewhere within the step, against
// what was neither near nor on their way: that is listed now. What is nearer than the margin is listed in any case, so
// nothing is missed where no point goes half a margin astray, and none of a body that is pressed turns as far.
bool Crossing::list_again() {
  if (!outcome_.v_end.allFinite() || !(sent_off_(*start_, outcome_) || sent_off_.turns(*start_, outcome_)))
    return false;
  set_velocities(model_, work_->dynamics, outcome_.v_end, work_->motions);
  return work_->collision.detect_more(work_->motions, {margin_, h_}, state_->memory.contacts,
                                      sent_off_.trees(*start_, outcome_));
}

bool Crossing::commit() {
  State& state = *state_;
  const Start& start = *start_;
  q_next_ = state.q;
  integrate(model_, outcome_.v_mean, h_, q_next_);
  turn_to_end();
  scheme_.correct(start, outcome_, q_next_, v_next_);
  if (!q_next_.allFinite() || !moves(v_next_)) {
    report_->status = StepStatus::NotFinite;
    return false;
  }
  scheme_.finish(start, outcome_);
  if (outcome_.status == StepStatus::Unconverged && absurd(start)) {
    report_->status = StepStatus::Stopped;
    return false;
  }
  {
    const StageTimer timer(work_->times, Stage::Audit);
    if (audit_ != AuditLevel::Off) laws_ = judge_(start, outcome_);
    count_changes(start);
    if (audit_ == AuditLevel::Full) charge(start);
  }
  state.q.swap(q_next_);
  state.v.swap(v_next_);
  std::swap(state.memory, outcome_.memory);
  outcome_.memory.reserve(state.memory);  // whichever comes back has room
  state.t += h_;
  if (Dynamics* end = scheme_.end_dynamics())
    work_->moved(*end);
  else
    work_->moved();
  begun_ = false;
  if (looks_) begin();
  return true;
}

// Forces that a solver has given up on, and that no motion of the step could need: rather no step than this one.
bool Crossing::absurd(const Start& start) const {
  constexpr double faster = 1e3, stronger = 1e6;  // than what moves now, and 1 m/s or 1 rad/s
  const double speed = 1 + start.state.v.cwiseAbs().maxCoeff();
  if (v_next_.cwiseAbs().maxCoeff() > faster * speed) return true;
  double most = 0;
  for (const ContactReport& c : outcome_.contacts) most = std::max(most, c.f.squaredNorm());
  return std::sqrt(most) * h_ > stronger * model_.mass() * speed;
}

// Free joints: from the axes of the start to those of the end. What is corrected turns the body, not its motion.
void Crossing::turn_to_end() {
  v_next_ = outcome_.v_end;
  chart_.turn(outcome_.v_mean, -h_, v_next_);
  for (int i : chart_.free()) {
    if (outcome_.correction.segment<3>(i + 3).isZero(0)) continue;
    const Vec3 w = v_next_.segment<3>(i + 3);
    v_next_.segment<3>(i + 3) = rotation_exponential(-h_ * outcome_.v_mean.segment<3>(i + 3)) * w;
  }
}

void Crossing::charge(const Start& start) {
  outcome_.work = {};
  scheme_.charge(start, outcome_);
  energy_before_ = work_->dynamics.kinetic() + work_->dynamics.potential();
  elastic_before_ = scheme_.stored(start.state);
}

// Contacts that began or ceased to carry force, or began to slip, beside what is remembered of them.
void Crossing::count_changes(const Start& start) {
  made_ = broken_ = slipped_ = 0;
  const auto loaded = [](const ContactMemory& m) { return m.touched && m.f.z() > 0; };
  auto memory = start.state.memory.contacts.begin();
  const auto end = start.state.memory.contacts.end();
  for (const ContactReport& r : outcome_.contacts) {
    for (; memory != end && memory->id < r.id; ++memory) broken_ += loaded(*memory);  // out of reach by now
    const bool known = memory != end && memory->id == r.id, loads = r.f.z() > 0;
    const bool was = known && loaded(*memory), slipped = known && memory->touched && memory->mode == ContactMode::Slip;
    made_ += loads && !was;
    broken_ += was && !loads;
    slipped_ += r.mode == ContactMode::Slip && !slipped;
    if (known) ++memory;
  }
  for (; memory != end; ++memory) broken_ += loaded(*memory);
}

void Crossing::close() {
  StepReport& report = *report_;
  if (outcome_.status != StepStatus::Ok) report.status = outcome_.status;
  report.solve = outcome_.solve;
  report.islands = outcome_.island_count;
  report.made += made_;
  report.broken += broken_;
  report.slipped += slipped_;
  report.unresolved += outcome_.unresolved;
  report.sleeping = outcome_.sleeping;
  report.laws.add(laws_);
  merge();
  ++report.substeps;
  if (audit_ != AuditLevel::Full) return;
  work_->update(*state_, scheme_.needs_mass_matrix());  // the next step needs it anyway
  const Elastic elastic = scheme_.stored(*state_);
  const Work& w = outcome_.work;
  EnergyLines& sum = report.energy;
  sum.kinetic = work_->dynamics.kinetic();
  sum.potential = work_->dynamics.potential();
  sum.elastic = elastic.sum();
  sum.actuators += w.actuators;
  sum.damping += w.damping;
  sum.external += w.external;
  sum.constraints += w.constraints;
  sum.recovery += w.recovery;
  sum.contacts += w.contacts + elastic.contacts - elastic_before_.contacts;
  sum.integrator += sum.kinetic + sum.potential + elastic.joints - energy_before_ - elastic_before_.joints - w.motion -
                    w.recovery;  // (ledger.1)
}

// Into the contacts of the step: impulses, the union of the lists.
void Crossing::merge() {
  if (!divides_) return;
  if (report_->substeps == 0) {
    first_h_ = h_;
    contacts_ = outcome_.contacts;  // copies: each list keeps the memory that it has grown to
    return;
  }
  if (report_->substeps == 1)
    for (ContactReport& r : contacts_) r.f *= first_h_;
  merged_.clear();
  auto a = contacts_.begin();
  for (const ContactReport& r : outcome_.contacts) {
    while (a != contacts_.end() && a->id < r.id) merged_.push_back(*a++);
    merged_.push_back(r);
    ContactReport& m = merged_.back();
    m.f *= h_;
    if (a == contacts_.end() || a->id != r.id) continue;
    m.f += a->f;
    m.gap = a->gap;
    m.c_start = a->c_start;
    m.cone_margin = std::min(m.cone_margin, a->cone_margin);
    if (m.mode == ContactMode::Open) {
      m.mode = a->mode;
      m.mu = a->mu;
    }
    ++a;
  }
  merged_.insert(merged_.end(), a, contacts_.end());
  contacts_ = merged_;
}

// Limits and rows of the solve would make something else of what is no number.
bool Crossing::asks_sanely() {
  const Actuation& a = work_->actuation;
  double tau = 0, kp = 0, kd = 0, error = 0, v_ref = 0, external = 0;  // NaN where one is not finite
  for (Eigen::Index k = 0; k < a.tau.size(); ++k) {
    tau += 0 * a.tau[k];
    kp += 0 * a.kp[k];
    kd += 0 * a.kd[k];
    error += 0 * a.error[k];
    v_ref += 0 * a.v_ref[k];
    external += 0 * a.external[k];
  }
  if (!std::isnan(tau + kp + kd + error + v_ref + external)) return true;
  outcome_.torque = a.tau;
  for (const VecX* x : {&a.kp, &a.kd, &a.error, &a.v_ref, &a.external}) outcome_.torque += 0 * *x;
  report_->status = StepStatus::NotFinite;
  return false;
}

void Crossing::abandon() {
  report_->t = state_->t;
  contacts_.clear();
  outcome_.contacts.clear();
  let_go();
}

// What belongs to the caller is not kept beyond the step.
void Crossing::let_go() {
  state_ = nullptr;
  work_ = nullptr;
  report_ = nullptr;
  start_.reset();
}

void Crossing::finish() {
  State& state = *state_;
  StepReport& report = *report_;
  ++state.clock.steps;
  state.t = t_known_ = state.clock.time();  // not a sum: its roundings would add up
  ++state.step;
  report.t = state.t;
  if (report.substeps > 1)
    for (ContactReport& r : contacts_) r.f /= dt_;  // impulses were summed
  report.contacts = static_cast<int>(contacts().size());
  for (const ContactReport& r : contacts()) {
    report.closed += r.f.z() > 0;
    report.penetration = std::max(report.penetration, -r.gap);
  }
  report.gave_way = outcome_.gave_way;
  report.worst_target = outcome_.worst_target;
  if (report.worst_target >= 0) report.target_miss = outcome_.target_miss[report.worst_target];
  let_go();
}

Elastic Crossing::elastic(State& state, Workspace& work) {
  begun_ = false;                                // what contacts remember may be other, at the same place and speed
  if (state.clock.dt > 0) dt_ = state.clock.dt;  // contacts are listed with the step in view, and so are their springs
  state_ = &state;
  work_ = &work;
  q_control_ = state.q;
  v_control_ = state.v;
  if (scheme_.stores_energy())
    begin();
  else
    work.update(state, scheme_.needs_mass_matrix());
  return scheme_.stored(state);
}

void Crossing::save(Saved& saved) const {
  saved.q = state_->q;
  saved.v = state_->v;
  saved.t = state_->t;
  saved.memory = state_->memory;
  saved.contacts = contacts_;
  saved.report = *report_;
}

void Crossing::restore(const Saved& saved) {
  take_back(saved);
  *report_ = saved.report;
}

void Crossing::take_back(const Saved& saved) {
  state_->q = saved.q;
  state_->v = saved.v;
  state_->t = saved.t;
  state_->memory = saved.memory;
  contacts_ = saved.contacts;
  work_->moved();
  begun_ = false;
}

}  // namespace tribo
