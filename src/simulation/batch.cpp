#include "tribo/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/thread_pool.hpp"
#include "simulation/lane_worlds.hpp"
#include "tribo/commands.hpp"

namespace tribo {
namespace {

struct World {
  std::shared_ptr<const Model> model;
  WorldParameters parameters;
  std::unique_ptr<Simulation> simulation;
  std::string reason;
};

std::shared_ptr<const Model> varied(const std::shared_ptr<const Model>& model, const WorldParameters& p) {
  if (p.mass == 1 && p.friction == 1 && p.changes.empty()) return model;
  const Model other = p.changes.empty() ? *model : changed(*model, p.changes);
  if (p.mass == 1 && p.friction == 1) return std::make_shared<const Model>(other);
  return std::make_shared<const Model>(other.scaled({p.mass, p.friction}));
}

void check(const WorldParameters& p) {
  if (!(p.gains >= 0) || !std::isfinite(p.gains))
    throw InvalidInput("factor of gains = " + shown(p.gains) + ", must be finite and >= 0");
}

}  // namespace

struct Batch::Impl : LaneWorlds::Host {
  Impl(const Scene& given, int n, int threads, std::vector<WorldController> added, bool in_lanes)
      : scene(given),
        more(std::move(added)),
        nq(at(given.model->nq)),
        nv(at(given.model->nv)),
        worlds(at(n)),
        start(given.start),
        pool(threads) {
    for (const Member& member : scene.model->members)
      if (feet.empty()) feet = member.feet;
    q.resize(at(n) * nq);
    v.resize(at(n) * nv);
    t.resize(at(n));
    torque.resize(at(n) * nv);
    torque_in.assign(at(n) * nv, 0.0);
    target.resize(at(n) * nq);
    nu = actuator_names(*scene.model).size();
    ctrl.resize(at(n) * nu);
    wrench.resize(at(n) * 6 * scene.model->bodies.size());
    foot_force.resize(at(n) * feet.size());
    status.assign(at(n), WorldStatus::Running);
    if (in_lanes)
      lanes = std::make_unique<LaneWorlds>(scene, n, threads, !more.empty(),
                                           lanes::Commands{target.data(), torque_in.data()}, wrench.data());
    for (int w = 0; w < n; ++w) make(w, {});
  }

  Scene scene;
  std::vector<WorldController> more;
  std::size_t nq, nv, nu = 0;
  std::vector<World> worlds;
  State start;            ///< of the scene, with room for what the controllers remember
  std::vector<int> feet;  ///< geometries
  std::vector<double> q, v, t, torque, foot_force, target, torque_in, ctrl, wrench;
  std::vector<WorldStatus> status;
  std::vector<Linearization> linearizations;
  std::unique_ptr<LaneWorlds> lanes;  ///< null: not asked for
  ThreadPool pool;
  mutable std::mutex door;
  bool stepping = false;                         ///< behind the door
  std::atomic<bool> halt{false};                 ///< the steps that are being taken are the last ones
  std::thread::id caller;                        ///< of the step that is taken
  const std::function<bool()>* asked = nullptr;  ///< whether to stop; by the caller alone

  /// Held over a call, which waits for others of its kind. A step is long, and whoever comes meanwhile is refused.
  std::unique_lock<std::mutex> turn() const {
    if (pool.abandoned())
      throw std::runtime_error("this Batch was made by another process: after a fork, make a new one");
    std::unique_lock lock(door);
    if (stepping) throw std::runtime_error("this Batch is stepping in another thread");
    return lock;
  }

  const World& world(int w) const {
    if (w < 0 || at(w) >= worlds.size())
      throw InvalidInput("world " + std::to_string(w) + ", must be from 0 to " + std::to_string(worlds.size() - 1));
    return worlds[at(w)];
  }

  CommandRows commands(int w) {
    return {target.data() + at(w) * nq, torque_in.data() + at(w) * nv, ctrl.data() + at(w) * nu,
            wrench.data() + at(w) * 6 * scene.model->bodies.size()};
  }

  // A world that cannot be made leaves the one before in its place. Those with the scene's own parameters share its
  // model.
  void make(int w, const WorldParameters& p) {
    World next;
    next.model = varied(scene.model, p);
    next.parameters = p;
    next.simulation = std::make_unique<Simulation>(next.model, scene.stepper, scene.stepper_options, scene.dt);
    Simulation& simulation = *next.simulation;
    add_commanded(simulation, scene, commands(w), p.gains);
    const std::size_t own = simulation.state().control.size();
    for (const WorldController& made : more) simulation.add_controller(made(*next.model, w));
    add_direct(simulation, commands(w));
    for (const Push& push : scene.pushes) simulation.add_push(push);
    // A start says nothing, or what the controllers of the scene remember; the others remember nothing yet.
    const std::size_t said = start.control.size();
    if (said == 0 || said == own) start.control.resize(simulation.state().control.size(), 0.0);
    start.model = next.model->hash();
    simulation.set_state(start);
    worlds[at(w)] = std::move(next);
    if (lanes) lanes->set_model(w, *worlds[at(w)].model, p.gains);
    restart(w, start);
  }

  void restart(int w, const State& state) {
    World& world = worlds[at(w)];
    world.simulation->set_state(state);
    if (lanes) lanes->put(w, world.simulation->state());
    world.reason.clear();
    status[at(w)] = WorldStatus::Running;
    clear_commands(scene, commands(w));
    std::fill_n(torque.data() + at(w) * nv, nv, 0.0);
    std::fill_n(foot_force.data() + at(w) * feet.size(), feet.size(), 0.0);
    show(w);
  }

  void show(int w) {
    if (lanes && lanes->holds(w)) {
      lanes->lanes().copy_q(w, q.data() + at(w) * nq);
      lanes->lanes().copy_v(w, v.data() + at(w) * nv);
      t[at(w)] = lanes->lanes().t(w);
      return;
    }
    const State& state = worlds[at(w)].simulation->state();
    std::copy_n(state.q.data(), nq, q.data() + at(w) * nq);
    std::copy_n(state.v.data(), nv, v.data() + at(w) * nv);
    t[at(w)] = state.t;
  }

  void show_forces(int w) {
    if (lanes && lanes->holds(w)) {
      lanes->lanes().copy_torque(w, torque.data() + at(w) * nv);
      for (std::size_t i = 0; i < feet.size(); ++i)
        foot_force[at(w) * feet.size() + i] = lanes->lanes().normal_force(w, feet[i]);
      return;
    }
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

  // Can the world take steps?
  bool ready(int w) {
    if (status[at(w)] == WorldStatus::Failed) return false;
    std::string why = unusable(*worlds[at(w)].model, commands(w));
    if (!why.empty()) fail(w, std::move(why));
    return status[at(w)] != WorldStatus::Failed;
  }

  // Never throws: what goes wrong stays in its world.
  bool step_alone(int w) override {
    World& world = worlds[at(w)];
    try {
      const StepReport report = world.simulation->step();
      if (report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped) {
        fail(w, to_string(report.status) + " at t = " + shown(world.simulation->state().t) + " s");
        return false;
      }
      return true;
    } catch (const Interrupted&) {
      halt = true;
    } catch (const std::exception& error) {
      fail(w, error.what());
    }
    return false;
  }
  Simulation& simulation(int w) override { return *worlds[at(w)].simulation; }
  bool go_on() override {
    if (asked && std::this_thread::get_id() == caller && (*asked)()) halt = true;
    return !halt;
  }

  void advance(int w, int steps) {
    if (!ready(w)) return;
    for (int i = 0; i < steps && !halt; ++i)
      if (!step_alone(w) || !go_on()) break;
    show(w);
    show_forces(w);
  }

  void advance_pack(int pack, int steps) {
    const int first = pack * lanes->width(), end = std::min(first + lanes->width(), static_cast<int>(worlds.size()));
    unsigned running = 0;
    for (int w = first; w < end && !halt; ++w)
      if (ready(w)) running |= 1u << (w - first);
    lanes->advance(pack, running, steps, *this);
    for (int w = first; w < end; ++w) {
      if ((running >> (w - first) & 1u) == 0) continue;
      show(w);
      show_forces(w);
    }
  }

  /// The simulation of a world, with the state that its lane may have.
  Simulation& synced(int w) {
    if (lanes) lanes->sync(w, *worlds[at(w)].simulation);
    return *worlds[at(w)].simulation;
  }

  // Never throws.
  void linearize(int w) {
    Linearization& out = linearizations[at(w)];
    out.finite = false;
    if (status[at(w)] == WorldStatus::Failed || !unusable(*worlds[at(w)].model, commands(w)).empty()) return;
    try {
      worlds[at(w)].simulation->linearize(out);
    } catch (const std::exception&) {
      out.finite = false;  // a controller threw; the next step says so
    }
  }
};

Batch::Batch(const Scene& scene, int worlds, int threads, std::vector<WorldController> more, bool lanes) {
  if (worlds < 1) throw InvalidInput("a batch of " + std::to_string(worlds) + " worlds: must have at least one");
  if (threads < 0) throw InvalidInput(std::to_string(threads) + " threads: must be >= 0");
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  impl_ = std::make_unique<Impl>(scene, worlds, std::min(threads, worlds), std::move(more), lanes);
}
Batch::~Batch() {
  // Only a process forked off during a step sees one that never ends: its worlds are half written.
  if (impl_->stepping) static_cast<void>(impl_.release());
}

int Batch::worlds() const { return static_cast<int>(impl_->worlds.size()); }
int Batch::threads() const { return impl_->pool.threads(); }
const Scene& Batch::scene() const { return impl_->scene; }
std::string Batch::lanes() const { return impl_->lanes ? impl_->lanes->description() : ""; }
std::uint64_t Batch::lane_steps(int world) const {
  impl_->world(world);
  return impl_->lanes ? impl_->lanes->steps(world) : 0;
}

void Batch::step(int steps, const std::function<bool()>& stop) {
  if (steps < 0) throw InvalidInput(std::to_string(steps) + " steps: must be >= 0");
  Impl& b = *impl_;
  const bool packs = b.lanes && b.lanes->on();
  const auto work = [&](int i) { packs ? b.advance_pack(i, steps) : b.advance(i, steps); };
  const std::function<void(int)> advance = [&work](int i) { work(i); };  // small enough to need no memory
  const std::function<void()> wait = [&] {
    if (stop()) b.halt = true;
  };
  {
    const auto turn = b.turn();
    b.stepping = true;
    b.halt = false;
    b.caller = std::this_thread::get_id();
    b.asked = stop ? &stop : nullptr;
  }
  b.pool.run(packs ? b.lanes->packs() : worlds(), advance, stop ? wait : std::function<void()>{});
  const std::lock_guard lock(b.door);
  b.stepping = false;
}

void Batch::check_still() const { static_cast<void>(impl_->turn()); }

std::span<const Linearization> Batch::linearize() {
  Impl& b = *impl_;
  const std::function<void(int)> linearize = [&b](int w) { b.linearize(w); };
  {
    const auto turn = b.turn();
    b.stepping = true;
  }
  b.linearizations.resize(b.worlds.size());
  for (int w = 0; w < worlds(); ++w) b.synced(w);  // here: worlds of a pack share room on their way out
  b.pool.run(worlds(), linearize);
  const std::lock_guard lock(b.door);
  b.stepping = false;
  return b.linearizations;
}

std::span<const double> Batch::q() const { return impl_->q; }
std::span<const double> Batch::v() const { return impl_->v; }
std::span<const double> Batch::t() const { return impl_->t; }
std::span<const double> Batch::torque() const { return impl_->torque; }
std::span<const double> Batch::foot_force() const { return impl_->foot_force; }
int Batch::feet() const { return static_cast<int>(impl_->feet.size()); }
std::span<double> Batch::target() { return impl_->target; }
std::span<double> Batch::torque_in() { return impl_->torque_in; }
std::span<double> Batch::ctrl() { return impl_->ctrl; }
std::span<double> Batch::wrench() { return impl_->wrench; }
std::vector<ContactReport> Batch::contacts(int world) const {
  const auto turn = impl_->turn();
  const Simulation& simulation = *impl_->world(world).simulation;
  if (!impl_->lanes || !impl_->lanes->holds(world)) return simulation.contacts();
  std::vector<ContactReport> list;
  impl_->lanes->lanes().contacts(world, list);
  return list;
}
std::shared_ptr<const Model> Batch::model(int world) const {
  const auto turn = impl_->turn();
  return impl_->world(world).model;
}
std::span<const WorldStatus> Batch::status() const { return impl_->status; }

std::string Batch::reason(int world) const {
  const auto turn = impl_->turn();
  return impl_->world(world).reason;
}

void Batch::reset(int world) { set_state(world, impl_->start, true); }

void Batch::set_state(int world, const State& state, bool adopt) {
  const auto turn = impl_->turn();
  const World& into = impl_->world(world);
  const std::uint64_t own = into.model->hash();
  if (state.model == own) return impl_->restart(world, state);
  if (!adopt)
    throw InvalidInput("the state belongs to the model " + hex(state.model) + ", world " + std::to_string(world) +
                       " has the model " + hex(own) + " (masses times " + shown(into.parameters.mass) +
                       ", friction times " + shown(into.parameters.friction) +
                       "): adopt it, where the coordinates are to be taken as they are");
  State adopted = state;
  adopted.model = own;
  impl_->restart(world, adopted);
}

State Batch::state(int world) const {
  const auto turn = impl_->turn();
  impl_->world(world);
  return impl_->synced(world).state();
}

std::uint64_t Batch::hash(int world) const {
  const auto turn = impl_->turn();
  impl_->world(world);
  return tribo::hash(impl_->synced(world).state());
}

void Batch::set_parameters(int world, const WorldParameters& parameters) {
  check(parameters);
  const auto turn = impl_->turn();
  impl_->world(world);
  impl_->make(world, parameters);
}

}  // namespace tribo
