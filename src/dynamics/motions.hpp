// How bodies move, for collision.
#pragma once

#include <vector>

#include "collision/collision.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {

/// What collision needs to know of the motion of each body, and of kinematic bodies as they go from t to t + dt. Single
/// free bodies have fallen for dt: the motion of a step is that of its end. What its drives and feet do to a robot is
/// not known before the step.
void fill_motions(const Model& model, const Dynamics& dynamics, const KinematicTime& time, double dt,
                  std::vector<BodyMotion>& motions);
/// The velocities of bodies once they are known: v at the end of the step, of free joints in the axes of its start (nv).
void set_velocities(const Model& model, const Dynamics& dynamics, const VecX& v, std::vector<BodyMotion>& motions);

}  // namespace tribo
