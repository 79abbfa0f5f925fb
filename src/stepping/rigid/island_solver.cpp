#include "stepping/rigid/island_solver.hpp"

#include <algorithm>
#include <cmath>

#include "contact/factor.hpp"
#include "contact/solvers/solvers.hpp"
#include "stepping/contact_report.hpp"

namespace tribo {
namespace {

// Shares of the tolerance that the forces of the last step must meet. At rest: what Newton's method would take as it is.
constexpr double in_motion = 2e-3, at_rest = 1e-3;
constexpr double asked_exactly = 1e-11;  // then forces are solved for: what friction does is flat at their direction
constexpr double added_rounding = 1e-12, bounce_accuracy = 1e-9;  // of energy that impacts add, over their work
constexpr double faint = 1e-6;                                    // of the largest force of an island

// Does the contact that bears most, by w = Y^T f alone, miss the tolerance for sure? Most forces of a last step that do not
// stand are known by it. The scales of the judge are at most these, and twice the tolerance is beyond rounding.
bool refuted(const ContactProblem& problem, const Tolerance& tolerance, const double* f, const double* w) {
  int most = 0;
  for (int i = 1; i < problem.nc(); ++i)
    if (f[3 * i + 2] > f[3 * most + 2]) most = i;
  const int o = 3 * most;
  Vec3 c = Vec3::Zero();
  add_to_contact(problem, most, w, c.data());
  const auto g = problem.g();
  for (int k = 0; k < 3; ++k) c[k] += problem.R()[o + k] * f[o + k] + g[o + k];
  double force = problem.weight, motion = 0;
  for (int k = 0; k < problem.size(); ++k)
    force = std::max(force, std::abs(f[k])), motion = std::max(motion, std::abs(g[k]));
  motion += 9.81;
  const double slip = std::sqrt(c.x() * c.x() + c.y() * c.y());
  const double dual = -c.z(),
               power = std::abs(f[o] * c.x() + f[o + 1] * c.y() + f[o + 2] * (c.z() + problem.mu()[most] * slip));
  const double abs = 2 * tolerance.abs, rel = 2 * tolerance.rel;
  return std::max(dual, power) > abs && (dual > rel * motion || power > rel * force * motion);
}

}  // namespace

IslandSolver::IslandSolver(const Model& model, const ContactOptions& contact, const RigidOptions& own, bool closures)
    : contact_(contact),
      on_problem_(own.on_problem),
      own_solver_(static_cast<bool>(own.make_solver)),
      setup_(model, contact, own, closures),
      motion_(model),
      jams_(model) {
  SolverOptions solver;
  solver.model = contact_model_ = contact_model_from(contact.model);
  solver.max_iterations = contact.max_iterations;
  solver.own = contact.solver_options;
  solver_ = own_solver_ ? own.make_solver() : make_contact_solver(contact.solver, solver);
  need_dense_ = own_solver_ || contact_solver_entry(contact.solver).dense;
  takes_discs_ = !own_solver_ && contact_solver_entry(contact.solver).discs;
  facets_ = solver_->facets();
  zero_.setZero(model.nv);
  w_.resize(model.nv);
}

void IslandSolver::share_parts(Crew& crew) { tribo::share_parts(*solver_, crew); }

IslandWork IslandSolver::solve(const Start& start, const IslandTask& task, IslandSolution& s, Outcome& out) {
  rows_ = &task.rows;
  v_free_ = &task.v_free;
  kept_ = &task.kept;
  work_ = {};
  if (!task.again && looks_at_rest() && holds(start, s)) {
    report_contacts(start, s, out);
    take_rows(start, s);
    motion_.add(start, *s.island, out.v_end);
    return work_;
  }
  const bool solved = set_up(start, s) && task.again;
  if (on_problem_) on_problem_(s.problem, s.f.data());
  {
    const StageTimer timer(start.times, Stage::Solve);
    if (!stands(start.dt, solved, s)) find_forces(start.dt, s);
    if (s.solve.status != SolveStatus::Converged)
      give_up_bounce(start, s);
    else
      bound_bounce(start, s);
    work_.jammed = give_way(start, s);
  }
  report_contacts(start, s, out);
  take_rows(start, s);
  start.assembly.apply<1>(*s.island, start.dynamics, s.problem, {{{s.f.data(), start.dt, &out.v_end}}}, zero_);
  return work_;
}

bool IslandSolver::looks_at_rest() const {
  return !keeps_factors_ && !on_problem_ && !own_solver_ && contact_.warm_start &&
         contact_model_ != ContactModel::Raisim && contact_.tolerance.rel > asked_exactly;
}

// Rest without a matrix: what the forces of the last step do, body by body. Jams and impacts are no rest.
bool IslandSolver::holds(const Start& start, IslandSolution& s) {
  {
    const StageTimer timer(start.times, Stage::Assembly);
    if (!motion_.begin(start, rows_->rows(), *s.island)) return false;
    motion_.velocities(start, rows_->rows(), *v_free_, s);
    setup_.set(start, *rows_, *kept_, true, s);
    list_discs(*s.island, rows_->rows(), s.problem);
    if (!s.impact.map().isZero(0)) return false;
  }
  const StageTimer timer(start.times, Stage::Solve);
  motion_.act(start, rows_->rows(), s);
  return good_enough(start.dt, false, s) && !Jams::possible(s);
}

// True where all its contacts and rows were solved with the list before.
bool IslandSolver::set_up(const Start& start, IslandSolution& s) {
  const Island& island = *s.island;
  const StageTimer timer(start.times, Stage::Assembly);
  start.assembly.build(island, start.contacts, rows_->rows(), start.dynamics, start.state.v, *v_free_, need_dense_,
                       s.problem, s.before, s.free);
  s.f.resize(s.problem.size());
  s.c.resize(s.problem.size());
  const bool known = setup_.set(start, *rows_, *kept_, true, s);
  list_discs(island, rows_->rows(), s.problem);
  return known;
}

// A contact that gave way may leave its load to another.
bool IslandSolver::give_way(const Start& start, IslandSolution& s) {
  bool jammed = false;
  double driven = 0;  // a motor presses as hard as it can: that is no jam
  for (int j = 0; j < s.problem.nr(); ++j)
    if (row_of(s.island->rows[at(j)]).drives()) driven += std::abs(s.f[3 * s.problem.nc() + j]);
  for (int round = 0; round < 3 && jams_.soften(start, *v_free_, driven, s); ++round) {
    jammed = true;
    const int iterations = s.solve.iterations;
    find_forces(start.dt, s);
    s.solve.iterations += iterations;
  }
  return jammed;
}

// Friction may jam an impact, as between steep walls: no force then gives the speed that (rigid.3) asks for, and nothing
// bounces.
void IslandSolver::give_up_bounce(const Start& start, IslandSolution& s) {
  if (s.impact.map().isZero(0)) return;
  const int iterations = s.solve.iterations;
  setup_.set(start, *rows_, *kept_, false, s);
  find_forces(start.dt, s);
  s.solve.iterations += iterations;
}

// Friction that turns the slip round within an impact may add energy under Newton's law (Kane's paradox). Then c' is
// the largest share of what (rigid.3) asks for that adds none: with nothing of it, none is added ever      (rigid.13)
void IslandSolver::bound_bounce(const Start& start, IslandSolution& s) {
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
double IslandSolver::bounce_by(double share, double dt, IslandSolution& s) {
  for (int i = 0; i < s.problem.nc(); ++i)
    if (s.impact[i] != 0) s.problem.g()[3 * i + 2] = s.free[3 * i + 2] / dt + share * bounce_[i];
  find_forces(dt, s);
  return added(dt, s);
}

/// Energy that contacts and limits add in the step, of the work that their normal forces do against what comes.
double IslandSolver::added(double dt, const IslandSolution& s) const {
  const ContactProblem& problem = s.problem;
  double work = 0, size = 0;
  for (int o = 0; o < problem.size(); ++o) {
    const int row = o - 3 * problem.nc();
    if (row >= 0 && row_of(s.island->rows[at(row)]).drives()) continue;
    const double end = dt * (s.c[o] - problem.g()[o] - problem.R()[o] * s.f[o]) + s.free[o];
    work += s.f[o] * (s.before[o] + end);
    if (row < 0 && o % 3 == 2) size += std::abs(s.f[o] * s.before[o]);
  }
  return size > 0 ? work / size : 0;
}

void IslandSolver::find_forces(double dt, IslandSolution& s) {
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
bool IslandSolver::stands(double dt, bool solved, IslandSolution& s) {
  if (own_solver_ || !contact_.warm_start || contact_.tolerance.rel <= asked_exactly) return false;
  ContactProblem& problem = s.problem;
  if (contact_model_ != ContactModel::Ncp || problem.nc() == 0 || problem.factor.empty()) {
    problem.velocity(s.f.data(), s.c.data());
    return good_enough(dt, solved, s);
  }
  const double share = solved ? 1 : std::max(in_motion, at_rest);
  w_.resize(problem.factor.nw);
  to_bodies(problem, s.f.data(), w_.data());
  if (refuted(problem, {share * contact_.tolerance.abs, share * contact_.tolerance.rel}, s.f.data(), w_.data()))
    return false;
  to_contacts(problem, w_.data(), s.c.data());
  s.c.map() += problem.R().cwiseProduct(s.f.map()) + problem.g();  // (problem.1)
  return good_enough(dt, solved, s);
}

bool IslandSolver::good_enough(double dt, bool solved, IslandSolution& s) {
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

void IslandSolver::report_contacts(const Start& start, const IslandSolution& s, Outcome& out) {
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
    const double mu = problem.mu()[i], ft = std::sqrt(f.x() * f.x() + f.y() * f.y()),
                 ct = std::sqrt(c.x() * c.x() + c.y() * c.y());
    // Velocity at the end of the step: what the solve saw, less what (rigid.2) to (rigid.4) added.
    const Vec3 end =
        dt * (c - problem.g().segment<3>(o) - problem.R().segment<3>(o).cwiseProduct(f)) + s.free.map().segment<3>(o);
    // A force of rounding, under what is open at the end: there the order of contacts would decide what touched.
    const bool rounding =
        f.z() < faint * most && contact.gap + dt * end.z() > touching_share * setup_.sizes().of(contact);
    const bool slips = ft >= mu * f.z() * (1 - 1e-9) && ct > 1e-7 * s.solve.residual.motion_scale;
    const ContactMode mode = !(f.z() > 0) || rounding ? ContactMode::Open
                             : s.impact[i] != 0       ? ContactMode::Impact
                                                      : (slips ? ContactMode::Slip : ContactMode::Stick);
    add_action(f, came, end, mode, mu, r);
    work_.contacts += 0.5 * dt * f.dot(end + before);
    work_.given -= dt * (contact.R_WC * f).dot(contact.v_given);
  }
}

void IslandSolver::take_rows(const Start& start, const IslandSolution& s) {
  const ContactProblem& problem = s.problem;
  const double dt = start.dt;
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = row_of(s.island->rows[at(j)]);
    const int o = 3 * problem.nc() + j;
    const double f = s.f[o];
    rows_->forces()[s.island->rows[at(j)]] = f;
    if (row.drives()) continue;
    const double end = dt * (s.c[o] - problem.g()[o] - problem.R()[o] * f) + s.free[o];
    rows_->set_end(s.island->rows[at(j)], end);
    (row.is<TurnFriction>() ? work_.contacts : work_.constraints) += 0.5 * dt * f * (s.before[o] + end);
    work_.given -= dt * f * row.given();
  }
}

}  // namespace tribo
