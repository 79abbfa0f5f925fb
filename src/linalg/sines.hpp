// Sines and cosines of four angles at once.
#pragma once

#include <cmath>

#include "linalg/quad.hpp"

namespace tribo {

/// Beyond this angle sin_cos() loses digits [rad].
constexpr double largest_angle = 1e4;

/// By the series of both on [-pi/4, pi/4], to rounding; pi/2 in three parts takes the quarter turns off.
QUAD_INLINE void sin_cos(const Quad& x, Quad& s, Quad& c) {
  constexpr double shift = 6755399441055744.0;  // 1.5 2^52: adding it rounds to a whole number
  constexpr double a = 1.5707963267341256142, b = 6.0771005063039659e-11, d = 2.0222662487959505e-21;
  const Quad n = (x * 0.63661977236758134308 + shift) - shift;
  const Quad r = ((x - n * a) - n * b) - n * d, z = r * r, z2 = z * z;
  const Quad p01 = -0.16666666666666666667 + z * 8.3333333333333333333e-3,
             p23 = -1.9841269841269841270e-4 + z * 2.7557319223985890653e-6,
             p45 = -2.5052108385441718775e-8 + z * 1.6059043836821614599e-10;
  const Quad sine = r + r * z * (p01 + z2 * (p23 + z2 * (p45 - z2 * 7.6471637318198164759e-13)));
  const Quad u01 = 4.1666666666666666667e-2 - z * 1.3888888888888888889e-3,
             u23 = 2.4801587301587301587e-5 - z * 2.7557319223985890653e-7,
             u45 = 2.0876756987868098979e-9 - z * 1.1470745597729724714e-11;
  const Quad cosine = (1.0 - 0.5 * z) + z2 * (u01 + z2 * (u23 + z2 * (u45 + z2 * 4.7794773323873852974e-14)));
  const Quad q = n - 4.0 * ((0.25 * n - 0.375 + shift) - shift);  // n mod 4
  const auto odd = (q == 1.0) | (q == 3.0);
  const Quad s0 = odd ? cosine : sine, c0 = odd ? sine : cosine;
  s = q > 1.5 ? -s0 : s0;
  c = (q == 1.0) | (q == 2.0) ? -c0 : c0;
}

/// Of count angles. What lies behind them up to a multiple of four is read and written too.
QUAD_INLINE void sines(const double* angle, int count, double* sine, double* cosine) {
  for (int i = 0; i < count; i += 4) {
    const Quad x = load(angle + i), size = x < 0.0 ? -x : x;
    if (size[0] < largest_angle && size[1] < largest_angle && size[2] < largest_angle && size[3] < largest_angle) {
      Quad s, c;
      sin_cos(x, s, c);
      store(sine + i, s);
      store(cosine + i, c);
    } else {
      for (int k = i; k < i + 4; ++k) {
        sine[k] = std::sin(angle[k]);
        cosine[k] = std::cos(angle[k]);
      }
    }
  }
}

}  // namespace tribo
