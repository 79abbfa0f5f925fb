// The rigid stepper: semi-implicit Euler on velocities and contact impulses.
//
//   (M + dt (D + kd) + dt^2 (kp + k)) (v_f - v)
//       = dt (tau + kp (e - dt v) + kd (v_ref - v) - D v - k (s + dt v) + f_ext - b)                       (rigid.1)
// with k the stiffness of joint springs and s their deflection. The bias b is that of the velocity it leads to itself,
//   b = h(q, v - dt/2 M^-1 (b - h(q, 0)))                    by fixed point, up to two passes              (rigid.12)
// For a single body it is the gyroscopic moment of (gyroscope.1), which does no work, and its weight.
//   c = J v' / dt = G f + g,  g = J v_f / dt  and, on the normal rows,
//       g_N += max(phi, 0) / dt^2                     no force before the gap closes                       (rigid.2)
//       g_N -= c' / dt                                at an impact: c' = -e (J v)_N, or by impacts.hpp     (rigid.3)
//       g_N += phi / dt^2, R_N = compliance / dt^2    instead, where the surface is compliant              (rigid.4)
//   v' = v_f + M^-1 J^T f dt,  q+ = q moved along v' + d over dt                                           (rigid.5)
// d removes overlap on positions and never enters v: the smallest motion (in M) that opens each closed contact by the
// share 1 - exp(-dt / recovery_time) of its overlap, a frictionless problem of the same form, with a little compliance
// so that it has a solution between opposed walls                                                          (rigid.6)
// Trees that nothing acts on take the step as flight.hpp has it: of second order.
// Joint limits, dry friction and velocity targets are rows of the problem; a drive at its effort limit becomes one, and
// the step is solved again: its torque is then exactly within the limits                                   (rigid.7)
// Dry friction has no row where what it does can be guessed (joint_friction.hpp).
// Equality constraints are rows without bounds. Redundant ones leave G singular, so they have a compliance of 1e-10 of
// the diagonal of G. Their positions are corrected after the step (closures.hpp). Kinematic bodies enter as the velocity
// that takes them from t to t + dt: what they touch goes with them.
// Velocity targets have priority below the laws of contact: the row of joint k has the compliance eps G_kk, so a step
// always has a solution where the contacts alone have one. Where they or the limits of torque oppose the targets, what
// is left of them is least in the norm sum (v'_k - target_k)^2 / (eps dt G_kk), beside the motion itself (rigid.10)
#include <algorithm>
#include <cmath>

#include "stepping/contact_report.hpp"
#include "stepping/rigid/closures.hpp"
#include "stepping/rigid/flight.hpp"
#include "stepping/rigid/impacts.hpp"
#include "stepping/rigid/recovery.hpp"
#include "stepping/rigid/rigid_view.hpp"
#include "stepping/rigid/rolling.hpp"
#include "stepping/rigid/rows.hpp"
#include "stepping/rigid/springs.hpp"
#include "stepping/steppers.hpp"
#include "tribo/rigid.hpp"
#include "tribo/step.hpp"

namespace tribo {
namespace {

constexpr double slow_turn = 1e-4;     // a tree that turns less in a step has its bias taken at the start [rad]
constexpr double settled_turn = 1e-6;  // a pass of the bias that changes less of the kinetic energy is the last
constexpr double still = 1e-8;  // of the accelerations of the problem: a joint that friction holds moves by rounding
constexpr double carried_share = 1e-6;  // of the weight of an island: a contact with more force carried in that step
constexpr double shared_impact = 2;     // IslandSolution::impact of a contact whose speed impacts.hpp found
constexpr double open_closure = 1e-6;   // error of an equality that its correction leaves is flagged [m] or [rad]

class Rigid final : public Scheme, public RigidView {
 public:
  Rigid(const Model& model, const StepperOptions& options)
      : model_(model),
        contact_(options.contact),
        own_(options.own.taken<RigidOptions>("stepper 'rigid'")),
        recovery_(model, options.contact),
        rows_(model),
        closures_(model),
        flight_(model, own_.smooth == SmoothScheme::Midpoint),
        impacts_(model) {
    SolverOptions solver;
    solver.model = contact_model_ = contact_model_from(contact_.model);
    springs_ = !model.joints.stiffness.isZero(0);
    solver.max_iterations = contact_.max_iterations;
    solver.own = contact_.solver_options;
    solver_ = own_.make_solver ? own_.make_solver() : make_contact_solver(contact_.solver, solver);
    need_dense_ = own_.make_solver || contact_solver_entry(contact_.solver).dense;
    takes_discs_ = !own_.make_solver && contact_solver_entry(contact_.solver).discs;
    facets_ = solver_->facets();
    for (VecX* x : {&v_free_, &zero_, &extra_, &deflection_, &change_, &rate_, &force_, &bias_, &middle_})
      x->setZero(model.nv);
    motion_ = Dynamics(model).make_motion();
    turned_.assign(model.trees.size(), 0);
    passes_.assign(model.trees.size(), 0);
  }

  const StepRows& rows() const override { return rows_; }
  const Flight& flight() const override { return flight_; }
  const VecX& extra() const override { return extra_; }
  int bias_passes(int tree) const override { return passes_[at(tree)]; }

  void solve(const Start& start, Outcome& out) override {
    rows_.begin(start.state);
    for (int pass = 0;; ++pass) {
      rows_.list(start, contact_.margin);
      start.assembly.group(start.contacts, rows_.rows());
      flight_.begin(start, rows_);
      free_motion(start);
      solve_contacts(start, out);
      const bool wrong = rows_.friction().wrong(start.dt, out.status != StepStatus::Ok, out.v_end);
      if (!(rows_.torques(start.actuation, out.v_end, out.torque) && pass < 4) && !wrong) break;
    }
    rows_.hold_joints(still * start.dt * out.solve.residual.motion_scale, out.v_end);
    constraint_work_ += rows_.friction().work(start.dt, start.state.v, out.v_end);
    StepRows::miss_targets(start, out);
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
      m.touched = r.mode != ContactMode::Open;
    }
    std::vector<RowMemory>& rows = out.memory.rows;
    rows.resize(rows_.size());
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const Row& row = rows_.rows()[j];
      rows[j] = {StepRows::id(row, start.contacts), rows_.forces()[static_cast<Eigen::Index>(j)],
                 row.kind == Row::Kind::Friction ? rows_.friction().patience(row.dof) : 0};
    }
    std::sort(rows.begin(), rows.end(), [](const RowMemory& a, const RowMemory& b) { return a.id < b.id; });
  }

  void correct(const Start& start, Outcome& out, VecX& q, VecX& v) override {
    closing_ = 0;
    if (!closures_.empty()) {
      const Closures::Report closed = closures_.project(start.model, start.state.t + start.dt, q, v);
      closing_ = closed.potential;
      if (!(closed.error < open_closure) && out.status == StepStatus::Ok) out.status = StepStatus::Wedged;
    }
    for (int t = 0; t < static_cast<int>(turned_.size()); ++t)
      if (!flight_.flies(t) && turned_[at(t)] > 0) flight_.watch(t, turned_[at(t)], motion_of(start, out.v_end, t));
    out.unresolved = flight_.arrive(start, q, v);
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
      work.motion += motion_of(start, out.v_end, t);
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

  Elastic stored(const State& state) override {
    if (!springs_) return {};
    spring_deflection(model_, state.q, deflection_);
    return {0, spring_energy(model_, deflection_)};
  }

 private:
  // Held joints may move to make room: that is not a motion that their friction is asked for.
  void recover(const Start& start, Outcome& out) {
    if (rows_.friction().any_held() && recovery_.needed(start, rows_.rows(), out)) {
      for (int k = 0; k < start.model.nv; ++k)
        if (rows_.friction().damping(k) > 0) extra_[k] = implicit(start, k);
      start.dynamics.factor(extra_);
    }
    recovery_.solve(start, rows_.rows(), out);
  }

  // What of (rigid.1) stands beside M.
  double implicit(const Start& start, int k) const {
    const JointProperties& p = start.model.joints;
    return start.dt * (p.damping[k] + rows_.drive(k).gain + start.dt * p.stiffness[k]);
  }

  void free_motion(const Start& start) {
    const Model& model = start.model;
    const double dt = start.dt;
    const VecX &K = model.joints.stiffness, &v = start.state.v;
    const JointFriction& friction = rows_.friction();
    if (springs_) spring_deflection(model, start.state.q, deflection_);
    bias_ = start.dynamics.h();
    v_free_ = v;
    for (int t = 0; t < static_cast<int>(model.trees.size()); ++t) {
      turned_[at(t)] = 0;
      passes_[at(t)] = 0;
      if (flight_.alone(t)) continue;
      const Tree& tree = model.trees[at(t)];
      for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
        extra_[k] = implicit(start, k) + friction.damping(k);
        force_[k] =
            dt * (rows_.drive(k).torque + friction.torque(k) + start.actuation.external[k] - K[k] * deflection_[k]);
        if (!friction.held(k)) force_[k] -= extra_[k] * v[k];
      }
      start.dynamics.factor(t, extra_);
      if (flight_.gyroscope(t)) flight_.turn_in_place(start, t, bias_);
      move_freely(start, t);
      if (tree.bodies > 1) turn_on_the_way(start, t);
    }
  }

  void move_freely(const Start& start, int t) {
    const Tree& tree = start.model.trees[at(t)];
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) v_free_[k] = force_[k] - start.dt * bias_[k];
    start.dynamics.solve_in_place(t, v_free_.data());
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
      if (!rows_.friction().held(k)) v_free_[k] += start.state.v[k];  // (rigid.1)
  }

  // The bias at the velocity that it leads to itself (rigid.12). Given velocities cannot run away: not for targets.
  void turn_on_the_way(const Start& start, int t) {
    const Tree& tree = start.model.trees[at(t)];
    const VecX &v = start.state.v, &gravity = start.dynamics.gravity_force();
    double fastest = 0;  // the speed of a base does not enter the bias
    const int first = start.model.bodies[at(tree.first_body)].joint == JointKind::Free ? 3 : 0;
    for (int k = tree.iv + first; k < tree.iv + tree.nv; ++k) {
      fastest = std::max(fastest, std::abs(v[k]));
      if (start.actuation.has_target(k)) return;
    }
    if (start.dt * fastest < slow_turn) return;
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = tree.iv; k < tree.iv + tree.nv; ++k) middle_[k] = -0.5 * start.dt * (bias_[k] - gravity[k]);
      start.dynamics.solve_in_place(t, middle_.data());
      for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
        middle_[k] += v[k];
        change_[k] = v_free_[k];
        rate_[k] = bias_[k];
      }
      start.dynamics.bias(t, middle_, motion_);
      bias_.segment(tree.iv, tree.nv) = motion_.h.segment(tree.iv, tree.nv);
      move_freely(start, t);
      ++passes_[at(t)];
      double change = 0;
      for (int k = tree.iv; k < tree.iv + tree.nv; ++k) change += (bias_[k] - rate_[k]) * (v_free_[k] - change_[k]);
      change = std::abs(start.dt * change) / flight_.twice_kinetic(start, t, v_free_);
      if (pass == 0) turned_[at(t)] = change;
      if (change < settled_turn) break;
    }
  }

  // v_m . (dt b + M dv) of a tree, with its springs (rigid.8).
  double motion_of(const Start& start, const VecX& v_end, int t) {
    const Tree& tree = start.model.trees[at(t)];
    const VecX& v = start.state.v;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) change_[k] = v_end[k] - v[k];
    start.dynamics.multiply(t, change_.data(), rate_.data());
    double sum = 0;
    for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
      double force = start.dt * bias_[k] + rate_[k];
      if (springs_) force += start.dt * start.model.joints.stiffness[k] * (deflection_[k] + start.dt * v_end[k]);
      sum += 0.5 * (v[k] + v_end[k]) * force;
    }
    return sum;
  }

  void solve_contacts(const Start& start, Outcome& out) {
    out.contacts.resize(start.contacts.size());
    out.islands.clear();
    out.island_count = start.assembly.islands();
    out.solve = {};
    out.status = StepStatus::Ok;
    contact_work_ = constraint_work_ = given_work_ = 0;
    out.v_end = v_free_;
    for (int i = 0; i < start.assembly.islands(); ++i) {
      const Island& island = start.assembly.island(i);
      if (!move_as_told(start, island, out.v_end)) solve_island(start, island, out);
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
      if (row.kind != Row::Kind::Target) return false;
      change_[row.dof] = start.actuation.target[row.dof] - v_free_[row.dof];
    }
    start.dynamics.multiply(island.trees[0], change_.data(), rate_.data());
    for (int j : island.rows) {
      const int k = rows_[j].dof;
      rate_[k] = (rate_[k] + extra_[k] * change_[k]) / start.dt;
      if (rate_[k] < rows_[j].lower || rate_[k] > rows_[j].upper) return false;
    }
    for (int j : island.rows) {
      rows_.forces()[j] = rate_[rows_[j].dof];
      v_end[rows_[j].dof] = start.actuation.target[rows_[j].dof];
    }
    return true;
  }

  void solve_island(const Start& start, const Island& island, Outcome& out) {
    IslandSolution& s = out.islands.next();
    s.island = &island;
    start.assembly.build(island, start.contacts, rows_.rows(), start.dynamics, start.state.v, v_free_, need_dense_,
                         s.problem, s.before, s.free);
    s.f.resize(s.problem.size());
    s.c.resize(s.problem.size());
    s.impact.resize(s.problem.nc());
    bool bounces = false;
    for (int i = 0; i < s.problem.nc(); ++i) bounces |= set_contact(start, i, s);
    if (bounces) share_impact(start, s);
    if (s.problem.nr() > 0) set_rows(start, s);
    list_discs(island, rows_.rows(), s.problem);
    if (own_.on_problem) own_.on_problem(s.problem, s.f.data());
    if (s.problem.discs.empty() || takes_discs_)
      s.solve = solver_->solve(s.problem, contact_.tolerance, s.f.map());
    else
      s.solve = rolling_.solve({*solver_, contact_.tolerance, contact_model_, facets_}, s.before.data(), start.dt,
                               s.problem, s.f.map());
    add_solve(s.solve, out);
    s.problem.velocity(s.f.data(), s.c.data());
    report_contacts(start, s, out);
    take_rows(start, s);
    start.assembly.apply<1>(island, start.dynamics, s.problem, {{{s.f.data(), start.dt, &out.v_end}}}, zero_);
  }

  // Contacts and rows are asked for in about the order in which they are remembered: the next one first.
  template <class Remembered>
  static const Remembered* recall(const std::vector<Remembered>& memory, std::uint64_t id, std::size_t& next) {
    if (next >= memory.size() || memory[next].id != id)
      next = static_cast<std::size_t>(std::lower_bound(memory.begin(), memory.end(), id,
                                                       [](const Remembered& m, std::uint64_t x) { return m.id < x; }) -
                                      memory.begin());
    return next < memory.size() && memory[next].id == id ? &memory[next++] : nullptr;
  }

  // True where it bounces.
  bool set_contact(const Start& start, int i, IslandSolution& s) {
    const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
    const SurfacePair& surface = start.model.surface(contact.surface);
    const ContactMemory* memory = recall(start.state.memory.contacts, contact.id, next_contact_);
    const double dt = start.dt;
    const int o = 3 * i;
    auto g = s.problem.g();
    for (int k = 0; k < 3; ++k) g[o + k] = s.free[o + k] / dt;
    const double gap = contact.gap, speed = s.before[o + 2];
    const bool bounces = surface.restitution > 0 && speed < -surface.restitution_speed &&
                         !(memory && memory->touched) && gap + dt * s.free[o + 2] < 0;
    s.impact[i] = bounces;
    if (bounces) {
      g[o + 2] += surface.restitution * speed / dt;  // (rigid.3)
    } else if (surface.compliance > 0) {
      g[o + 2] += gap / (dt * dt);  // (rigid.4)
      s.problem.R()[o + 2] = surface.compliance / (dt * dt);
    } else {
      // A gap within rounding under a contact that carries is none: else it takes all load off it for a step.
      const bool carries = memory && memory->f.z() > carried_share * s.problem.weight && gap < touching_gap;
      g[o + 2] += carries ? 0 : std::max(gap, 0.0) / (dt * dt);  // (rigid.2)
    }
    s.problem.mu()[i] = memory && memory->mode == ContactMode::Slip ? surface.mu_dynamic : surface.mu_static;
    s.f.map().segment<3>(o) = memory && contact_.warm_start ? memory->f : Vec3::Zero();
    return bounces;
  }

  // Where an impact sends bodies against others within the step, or another law than Newton's is asked for.
  void share_impact(const Start& start, IslandSolution& s) {
    const int nc = s.problem.nc();
    if (nc > Impacts::most_contacts) return;
    impacts_.pairs().resize(at(nc));
    for (int i = 0; i < nc; ++i) {
      const Contact& contact = start.contacts[at(s.island->contacts[at(i)])];
      const SurfacePair& surface = start.model.surface(contact.surface);
      impacts_.pairs()[at(i)] = {contact.gap, surface.restitution, surface.restitution_speed, s.impact[i] != 0};
    }
    if (!impacts_.find(own_.impact, s.problem, s.before.data(), start.dt)) return;
    for (int i = 0; i < nc; ++i) {
      const double target = impacts_.target(i);
      if (std::isnan(target)) continue;
      s.impact[i] = shared_impact;
      s.problem.g()[3 * i + 2] = (s.free[3 * i + 2] - target) / start.dt;  // (rigid.3)
    }
  }

  void set_rows(const Start& start, IslandSolution& s) {
    ContactProblem& problem = s.problem;
    diagonal_.resize(problem.size());
    problem.diagonal(diagonal_.data());
    for (int j = 0; j < problem.nr(); ++j) {
      const Row& row = rows_[s.island->rows[at(j)]];
      const int o = 3 * problem.nc() + j;
      problem.g()[o] = s.free[o] / start.dt + row.bias;
      problem.R()[o] =
          row.kind == Row::Kind::Target ? own_.target_compliance * diagonal_[o] : row.compliance;  // (rigid.10)
      problem.lower()[j] = row.lower;
      problem.upper()[j] = row.upper;
      const RowMemory* memory =
          contact_.warm_start ? recall(start.state.memory.rows, StepRows::id(row, start.contacts), next_row_) : nullptr;
      const double last = memory ? memory->f : 0.0;
      s.f[o] = row.contact >= 0 ? last : std::clamp(last, row.lower, row.upper);
    }
    if (!closures_.empty()) soften_closures(s);
  }

  void soften_closures(IslandSolution& s) const {
    ContactProblem& problem = s.problem;
    const int first = 3 * problem.nc();
    for (int j = 0; j < problem.nr();) {
      const int element = rows_[s.island->rows[at(j)]].element;
      int end = j;
      double largest = 0;
      for (; end < problem.nr() && rows_[s.island->rows[at(end)]].element == element; ++end)
        largest = std::max(largest, diagonal_[first + end]);
      if (element >= 0) problem.R().segment(first + j, end - j).setConstant(closure_compliance * largest);
      j = end;
    }
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
      const ContactMode mode = !(f.z() > 0)       ? ContactMode::Open
                               : s.impact[i] != 0 ? ContactMode::Impact
                               : ft >= mu * f.z() * (1 - 1e-9) && ct > 1e-7 * s.solve.residual.motion_scale
                                   ? ContactMode::Slip
                                   : ContactMode::Stick;
      // Velocity at the end of the step: what the solve saw, less what (rigid.2) to (rigid.4) added.
      const Vec3 end =
          dt * (c - problem.g().segment<3>(o) - problem.R().segment<3>(o).cwiseProduct(f)) + s.free.map().segment<3>(o);
      add_action(f, came, end, mode, mu, r);
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
      (row.contact >= 0 ? contact_work_ : constraint_work_) += 0.5 * dt * f * (s.before[o] + end);
      given_work_ -= dt * f * row.given;
    }
  }

  const Model& model_;
  ContactOptions contact_;
  RigidOptions own_;
  std::unique_ptr<ContactSolver> solver_;
  Recovery recovery_;
  RollingRounds rolling_;
  VecX v_free_, zero_, extra_, change_, rate_, deflection_, force_, bias_, middle_;
  TreeMotion motion_;
  std::vector<int> passes_;     // by tree: of (rigid.12)
  std::vector<double> turned_;  // by tree: what the first pass of (rigid.12) changed
  bool need_dense_ = false, takes_discs_ = false, springs_ = false;
  StepRows rows_;
  Closures closures_;
  ContactModel contact_model_ = ContactModel::Ncp;
  int facets_ = 4;
  Flight flight_;
  Impacts impacts_;
  VectorBuffer diagonal_;                        // of G of the island
  std::size_t next_contact_ = 0, next_row_ = 0;  // in the memory of the state
  double contact_work_ = 0, constraint_work_ = 0, given_work_ = 0, closing_ = 0;
};

}  // namespace

OptionTable rigid_options() {
  FieldTable<RigidOptions> table;
  table.add("smooth", &RigidOptions::smooth, {{"euler", SmoothScheme::Euler}, {"midpoint", SmoothScheme::Midpoint}},
            "single free bodies that nothing acts on: semi-implicit Euler, or order two (other trees always)");
  table.add("impact", &RigidOptions::impact,
            {{"newton", ImpactLaw::Newton}, {"poisson", ImpactLaw::Poisson}, {"sequential", ImpactLaw::Sequential}},
            "law of restitution where several contacts share an impact");
  table.add("target_compliance", &RigidOptions::target_compliance, at_least(0), "",
            "what velocity targets give way by where contacts or limits of torque oppose them, over the diagonal of G");
  return table;
}

std::unique_ptr<Scheme> make_rigid(const Model& model, const StepperOptions& options) {
  return std::make_unique<Rigid>(model, options);
}

}  // namespace tribo
