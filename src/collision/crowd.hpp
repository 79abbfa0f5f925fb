// What a few words of a file could ask for: more shapes than contacts have names, more planes beside them than memory holds.
#pragma once

#include "collision/broadphase.hpp"
#include "collision/narrowphase.hpp"
#include "tribo/model.hpp"

namespace tribo {

/// InvalidInput where a model has more shapes, or pairs of them with planes and terrains, than are listed.
void check_counts(const Model& model);

/// The box round a solid, in W, grown on all sides.
Bounds bounds_of(const PlacedSolid& x, double grown, int index);

}  // namespace tribo
