// Sleep, where it is asked for (RigidOptions::sleep): single free bodies that have rested for so long, all of an island, are
// not solved. They keep place and forces to the bit, without velocity, until something wakes them (sleep.1):
//   another contact list (what comes near, or leaves), another place or velocity, a push, a torque, a target, a kinematic
//   body that moves what touches it.
// How long each has rested stands in the memory of rows, so that a restored state sleeps on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/step.hpp"

namespace tribo {

class Sleep {
 public:
  Sleep(const Model& model, double time);

  bool on() const { return time_ > 0; }
  /// Which islands sleep, once contacts are grouped.
  void begin(const Start& start);
  /// By island; empty where nothing may sleep.
  std::span<const char> asleep() const { return asleep_; }
  bool holds(int island) const { return on() && asleep_[at(island)]; }
  /// Bodies that sleep.
  int count() const { return count_; }
  /// What a sleeping island ends with.
  void keep(const Start& start, const Island& island, Outcome& out) const;
  /// Places and velocities at the end of the step: how long each rests by now. Those that sleep are put back.
  void end(const Start& start, VecX& q, VecX& v);
  void remember(std::vector<RowMemory>& rows) const;

 private:
  void recall(const Start& start);
  bool idle(const Start& start, int tree) const;
  double mark(int tree, const VecX& q, const VecX& v) const;

  struct Rest {
    double time = 0, mark = 0;   // [s]; of place, velocity and contacts
    std::uint64_t contacts = 0;  // hash of their ids
    bool may = false, sleeps = false;
  };
  const Model& model_;
  double time_;
  std::vector<Rest> rests_;    // by tree
  std::vector<double> slow_;   // a body that is slower rests; 0: not a single free body [m/s]
  std::vector<double> reach_;  // of its shapes from its origin [m]
  std::vector<char> asleep_;
  int count_ = 0;
};

}  // namespace tribo
