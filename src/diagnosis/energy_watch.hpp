// Where the energy of a run came from.
#pragma once

#include <optional>
#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

class EnergyWatch {
 public:
  explicit EnergyWatch(const Scene& scene);
  /// After each step. fallen: a robot has.
  void observe(const Simulation& simulation, bool fallen);

  const Audit& audit() const { return audit_; }
  /// Which part put in most of what the run gained: up to a fall or to wild motion, since what comes after follows from
  /// that. failed: the run ended early.
  std::optional<Finding> gain(bool failed, bool fallen) const;
  /// Did the scene itself push an object? What a scene file pushes is meant to move.
  bool meant() const { return meant_; }

 private:
  struct Gain {
    EnergyLines work;
    double start = 0, most = 0;  ///< energy [J]
    double kinetic = 0;          ///< the largest [J]
    double t = 0;                ///< of the most [s]
    bool valid = false;
  };
  std::optional<Finding> judge(const Gain& gain, bool wild) const;
  bool wild(double times = 1) const;

  const Model& model_;
  Audit audit_;
  Gain now_, at_fall_, at_wild_;     ///< wild: when the motion became so; what runs away gains from anything
  std::optional<double> pushed_at_;  ///< when pushes began to do work [s]
  bool meant_ = false;
};

}  // namespace tribo
