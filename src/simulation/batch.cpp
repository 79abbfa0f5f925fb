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
  std::shared_ptr<Model> model;  ///< its own: its numbers change between steps
  std::unique_ptr<Simulation> simulation;
  std::string reason;
};

/// May a controller have looked at the numbers of the model when it was made?
bool looks_at_model(const Scene& scene) {
  return std::any_of(scene.controllers.begin(), scene.controllers.end(),
                     [](const ControllerSpec& spec) { return !spec.pd && spec.name != "actuators"; });
}

}  // namespace

struct Batch::Impl : LaneWorlds::Host {
  Impl(const Scene& given, int n, int threads, std::vector<WorldController> added,
       const std::optional<SensorOptions>& sensed, bool in_lanes)
      : scene(given),
        more(std::move(added)),
        sensors(sensed),
        nq(at(given.model->nq)),
        nv(at(given.model->nv)),
        nb(given.model->bodies.size()),
        nu(actuator_names(*given.model).size()),
        follows(more.empty() && !looks_at_model(given)),
        worlds(at(n)),
        start(given.start),
        pool(threads) {
    for (const Member& member : scene.model->members)
      if (feet.empty()) feet = member.feet;
    q.resize(at(n) * nq);
    v.resize(at(n) * nv);
    t.resize(at(n));
    torque.resize(at(n) * nv);
    torque_in.resize(at(n) * nv);
    target.resize(at(n) * nq);
    ctrl.resize(at(n) * nu);
    wrench.resize(at(n) * 6 * nb);
    gains.assign(at(n) * nv, 1.0);
    foot_force.resize(at(n) * feet.size());
    status.assign(at(n), WorldStatus::Running);
    named.resize(at(n));
    home_target.resize(nq);
    home_ctrl.resize(nu);
    // Those of the scene, found once: what it adds to the other rows is nothing.
    std::vector<double> zeros(std::max({nv, 6 * nb, std::size_t{1}}));
    clear_commands(scene, {home_target.data(), zeros.data(), home_ctrl.data(), zeros.data(), gains.data()});
    if (sensors) reader.emplace(*scene.model, *sensors, scene.dt);
    if (in_lanes)
      lanes =
          std::make_unique<LaneWorlds>(scene, n, threads, !more.empty() || sensors,
                                       lanes::Commands{target.data(), torque_in.data(), gains.data()}, wrench.data());
    for (int w = 0; w < n; ++w) make(w, std::make_shared<Model>(*scene.model));
  }

  Scene scene;
  std::vector<WorldController> more;
  std::optional<SensorOptions> sensors;
  std::optional<Sensors> reader;  ///< of what the sensors of any world remember
  std::size_t sensors_at = 0;     ///< where that begins
  std::size_t nq, nv, nb, nu;
  bool follows;  ///< all controllers read the numbers of the model when they are called
  std::vector<World> worlds;
  State start;            ///< of the scene, with room for what the controllers remember
  State going;            ///< scratch
  std::vector<int> feet;  ///< geometries
  std::vector<double> q, v, t, torque, foot_force, target, torque_in, ctrl, wrench, gains, pose, velocity;
  std::vector<double> home_target, home_ctrl;  ///< of the scene
  std::vector<WorldStatus> status;
  std::vector<Linearization> linearizations;
  std::vector<std::unique_ptr<Inquiry>> inquiries;        ///< one a thread, where heights are scanned
  std::vector<char> named;                                ///< worlds of a list; scratch
  std::unique_ptr<LaneWorlds> lanes;                      ///< null: not asked for
  std::vector<std::vector<ContactReport>> lane_contacts;  ///< of worlds whose last step was taken in a lane
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
  /// Work for all threads, in turn with other calls.
  void spread(int n, const std::function<void(int)>& work, const std::function<void()>& wait = {},
              const std::function<bool()>* stop = nullptr) {
    {
      const auto turn = this->turn();
      stepping = true;
      halt = false;
      asked = stop;
      caller = std::this_thread::get_id();
    }
    pool.run(n, work, wait);
    const std::lock_guard lock(door);
    stepping = false;
  }

  const World& world(int w) const {
    if (w < 0 || at(w) >= worlds.size())
      throw InvalidInput("world " + std::to_string(w) + ", must be from 0 to " + std::to_string(worlds.size() - 1));
    return worlds[at(w)];
  }
  /// Each of them is there, and named once.
  void check(std::span<const int> list) {
    for (int w : list) world(w);
    std::fill(named.begin(), named.end(), char{0});
    for (int w : list)
      if (std::exchange(named[at(w)], char{1}) != 0)
        throw InvalidInput("world " + std::to_string(w) + " is named twice");
  }

  CommandRows commands(int w) {
    return {target.data() + at(w) * nq, torque_in.data() + at(w) * nv, ctrl.data() + at(w) * nu,
            wrench.data() + at(w) * 6 * nb, gains.data() + at(w) * nv};
  }

  // A world of this model, from the start. One that cannot be made leaves the one before in its place.
  void make(int w, std::shared_ptr<Model> model) {
    auto made = std::make_unique<Simulation>(model, scene.stepper, scene.stepper_options, scene.dt);
    add_commanded(*made, scene, commands(w));
    const std::size_t own = made->state().control.size();
    for (const WorldController& maker : more) made->add_controller(maker(*model, w));
    if (sensors) {
      sensors_at = made->state().control.size();
      SensorOptions options = *sensors;
      options.seed += static_cast<std::uint64_t>(w);
      made->add_controller(std::make_unique<Sensors>(*model, options, scene.dt));
    }
    add_direct(*made, commands(w));
    for (const Push& push : scene.pushes) made->add_push(push);
    // A start says nothing, or what the controllers of the scene remember; the others remember nothing yet.
    const std::size_t said = start.control.size();
    if (said == 0 || said == own) start.control.resize(made->state().control.size(), 0.0);
    going = start;
    going.model = model->hash();
    made->set_state(going);
    worlds[at(w)] = {std::move(model), std::move(made), ""};
    if (lanes) lanes->set_model(w, *worlds[at(w)].model);
    restart(w, going);
  }

  /// The world goes on from a state of its model.
  void restart(int w, const State& state) {
    World& world = worlds[at(w)];
    world.simulation->set_state(state);
    if (lanes) lanes->put(w, world.simulation->state());
    world.reason.clear();
    status[at(w)] = WorldStatus::Running;
    std::copy(home_target.begin(), home_target.end(), target.data() + at(w) * nq);
    std::copy(home_ctrl.begin(), home_ctrl.end(), ctrl.data() + at(w) * nu);
    std::fill_n(torque_in.data() + at(w) * nv, nv, 0.0);
    std::fill_n(wrench.data() + at(w) * 6 * nb, 6 * nb, 0.0);
    std::fill_n(torque.data() + at(w) * nv, nv, 0.0);
    std::fill_n(foot_force.data() + at(w) * feet.size(), feet.size(), 0.0);
    show(w);
  }
  void reset(int w) {
    going = start;
    going.model = worlds[at(w)].model->hash();
    restart(w, going);
  }

  /// A world begins anew with these numbers.
  void vary(int w, const ModelNumbers& numbers) {
    Model& model = *worlds[at(w)].model;
    if (follows && keeps_zeros(model, *scene.model, numbers)) {
      set_numbers(model, *scene.model, numbers);
      if (lanes) lanes->set_model(w, model);
      return reset(w);
    }
    auto other = std::make_shared<Model>(*scene.model);
    set_numbers(*other, *scene.model, numbers);
    make(w, std::move(other));
  }
  ModelNumbers row(const ModelNumbers& n, std::size_t i) const {
    const auto surfaces = at(scene.model->surfaces());
    const auto from = [i](const double* x, std::size_t size) { return x == nullptr ? nullptr : x + i * size; };
    return {from(n.mass, nb),    from(n.com, 3 * nb),  from(n.mu_static, surfaces), from(n.mu_dynamic, surfaces),
            from(n.damping, nv), from(n.armature, nv), from(n.dry_friction, nv)};
  }
  void check_gains(const double* row) const {
    for (std::size_t k = 0; k < nv; ++k)
      if (!(row[k] >= 0) || !std::isfinite(row[k]))
        throw InvalidInput("factor of gains = " + shown(row[k]) + ", must be finite and >= 0");
  }

  void show(int w) {
    if (lanes && lanes->holds(w)) {
      lanes->lanes().copy_q(w, q.data() + at(w) * nq);
      lanes->lanes().copy_v(w, v.data() + at(w) * nv);
      t[at(w)] = lanes->lanes().t(w);
      if (!pose.empty()) synced(w).write_bodies(pose.data() + at(w) * 7 * nb, velocity.data() + at(w) * 6 * nb);
      return;
    }
    const State& state = worlds[at(w)].simulation->state();
    std::copy_n(state.q.data(), nq, q.data() + at(w) * nq);
    std::copy_n(state.v.data(), nv, v.data() + at(w) * nv);
    t[at(w)] = state.t;
    if (!pose.empty())
      worlds[at(w)].simulation->write_bodies(pose.data() + at(w) * 7 * nb, velocity.data() + at(w) * 6 * nb);
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
      if (named[at(w)] != 0 && ready(w)) running |= 1u << (w - first);
    lanes->advance(pack, running, steps, *this);
    for (int w = first; w < end; ++w) {
      if ((running >> (w - first) & 1u) == 0) continue;
      show(w);
      show_forces(w);
    }
  }

  /// The worlds of a list, each named, or where it is empty all of them.
  void step(std::span<const int> list, int steps, const std::function<bool()>& stop) {
    const bool in_packs = lanes && lanes->on();
    const int n = in_packs ? lanes->packs() : static_cast<int>(list.empty() ? worlds.size() : list.size());
    const auto work = [&](int i) {
      if (in_packs)
        advance_pack(i, steps);
      else
        advance(list.empty() ? i : list[at(i)], steps);
    };
    const std::function<void(int)> each = [&work](int i) { work(i); };  // small enough to need no memory
    const std::function<void()> wait = [&] {
      if (stop()) halt = true;
    };
    spread(n, each, stop ? wait : std::function<void()>{}, stop ? &stop : nullptr);
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

Batch::Batch(const Scene& scene, int worlds, int threads, std::vector<WorldController> more,
             const std::optional<SensorOptions>& sensors, bool lanes) {
  if (worlds < 1) throw InvalidInput("a batch of " + std::to_string(worlds) + " worlds: must have at least one");
  if (threads < 0) throw InvalidInput(std::to_string(threads) + " threads: must be >= 0");
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  impl_ = std::make_unique<Impl>(scene, worlds, std::min(threads, worlds), std::move(more), sensors, lanes);
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
  {
    const auto turn = impl_->turn();
    std::fill(impl_->named.begin(), impl_->named.end(), char{1});
  }
  impl_->step({}, steps, stop);
}

void Batch::step(std::span<const int> worlds, int steps, const std::function<bool()>& stop) {
  if (steps < 0) throw InvalidInput(std::to_string(steps) + " steps: must be >= 0");
  if (worlds.empty()) return check_still();
  {
    const auto turn = impl_->turn();
    impl_->check(worlds);
  }
  impl_->step(worlds, steps, stop);
}

void Batch::check_still() const { static_cast<void>(impl_->turn()); }

std::span<const Linearization> Batch::linearize() {
  Impl& b = *impl_;
  {
    const auto turn = b.turn();
    b.linearizations.resize(b.worlds.size());
    for (int w = 0; w < worlds(); ++w) b.synced(w);  // here: worlds of a pack share room on their way out
  }
  b.spread(worlds(), [&b](int w) { b.linearize(w); });
  return b.linearizations;
}

std::vector<double> Batch::height_scan(const HeightScan& scan) {
  Impl& b = *impl_;
  const std::size_t n = scan.points.size() / 2, each = at((worlds() + threads() - 1) / threads());
  {
    const auto turn = b.turn();
    for (int w = 0; w < worlds(); ++w) b.synced(w);
    while (b.inquiries.size() < at(threads())) b.inquiries.push_back(std::make_unique<Inquiry>(b.scene.model));
  }
  std::vector<double> heights(b.worlds.size() * n);
  b.spread(threads(), [&](int part) {
    Inquiry& inquiry = *b.inquiries[at(part)];
    for (std::size_t w = at(part) * each; w < std::min(b.worlds.size(), (at(part) + 1) * each); ++w) {
      const State& state = b.synced(static_cast<int>(w)).state();
      inquiry.look(state.q, state.v, state.t);
      scan_heights(inquiry, scan, heights.data() + w * n);
    }
  });
  return heights;
}

std::span<const double> Batch::q() const { return impl_->q; }
std::span<const double> Batch::v() const { return impl_->v; }
std::span<const double> Batch::t() const { return impl_->t; }
std::span<const double> Batch::torque() const { return impl_->torque; }
std::span<const double> Batch::foot_force() const { return impl_->foot_force; }
int Batch::feet() const { return static_cast<int>(impl_->feet.size()); }
std::span<const double> Batch::body_pose() {
  Impl& b = *impl_;
  if (b.pose.empty() && b.nb > 0) {
    const auto turn = b.turn();
    b.velocity.resize(b.worlds.size() * 6 * b.nb);
    b.pose.resize(b.worlds.size() * 7 * b.nb);
    for (int w = 0; w < worlds(); ++w) b.show(w);
  }
  return b.pose;
}
std::span<const double> Batch::body_velocity() {
  body_pose();
  return impl_->velocity;
}
std::span<double> Batch::target() { return impl_->target; }
std::span<double> Batch::torque_in() { return impl_->torque_in; }
std::span<double> Batch::ctrl() { return impl_->ctrl; }
std::span<double> Batch::wrench() { return impl_->wrench; }
std::span<double> Batch::gains() { return impl_->gains; }
const std::vector<ContactReport>& Batch::contacts(int world) const {
  const auto turn = impl_->turn();
  const Simulation& simulation = *impl_->world(world).simulation;
  if (!impl_->lanes || !impl_->lanes->holds(world)) return simulation.contacts();
  impl_->lane_contacts.resize(impl_->worlds.size());
  std::vector<ContactReport>& list = impl_->lane_contacts[at(world)];
  list.clear();
  impl_->lanes->lanes().contacts(world, list);
  return list;
}
std::shared_ptr<const Model> Batch::model(int world) const {
  const auto turn = impl_->turn();
  const Model& own = *impl_->world(world).model;
  if (own.hash() == impl_->scene.model->hash()) return impl_->scene.model;
  return std::make_shared<const Model>(own);
}
std::span<const WorldStatus> Batch::status() const { return impl_->status; }

std::string Batch::reason(int world) const {
  const auto turn = impl_->turn();
  return impl_->world(world).reason;
}

SensorReading Batch::sensors(int world) const {
  const auto turn = impl_->turn();
  if (!impl_->reader) throw InvalidInput("the batch has no sensors: make it with some");
  const std::vector<double>& control = impl_->world(world).simulation->state().control;
  return impl_->reader->read(std::span(control).subspan(impl_->sensors_at, at(impl_->reader->memory())));
}

void Batch::reset(int world) { reset(std::span(&world, 1)); }

void Batch::reset(std::span<const int> worlds) {
  const auto turn = impl_->turn();
  impl_->check(worlds);
  for (int w : worlds) impl_->reset(w);
}

void Batch::set(std::span<const int> worlds, const double* q, const double* v) {
  Impl& b = *impl_;
  const auto turn = b.turn();
  b.check(worlds);
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    Simulation& simulation = b.synced(worlds[i]);
    b.going = simulation.state();
    if (q != nullptr) b.going.q = Eigen::Map<const VecX>(q + i * b.nq, static_cast<Eigen::Index>(b.nq));
    if (v != nullptr) b.going.v = Eigen::Map<const VecX>(v + i * b.nv, static_cast<Eigen::Index>(b.nv));
    b.going.memory.clear();
    simulation.set_state(b.going);
    if (b.lanes) b.lanes->put(worlds[i], b.going);
    b.show(worlds[i]);
  }
}

void Batch::set_state(int world, const State& state, bool adopt) {
  const auto turn = impl_->turn();
  const std::uint64_t own = impl_->world(world).model->hash();
  if (state.model == own) return impl_->restart(world, state);
  if (!adopt)
    throw InvalidInput("the state belongs to the model " + hex(state.model) + ", world " + std::to_string(world) +
                       " has the model " + hex(own) +
                       " (parameters make it another): adopt it, where the coordinates are to be taken as they are");
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

void Batch::set_parameters(int world, const WorldParameters& p) {
  if (!p.changes.without.empty() || !p.changes.equalities.empty())
    throw InvalidInput("worlds of a batch have the constraints of the scene");
  OwnNumbers numbers(*impl_->scene.model);
  numbers.change(*impl_->scene.model, p.changes);
  numbers.scale({p.mass, p.friction});
  const std::vector<double> gains(impl_->nv, p.gains);
  if (impl_->nv == 0 && !(p.gains >= 0)) throw InvalidInput("factor of gains = " + shown(p.gains) + ", must be >= 0");
  set_parameters(std::span(&world, 1), {numbers.rows(), gains.data()});
}

void Batch::set_parameters(std::span<const int> worlds, const ParameterRows& rows) {
  Impl& b = *impl_;
  const auto turn = b.turn();
  b.check(worlds);
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    if (std::string why = defect(*b.scene.model, b.row(rows.numbers, i)); !why.empty())
      throw InvalidInput("world " + std::to_string(worlds[i]) + ": " + why);
    if (rows.gains != nullptr) b.check_gains(rows.gains + i * b.nv);
  }
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    double* gains = b.gains.data() + at(worlds[i]) * b.nv;
    if (rows.gains == nullptr)
      std::fill_n(gains, b.nv, 1.0);
    else
      std::copy_n(rows.gains + i * b.nv, b.nv, gains);
    b.vary(worlds[i], b.row(rows.numbers, i));
  }
}

}  // namespace tribo
