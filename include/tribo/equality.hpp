// Equality constraints between bodies or joints: loop closures, welds, joints that follow joints.
#pragma once

#include <array>
#include <string>

#include "tribo/types.hpp"

namespace tribo {

enum class EqualityKind {
  Connect,  ///< a point of a stays on a point of b: 3 rows
  Weld,     ///< the pose of b in a stays: 6 rows
  Joint     ///< one joint is a polynomial of another, or a constant: 1 row
};

struct Equality {
  std::string name;
  EqualityKind kind = EqualityKind::Connect;
  int body_a = -1;                                      ///< Joint: the body whose revolute or prismatic joint follows
  int body_b = -1;                                      ///< -1: the world, or, of a Joint, nothing: q_a = polynomial[0]
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  ///< Connect: in the frames of a and b [m]
  Placement X_AB;                                       ///< Weld: frame of b in a
  /// Joint: q_a = sum of polynomial[k] (q_b - center)^k; mimic is {offset, multiplier, 0, 0, 0} [rad] or [m]
  std::array<double, 5> polynomial{};
  double center = 0;  ///< [rad] or [m]
};

}  // namespace tribo
