// Where a pair that is apart meets within a step: what look_ahead is made of, for its derivative. Equations: ahead.cpp.
#pragma once

#include "collision/narrowphase.hpp"

namespace tribo {

/// The shape after a time t, with its velocities.
PlacedSolid moved_on(const PlacedSolid& x, double t);
/// When the two first touch; infinite: not within the step.
double first_touch(const Query& query);
/// A point where the pair, moved on to a and b, touches at t, as a contact of the start (ahead.3). How fast it opens [m/s].
double take_back(const Query& query, const PlacedSolid& a, const PlacedSolid& b, double t, Touch& x);

}  // namespace tribo
