// Robots with a free base, and the first of them that falls.
#pragma once

#include <optional>
#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

class FallWatch {
 public:
  explicit FallWatch(const Scene& scene);
  /// After each step. meant: joints are where they were sent, so that a base that sinks upright was sent down.
  void observe(const Simulation& simulation, double t, bool meant);

  bool any_robot() const { return !walkers_.empty(); }
  /// A robot fell where its base is tilted by more than 60 degrees from the start, or stands at less than half its height
  /// over what it touches; or where it begins on its back; or where it falls, controlled, and meets nothing.
  const std::optional<Finding>& fall() const { return fall_; }
  /// A robot that begins on its side: a cause where it then falls.
  const std::optional<Finding>& lying() const { return lying_; }
  /// An arm that struck what is fixed to the world.
  const std::optional<Finding>& struck() const { return struck_; }

 private:
  struct Walker {
    int body = 0;       ///< free base of a robot
    double height = 0;  ///< above its own lowest point at the start [m]; 0: it has no shapes, and a touch will tell
    double start = 0;   ///< height in the world at the start [m]
    bool touched = false;
    Vec3 up_B;         ///< the vertical of the start, in the base
    double speed = 0;  ///< at the start [m/s]
  };
  void see_start(const Scene& scene, const Member& member, const Walker& walker);
  void see_arms(const Simulation& simulation, double t);
  void see(Walker& walker, const Simulation& simulation, double t);
  void see_flight(const Walker& walker, const Simulation& simulation, double t);
  bool driven(const Simulation& simulation) const;
  double level(const Simulation& simulation, int tree) const;

  const Model& model_;
  bool meant_ = false;
  bool controlled_ = false;  ///< by the scene
  bool grounded_ = false;    ///< is there anything fixed that could be touched?
  Vec3 up_ = Vec3::UnitZ();
  std::vector<Walker> walkers_;
  std::vector<int> arms_;  ///< members: robots on a fixed base whose first joint turns
  double fastest_ = 0;     ///< most kinetic energy by now [J]
  std::optional<Finding> fall_, lying_, struck_;
};

}  // namespace tribo
