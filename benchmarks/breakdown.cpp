#include "breakdown.hpp"

#include <algorithm>
#include <limits>

#include "dynamics/chart.hpp"
#include "stepping/workspace.hpp"
#include "timing.hpp"

namespace tribo::bench {
namespace {

// The order and the arithmetic of src/stepping/rigid/rigid.cpp for hard contacts without impacts and drives within limits.
class Pieces {
 public:
  Pieces(const Scene& scene, const State& state, const StepperOptions& options)
      : model_(*scene.model), options_(options), dt_(scene.dt), state_(state), work_(model_), chart_(model_) {
    for (const ControllerSpec& spec : scene.controllers) controllers_.push_back(spec.make(model_));
    for (VecX* x : {&extra_, &v_free_, &v_new_, &zero_}) x->setZero(model_.nv);
    SolverOptions solver;
    solver.model = contact_model_from(options.contact.model);
    solver_ = make_contact_solver(options.contact.solver, solver);
  }

  std::vector<Part> run() {
    // In the order of a step: each leaves what the next one needs.
    const std::vector<std::pair<const char*, void (Pieces::*)()>> steps{
        {"dynamics", &Pieces::dynamics}, {"control", &Pieces::control},
        {"collision", &Pieces::collide}, {"factor, free motion", &Pieces::free_motion},
        {"assembly", &Pieces::assemble}, {"solve", &Pieces::solve},
        {"apply", &Pieces::apply},       {"integrate", &Pieces::move},
    };
    dynamics();
    control();
    collide();
    rows();
    std::vector<Part> parts;
    for (const auto& [name, piece] : steps) parts.push_back({name, 1e300});
    for (int round = 0; round < 10; ++round)
      for (std::size_t i = 0; i < steps.size(); ++i)
        parts[i].us = std::min(parts[i].us, 1e6 * least_time([&] { (this->*steps[i].second)(); }, 2));
    return parts;
  }

 private:
  void dynamics() { work_.dynamics.compute(state_.q, state_.v); }

  void control() {
    work_.actuation.resize(model_.nv);
    for (const auto& c : controllers_) c->control(model_, state_, work_.dynamics, {}, work_.actuation);
  }

  void collide() {
    fill_motions(model_, work_.dynamics, state_.t, dt_, work_.motions);
    work_.collision.detect(work_.motions, {options_.contact.margin, dt_}, state_.memory.contacts);
  }

  void free_motion() {
    const Actuation& a = work_.actuation;
    const VecX &h = work_.dynamics.h(), &D = model_.joints.damping;
    for (int k = 0; k < model_.nv; ++k) {
      extra_[k] = dt_ * (D[k] + a.kd[k] + dt_ * a.kp[k]);
      v_free_[k] = dt_ * (a.tau[k] + a.kp[k] * a.error[k] - h[k]) - extra_[k] * state_.v[k];
    }
    work_.dynamics.factor(extra_);
    for (int t = 0; t < static_cast<int>(model_.trees.size()); ++t) work_.dynamics.solve_in_place(t, v_free_.data());
    v_free_ += state_.v;
  }

  void rows() {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const JointProperties& p = model_.joints;
    for (const Body& b : model_.bodies) {
      if (b.joint != JointKind::Revolute && b.joint != JointKind::Prismatic) continue;
      for (double sign : {1.0, -1.0}) {
        const double gap = sign > 0 ? state_.q[b.iq] - p.lower[b.iv] : p.upper[b.iv] - state_.q[b.iq];
        if (gap < options_.contact.margin) rows_.push_back({b.iv, sign, std::max(gap, 0.0) / (dt_ * dt_), 0, 0, inf});
      }
    }
    for (int k = 0; k < model_.nv; ++k)
      if (p.friction[k] > 0) rows_.push_back({k, 1, 0, 0, -p.friction[k], p.friction[k], Row::Kind::Friction});
  }

  struct Solve {
    ContactProblem problem;
    VectorBuffer before, free;
    VecX guess, f;
  };

  void assemble() {
    work_.assembly.group(work_.collision.contacts(), rows_);
    const int n = work_.assembly.islands();
    if (static_cast<int>(solves_.size()) < n) solves_.resize(at(n));
    for (int i = 0; i < n; ++i) {
      Solve& s = solves_[at(i)];
      const Island& island = work_.assembly.island(i);
      work_.assembly.build(island, work_.collision.contacts(), rows_, work_.dynamics, state_.v, v_free_, false,
                           s.problem, s.before, s.free);
      set(island, s);
    }
  }

  // What rigid.cpp adds to the free motion, and the bounds.
  void set(const Island& island, Solve& s) {
    ContactProblem& p = s.problem;
    if (s.guess.size() != p.size()) s.guess.setZero(p.size());
    for (int i = 0; i < p.nc(); ++i) {
      const Contact& contact = work_.collision.contacts()[at(island.contacts[at(i)])];
      for (int k = 0; k < 3; ++k) p.g()[3 * i + k] = s.free[3 * i + k] / dt_;
      p.g()[3 * i + 2] += std::max(contact.gap, 0.0) / (dt_ * dt_);
      const auto memory = std::lower_bound(state_.memory.contacts.begin(), state_.memory.contacts.end(), contact.id,
                                           [](const ContactMemory& m, std::uint64_t id) { return m.id < id; });
      const bool seen = memory != state_.memory.contacts.end() && memory->id == contact.id;
      s.guess.segment<3>(3 * i) = seen ? memory->f : Vec3::Zero();
      p.mu()[i] = model_.surface(contact.surface).mu_static;
    }
    for (int j = 0; j < p.nr(); ++j) {
      const Row& row = rows_[at(island.rows[at(j)])];
      const int o = 3 * p.nc() + j;
      p.g()[o] = s.free[o] / dt_ + row.bias;
      p.lower()[j] = row.lower;
      p.upper()[j] = row.upper;
    }
  }

  void solve() {
    for (Solve& s : solves_) {
      s.f = s.guess;
      solver_->solve(s.problem, options_.contact.tolerance, s.f);
    }
  }

  void move() {
    q_ = state_.q;
    integrate(model_, v_new_, dt_, q_);
    chart_.turn(v_new_, -dt_, v_new_);
  }

  void apply() {
    v_new_ = v_free_;
    for (int i = 0; i < work_.assembly.islands(); ++i)
      work_.assembly.apply<1>(work_.assembly.island(i), work_.dynamics, solves_[at(i)].problem,
                              {{{solves_[at(i)].f.data(), dt_, &v_new_}}}, zero_);
  }

  const Model& model_;
  const StepperOptions& options_;
  double dt_;
  State state_;
  Workspace work_;
  Chart chart_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::unique_ptr<ContactSolver> solver_;
  VecX extra_, v_free_, v_new_, zero_, q_;
  std::vector<Row> rows_;
  std::vector<Solve> solves_;
};

}  // namespace

std::vector<Part> breakdown(const Scene& scene, const State& state, const StepperOptions& options) {
  return Pieces(scene, state, options).run();
}

}  // namespace tribo::bench
