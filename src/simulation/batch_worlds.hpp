// The worlds behind a batch: each with its own model and simulation, and all their arrays. Seen by batch.cpp alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/names.hpp"
#include "base/thread_pool.hpp"
#include "simulation/lane_worlds.hpp"
#include "tribo/batch.hpp"
#include "tribo/commands.hpp"
#include "tribo/model_changes.hpp"

namespace tribo {

/// One world of a batch.
struct BatchWorld {
  std::shared_ptr<Model> model;  ///< its own: its numbers change between steps
  std::unique_ptr<Simulation> simulation;
  std::string reason;
  Observer* observer = nullptr;
  std::vector<Push> pushes = {};  ///< beside those of the scene
  bool rewired = false;           ///< it has constraints of its own
};

/// Points on bodies of all worlds, see Batch::follow.
struct FollowedPoints {
  std::vector<Place> places;
  std::vector<double> position, velocity;
};

/// May a controller have looked at the numbers of the model when it was made?
inline bool looks_at_model(const Scene& scene) {
  return std::any_of(scene.controllers.begin(), scene.controllers.end(),
                     [](const ControllerSpec& spec) { return !spec.pd && spec.name != "actuators"; });
}

/// The worlds of a batch, their arrays, and who steps them.
struct Batch::Impl final : LaneWorlds::Host {
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
  std::vector<BatchWorld> worlds;
  State start;            ///< of the scene, with room for what the controllers remember
  State going;            ///< scratch
  std::vector<int> feet;  ///< geometries
  std::vector<double> q, v, t, torque, foot_force, target, torque_in, ctrl, wrench, gains;
  std::vector<double> pose, velocity;  ///< of bodies; empty until they are asked for
  bool shows_bodies = false;           ///< to the caller, not to points alone
  std::vector<FollowedPoints> followed;
  std::vector<lanes::PointRows> followed_rows;  ///< the same
  std::vector<double> home_target, home_ctrl;   ///< of the scene
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

  const BatchWorld& world(int w) const {
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
    place(w, std::move(model));
    restart(w, going);
  }
  // The same, whose commands stay as they are; `going` is its start.
  void place(int w, std::shared_ptr<Model> model) {
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
    for (const Push& push : worlds[at(w)].pushes) made->add_push(push);
    // A start says nothing, or what the controllers of the scene remember; the others remember nothing yet.
    const std::size_t said = start.control.size();
    if (said == 0 || said == own) start.control.resize(made->state().control.size(), 0.0);
    going = start;
    going.model = model->hash();
    made->set_state(going);
    BatchWorld& world = worlds[at(w)];
    world.model = std::move(model);
    world.simulation = std::move(made);
    world.reason.clear();
    if (lanes) lanes->set_model(w, *world.model);
  }
  // The run goes on with other constraints.
  void rewire(int w, const ModelChanges& changes) {
    State now = synced(w).state();
    auto other = std::make_shared<Model>(changed(*worlds[at(w)].model, changes));
    now.model = other->hash();
    place(w, std::move(other));
    worlds[at(w)].rewired = true;
    worlds[at(w)].simulation->set_state(now);
    if (lanes) lanes->put(w, now);
    show(w);
  }

  /// The world goes on from a state of its model.
  void restart(int w, const State& state) {
    BatchWorld& world = worlds[at(w)];
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
    const bool rewired = std::exchange(worlds[at(w)].rewired, false);
    ModelNumbers listed =
        numbers;  // what steppers look at when they are made: the rigid one reads damping in every step
    if (scene.stepper == "rigid") listed.damping = model.joints.damping.data();
    if (follows && !rewired && keeps_zeros(model, *scene.model, listed)) {
      set_numbers(model, *scene.model, numbers);
      if (lanes) lanes->set_numbers(w, model);
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
    show_state(w);
    if (pose.empty()) return;
    double *x = pose.data() + at(w) * 7 * nb, *v = velocity.data() + at(w) * 6 * nb;
    synced(w).write_bodies(x, v);
    for (FollowedPoints& points : followed) {
      const std::size_t n = points.places.size();
      for (std::size_t i = 0; i < n; ++i) {
        const Place& place = points.places[i];
        const double *pose_b = x + 7 * place.body, *velocity_b = v + 6 * place.body;
        const Vec3 arm = Eigen::Map<const Quat>(pose_b + 3) * place.X_BP.p;
        Eigen::Map<Vec3>(points.position.data() + 3 * (at(w) * n + i)) = Eigen::Map<const Vec3>(pose_b) + arm;
        Eigen::Map<Vec3>(points.velocity.data() + 3 * (at(w) * n + i)) =
            Eigen::Map<const Vec3>(velocity_b) + Eigen::Map<const Vec3>(velocity_b + 3).cross(arm);
      }
    }
  }
  /// Room for the bodies, and from now on what they do.
  void show_bodies() {
    shows_bodies = true;
    velocity.resize(worlds.size() * 6 * nb);
    pose.resize(worlds.size() * 7 * nb);
    for (int w = 0; w < static_cast<int>(worlds.size()); ++w) show(w);
  }
  const FollowedPoints& follow(const std::vector<Place>& places) {
    for (const Place& place : places)
      if (place.body < 0) throw InvalidInput("a point that is to be followed is on a body that forces do not move");
    const auto same = [](const Place& a, const Place& b) { return a.body == b.body && a.X_BP.p == b.X_BP.p; };
    for (const FollowedPoints& points : followed)
      if (std::equal(places.begin(), places.end(), points.places.begin(), points.places.end(), same)) return points;
    const std::size_t size = worlds.size() * 3 * places.size();
    followed.push_back({places, std::vector<double>(size), std::vector<double>(size)});
    followed_rows.clear();
    for (FollowedPoints& points : followed)
      followed_rows.push_back({points.places, points.position.data(), points.velocity.data()});
    const bool before = shows_bodies;
    show_bodies();
    shows_bodies = before;
    return followed.back();
  }
  void show_state(int w) {
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
    std::string why = unusable(*worlds[0].model, commands(w));
    if (!why.empty()) fail(w, std::move(why));
    return status[at(w)] != WorldStatus::Failed;
  }

  // Never throws: what goes wrong stays in its world.
  bool step_alone(int w) override {
    BatchWorld& world = worlds[at(w)];
    try {
      const StepReport report = world.simulation->step();
      if (world.observer != nullptr) world.observer->observe(*world.simulation, report);
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
  bool watched(int w) const override {
    const BatchWorld& world = worlds[at(w)];
    return world.observer != nullptr || world.rewired || !world.pushes.empty();
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
    const unsigned shown = pose.empty() ? running
                                        : lanes->write_motions(pack, running, shows_bodies ? pose.data() : nullptr,
                                                               velocity.data(), followed_rows);
    for (int w = first; w < end; ++w) {
      const unsigned bit = 1u << (w - first);
      if ((running & bit) == 0) continue;
      if ((shown & bit) != 0)
        show_state(w);
      else
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
  void linearize(int w, const LinearizationRequest& request) {
    Linearization& out = linearizations[at(w)];
    out.finite = false;
    static_cast<LinearizationRequest&>(out) = request;
    if (status[at(w)] == WorldStatus::Failed || !unusable(*worlds[at(w)].model, commands(w)).empty()) return;
    try {
      worlds[at(w)].simulation->linearize(out);
    } catch (const std::exception&) {
      out.finite = false;  // a controller threw; the next step says so
    }
  }
};

}  // namespace tribo
