// Shapes beside the point feet that stand in for their ends.
#pragma once

#include <vector>

#include "tribo/shape.hpp"

namespace tribo {

/// Takes from a shape what would touch the ground before the feet (points and balls) on its body do. False where little
/// would be left: then the shape is the foot itself.
bool clear_feet(Geometry& shape, const std::vector<Geometry>& feet);

}  // namespace tribo
