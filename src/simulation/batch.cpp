#include "tribo/batch.hpp"

#include "base/hash.hpp"
#include "simulation/batch_worlds.hpp"

namespace tribo {

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

void Batch::watch(int world, Observer* observer) {
  const auto turn = impl_->turn();
  impl_->world(world);
  impl_->synced(world);
  impl_->worlds[at(world)].observer = observer;
}

void Batch::check_still() const { static_cast<void>(impl_->turn()); }

std::span<const Linearization> Batch::linearize(const LinearizationRequest& request) {
  Impl& b = *impl_;
  {
    const auto turn = b.turn();
    b.linearizations.resize(b.worlds.size());
    for (int w = 0; w < worlds(); ++w) b.synced(w);  // here: worlds of a pack share room on their way out
  }
  b.spread(worlds(), [&](int w) { b.linearize(w, request); });
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
      inquiry.look(state.q, state.v, state.kinematic_time());
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
  if (!b.shows_bodies) {
    const auto turn = b.turn();
    b.show_bodies();
  }
  return b.pose;
}
std::span<const double> Batch::body_velocity() {
  body_pose();
  return impl_->velocity;
}
Batch::Points Batch::follow(const std::vector<Place>& places) {
  const auto turn = impl_->turn();
  const FollowedPoints& points = impl_->follow(places);
  return {points.position, points.velocity};
}
Batch::Points Batch::foot_points() {
  std::vector<Place> places;
  for (int g : impl_->feet) {
    const Geometry& shape = impl_->scene.model->geometries[at(g)];
    places.push_back({shape.body, shape.X_BG});
  }
  return follow(places);
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

void Batch::move_kinematic(std::span<const int> worlds, int k, const Placement& to, double time) {
  const auto turn = impl_->turn();
  impl_->check(worlds);
  for (int w : worlds) impl_->synced(w).move_kinematic(k, to, time);
}

void Batch::push(std::span<const int> worlds, const Push& push) {
  const auto turn = impl_->turn();
  impl_->check(worlds);
  for (int w : worlds) {
    impl_->synced(w).add_push(push);
    impl_->worlds[at(w)].pushes.push_back(push);
  }
}

void Batch::change(int world, const ModelChanges& changes) {
  const ModelChanges& c = changes;
  if (!c.mass.empty() || !c.friction.empty() || !c.com.empty() || !c.damping.empty() || !c.armature.empty() ||
      !c.dry_friction.empty())
    throw InvalidInput("only the constraints of a world change while it runs: others are its parameters");
  const auto turn = impl_->turn();
  impl_->world(world);
  impl_->rewire(world, changes);
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
