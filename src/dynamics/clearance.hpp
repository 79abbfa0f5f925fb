// How low shapes reach.
#pragma once

#include <vector>

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

constexpr double least_allowed_overlap = 1e-3;  // [m]
/// By how much each geometry may overlap others: 1 % of a robot's size, 10 % of an object's thickness (springs give way, and
/// fast things are met late), 1 mm at least, by the boxes around them at q; infinite where nothing has a size [m].
std::vector<double> allowed_overlaps(const Model& model, const VecX& q);

}  // namespace tribo
