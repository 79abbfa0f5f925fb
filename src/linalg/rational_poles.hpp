// The (5, 6) Pade approximant of the exponential (rational.2), by its poles in the upper half plane.
#pragma once

#include <array>
#include <cmath>

namespace tribo {

struct Pole {
  double re, im, weight_re, weight_im;  // a root of the denominator, and p / -q' there
};
constexpr std::array<Pole, 3> rational_poles = {
    {{7.4906375288096300922, 1.6215023887783939784, -185.54487885755513041, 917.7923648638088502},
     {6.4705149367015697536, 4.9001211474213864242, 226.06041189362895375, -305.10335904505314999},
     {4.0388475344888001542, 8.345600414872215668, -43.515533036073823344, 14.015306215640605794}}};
constexpr double most_rational_steps = 100'000;

/// Steps that it is exact with, where the fastest mode turns by `turn` over them and |h A| is `all`: up to 1 in each; a stiff
/// mode is damped to 0.03^8 by 8 of them.
inline int rational_steps(double turn, double all, double damps = 8) {
  constexpr double exact = 1;
  return static_cast<int>(std::max(1.0, std::min(std::ceil(all / exact), std::max(damps, std::ceil(turn / exact)))));
}

}  // namespace tribo
