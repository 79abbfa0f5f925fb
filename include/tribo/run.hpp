// The loop of a run: step, observe, stop.
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/simulation.hpp"

namespace tribo {

/// Sees every step of a run: a recorder, an explanation, a picture.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After each step, also after one that was not taken.
  virtual void observe(Simulation& simulation, const StepReport& report) = 0;
};

/// Was the step not taken?
inline bool ended(const StepReport& report) {
  return report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped;
}

/// Takes a simulation through a time. Simulation and observers must outlive it.
class Run {
 public:
  /// For a duration from the present state on [s]: the whole steps that cover it.
  Run(Simulation& simulation, double duration);
  /// Observers see a step in the order in which they were added.
  Run& watch(Observer& observer);

  /// A step, and what the observers make of it. False where the run is over already: the time is up, a step was not
  /// taken, or somebody asked to stop.
  bool step();
  void stop() { stopped_ = true; }
  /// All steps that are left.
  void finish() {
    while (step()) continue;
  }

  std::uint64_t steps() const { return steps_; }  ///< that it has
  std::uint64_t done() const { return done_; }
  const StepReport& last() const { return last_; }
  /// Was the last step not taken?
  bool failed() const { return done_ > 0 && ended(last_); }
  /// Spent in the steps, without the observers [s].
  double wall() const { return wall_; }

 private:
  Simulation& simulation_;
  std::vector<Observer*> observers_;
  std::uint64_t steps_ = 0, done_ = 0;
  StepReport last_;
  double wall_ = 0;
  bool stopped_ = false;
};

}  // namespace tribo
