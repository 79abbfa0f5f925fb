// How bodies move, for collision.
#pragma once

#include <vector>

#include "collision/collision.hpp"
#include "dynamics/dynamics.hpp"

namespace tribo {

/// What collision needs to know of the motion of each body, and of moved bodies as they go from t to t + dt. Free
/// bodies have fallen for dt: they move through a step with the velocity of its end.
void fill_motions(const Model& model, const Dynamics& dynamics, double t, double dt, std::vector<BodyMotion>& motions);

}  // namespace tribo
