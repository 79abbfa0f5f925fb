// What solref and solimp of a contact give way by, as a compliance, and how fast, as a relaxation time.
//
// MuJoCo's contact obeys phi'' + B phi' + K d phi = -R f, with R = s (1 - d) A / d, the impedance d(phi) of solimp, A the sum
// of the inverse weights of the two bodies, and of solref B = 2 / (d_max timeconst), K = 1 / (d_max timeconst dampratio)^2.
// Slow against its own time constant that is C f = -(phi + tau phi'), the law of (rigid.4):
//   C = R / (K d) = s (1 - d) A / (d^2 K)                                                                 (soft.1)
//   tau = B / (K d)                                                                                       (soft.2)
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
struct Yielding {
  double compliance, relaxation_time;  ///< (soft.1) [m/N], (soft.2) [s]
};
/// mu and condim of the pair.
Yielding yielding_of(const mjModel& m, const Softness& pair, double mu, int condim);

}  // namespace tribo::mjcf
