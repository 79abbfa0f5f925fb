// What became of the robots of a run, told in words: who fell, and where shapes overlap more than contact does.
#pragma once

#include <optional>
#include <vector>

#include "common.hpp"
#include "tribo/overlap_watch.hpp"

namespace tribo::app {

class Fate : public Observer {
 public:
  explicit Fate(const Scene& scene);
  /// After each step.
  void observe(Simulation& simulation, const StepReport& report) override;
  /// Was something flung away that nobody had thrown?
  bool thrown() const { return throw_.member >= 0; }
  /// Fields `falls`, `overlap` and `thrown`.
  void add_to(Json& summary) const;

 private:
  /// A robot on a free base that stands at the start.
  struct Walker {
    int member = 0;
    double height = 0;  ///< of the base above the robot's lowest point at the start [m]
    Vec3 up_B;          ///< the vertical at the start, in the base
    struct Fall {
      double t, height, tilt;  ///< [s], [m] above what it touches or the ground, [rad] from the start
      bool low;                ///< below half of its height; otherwise tilted
    };
    std::optional<Fall> fall{};
  };

  /// The first free body that is faster than anything of its kind, and was not at the start.
  struct Throw {
    int member = -1;
    double speed = 0, t = 0;  ///< [m/s], [s]
  };

  void watch(Walker& walker, const Simulation& simulation) const;

  const Model& model_;
  Vec3 up_;                       ///< against gravity; zero where there is none
  std::optional<double> ground_;  ///< height of the ground along up [m]
  std::vector<Walker> walkers_;
  OverlapWatch overlaps_;
  VecX v_start_;
  Throw throw_;
};

/// Lines FELL, OVERLAP, THROWN and DIVERGED of the summary.
void print_fate(const Json& summary);

}  // namespace tribo::app
