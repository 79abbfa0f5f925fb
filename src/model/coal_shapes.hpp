// Collision shapes as Coal reads them from robot files, made into ours.
#pragma once

#include <string>

#include "tribo/shape.hpp"

namespace coal {
class CollisionGeometry;
}

namespace tribo {

/// Fills kind, size and hull of a geometry. InvalidInput for a shape that we do not have.
void convert_shape(const coal::CollisionGeometry& shape, Geometry& geometry);

}  // namespace tribo
