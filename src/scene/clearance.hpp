// How low shapes reach.
#pragma once

#include "tribo/model.hpp"

namespace tribo {

class Dynamics;

/// Height along `up` of the lowest point of a geometry that stands at X_WG [m]; infinite for half-spaces and terrain.
double lowest_point(const Geometry& geometry, const Placement& X_WG, const Vec3& up);

/// Heights of the lowest points of a member; infinite where it has no such shapes [m].
struct Lowest {
  double moving;  ///< of what its joints move
  double fixed;   ///< of what is fixed to the world
};
Lowest lowest_points(const Model& model, const Dynamics& dynamics, int member, const Vec3& up);
Lowest lowest_points(const Model& model, const VecX& q, int member, const Vec3& up);

}  // namespace tribo
