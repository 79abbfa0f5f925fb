#include "simulation/lane_worlds.hpp"

#include <algorithm>

namespace tribo {

LaneWorlds::LaneWorlds(const Scene& scene, int worlds, int threads, bool others, const lanes::Commands& commands,
                       const double* wrenches)
    : dt_(scene.dt),
      bodies_(static_cast<int>(scene.model->bodies.size())),
      pushes_(scene.pushes),
      wrenches_(wrenches),
      commands_(commands),
      model_(scene.model) {
  std::vector<PdOptions> drives;
  std::string why = others ? "controllers beside those of the scene" : "";
  for (const ControllerSpec& spec : scene.controllers) {
    if (spec.pd)
      drives.push_back(*spec.pd);
    else if (why.empty())
      why = "controller '" + spec.name + "'";
  }
  if (why.empty()) why = lanes::uncovered(*scene.model, scene.stepper, scene.stepper_options, drives);
  if (!why.empty()) {
    description_ = "no lanes: " + why;
    return;
  }
  lanes_ = std::make_unique<lanes::Lanes>(*model_, scene.stepper_options, dt_, std::move(drives), worlds, threads);
  description_ = std::string(lanes_->kernel()) + ", " + std::to_string(lanes_->width()) + " lanes";
  held_.assign(at(worlds), 0);
  stale_.assign(at(worlds), 0);
  steps_.assign(at(worlds), 0);
  states_.resize(at(lanes_->packs()));
}

void LaneWorlds::set_model(int world, const Model& model) {
  if (on()) lanes_->set_model(world, model);
}

void LaneWorlds::set_numbers(int world, const Model& model) {
  if (on()) lanes_->set_numbers(world, model);
}

void LaneWorlds::put(int world, const State& state) {
  if (!on()) return;
  lanes_->put(world, state);
  held_[at(world)] = stale_[at(world)] = 0;
}

// Does something act on the world now that lanes do not know?
bool LaneWorlds::alone(int world) const {
  if (!lanes_->fits(world)) return true;
  const double t = lanes_->t(world);
  return std::any_of(pushes_.begin(), pushes_.end(),
                     [&](const Push& push) { return t > push.start - dt_ && t < push.start + push.duration + dt_; });
}

void LaneWorlds::advance(int pack, unsigned running, int steps, Host& host) {
  const int first = pack * width(), n = lanes_->worlds_of(pack);
  lanes::Lanes::Room room(*lanes_);
  unsigned other = lanes_->read_commands(pack, commands_);  // lanes that something else moves
  for (int l = 0; l < n; ++l) {
    const double* w = wrenches_ + at(first + l) * 6 * at(bodies_);
    double most = 0;
    for (int i = 0; i < 6 * bodies_; ++i) most = w[i] != 0 ? 1 : most;
    if (most != 0) other |= 1u << l;
  }
  for (int i = 0; i < steps && running != 0; ++i) {
    unsigned can = running & ~other;
    for (int l = 0; l < n; ++l)
      if (alone(first + l) || host.watched(first + l)) can &= ~(1u << l);
    const unsigned moved = can != 0 ? lanes_->step(pack, can, room) : 0;
    for (int l = 0; l < n; ++l) {
      const int w = first + l;
      if ((moved >> l & 1u) != 0) {
        held_[at(w)] = stale_[at(w)] = 1;
        ++steps_[at(w)];
      } else if ((running >> l & 1u) != 0) {
        sync(w, host.simulation(w));
        if (!host.step_alone(w)) running &= ~(1u << l);
        put(w, host.simulation(w).state());
      }
    }
    if (!host.go_on()) break;
  }
}

unsigned LaneWorlds::write_motions(int pack, unsigned chosen, double* pose, double* velocity,
                                   std::span<const lanes::PointRows> points) {
  for (int l = 0; l < lanes_->worlds_of(pack); ++l)
    if (held_[at(pack * width() + l)] == 0) chosen &= ~(1u << l);
  if (chosen == 0) return 0;
  lanes::Lanes::Room room(*lanes_);
  lanes_->write_motions(pack, chosen, room, pose, velocity, points);
  return chosen;
}

void LaneWorlds::sync(int world, Simulation& simulation) {
  if (!on() || stale_[at(world)] == 0) return;
  State& state = states_[at(world / width())];
  state = simulation.state();
  lanes_->take(world, state);
  simulation.set_state(state);
  stale_[at(world)] = 0;
}

}  // namespace tribo
