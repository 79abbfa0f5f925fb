#include "breakdown.hpp"

#include <limits>

#include "stepping/workspace.hpp"
#include "timing.hpp"

namespace tribo::bench {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The order and the arithmetic of src/stepping/rigid.cpp for hard contacts without impacts and drives within limits.
class Pieces {
 public:
  Pieces(const Scene& scene, const State& state, const StepperOptions& options)
      : model_(*scene.model), options_(options), dt_(scene.dt), state_(state), work_(model_) {
    for (const ControllerSpec& spec : scene.controllers) controllers_.push_back(make_pd(model_, spec.pd));
    for (VecX* x : {&extra_, &v_free_, &v_new_, &zero_}) x->setZero(model_.nv);
    SolverOptions solver;
    solver.model = contact_model_from(options.contact_model);
    solver_ = make_contact_solver(options.solver, solver);
  }

  std::vector<Part> run() {
    std::vector<Part> parts;
    auto time = [&](const char* name, auto&& f) { parts.push_back({name, 1e6 * least_time(f)}); };
    time("dynamics", [&] { work_.dynamics.compute(state_.q, state_.v); });
    time("control", [&] { control(); });
    time("collision", [&] { collide(); });
    time("factor, free motion", [&] { free_motion(); });
    rows();
    work_.assembly.group(work_.collision.contacts(), rows_);
    prepare();
    time("assembly", [&] { assemble(); });
    time("solve", [&] { solve(); });
    time("apply", [&] { apply(); });
    time("integrate", [&] {
      q_ = state_.q;
      integrate(model_, v_new_, dt_, q_);
      turn_velocity(model_, v_new_, dt_, v_new_);
    });
    return parts;
  }

 private:
  void control() {
    work_.actuation.resize(model_.nv);
    for (const auto& c : controllers_) c->control(model_, state_, work_.dynamics, {}, work_.actuation);
  }

  void collide() {
    fill_motions(model_, work_.dynamics, work_.motions);
    work_.collision.detect(work_.motions, {options_.margin, dt_}, state_.contacts);
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
        if (gap < options_.margin) rows_.push_back({b.iv, sign, std::max(gap, 0.0) / (dt_ * dt_), 0, 0, inf});
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

  void prepare() {
    solves_.resize(at(work_.assembly.islands()));
    assemble();
    for (int i = 0; i < work_.assembly.islands(); ++i) fill(work_.assembly.island(i), solves_[at(i)]);
  }

  void assemble() {
    work_.assembly.group(work_.collision.contacts(), rows_);
    for (int i = 0; i < work_.assembly.islands(); ++i) {
      Solve& s = solves_[at(i)];
      work_.assembly.build(work_.assembly.island(i), work_.collision.contacts(), rows_, work_.dynamics, state_.v,
                           v_free_, s.problem, s.before, s.free);
    }
    for (Solve& s : solves_)
      if (s.guess.size() == s.problem.size()) set(work_.assembly.island(static_cast<int>(&s - solves_.data())), s);
  }

  void fill(const Island& island, Solve& s) {
    s.guess.setZero(s.problem.size());
    for (int i = 0; i < s.problem.nc(); ++i) {
      const Contact& contact = work_.collision.contacts()[at(island.contacts[at(i)])];
      for (const ContactMemory& m : state_.contacts)
        if (m.id == contact.id) s.guess.segment<3>(3 * i) = m.f;
    }
    s.f = s.guess;
    set(island, s);
  }

  // What rigid.cpp adds to the free motion, and the bounds.
  void set(const Island& island, Solve& s) {
    ContactProblem& p = s.problem;
    for (int i = 0; i < p.nc(); ++i) {
      const Contact& contact = work_.collision.contacts()[at(island.contacts[at(i)])];
      for (int k = 0; k < 3; ++k) p.g()[3 * i + k] = s.free[3 * i + k] / dt_;
      p.g()[3 * i + 2] += std::max(contact.gap, 0.0) / (dt_ * dt_);
      p.mu()[i] = model_.surface(contact.material_a, contact.material_b).mu_static;
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
      solver_->solve(s.problem, options_.tolerance, s.f);
    }
  }

  void apply() {
    v_new_ = v_free_;
    for (int i = 0; i < work_.assembly.islands(); ++i)
      work_.assembly.apply(work_.assembly.island(i), work_.dynamics, solves_[at(i)].problem, solves_[at(i)].f.data(),
                           dt_, zero_, v_new_);
  }

  const Model& model_;
  const StepperOptions& options_;
  double dt_;
  State state_;
  Workspace work_;
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
