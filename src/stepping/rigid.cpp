// The rigid stepper: semi-implicit Euler on velocities and contact impulses.
//
//   (M + dt (D + kd) + dt^2 (kp + k)) (v_f - v)
//       = dt (tau + kp (e - dt v) + kd (v_ref - v) - D v - k (s + dt v) + f_ext - h)                       (rigid.1)
// with k the stiffness of joint springs and s their deflection.
//   c = J v' / dt = G f + g,  g = J v_f / dt  and, on the normal rows,
//       g_N += max(phi, 0) / dt^2                     no force before the gap closes                       (rigid.2)
//       g_N += e (J v)_N / dt                         instead, at an impact                                (rigid.3)
//       g_N += phi / dt^2, R_N = compliance / dt^2    instead, where the surface is compliant              (rigid.4)
//   v' = v_f + M^-1 J^T f dt,  q+ = q moved along v' + d over dt                                           (rigid.5)
// d removes overlap on positions and never enters v: the smallest motion (in M) that opens each closed contact by the
// share 1 - exp(-dt / recovery_time) of its overlap, a frictionless problem of the same form, with a little compliance
// so that it has a solution between opposed walls                                                          (rigid.6)
// A floating tree that nothing touches keeps its linear momentum: what A(q+) v+ - A(q) v' lost of it (the centroidal
// matrix moves with q) is given back to the base                                                           (rigid.9)
// Joint limits, dry friction and velocity targets are rows of the problem; a drive at its effort limit becomes one, and
// the step is solved again: its torque is then exactly within the limits                                   (rigid.7)
// Equality constraints are rows without bounds. Redundant ones leave G singular, so they have a compliance of 1e-10 of
// the diagonal of G. Their positions are corrected after the step (closures.hpp). Moved bodies enter as the velocity
// that takes them from t to t + dt: what they touch goes with them.
// Velocity targets have priority below the laws of contact: the row of joint k has the compliance eps G_kk, so a step
// always has a solution where the contacts alone have one. Where they or the limits of torque oppose the targets, what
// is left of them is least in the norm sum (v'_k - target_k)^2 / (eps dt G_kk), beside the motion itself (rigid.10)
#include <cmath>

#include "stepping/closures.hpp"
#include "stepping/contact_report.hpp"
#include "stepping/flight.hpp"
#include "stepping/midpoint.hpp"
#include "stepping/rolling.hpp"
#include "stepping/rows.hpp"
#include "stepping/springs.hpp"
#include "stepping/workspace.hpp"

namespace tribo {
namespace {

constexpr double overlap_slop = 1e-7;         // overlap that is left alone [m]
constexpr double recovery_compliance = 1e-4;  // of the diagonal of G
constexpr double wedge_overlap = 1e-4;        // overlap that recovery cannot undo is flagged from here on [m]
constexpr double closure_compliance = 1e-10;  // of the largest diagonal entry of G among the rows of an equality
constexpr double open_closure = 1e-6;         // error of an equality that its correction leaves is flagged [m] or [rad]

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Rigid final : public Stepper {
 public:
  Rigid(const Model& model, const StepperOptions& options) : options_(options), rows_(model), closures_(model) {
    SolverOptions solver;
    solver.model = contact_model_ = contact_model_from(options.contact_model);
    facets_ = options.facets;
    springs_ = !model.joints.stiffness.isZero(0);
    solver.max_iterations = options.max_iterations;
    solver.facets = options.facets;
    solver.line_search = options.line_search;
    solver.compliance_ratio = options.compliance_ratio;
    solver_ = options.make_solver ? options.make_solver() : make_contact_solver(options.solver, solver);
    need_dense_ = options.make_solver || contact_solver_entry(options.solver).dense;
    solver.model = ContactModel::Ncp;
    recovery_ = make_contact_solver("newton", solver);
    if (options.smooth == SmoothScheme::Midpoint) midpoint_ = std::make_unique<Midpoint>(model);
    for (VecX* x : {&v_free_, &v_new_, &recovery_v_, &zero_, &extra_, &torque_, &deflection_, &mid_, &momentum_})
      x->setZero(model.nv);
  }

  StepReport advance(const Model& model, State& state, Workspace& work, double dt) override {
    StepReport report;
    work.update(state);
    fill_motions(model, work.dynamics, state.t, dt, work.motions);
    work.collision.detect(work.motions, {options_.margin, dt}, state.contacts);
    rows_.begin();
    for (int pass = 0;; ++pass) {
      rows_.list(model, state, work.actuation, work.dynamics, work.collision.contacts(), options_.margin, dt);
      free_motion(model, state, work, dt);
      solve_contacts(model, state, work, dt, report);
      if (midpoint_) midpoint_->step(model, state, work, extra_, dt, v_new_);
      if (!rows_.torques(work.actuation, v_new_, dt, torque_) || pass == 4) break;
    }
    report_targets(work, report);
    recover(model, work, dt, report);
    commit(model, state, work, dt, report);
    return report;
  }

  double elastic(const Model& model, const State& state, Workspace&) override {
    if (!springs_) return 0;
    spring_deflection(model, state.q, deflection_);
    return spring_energy(model, deflection_);
  }

 private:
  void free_motion(const Model& model, const State& state, Workspace& work, double dt) {
    const Actuation& a = work.actuation;
    const VecX &h = work.dynamics.h(), &D = model.joints.damping, &K = model.joints.stiffness;
    if (springs_) spring_deflection(model, state.q, deflection_);
    for (int k = 0; k < model.nv; ++k) {
      const StepRows::Drive drive = rows_.drive(a, k, dt);
      extra_[k] = dt * (D[k] + drive.gain + dt * K[k]);
      v_free_[k] = dt * (drive.torque + a.external[k] - h[k] - K[k] * deflection_[k]) - extra_[k] * state.v[k];
    }
    work.dynamics.factor(extra_);
    for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) work.dynamics.solve_in_place(t, v_free_.data());
    v_free_ += state.v;  // (rigid.1)
  }

  void solve_contacts(const Model& model, const State& state, Workspace& work, double dt, StepReport& report) {
    const auto contacts = work.collision.contacts();
    work.assembly.group(contacts, rows_.rows());
    work.contacts.resize(contacts.size());
    report.islands = work.assembly.islands();
    report.contacts = static_cast<int>(contacts.size());
    report.solve = {};
    report.laws = {};
    report.status = StepStatus::Ok;
    report.closed = 0;
    contact_work_ = constraint_work_ = given_work_ = 0;
    v_new_ = v_free_;
    for (int i = 0; i < work.assembly.islands(); ++i)
      if (!move_as_told(model, work, work.assembly.island(i), dt))
        solve_island(model, state, work, work.assembly.island(i), dt, report);
  }

  // A tree that nothing touches, with a target at every joint, has its answer without a solve:
  //   v' = target,  dt tau = (M + extra) (target - v_f)                                                     (rigid.11)
  // False where that is not so, or a torque would be beyond its limits.
  bool move_as_told(const Model& model, const Workspace& work, const Island& island, double dt) {
    if (!island.contacts.empty() || island.trees.size() != 1 || options_.on_problem) return false;
    const Tree& tree = model.trees[at(island.trees[0])];
    if (static_cast<int>(island.rows.size()) != tree.nv) return false;
    for (int j : island.rows) {
      const Row& row = rows_[j];
      if (row.kind != Row::Kind::Target) return false;
      mid_[row.dof] = work.actuation.target[row.dof] - v_free_[row.dof];
    }
    work.dynamics.multiply(island.trees[0], mid_.data(), momentum_.data());
    for (int j : island.rows) {
      const int k = rows_[j].dof;
      momentum_[k] = (momentum_[k] + extra_[k] * mid_[k]) / dt;
      if (momentum_[k] < rows_[j].lower || momentum_[k] > rows_[j].upper) return false;
    }
    for (int j : island.rows) {
      rows_.forces()[j] = momentum_[rows_[j].dof];
      v_new_[rows_[j].dof] = work.actuation.target[rows_[j].dof];
    }
    return true;
  }

  void solve_island(const Model& model, const State& state, Workspace& work, const Island& island, double dt,
                    StepReport& report) {
    const auto contacts = work.collision.contacts();
    work.assembly.build(island, contacts, rows_.rows(), work.dynamics, state.v, v_free_, need_dense_, problem_, before_,
                        free_);
    f_.resize(problem_.size());
    for (int i = 0; i < problem_.nc(); ++i) set_contact(model, state, contacts[at(island.contacts[at(i)])], i, dt);
    c_.resize(problem_.size());
    if (problem_.nr() > 0) problem_.diagonal(c_.data());
    for (int j = 0; j < problem_.nr(); ++j) {
      const Row& row = rows_[island.rows[at(j)]];
      const int o = 3 * problem_.nc() + j;
      problem_.g()[o] = free_[o] / dt + row.bias;
      problem_.R()[o] =
          row.kind == Row::Kind::Target ? options_.target_compliance * c_[o] : row.compliance;  // (rigid.10)
      problem_.lower()[j] = row.lower;
      problem_.upper()[j] = row.upper;
      const ContactMemory* memory = options_.warm_start ? recall(state, StepRows::id(row, contacts)) : nullptr;
      const double last = memory ? memory->f.x() : 0.0;
      f_[o] = row.contact >= 0 ? last : std::clamp(last, row.lower, row.upper);
    }
    soften_closures(island);
    const bool follows = rolling_.begin(island, rows_.rows(), before_.data(), dt, problem_, f_.data());
    if (options_.on_problem) options_.on_problem(problem_, f_.data());
    SolveReport solve = solver_->solve(problem_, options_.tolerance, f_.map());
    if (follows)
      rolling_.settle(island, rows_.rows(), {*solver_, options_.tolerance, contact_model_, facets_}, problem_, f_.map(),
                      solve);
    const bool worse = solve.residual.relative() > report.solve.residual.relative() || report.solve.iterations == 0;
    const int iterations = report.solve.iterations + solve.iterations;
    const bool escalated = report.solve.escalated || solve.escalated;
    if (worse) report.solve = solve;
    report.solve.iterations = iterations;
    report.solve.escalated = escalated;
    if (solve.status == SolveStatus::Infeasible)
      report.status = StepStatus::Infeasible;
    else if (solve.status != SolveStatus::Converged && report.status == StepStatus::Ok)
      report.status = StepStatus::Unconverged;
    c_.resize(problem_.size());
    problem_.velocity(f_.data(), c_.data());
    report_island(model, work, island, dt, solve.residual, report);
    work.assembly.apply<1>(island, work.dynamics, problem_, {{{f_.data(), dt, &v_new_}}}, zero_);
  }

  void soften_closures(const Island& island) {
    if (closures_.empty()) return;
    c_.resize(problem_.size());
    problem_.diagonal(c_.data());
    const int first = 3 * problem_.nc();
    for (int j = 0; j < problem_.nr();) {
      const int element = rows_[island.rows[at(j)]].element;
      int end = j;
      double largest = 0;
      for (; end < problem_.nr() && rows_[island.rows[at(end)]].element == element; ++end)
        largest = std::max(largest, c_[first + end]);
      if (element >= 0) problem_.R().segment(first + j, end - j).setConstant(closure_compliance * largest);
      j = end;
    }
  }

  const ContactMemory* recall(const State& state, std::uint64_t id) const {
    const auto it = std::lower_bound(state.contacts.begin(), state.contacts.end(), id,
                                     [](const ContactMemory& m, std::uint64_t x) { return m.id < x; });
    return it != state.contacts.end() && it->id == id ? &*it : nullptr;
  }

  void set_contact(const Model& model, const State& state, const Contact& contact, int i, double dt) {
    const SurfacePair& surface = model.surface(contact.surface);
    const ContactMemory* memory = recall(state, contact.id);
    const int o = 3 * i;
    auto g = problem_.g();
    for (int k = 0; k < 3; ++k) g[o + k] = free_[o + k] / dt;
    const double gap = contact.gap, speed = before_[o + 2];
    const bool bounces = surface.restitution > 0 && speed < -surface.restitution_speed &&
                         !(memory && memory->touched) && gap + dt * free_[o + 2] < 0;
    impact_.resize(problem_.nc());
    impact_[i] = bounces;
    if (bounces) {
      g[o + 2] += surface.restitution * speed / dt;  // (rigid.3)
    } else if (surface.compliance > 0) {
      g[o + 2] += gap / (dt * dt);  // (rigid.4)
      problem_.R()[o + 2] = surface.compliance / (dt * dt);
    } else {
      g[o + 2] += std::max(gap, 0.0) / (dt * dt);  // (rigid.2)
    }
    problem_.mu()[i] = memory && memory->mode == ContactMode::Slip ? surface.mu_dynamic : surface.mu_static;
    f_.map().segment<3>(o) = memory && options_.warm_start ? memory->f : Vec3::Zero();
  }

  // Reports, laws and work of one island's contacts and rows.
  void report_island(const Model&, Workspace& work, const Island& island, double dt, const Residual& scales,
                     StepReport& report) {
    const auto contacts = work.collision.contacts();
    const double F = scales.force_scale, a = scales.motion_scale;
    for (int i = 0; i < problem_.nc(); ++i) {
      const Contact& contact = contacts[at(island.contacts[at(i)])];
      ContactReport& r = work.contacts[at(island.contacts[at(i)])];
      const int o = 3 * i;
      const Vec3 f = f_.map().segment<3>(o), c = c_.map().segment<3>(o);
      const double mu = problem_.mu()[i], ft = std::sqrt(f.x() * f.x() + f.y() * f.y()),
                   ct = std::sqrt(c.x() * c.x() + c.y() * c.y());
      r = listed_report(contact);
      r.f = f;
      // Velocity at the end of the step: what the solve saw, less what (rigid.2) to (rigid.4) added.
      r.c = dt * (c - problem_.g().segment<3>(o) - problem_.R().segment<3>(o).cwiseProduct(f)) +
            free_.map().segment<3>(o);
      r.cone_margin = mu * f.z() - ft;
      const bool force = f.z() > 0;
      r.mode = !force                                           ? ContactMode::Open
               : impact_[i] != 0                                ? ContactMode::Impact
               : ft >= mu * f.z() * (1 - 1e-9) && ct > 1e-7 * a ? ContactMode::Slip
                                                                : ContactMode::Stick;
      contact_work_ += 0.5 * dt * f.dot(r.c + Vec3(before_.map().segment<3>(o)));
      given_work_ -= dt * (contact.R_WC * f).dot(contact.v_given);
      report.closed += force;
      report.penetration = std::max(report.penetration, -contact.gap);
      if (options_.audit == AuditLevel::Off) continue;
      LawResiduals& laws = report.laws;
      laws.signorini = std::max(laws.signorini, std::abs(std::min(f.z() / F, c.z() / a)));
      laws.coulomb = std::max(laws.coulomb, (ft - mu * std::max(f.z(), 0.0)) / F);
      laws.dissipation =
          std::max(laws.dissipation, std::abs(f.x() * c.x() + f.y() * c.y() + mu * f.z() * ct) / (F * a));
    }
    for (int j = 0; j < problem_.nr(); ++j) {
      const Row& row = rows_[island.rows[at(j)]];
      const int o = 3 * problem_.nc() + j;
      rows_.forces()[island.rows[at(j)]] = f_[o];
      if (row.drives()) continue;
      const double end = dt * (c_[o] - problem_.g()[o] - problem_.R()[o] * f_[o]) + free_[o];
      (row.contact >= 0 ? contact_work_ : constraint_work_) += 0.5 * dt * f_[o] * (before_[o] + end);
      given_work_ -= dt * f_[o] * row.given;
    }
  }

  // Which targets gave way, and by how much.
  void report_targets(Workspace& work, StepReport& report) const {
    work.target_miss.setZero();
    for (int k = 0; k < static_cast<int>(v_new_.size()); ++k) {
      if (!work.actuation.has_target(k)) continue;
      const double miss = v_new_[k] - work.actuation.target[k];
      work.target_miss[k] = miss;
      report.gave_way += std::abs(miss) > 1e-4;
      if (report.worst_target >= 0 && std::abs(miss) <= std::abs(report.target_miss)) continue;
      report.worst_target = k;
      report.target_miss = miss;
    }
  }

  // (rigid.6)
  void recover(const Model& model, Workspace& work, double dt, StepReport& report) {
    recovery_v_.setZero();
    if (options_.recovery_time <= 0) return;
    const double share = 1 - std::exp(-dt / options_.recovery_time);
    const auto contacts = work.collision.contacts();
    for (int i = 0; i < work.assembly.islands(); ++i) {
      const Island& island = work.assembly.island(i);
      bool overlaps = false;
      for (int k : island.contacts)
        overlaps |= wanted_gap(model, contacts[at(k)], work.contacts[at(k)], dt) < -overlap_slop;
      for (int j : island.rows) overlaps |= beyond(rows_[j], dt) < -overlap_slop;
      if (!overlaps) continue;
      work.assembly.build(island, contacts, rows_.rows(), work.dynamics, zero_, zero_, false, problem_, before_, free_);
      f_.setZero(problem_.size());
      problem_.mu().setZero();
      problem_.g().setZero();
      c_.resize(problem_.size());
      problem_.diagonal(c_.data());
      for (int k = 0; k < problem_.nc(); ++k) {
        const int n = 3 * k + 2;
        const double gap =
            wanted_gap(model, contacts[at(island.contacts[at(k)])], work.contacts[at(island.contacts[at(k)])], dt);
        problem_.g()[n] = (gap < 0 ? share * std::min(gap + overlap_slop, 0.0) : gap) / (dt * dt);
        problem_.R()[n] = recovery_compliance * c_[n];
      }
      for (int j = 0; j < problem_.nr(); ++j) set_recovery_row(rows_[island.rows[at(j)]], j, share, dt);
      recovery_->solve(problem_, Tolerance{0, 1e-6}, f_.map());
      problem_.velocity(f_.data(), c_.data());
      for (int k = 0; k < problem_.nc(); ++k) {
        const int n = 3 * k + 2;
        const double moved = c_[n] - problem_.g()[n] - problem_.R()[n] * f_[n];
        const bool deep = problem_.g()[n] * dt * dt < -share * wedge_overlap;
        if (deep && moved < -0.5 * problem_.g()[n] && report.status == StepStatus::Ok)
          report.status = StepStatus::Wedged;
      }
      work.assembly.apply<1>(island, work.dynamics, problem_, {{{f_.data(), dt, &recovery_v_}}}, zero_);
    }
  }

  // Limits are opened as contacts are, equality constraints hold, and nothing else stands in the way.
  void set_recovery_row(const Row& row, int j, double share, double dt) {
    const bool limit = row.kind == Row::Kind::Limit;
    const int o = 3 * problem_.nc() + j;
    problem_.lower()[j] = row.closes() ? row.lower : 0;
    problem_.upper()[j] = limit || row.closes() ? row.upper : 0;
    if (!limit && !row.closes()) return;
    const double gap = limit ? beyond(row, dt) : 0;
    problem_.g()[o] = (gap < 0 ? share * std::min(gap + overlap_slop, 0.0) : gap) / (dt * dt);
    problem_.R()[o] = (limit ? recovery_compliance : closure_compliance) * std::max(c_[o], 1e-300);
  }

  // Distance of a joint to its limit at the end of the step, negative beyond it; infinite for other rows.
  double beyond(const Row& row, double dt) const {
    if (row.kind != Row::Kind::Limit) return std::numeric_limits<double>::infinity();
    return row.error + dt * row.sign * v_new_[row.dof];
  }

  // Gap at the end of the step as the velocities have it; compliant surfaces keep theirs.
  static double wanted_gap(const Model& model, const Contact& contact, const ContactReport& r, double dt) {
    if (model.surface(contact.surface).compliance > 0) return 0;
    return contact.gap + dt * r.c.z();
  }

  // Writes the state, or leaves it and says so.
  void commit(const Model& model, State& state, Workspace& work, double dt, StepReport& report) {
    flight_.begin(model, work);
    motion_ = v_new_ + recovery_v_;
    if (midpoint_) midpoint_->moves(model, motion_);
    q_new_ = state.q;
    integrate(model, motion_, dt, q_new_);
    Closures::Report closed;
    turned_ = v_new_;
    turn_velocity(model, motion_, dt, turned_);
    if (!closures_.empty()) {
      closed = closures_.project(model, state.t + dt, q_new_, turned_);
      if (!(closed.error < open_closure) && report.status == StepStatus::Ok) report.status = StepStatus::Wedged;
    }
    if (!q_new_.allFinite() || !v_new_.allFinite()) {
      report.status = StepStatus::NotFinite;
      report.t = state.t;
      return;
    }
    const bool ledger = options_.audit == AuditLevel::Full;
    if (ledger) charge(model, state, work, dt, closed.potential, report.energy);
    work.torque = torque_;
    state.q.swap(q_new_);
    state.v.swap(turned_);
    state.t += dt;
    ++state.step;
    state.contacts.resize(work.contacts.size() + rows_.size());
    for (std::size_t i = 0; i < work.contacts.size(); ++i) {
      const ContactReport& r = work.contacts[i];
      ContactMemory& m = state.contacts[i];
      m.id = r.id;
      m.f = r.f;
      m.t1 = r.R_WC.col(0);
      m.mode = r.mode;
      m.touched = r.mode != ContactMode::Open;
    }
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      ContactMemory& m = state.contacts[work.contacts.size() + j];
      m = {};
      m.id = StepRows::id(rows_.rows()[j], work.collision.contacts());
      m.f.x() = rows_.forces()[static_cast<Eigen::Index>(j)];
    }
    std::sort(state.contacts.begin() + static_cast<std::ptrdiff_t>(work.contacts.size()), state.contacts.end(),
              [](const ContactMemory& a, const ContactMemory& b) { return a.id < b.id; });
    work.current = false;
    report.t = state.t;
    flight_.end(model, state, work, dt);
    if (!ledger) return;
    work.update(state);  // the next step needs it anyway
    report.energy.kinetic = work.dynamics.kinetic();
    report.energy.potential = work.dynamics.potential();
    report.energy.elastic = elastic(model, state, work);
    report.energy.integrator += report.energy.kinetic + report.energy.potential + report.energy.elastic;
  }

  // The step's work, line by line. With v_m = (v + v') / 2 the kinetic energy at frozen q changes by v_m . M (v' - v),
  // so each force's work is v_m . force dt. What the scheme itself adds is what moving q and turning v left over:
  //   W_int = T(q+, v+) - T(q, v') + V(q+) - V(q) - dt v_m . h - W_recovery                             (rigid.8)
  // V with the springs, h with their torque. The part at q+ is added by commit.
  void charge(const Model& model, const State& state, const Workspace& work, double dt, double closing,
              EnergyLines& lines) {
    lines = {};
    mid_ = 0.5 * (state.v + v_new_);
    lines.actuators = dt * mid_.dot(torque_);
    lines.damping = -dt * mid_.dot(model.joints.damping.cwiseProduct(v_new_));
    lines.external = dt * mid_.dot(work.actuation.external) + given_work_;
    lines.recovery = dt * recovery_v_.dot(work.dynamics.gravity_force()) + closing;
    lines.contacts = contact_work_;
    lines.constraints = constraint_work_;
    for (int t = 0; t < static_cast<int>(model.trees.size()); ++t)
      work.dynamics.multiply(t, v_new_.data(), momentum_.data());
    lines.integrator =
        -0.5 * v_new_.dot(momentum_) - work.dynamics.potential() - dt * mid_.dot(work.dynamics.h()) - lines.recovery;
    if (midpoint_) lines.integrator += midpoint_->charge(model, state, work, dt, v_new_);
    if (!springs_) return;
    lines.integrator -= spring_energy(model, deflection_) +
                        dt * mid_.dot(model.joints.stiffness.cwiseProduct(deflection_ + dt * v_new_));
  }

  StepperOptions options_;
  std::unique_ptr<ContactSolver> solver_, recovery_;
  std::unique_ptr<Midpoint> midpoint_;
  ContactProblem problem_;
  VectorBuffer before_, free_, f_, c_, impact_;
  RollingFriction rolling_;
  VecX v_free_, v_new_, recovery_v_, zero_, extra_, torque_, motion_, q_new_, mid_, momentum_, turned_, deflection_;
  bool need_dense_ = false;
  StepRows rows_;
  Closures closures_;
  ContactModel contact_model_ = ContactModel::Ncp;
  int facets_ = 4;
  bool springs_ = false;
  Flight flight_;
  double contact_work_ = 0, constraint_work_ = 0, given_work_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> make_rigid(const Model& model, const StepperOptions& options) {
  return std::make_unique<Rigid>(model, options);
}

}  // namespace tribo
