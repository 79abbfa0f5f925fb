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

#include "model/sizes.hpp"
#include "stepping/contact_report.hpp"
#include "stepping/relisting.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/flight.hpp"
#include "stepping/rigid/free_motion.hpp"
#include "stepping/rigid/island_setup.hpp"
#include "stepping/rigid/jams.hpp"
#include "stepping/rigid/recovery.hpp"
#include "stepping/rigid/rigid_view.hpp"
#include "stepping/rigid/rolling.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/rigid/sleep.hpp"
#include "stepping/rigid/touches.hpp"
#include "stepping/steppers.hpp"
#include "tribo/rigid.hpp"
#include "tribo/step.hpp"

namespace tribo {
namespace {

constexpr double still = 1e-8;  // of the accelerations of the problem: a joint that friction holds moves by rounding
// Shares of the tolerance that the forces of the last step must meet. At rest: what Newton's method would take as it is.
constexpr double in_motion = 2e-3, at_rest = 1e-3;
constexpr double asked_exactly = 1e-11;  // then forces are solved for: what friction does is flat at their direction
constexpr double added_rounding = 1e-12, bounce_accuracy = 1e-9;  // of energy that impacts add, over their work
constexpr double faint = 1e-6;                                    // of the largest force of an island
constexpr double open_closure = 1e-6;  // error of an equality that its correction leaves is flagged [m] or [rad]

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
        setup_(model, contact_, own_, !closures_.empty()),
        touches_(model, own_.touch),
        jams_(model),
        sizes_(model),
        sleep_(model, own_.sleep) {
    SolverOptions solver;
    solver.model = contact_model_ = contact_model_from(contact_.model);
    solver.max_iterations = contact_.max_iterations;
    solver.own = contact_.solver_options;
    solver_ = own_.make_solver ? own_.make_solver() : make_contact_solver(contact_.solver, solver);
    need_dense_ = own_.make_solver || contact_solver_entry(contact_.solver).dense;
    takes_discs_ = !own_.make_solver && contact_solver_entry(contact_.solver).discs;
    facets_ = solver_->facets();
    for (VecX* x : {&zero_, &change_, &rate_}) x->setZero(model.nv);
  }

  SubstepRules substeps() const override { return {.touch = touches_.divides()}; }
  std::span<const OpenContact> open() const override { return touches_.open(); }
  void begin(const Start& start) override { touches_.begin(start, setup_); }
  bool lists_again() const override { return true; }
  void listed(int again) override { listing_ = again; }
  bool times_stages() const override { return true; }

  const StepRows& rows() const override { return rows_; }
  const Flight& flight() const override { return flight_; }
  const Recovery& recovery() const override { return recovery_; }
  const Actuation& actuation() const override { return *actuation_; }
  const VecX& extra() const override { return free_.extra(); }
  int bias_passes(int tree) const override { return free_.passes(tree); }

  void solve(const Start& step, Outcome& out) override {
    const Start start = touches_.from_here(step);
    actuation_ = &start.actuation;
    setup_.forget(start.contacts.size(), rows_);
    for (int pass = 0;; ++pass) {
      if (pass == 0 && listing_ > 0) setup_.keep(out.contacts, rows_);
      if (pass == 0) rows_.begin(start.state);
      move_freely(start);
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
      m.touched = r.mode != ContactMode::Open || shares(out.contacts, i, start.dt);
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
  void move_freely(const Start& start) {
    const StageTimer timer(start.times, Stage::FreeMotion);
    rows_.list(start, row_margin());
    start.assembly.group(start.contacts, rows_.rows());
    flight_.begin(start, rows_);
    free_.solve(start, rows_, flight_);
  }

  double row_margin() const { return contact_.margin < 0 ? joint_margin : contact_.margin; }

  // Held joints may move to make room: that is not a motion that their friction is asked for.
  void recover(const Start& start, Outcome& out) {
    const StageTimer timer(start.times, Stage::Recovery);
    const bool released = rows_.friction().any_held() && recovery_.needed(start, rows_.rows(), out);
    if (released) free_.release_joints(start, rows_);
    recovery_.solve(start, rows_.rows(), !released && !need_dense_, sleep_.asleep(), out);
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
        solve_island(start, island, out);
    }
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

  void solve_island(const Start& start, const Island& island, Outcome& out) {
    IslandSolution& s = out.islands.next();
    s.island = &island;
    const bool solved = set_up(start, island, s) && listing_ > 0;
    if (own_.on_problem) own_.on_problem(s.problem, s.f.data());
    bool jammed = false;
    {
      const StageTimer timer(start.times, Stage::Solve);
      if (!stands(start.dt, solved, s)) find_forces(start.dt, s);
      if (s.solve.status != SolveStatus::Converged)
        give_up_bounce(start, s);
      else
        bound_bounce(start, s);
      jammed = give_way(start, s);
    }
    add_solve(s.solve, out);
    if (jammed && out.status == StepStatus::Ok) out.status = StepStatus::Wedged;
    report_contacts(start, s, out);
    take_rows(start, s);
    start.assembly.apply<1>(island, start.dynamics, s.problem, {{{s.f.data(), start.dt, &out.v_end}}}, zero_);
  }

  // True where all its contacts and rows were solved with the list before.
  bool set_up(const Start& start, const Island& island, IslandSolution& s) {
    const StageTimer timer(start.times, Stage::Assembly);
    start.assembly.build(island, start.contacts, rows_.rows(), start.dynamics, start.state.v, free_.velocity(),
                         need_dense_, s.problem, s.before, s.free);
    s.f.resize(s.problem.size());
    s.c.resize(s.problem.size());
    const bool known = setup_.set(start, rows_, true, s);
    list_discs(island, rows_.rows(), s.problem);
    return known;
  }

  // A contact that gave way may leave its load to another.
  bool give_way(const Start& start, IslandSolution& s) {
    bool jammed = false;
    double driven = 0;  // a motor presses as hard as it can: that is no jam
    for (int j = 0; j < s.problem.nr(); ++j)
      if (rows_[s.island->rows[at(j)]].drives()) driven += std::abs(s.f[3 * s.problem.nc() + j]);
    for (int round = 0; round < 3 && jams_.soften(start, free_.velocity(), driven, s); ++round) {
      jammed = true;
      const int iterations = s.solve.iterations;
      find_forces(start.dt, s);
      s.solve.iterations += iterations;
    }
    return jammed;
  }

  // Friction may jam an impact, as between steep walls: no force then gives the speed that (rigid.3) asks for, and nothing
  // bounces.
  void give_up_bounce(const Start& start, IslandSolution& s) {
    if (s.impact.map().isZero(0)) return;
    const int iterations = s.solve.iterations;
    setup_.set(start, rows_, false, s);
    find_forces(start.dt, s);
    s.solve.iterations += iterations;
  }

  // Friction that turns the slip round within an impact may add energy under Newton's law (Kane's paradox). Then c' is
  // the largest share of what (rigid.3) asks for that adds none: with nothing of it, none is added ever      (rigid.13)
  void bound_bounce(const Start& start, IslandSolution& s) {
    if (s.impact.map().isZero(0)) return;
    double gained = added(start.dt, s);
    if (!(gained > added_rounding)) return;
    const int nc = s.problem.nc();
    bounce_.resize(nc);
    for (int i = 0; i < nc; ++i) {
      bounce_[i] = s.impact[i] != 0 ? s.problem.g()[3 * i + 2] - s.free[3 * i + 2] / start.dt : 0;
      if (s.impact[i] != 0) s.impact[i] = shared_impact;
    }
    int iterations = s.solve.iterations;
    double low = 0, high = 1, lost = bounce_by(0, start.dt, s);
    for (int round = 0; round < 60 && high - low > 1e-12; ++round) {  // regula falsi, every third time the middle
      const double share = round % 3 == 2 ? 0.5 * (low + high) : low - lost / (gained - lost) * (high - low);
      const double now = bounce_by(share, start.dt, s);
      iterations += s.solve.iterations;
      if (now > added_rounding || s.solve.status != SolveStatus::Converged)
        high = share, gained = std::max(now, added_rounding);
      else
        low = share, lost = now;
      if (low == share && lost > -bounce_accuracy) break;
    }
    bounce_by(low, start.dt, s);
    s.solve.iterations += iterations;
  }

  /// With a share of the bounce: what the forces add, of the work that they do.
  double bounce_by(double share, double dt, IslandSolution& s) {
    for (int i = 0; i < s.problem.nc(); ++i)
      if (s.impact[i] != 0) s.problem.g()[3 * i + 2] = s.free[3 * i + 2] / dt + share * bounce_[i];
    find_forces(dt, s);
    return added(dt, s);
  }

  /// Energy that contacts and limits add in the step, of the work that their normal forces do against what comes.
  double added(double dt, const IslandSolution& s) const {
    const ContactProblem& problem = s.problem;
    double work = 0, size = 0;
    for (int o = 0; o < problem.size(); ++o) {
      const int row = o - 3 * problem.nc();
      if (row >= 0 && rows_[s.island->rows[at(row)]].drives()) continue;
      const double end = dt * (s.c[o] - problem.g()[o] - problem.R()[o] * s.f[o]) + s.free[o];
      work += s.f[o] * (s.before[o] + end);
      if (row < 0 && o % 3 == 2) size += std::abs(s.f[o] * s.before[o]);
    }
    return size > 0 ? work / size : 0;
  }

  void find_forces(double dt, IslandSolution& s) {
    if (s.problem.dense()) s.problem.G();  // made here, products by it are cheaper from now on
    if (s.problem.discs.empty() || takes_discs_)
      s.solve = solver_->solve(s.problem, contact_.tolerance, s.f.map());
    else
      s.solve = rolling_.solve({*solver_, contact_.tolerance, contact_model_, facets_}, s.before.data(), dt, s.problem,
                               s.f.map());
    s.problem.velocity(s.f.data(), s.c.data());
  }

  // Rest, as the judge sees it: the forces of the last step hold, by one product with the factor of G. What they lack
  // becomes motion, and forces that stop this motion would lack as much the other way, step after step: where nothing
  // moves they have to be better. What was solved with a shorter list of contacts is taken as it was found.
  bool stands(double dt, bool solved, IslandSolution& s) {
    if (own_.make_solver || !contact_.warm_start || contact_.tolerance.rel <= asked_exactly) return false;
    s.problem.velocity(s.f.data(), s.c.data());
    s.solve = {};
    const Residual& residual = s.solve.residual = judge(s.problem, contact_model_, s.f.data(), s.c.data(), facets_);
    const auto share = [&](double x) { return Tolerance{x * contact_.tolerance.abs, x * contact_.tolerance.rel}; };
    if (share(solved ? 1 : at_rest).met(residual)) return true;
    if (!share(in_motion).met(residual)) return false;
    double fastest = 0;
    for (int i = 0; i < s.problem.nc(); ++i)
      if (s.f[3 * i + 2] > 0) fastest = std::max(fastest, s.before.map().segment<3>(3 * i).cwiseAbs().maxCoeff());
    return fastest > 0.1 * residual.relative() * residual.motion_scale * dt;
  }

  // The worst island speaks for the step.
  static void add_solve(const SolveReport& solve, Outcome& out) {
    const bool worse = out.islands.size() == 1 || solve.residual.relative() > out.solve.residual.relative();
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

  void report_contacts(const Start& start, const IslandSolution& s, Outcome& out) {
    const ContactProblem& problem = s.problem;
    const double dt = start.dt;
    double most = 0;
    for (int i = 0; i < problem.nc(); ++i) most = std::max(most, s.f[3 * i + 2]);
    for (int i = 0; i < problem.nc(); ++i) {
      const int listed = s.island->contacts[at(i)], o = 3 * i;
      const Contact& contact = start.contacts[at(listed)];
      ContactReport& r = out.contacts[at(listed)];
      list_contact(contact, r);
      const Vec3 f = s.f.map().segment<3>(o), c = s.c.map().segment<3>(o), before = s.before.map().segment<3>(o);
      Vec3 came = before;
      if (s.impact[i] == shared_impact)  // the speed that Newton's law leaves with its target
        came.z() = (dt * problem.g()[o + 2] - s.free[o + 2]) / start.model.surface(contact.surface).restitution;
      const double mu = problem.mu()[i], ft = f.head<2>().norm(), ct = c.head<2>().norm();
      // Velocity at the end of the step: what the solve saw, less what (rigid.2) to (rigid.4) added.
      const Vec3 end =
          dt * (c - problem.g().segment<3>(o) - problem.R().segment<3>(o).cwiseProduct(f)) + s.free.map().segment<3>(o);
      // A force of rounding, under what is open at the end: there the order of contacts would decide what touched.
      const bool rounding = f.z() < faint * most && contact.gap + dt * end.z() > touching_share * sizes_.of(contact);
      const bool slips = ft >= mu * f.z() * (1 - 1e-9) && ct > 1e-7 * s.solve.residual.motion_scale;
      const ContactMode mode = !(f.z() > 0) || rounding ? ContactMode::Open
                               : s.impact[i] != 0       ? ContactMode::Impact
                                                        : (slips ? ContactMode::Slip : ContactMode::Stick);
      add_action(rounding ? Vec3(Vec3::Zero()) : f, came, end, mode, mu, r);
      contact_work_ += 0.5 * dt * f.dot(end + before);
      given_work_ -= dt * (contact.R_WC * f).dot(contact.v_given);
    }
  }

  void take_rows(const Start& start, const IslandSolution& s) {
    const ContactProblem& problem = s.problem;
    const double dt = start.dt;
    for (int j = 0; j < problem.nr(); ++j) {
      const Row& row = rows_[s.island->rows[at(j)]];
      const int o = 3 * problem.nc() + j;
      const double f = s.f[o];
      rows_.forces()[s.island->rows[at(j)]] = f;
      if (row.drives()) continue;
      const double end = dt * (s.c[o] - problem.g()[o] - problem.R()[o] * f) + s.free[o];
      rows_.set_end(s.island->rows[at(j)], end);
      (row.is<TurnFriction>() ? contact_work_ : constraint_work_) += 0.5 * dt * f * (s.before[o] + end);
      given_work_ -= dt * f * row.given();
    }
  }

  ContactOptions contact_;
  RigidOptions own_;
  std::unique_ptr<ContactSolver> solver_;
  Recovery recovery_;
  RollingRounds rolling_;
  VecX zero_, change_, rate_;
  const Actuation* actuation_ = nullptr;
  VectorBuffer bounce_;  // what (rigid.3) adds to g, by contact
  bool need_dense_ = false, takes_discs_ = false;
  StepRows rows_;
  Closures closures_;
  ContactModel contact_model_ = ContactModel::Ncp;
  int facets_ = 4, listing_ = 0;
  FreeMotion free_;
  Flight flight_;
  IslandSetup setup_;
  Touches touches_;
  Jams jams_;
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
  table.add("target_compliance", &RigidOptions::target_compliance, at_least(0), "",
            "what velocity targets give way by where contacts or limits of torque oppose them, over the diagonal of G");
  return table;
}

std::unique_ptr<Scheme> make_rigid(const Model& model, const StepperOptions& options) {
  return std::make_unique<Rigid>(model, options);
}

}  // namespace tribo
