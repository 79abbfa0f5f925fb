#include "readers/mjcf_softness.hpp"

#include <algorithm>
#include <cmath>

namespace tribo::mjcf {
namespace {

constexpr double share = 0.25;  // of the weight, on one contact

double lighter(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

// d(r): from solimp[0] to solimp[1] over the width solimp[2], with a midpoint and a power.
double impedance(const Softness& s, double r) {
  const double width = std::max(s.solimp[2], mjMINVAL), x = std::min(std::abs(r) / width, 1.0);
  const double middle = std::clamp(s.solimp[3], mjMINIMP, mjMAXIMP), power = std::max(s.solimp[4], 1.0);
  const double y = power == 1    ? x
                   : x <= middle ? std::pow(x, power) / std::pow(middle, power - 1)
                                 : 1 - std::pow(1 - x, power) / std::pow(1 - middle, power - 1);
  return std::clamp(s.solimp[0] + y * (s.solimp[1] - s.solimp[0]), mjMINIMP, mjMAXIMP);
}

Softness together(Softness s, const Softness& other) {
  s.inverse_weight += other.inverse_weight;
  s.mass = lighter(s.mass, other.mass);
  return s;
}

}  // namespace

Softness softness_of(const mjModel& m, int g) {
  Softness s;
  std::copy_n(m.geom_solref + mjNREF * g, mjNREF, s.solref.begin());
  std::copy_n(m.geom_solimp + mjNIMP * g, mjNIMP, s.solimp.begin());
  const int body = m.geom_bodyid[g];
  s.mix = m.geom_solmix[g];
  s.inverse_weight = m.body_invweight0[2 * body];
  if (m.body_weldid[body] != 0) s.mass = m.body_subtreemass[m.body_rootid[body]];
  return s;
}

Softness mixed(const Softness& a, const Softness& b) {
  double share_a = 0.5;
  if (a.mix >= mjMINVAL || b.mix >= mjMINVAL) share_a = a.mix / (a.mix + b.mix);
  Softness s = together(a, b);
  const bool times = a.solref[0] > 0 && b.solref[0] > 0;  // else stiffness and damping: the smaller
  for (std::size_t k = 0; k < mjNREF; ++k)
    s.solref[k] = times ? share_a * a.solref[k] + (1 - share_a) * b.solref[k] : std::min(a.solref[k], b.solref[k]);
  for (std::size_t k = 0; k < mjNIMP; ++k) s.solimp[k] = share_a * a.solimp[k] + (1 - share_a) * b.solimp[k];
  return s;
}

Softness with_higher(const Softness& higher, const Softness& other) { return together(higher, other); }

Yielding yielding_of(const mjModel& m, const Softness& s, double mu, int condim) {
  const double largest = std::clamp(s.solimp[1], mjMINIMP, mjMAXIMP);
  double K = -s.solref[0] / (largest * largest), B = -s.solref[1] / largest;
  if (s.solref[0] > 0) {
    const bool safe = !(m.opt.disableflags & mjDSBL_REFSAFE);
    const double time = safe ? std::max(s.solref[0], 2 * m.opt.timestep) : s.solref[0];
    K = 1 / std::max(mjMINVAL, std::pow(largest * time * s.solref[1], 2));
    B = 2 / std::max(mjMINVAL, largest * time);
  }
  double scale = 1;
  if (m.opt.cone == mjCONE_PYRAMIDAL && condim > 1) {
    const double edges = 2 * (condim - 1);
    scale = 2 * mu * mu * (1 + mu * mu) / (edges * std::max(mjMINVAL, m.opt.impratio));
  }
  const auto at_depth = [&](double r) {
    const double d = impedance(s, r);
    return scale * (1 - d) * s.inverse_weight / (d * d * K);  // (soft.1)
  };
  // The deeper, the stiffer: one depth is that of the load. Where d begins near 0 it is far from any first guess.
  const double load = share * s.mass * vec3(m.opt.gravity).norm();
  double low = 0, high = load * std::max(at_depth(0), at_depth(s.solimp[2]));
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = 0.5 * (low + high);
    (middle < load * at_depth(middle) ? low : high) = middle;
  }
  return {at_depth(low), B / (K * impedance(s, low))};  // (soft.2)
}

}  // namespace tribo::mjcf
