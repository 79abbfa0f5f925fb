// What solref and solimp of a contact give way by, as a compliance.
//
// At rest MuJoCo's contact carries f = K d^2 r / ((1 - d) A) at the depth r, with the impedance d(r) of solimp, A the sum of
// the inverse weights of the two bodies, and K = 1 / (d_max timeconst dampratio)^2:
//   compliance = s (1 - d) A / (d^2 K)                                                                    (soft.1)
//   s = 1 (elliptic cone, or no friction),  2 mu^2 (1 + mu^2) / (edges impratio) (pyramid of 4, 6 or 10 edges)
// d is taken at the depth under a quarter of the weight of the lighter side: the stance of most that stands.
#pragma once

#include <array>
#include <compare>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {

struct Softness {
  std::array<double, mjNREF> solref{};
  std::array<double, mjNIMP> solimp{};
  double mix = 1;             ///< weight of its solref and solimp beside another's
  double inverse_weight = 0;  ///< of its body [1/kg]
  double mass = 0;            ///< of the tree it belongs to; 0: none moves [kg]
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is meant
  auto operator<=>(const Softness&) const = default;
};

Softness softness_of(const mjModel& m, int geom);
/// Of two geoms of the same priority; where one has the higher, its solref and solimp alone: first.
Softness mixed(const Softness& a, const Softness& b);
Softness with_higher(const Softness& higher, const Softness& other);
/// (soft.1) [m/N]; mu and condim of the pair.
double compliance_of(const mjModel& m, const Softness& pair, double mu, int condim);

}  // namespace tribo::mjcf
