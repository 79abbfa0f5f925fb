// How high the ground is below a point: planes, terrain and whatever else is fixed to the world or kinematic.
#pragma once

#include <vector>

#include "tribo/model.hpp"

namespace tribo::walk {

class Ground {
 public:
  explicit Ground(const Model& model);
  /// Of the first surface below p at a time; `fallback` where there is none within 100 m [m].
  double below(const Model& model, const Vec3& p, const KinematicTime& time, double fallback) const;
  /// The highest on the way from a to b, both taken as points above the ground; at least at `steps` places between.
  double highest(const Model& model, const Vec3& a, const Vec3& b, const KinematicTime& time, double fallback,
                 int steps) const;
  /// The place near p, at most two spacings away, around which the ground is most level; z is the ground's. p itself where
  /// that is level.
  Vec3 level_place(const Model& model, const Vec3& p, const KinematicTime& time, double fallback, double spacing) const;

 private:
  std::vector<int> geometries_;
};

}  // namespace tribo::walk
