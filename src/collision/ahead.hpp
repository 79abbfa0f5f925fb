// Where a pair that is apart meets within a step: what look_ahead is made of, for its derivative. Equations: ahead.cpp.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// The shape after a time t, with its velocities.
PlacedSolid moved_on(const PlacedSolid& x, double t);
/// A round of the search for the first touch: from t on, over s at the speed.
struct Round {
  double t, s, speed;
  bool half;  ///< s is half of the gap, else what is between the planes
  Touch near;
};
/// Is their first touch found to rounding (what is round, a point over terrain), and not just before it by rounds?
bool touch_is_exact(const Query& query);
/// When the two first touch; infinite: not within the step. rounds: what led there, where it is not exact. near: the nearest
/// point of now, where it is known.
double first_touch(const Query& query, std::vector<Round>* rounds = nullptr, const Touch* near = nullptr);
/// How fast the two can close along n, which points from a to b [m/s].
double closing_speed(const PlacedSolid& a, const PlacedSolid& b, const Vec3& n);
/// A point where the pair, moved on to a and b, touches at t, as a contact of the start (ahead.3). How fast it opens [m/s].
double take_back(const Query& query, const PlacedSolid& a, const PlacedSolid& b, double t, Touch& x);
/// Velocity of a kinematic body x at p in the mean over the step, for what touches it (carried.1).
Vec3 carried(const PlacedSolid& x, const PlacedSolid& other, const Vec3& p, double dt);

}  // namespace tribo
