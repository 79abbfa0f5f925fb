// Tendons: lengths over joints or along a path of points, that a model limits, pulls on, damps, rubs or ties together.
//
//   l = sum of coefficient q                            over joints of one coordinate                    (tendon.1)
//   l = sum of |p_(i+1) - p_i| / divisor                along a path of points on bodies                 (tendon.2)
//   f = -stiffness d - damping ldot,                    d: how far l lies outside of [rest_lower, rest_upper]
//   lower <= l <= upper,  and dry friction              in the length                                    (tendon.3)
// f pulls with tau = f dl/dq.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

/// A revolute or prismatic joint that a tendon runs over.
struct TendonJoint {
  int body = -1;           ///< whose joint it is
  double coefficient = 1;  ///< [m/rad] or [-]
};

/// A straight piece of a path.
struct TendonSegment {
  int body_a = -1, body_b = -1;                         ///< -1: the world; or a kinematic body
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  ///< its ends, in their frames [m]
  double divisor = 1;                                   ///< by which a pulley divides its length, > 0
};

struct Tendon {
  std::string name;
  std::vector<TendonJoint> joints;  ///< these, or a path
  std::vector<TendonSegment> path;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double stiffness = 0, damping = 0;      ///< >= 0
  double rest_lower = 0, rest_upper = 0;  ///< between them the spring carries no load
  double friction = 0;                    ///< dry, >= 0
};

/// l_a = sum of polynomial[k] (l_b - center)^k
struct TendonTie {
  std::string name;
  int tendon_a = -1, tendon_b = -1;  ///< tendon_b = -1: l_a = polynomial[0]
  std::array<double, 5> polynomial{};
  double center = 0;
};

}  // namespace tribo
