// What is wrong with a scene before its first step: units, axes, ranges, motors, gravity.
#pragma once

#include <vector>

#include "tribo/explain.hpp"

namespace tribo {

/// Faults of the model and of the start, the surest first. Those that a healthy robot may have (a link that is modelled as a
/// point, a heavy tool) are not among them.
std::vector<Finding> model_faults(const Scene& scene);

}  // namespace tribo
