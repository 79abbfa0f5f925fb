#include "tribo/batch.hpp"

#include <algorithm>
#include <cmath>

#include "model/names.hpp"
#include "simulation/thread_pool.hpp"

namespace tribo {
namespace {

/// Adds a row of the batch's torques. Zeros are left out, so that they do not change a bit.
class AddedTorque final : public Controller {
 public:
  explicit AddedTorque(const double* row) : row_(row) {}
  void control(const Model& model, const State&, const Dynamics&, std::span<double>, Actuation& a) override {
    for (int k = 0; k < model.nv; ++k)
      if (row_[k] != 0 && model.actuated(k)) a.tau[k] += row_[k];
  }

 private:
  const double* row_;
};

/// A 'pd' whose reference may be moved between steps.
class MovedPd final : public Controller {
 public:
  MovedPd(const Model& model, PdOptions options)
      : model_(model), options_(std::move(options)), pd_(make_pd(model, options_)) {}
  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> memory,
               Actuation& a) override {
    pd_->control(model, state, dynamics, memory, a);
  }
  double period() const override { return pd_->period(); }
  int memory() const override { return pd_->memory(); }
  const PdOptions& options() const { return options_; }
  /// row: (nq of the member).
  void aim(const double* row) {
    const Eigen::Map<const VecX> q_ref(row, options_.q_ref.size());
    if (q_ref == options_.q_ref) return;
    options_.q_ref = q_ref;
    options_.reference = nullptr;  // a target takes the place of a moving reference
    pd_ = make_pd(model_, options_);
  }

 private:
  const Model& model_;
  PdOptions options_;
  std::unique_ptr<Controller> pd_;
};

/// The model with every mass (inertia too) and every coefficient of friction times its factor. It keeps its hash: a
/// state of the scene fits every world.
Model varied(const Model& from, const WorldParameters& p) {
  if (!(p.mass > 0) || !std::isfinite(p.mass))
    throw InvalidInput("factor of mass = " + shown(p.mass) + ", must be finite and > 0");
  if (!(p.friction >= 0) || !std::isfinite(p.friction))
    throw InvalidInput("factor of friction = " + shown(p.friction) + ", must be finite and >= 0");
  Model model = from;
  for (Body& body : model.bodies) {
    body.inertia.mass *= p.mass;
    body.inertia.about_com *= p.mass;
  }
  for (Tree& tree : model.trees) tree.mass *= p.mass;
  for (int i = 0; i < model.surfaces(); ++i) {
    auto& surface = const_cast<SurfacePair&>(model.surface(i));  // of our own copy, which is not constant yet
    surface.mu_static *= p.friction;
    surface.mu_dynamic *= p.friction;
  }
  return model;
}

struct World {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Simulation> simulation;
  std::vector<MovedPd*> controllers;  ///< belong to the simulation
  WorldParameters parameters;
  std::string reason;
};

void check(const WorldParameters& p) {
  if (!(p.gains >= 0) || !std::isfinite(p.gains))
    throw InvalidInput("factor of gains = " + shown(p.gains) + ", must be finite and >= 0");
}

}  // namespace

struct Batch::Impl {
  Impl(const Scene& given, int n, int threads)
      : scene(given), nq(at(given.model->nq)), nv(at(given.model->nv)), worlds(at(n)), pool(threads) {
    for (const Member& member : scene.model->members)
      if (feet.empty()) feet = member.feet;
    q.resize(at(n) * nq);
    v.resize(at(n) * nv);
    t.resize(at(n));
    torque.resize(at(n) * nv);
    torque_in.assign(at(n) * nv, 0.0);
    target.resize(at(n) * nq);
    foot_force.resize(at(n) * feet.size());
    status.assign(at(n), WorldStatus::Running);
    for (int w = 0; w < n; ++w) make(w);
  }

  Scene scene;
  std::size_t nq, nv;
  std::vector<World> worlds;
  std::vector<int> feet;  ///< geometries
  std::vector<double> q, v, t, torque, foot_force, target, torque_in;
  std::vector<WorldStatus> status;
  ThreadPool pool;

  double* target_row(int w) { return target.data() + at(w) * nq; }
  const Member& member(const PdOptions& pd) const { return scene.model->members[at(pd.member)]; }

  // Worlds with the scene's own parameters share its model.
  void make(int w) {
    World& world = worlds[at(w)];
    const WorldParameters& p = world.parameters;
    const bool same = p.mass == 1 && p.friction == 1;
    world.model = same ? scene.model : std::make_shared<const Model>(varied(*scene.model, p));
    world.simulation = std::make_unique<Simulation>(world.model, scene.stepper, scene.stepper_options, scene.dt);
    world.controllers.clear();
    for (const ControllerSpec& spec : scene.controllers) {
      if (!spec.pd) {
        world.simulation->add_controller(spec.make(*world.model));
        continue;
      }
      PdOptions options = *spec.pd;
      options.kp *= p.gains;
      options.kd *= p.gains;
      auto pd = std::make_unique<MovedPd>(*world.model, std::move(options));
      world.controllers.push_back(pd.get());
      world.simulation->add_controller(std::move(pd));
    }
    world.simulation->add_controller(std::make_unique<AddedTorque>(torque_in.data() + at(w) * nv));
    for (const Push& push : scene.pushes) world.simulation->add_push(push);
    restart(w, scene.start);
  }

  void restart(int w, const State& state) {
    World& world = worlds[at(w)];
    world.simulation->set_state(state);
    world.reason.clear();
    status[at(w)] = WorldStatus::Running;
    std::copy_n(scene.start.q.data(), nq, target_row(w));
    for (const ControllerSpec& spec : scene.controllers)
      if (const auto& pd = spec.pd) std::copy_n(pd->q_ref.data(), pd->q_ref.size(), target_row(w) + member(*pd).iq);
    std::fill_n(torque_in.data() + at(w) * nv, nv, 0.0);
    std::fill_n(torque.data() + at(w) * nv, nv, 0.0);
    std::fill_n(foot_force.data() + at(w) * feet.size(), feet.size(), 0.0);
    show(w);
  }

  void show(int w) {
    const State& state = worlds[at(w)].simulation->state();
    std::copy_n(state.q.data(), nq, q.data() + at(w) * nq);
    std::copy_n(state.v.data(), nv, v.data() + at(w) * nv);
    t[at(w)] = state.t;
  }

  void show_forces(int w) {
    const Simulation& simulation = *worlds[at(w)].simulation;
    std::copy_n(simulation.torque().data(), nv, torque.data() + at(w) * nv);
    double* row = foot_force.data() + at(w) * feet.size();
    std::fill_n(row, feet.size(), 0.0);
    for (const ContactReport& c : simulation.contacts())
      for (std::size_t i = 0; i < feet.size(); ++i)
        if (c.geometry_a == feet[i] || c.geometry_b == feet[i]) row[i] += c.f.z();
  }

  void fail(int w, std::string reason) {
    status[at(w)] = WorldStatus::Failed;
    worlds[at(w)].reason = std::move(reason);
  }

  // Never throws: what goes wrong stays in its world.
  void advance(int w, int steps) {
    if (status[at(w)] == WorldStatus::Failed) return;
    World& world = worlds[at(w)];
    const double* in = torque_in.data() + at(w) * nv;
    const auto finite = [](const double* x, std::size_t n) {
      return std::all_of(x, x + n, [](double y) { return std::isfinite(y); });
    };
    if (!finite(target_row(w), nq) || !finite(in, nv)) return fail(w, "a target or a torque is not finite");
    try {
      for (MovedPd* pd : world.controllers) pd->aim(target_row(w) + member(pd->options()).iq);
      for (int i = 0; i < steps; ++i) {
        const StepReport report = world.simulation->step();
        if (report.status != StepStatus::NotFinite && report.status != StepStatus::Stopped) continue;
        fail(w, to_string(report.status) + " at t = " + shown(world.simulation->state().t) + " s");
        break;
      }
    } catch (const std::exception& error) {
      fail(w, error.what());
    }
    show(w);
    show_forces(w);
  }
};

Batch::Batch(const Scene& scene, int worlds, int threads) {
  if (worlds < 1) throw InvalidInput("a batch of " + std::to_string(worlds) + " worlds: must have at least one");
  if (threads < 0) throw InvalidInput(std::to_string(threads) + " threads: must be >= 0");
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  impl_ = std::make_unique<Impl>(scene, worlds, std::min(threads, worlds));
}
Batch::~Batch() = default;

int Batch::worlds() const { return static_cast<int>(impl_->worlds.size()); }
int Batch::threads() const { return impl_->pool.threads(); }
const Scene& Batch::scene() const { return impl_->scene; }

void Batch::step(int steps) {
  impl_->pool.run(worlds(), [this, steps](int w) { impl_->advance(w, steps); });
}

std::span<const double> Batch::q() const { return impl_->q; }
std::span<const double> Batch::v() const { return impl_->v; }
std::span<const double> Batch::t() const { return impl_->t; }
std::span<const double> Batch::torque() const { return impl_->torque; }
std::span<const double> Batch::foot_force() const { return impl_->foot_force; }
int Batch::feet() const { return static_cast<int>(impl_->feet.size()); }
std::span<double> Batch::target() { return impl_->target; }
std::span<double> Batch::torque_in() { return impl_->torque_in; }
std::span<const WorldStatus> Batch::status() const { return impl_->status; }
const std::string& Batch::reason(int world) const { return impl_->worlds.at(at(world)).reason; }

void Batch::reset(int world) { set_state(world, impl_->scene.start); }

void Batch::set_state(int world, const State& state) { impl_->restart(world, state); }

const State& Batch::state(int world) const { return impl_->worlds.at(at(world)).simulation->state(); }
std::uint64_t Batch::hash(int world) const { return tribo::hash(state(world)); }

void Batch::set_parameters(int world, const WorldParameters& parameters) {
  check(parameters);
  World& w = impl_->worlds.at(at(world));
  const WorldParameters before = w.parameters;
  w.parameters = parameters;
  try {
    impl_->make(world);
  } catch (...) {
    w.parameters = before;
    throw;
  }
}

}  // namespace tribo
