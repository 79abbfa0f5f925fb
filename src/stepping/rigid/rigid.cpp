// The rigid stepper: semi-implicit Euler on velocities and contact impulses.
//
//   v_f                                             the motion before contacts act, by free_motion.hpp     (rigid.1)
//   c = J v' / dt = G f + g                         the problem of each island, by island_setup.hpp        (rigid.2)
//   v' = v_f + M^-1 J^T f dt,  q+ = q moved along v' + d over dt                                           (rigid.5)
// d removes overlap on positions and never enters v: the smallest motion (in M) that opens each closed contact by the
// share 1 - exp(-dt / recovery_time) of its overlap, a frictionless problem of the same form, with a little compliance
// so that it has a solution between opposed walls                                                          (rigid.6)
// Trees that nothing acts on take the step as flight.hpp has it: of second order.
// Joint limits, dry friction and velocity targets are rows of the problem; a drive at its effort limit becomes one, and
// the step is solved again: its torque is then exactly within the limits                                   (rigid.7)
// Dry friction has no row where what it does can be guessed (joint_friction.hpp).
// A step may be divided where the next new contact touches. Until then it has no part in the problem: what strikes does so
// at its own time, and moves on for the rest of the step                                                   (rigid.17)
// Equality constraints are rows without bounds. Their positions are corrected after the step (closures.hpp). Kinematic
// bodies enter as the velocity that takes them from t to t + dt: what they touch goes with them.
#include <algorithm>
#include <cmath>

#include "base/crew.hpp"
#include "model/sizes.hpp"
#include "stepping/relisting.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/flight.hpp"
#include "stepping/rigid/free_motion.hpp"
#include "stepping/rigid/island_solver.hpp"
#include "stepping/rigid/recovery.hpp"
#include "stepping/rigid/rigid_view.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/rigid/sleep.hpp"
#include "stepping/rigid/touches.hpp"
#include "stepping/steppers.hpp"
#include "tribo/rigid.hpp"
#include "tribo/step.hpp"

namespace tribo {
namespace {

constexpr double still = 1e-8;  // of the accelerations of the problem: a joint that friction holds moves by rounding
constexpr double open_closure = 1e-6;  // error of an equality that its correction leaves is flagged [m] or [rad]
constexpr std::size_t large = 64;      // contacts of an island from which on its parts are shared, not the island

class Rigid final : public Scheme, public RigidView, public Relisting {
 public:
  Rigid(const Model& model, const StepperOptions& options)
      : contact_(options.contact),
        own_(options.own.taken<RigidOptions>("stepper 'rigid'")),
        recovery_(model, options.contact, own_.touch),
        rows_(model),
        closures_(model),
        free_(model),
        flight_(model, own_.smooth),
        touches_(model, own_.touch),
        sizes_(model),
        sleep_(model, own_.sleep) {
    if (own_.threads > 1 && !own_.on_problem && !own_.make_solver) crew_ = std::make_unique<Crew>(own_.threads);
    for (int slot = 0; slot < (crew_ ? crew_->slots() : 1); ++slot)
      solvers_.push_back(std::make_unique<IslandSolver>(model, contact_, own_, !closures_.empty()));
    if (crew_) solvers_.front()->share_parts(*crew_);
    for (VecX* x : {&change_, &rate_}) x->setZero(model.nv);
  }

  SubstepRules substeps() const override { return {.touch = touches_.divides()}; }
  std::span<const OpenContact> open() const override { return touches_.open(); }
  void begin(const Start& start) override { touches_.begin(start, solvers_.front()->setup()); }
  bool lists_again() const override { return true; }
  void listed(int again) override { listing_ = again; }
  bool times_stages() const override { return true; }

  const StepRows& rows() const override { return rows_; }
  const Flight& flight() const override { return flight_; }
  const Recovery& recovery() const override { return recovery_; }
  const Actuation& actuation() const override { return *actuation_; }
  const FreeMotion& free_motion() const override { return free_; }
  void keep_factors() override {
    for (auto& solver : solvers_) solver->keep_factors();
  }

  void solve(const Start& step, Outcome& out) override {
    const Start start = touches_.from_here(step);
    actuation_ = &start.actuation;
    kept_.forget(start.contacts.size(), rows_);
    for (int pass = 0;; ++pass) {
      if (pass == 0 && listing_ > 0) kept_.keep(out.contacts, rows_);
      if (pass == 0) rows_.begin(start);
      move_freely(start, pass == 0);
      solve_contacts(start, out);
      const bool wrong = rows_.friction().wrong(start.dt, out.status != StepStatus::Ok, out.v_end);
      const bool beyond = rows_.torques(start.actuation, out.v_end, out.torque);
      const bool overrun = rows_.overrun(start, row_margin(), out.v_end);
      if (!((beyond || overrun) && pass < 4) && !wrong) break;
    }
    rows_.hold_joints(start, still * start.dt * out.solve.residual.motion_scale, out.v_end);
    constraint_work_ += rows_.friction().work(start.dt, start.state.v, out.v_end);
    StepRows::miss_targets(start, out);
  }

  void complete(const Start& start, Outcome& out) override {
    recover(start, out);
    out.v_mean = out.v_end + out.correction;
    flight_.depart(start, rows_, out);
  }

  // What the next step begins with: forces and modes of contacts, then forces of rows.
  void finish(const Start& start, Outcome& out) override {
    out.memory.begin(MemoryFamily::Rigid, out.contacts.size());
    for (std::size_t i = 0; i < out.contacts.size(); ++i) {
      const ContactReport& r = out.contacts[i];
      ContactMemory& m = out.memory.contacts[i];
      m.id = r.id;
      m.f = r.f;
      m.t1 = r.R_WC.col(0);
      m.mode = r.mode;
      m.touched = (r.mode != ContactMode::Open && !has_left(r, start.dt)) || shares(out.contacts, i, start.dt);
    }
    std::vector<RowMemory>& rows = out.memory.rows;
    rows.resize(rows_.size());
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const Row& row = rows_.rows()[j];
      const Coordinate* c = row.is<DryFriction>() ? row.coordinate() : nullptr;
      rows[j] = {row.id, rows_.forces()[static_cast<Eigen::Index>(j)], c ? rows_.friction().patience(c->dof) : 0};
    }
    sleep_.remember(rows);
    std::sort(rows.begin(), rows.end(), [](const RowMemory& a, const RowMemory& b) { return a.id < b.id; });
  }

  // What bounced is apart at the end: when it comes back, be it in the next step, it strikes again.
  bool has_left(const ContactReport& r, double dt) const {
    return r.mode == ContactMode::Impact && r.gap + dt * r.c.z() > touching_share * sizes_.of(r);
  }

  // Closed at the end, without force while others of its pair carry: which of them do is not unique.
  bool shares(const std::vector<ContactReport>& contacts, std::size_t i, double dt) const {
    const ContactReport& r = contacts[i];
    if (!(r.gap + dt * r.c.z() < touching_share * sizes_.of(r))) return false;
    const auto carries = [&](const ContactReport& x) { return x.mode != ContactMode::Open; };
    for (std::size_t k = i; k-- > 0 && contacts[k].id >> 16 == r.id >> 16;)
      if (carries(contacts[k])) return true;
    for (std::size_t k = i + 1; k < contacts.size() && contacts[k].id >> 16 == r.id >> 16; ++k)
      if (carries(contacts[k])) return true;
    return false;
  }

  void correct(const Start& start, Outcome& out, VecX& q, VecX& v) override {
    closing_ = 0;
    if (!closures_.empty()) {
      const Closures::Report closed =
          closures_.project(start.model, start.state.kinematic_time().later(start.dt), q, v);
      closing_ = closed.potential;
      if (!(closed.error < open_closure) && out.status == StepStatus::Ok) out.status = StepStatus::Wedged;
    }
    for (int t = 0; t < static_cast<int>(start.model.trees.size()); ++t)
      if (!flight_.flies(t) && free_.turned(t) > Flight::unresolved)
        flight_.watch(t, free_.turned(t), free_.work(start, out.v_end, t));
    out.unresolved = flight_.arrive(start, q, v);
    sleep_.end(start, q, v);
  }

  Dynamics* end_dynamics() override { return flight_.end(); }

  // (ledger.1), (ledger.2) with one instant: the start, v_m = (v + v') / 2 and a = (v' - v) / dt, since the kinetic energy
  // at frozen q changes by v_m . M (v' - v)                                                               (rigid.8)
  void charge(const Start& start, Outcome& out) override {
    const Model& model = start.model;
    const double dt = start.dt;
    Work& work = out.work;
    const VecX &v = start.state.v, &gravity = start.dynamics.gravity_force();
    for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
      if (flight_.flies(t)) continue;
      const Tree& tree = model.trees[at(t)];
      work.motion += free_.work(start, out.v_end, t);
      for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {  // one pass over all lines
        const double way = 0.5 * dt * (v[k] + out.v_end[k]);
        work.actuators += way * out.torque[k];
        work.damping -= way * model.joints.damping[k] * out.v_end[k];
        work.external += way * start.actuation.external[k];
        work.recovery += dt * out.correction[k] * gravity[k];
      }
    }
    flight_.charge(work);
    work.external += given_work_;
    work.recovery += closing_;
    work.contacts = contact_work_;
    work.constraints = constraint_work_;
  }

  Elastic stored(const State& state) override { return {0, free_.spring_energy(state.q)}; }

 private:
  void move_freely(const Start& start, bool first) {
    const StageTimer timer(start.times, Stage::FreeMotion);
    rows_.list(start, row_margin());
    start.assembly.group(start.contacts, rows_.rows());
    flight_.begin(start, rows_);
    free_.solve(start, rows_, flight_, first);
  }

  double row_margin() const { return contact_.margin < 0 ? joint_margin : contact_.margin; }

  // Held joints may move to make room: that is not a motion that their friction is asked for.
  void recover(const Start& start, Outcome& out) {
    const StageTimer timer(start.times, Stage::Recovery);
    const bool released = rows_.friction().any_held() && recovery_.needed(start, rows_.rows(), out);
    if (released) free_.release_joints(start, rows_);
    recovery_.solve(start, rows_.rows(), !released && !solvers_.front()->need_dense(), sleep_.asleep(), out);
  }

  void solve_contacts(const Start& start, Outcome& out) {
    out.contacts.resize(start.contacts.size());
    out.islands.clear();
    out.island_count = start.assembly.islands();
    out.solve = {};
    out.status = StepStatus::Ok;
    contact_work_ = constraint_work_ = given_work_ = 0;
    out.v_end = free_.velocity();
    sleep_.begin(start);
    out.sleeping = sleep_.count();
    for (int i = 0; i < start.assembly.islands(); ++i) {
      const Island& island = start.assembly.island(i);
      if (sleep_.holds(i))
        sleep_.keep(start, island, out);
      else if (!move_as_told(start, island, out.v_end))
        out.islands.next().island = &island;
    }
    solve_islands(start, out);
  }

  // Each by itself; then what they found, in their order.
  void solve_islands(const Start& start, Outcome& out) {
    const IslandTask task{rows_, free_.velocity(), kept_, listing_ > 0};
    works_.resize(out.islands.size());
    if (crew_)
      share_islands(start, task, out);
    else
      for (std::size_t i = 0; i < works_.size(); ++i)
        works_[i] = solvers_.front()->solve(start, task, out.islands[i], out);
    for (std::size_t i = 0; i < works_.size(); ++i) {
      add_solve(out.islands[i].solve, i == 0, out);
      contact_work_ += works_[i].contacts;
      constraint_work_ += works_[i].constraints;
      given_work_ += works_[i].given;
      if (works_[i].jammed && out.status == StepStatus::Ok) out.status = StepStatus::Wedged;
    }
  }

  // Small islands on all threads, then large ones, whose parts are shared.
  void share_islands(const Start& start, const IslandTask& task, Outcome& out) {
    const StageTimer timer(start.times, Stage::Solve);
    Start untimed = start;
    untimed.times = nullptr;  // of one thread
    small_.clear();
    for (std::size_t i = 0; i < out.islands.size(); ++i)
      if (out.islands[i].island->contacts.size() < large) small_.push_back(i);
    crew_->share(static_cast<int>(small_.size()), [&](int job, int slot) {
      const std::size_t i = small_[at(job)];
      works_[i] = solvers_[at(slot)]->solve(untimed, task, out.islands[i], out);
    });
    for (std::size_t i = 0; i < out.islands.size(); ++i)
      if (out.islands[i].island->contacts.size() >= large)
        works_[i] = solvers_.front()->solve(untimed, task, out.islands[i], out);
  }

  // A tree that nothing touches, with a target at every joint, has its answer without a solve:
  //   v' = target,  dt tau = (M + extra) (target - v_f)                                                     (rigid.11)
  // False where that is not so, or a torque would be beyond its limits.
  bool move_as_told(const Start& start, const Island& island, VecX& v_end) {
    if (!island.contacts.empty() || island.trees.size() != 1 || own_.on_problem) return false;
    const Tree& tree = start.model.trees[at(island.trees[0])];
    if (static_cast<int>(island.rows.size()) != tree.nv) return false;
    for (int j : island.rows) {
      const Row& row = rows_[j];
      if (!row.is<VelocityTarget>()) return false;
      const int k = row.coordinate()->dof;
      change_[k] = start.actuation.target[k] - free_.velocity()[k];
    }
    start.dynamics.multiply(island.trees[0], change_.data(), rate_.data());
    for (int j : island.rows) {
      const int k = rows_[j].coordinate()->dof;
      rate_[k] = (rate_[k] + free_.extra()[k] * change_[k]) / start.dt;
      if (rate_[k] < rows_[j].lower || rate_[k] > rows_[j].upper) return false;
    }
    for (int j : island.rows) {
      const int k = rows_[j].coordinate()->dof;
      rows_.forces()[j] = rate_[k];
      v_end[k] = start.actuation.target[k];
    }
    return true;
  }

  // The worst island speaks for the step.
  static void add_solve(const SolveReport& solve, bool first, Outcome& out) {
    const bool worse = first || solve.residual.relative() > out.solve.residual.relative();
    const int iterations = out.solve.iterations + solve.iterations;
    const bool escalated = out.solve.escalated || solve.escalated;
    if (worse) out.solve = solve;
    out.solve.iterations = iterations;
    out.solve.escalated = escalated;
    if (solve.status == SolveStatus::Infeasible)
      out.status = StepStatus::Infeasible;
    else if (solve.status != SolveStatus::Converged && out.status == StepStatus::Ok)
      out.status = StepStatus::Unconverged;
  }

  ContactOptions contact_;
  RigidOptions own_;
  std::unique_ptr<Crew> crew_;                          // null: one thread
  std::vector<std::unique_ptr<IslandSolver>> solvers_;  // one for each slot of the crew
  std::vector<IslandWork> works_;                       // of the islands that were solved
  std::vector<std::size_t> small_;                      // islands of few contacts
  KeptForces kept_;
  Recovery recovery_;
  VecX change_, rate_;
  const Actuation* actuation_ = nullptr;
  StepRows rows_;
  Closures closures_;
  int listing_ = 0;
  FreeMotion free_;
  Flight flight_;
  Touches touches_;
  Sizes sizes_;
  Sleep sleep_;
  double contact_work_ = 0, constraint_work_ = 0, given_work_ = 0, closing_ = 0;
};

}  // namespace

OptionTable rigid_options() {
  FieldTable<RigidOptions> table;
  table.add(
      "smooth", &RigidOptions::smooth,
      {{"euler", SmoothScheme::Euler}, {"midpoint", SmoothScheme::Midpoint}, {"runge-kutta", SmoothScheme::RungeKutta}},
      "trees that nothing acts on: order two, single free bodies semi-implicit Euler; midpoint: order two for all; "
      "runge-kutta: order four for all");
  table.add("impact", &RigidOptions::impact,
            {{"newton", ImpactLaw::Newton}, {"poisson", ImpactLaw::Poisson}, {"sequential", ImpactLaw::Sequential}},
            "law of restitution where several contacts share an impact");
  table.add("touch", &RigidOptions::touch,
            "a step is divided where the next new contact touches: what strikes does so at its own time");
  table.add("sleep", &RigidOptions::sleep, at_least(0), "s",
            "single free bodies that have rested for so long sleep, with all that they touch; 0: never");
  table.add("threads", &RigidOptions::threads, within(1, 256), "",
            "that share the islands of a step, and the parts of large ones; the same comes out for any number");
  table.add("target_compliance", &RigidOptions::target_compliance, at_least(0), "",
            "what velocity targets give way by where contacts or limits of torque oppose them, over the diagonal of G");
  return table;
}

std::unique_ptr<Scheme> make_rigid(const Model& model, const StepperOptions& options) {
  return std::make_unique<Rigid>(model, options);
}

}  // namespace tribo
