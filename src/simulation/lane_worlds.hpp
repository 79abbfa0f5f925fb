// The worlds of a batch in SIMD lanes: which of them a kernel steps, and which step by themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lanes/lanes.hpp"
#include "tribo/scene.hpp"

namespace tribo {

class LaneWorlds {
 public:
  /// others: controllers beside those of the scene. All pointers of the commands must stay.
  LaneWorlds(const Scene& scene, int worlds, int threads, bool others, const lanes::Commands& commands,
             const double* wrenches);

  /// "avx512, 4 lanes"; or what is not covered, so that every world steps by itself.
  const std::string& description() const { return description_; }
  bool on() const { return lanes_ != nullptr; }
  int packs() const { return lanes_->packs(); }
  int width() const { return lanes_->width(); }

  /// A world has another model, other numbers in the one that it has, or another state.
  void set_model(int world, const Model& model);
  void set_numbers(int world, const Model& model);
  void put(int world, const State& state);
  /// Steps of a world that were taken in a lane, since it was made.
  std::uint64_t steps(int world) const { return on() ? steps_[at(world)] : 0; }

  /// What the batch does with one world.
  struct Host {
    virtual Simulation& simulation(int world) = 0;
    /// Must it step by itself: is somebody shown its steps, or has it pushes or constraints of its own?
    virtual bool watched(int world) const = 0;
    /// A step of its own; false where it is the last one.
    virtual bool step_alone(int world) = 0;
    /// Asked after each step of a pack.
    virtual bool go_on() = 0;

   protected:
    ~Host() = default;
  };
  /// Steps of a pack. running: its worlds by bits.
  void advance(int pack, unsigned running, int steps, Host& host);
  /// Lanes::write_motions, of worlds that lanes hold; those by bits.
  unsigned write_motions(int pack, unsigned chosen, double* pose, double* velocity,
                         std::span<const lanes::PointRows> points);
  /// The simulation of a world gets the state that its lane has.
  void sync(int world, Simulation& simulation);
  /// Was the last step of a world taken in its lane?
  bool holds(int world) const { return on() && held_[at(world)] != 0; }
  const lanes::Lanes& lanes() const { return *lanes_; }

 private:
  bool alone(int world) const;

  double dt_ = 0;
  int bodies_ = 0;
  std::vector<Push> pushes_;
  const double* wrenches_;
  lanes::Commands commands_;
  std::string description_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<lanes::Lanes> lanes_;
  std::vector<char> held_, stale_;  // stale: the simulation is behind its lane
  std::vector<std::uint64_t> steps_;
  std::vector<State> states_;  // one a pack, for worlds on their way out
};

}  // namespace tribo
