// What a hinge between two shapes decides once and for all, whatever its angle.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "collision/narrowphase.hpp"
#include "tribo/model.hpp"

namespace tribo {

enum class AcrossHinge {
  Meets,   ///< it depends on the pose
  Parted,  ///< a plane across the axis is between them: they never overlap
  Joined   ///< both hold a point of the axis: they always overlap
};

/// Of two geometries on bodies with one hinge between them, or with several hinges through one point.
AcrossHinge across_hinge(const Model& model, std::span<const Solid> solids, int a, int b);

/// Which pairs are to be looked at (geometries x geometries); joined: those of the others that always overlap.
std::vector<char> pair_table(const Model& model, std::span<const Solid> solids,
                             std::vector<std::pair<int, int>>& joined);

}  // namespace tribo
