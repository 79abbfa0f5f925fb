#include "control/walk/plan.hpp"

#include <algorithm>
#include <cmath>

namespace tribo::walk {
namespace {

constexpr double early = 1e-9;  // times that differ by less are the same [s]

// From a to b within T at the share s, along sigma: value, rate, acceleration.
struct Quintic {
  double x, v, a;
};
Quintic quintic(double s, double T) {
  s = std::clamp(s, 0.0, 1.0);
  return {s * s * s * (10 + s * (-15 + 6 * s)), 30 * s * s * (1 - s) * (1 - s) / T,
          60 * s * (1 - s) * (1 - 2 * s) / (T * T)};
}

}  // namespace

GaitPlan::Leg GaitPlan::leg(int diagonal, double t) const {
  if (t < start - early) return {true, 0, start + 0.5 * diagonal * period - t};
  const double x = (t - start + early) / period - 0.5 * diagonal;
  if (x < 0) return {true, 0, -x * period};
  const double phase = (x - std::floor(x)) * period;
  if (phase < swing()) return {false, phase, swing() - phase};
  return {true, phase - swing(), period - phase};
}

FootMotion swing_motion(const Vec3& from, const Vec3& to, double top, double s, double T) {
  FootMotion m;
  const Quintic along = quintic(s, T);
  m.p = from + along.x * (to - from);
  m.v = along.v * (to - from);
  m.a = along.a * (to - from);
  const bool up = s < 0.5;
  const Quintic half = quintic(up ? 2 * s : 2 * s - 1, 0.5 * T);
  const double a = up ? from.z() : top, b = up ? top : to.z();
  m.p.z() = a + half.x * (b - a);
  m.v.z() = half.v * (b - a);
  m.a.z() = half.a * (b - a);
  return m;
}

Vec3 foothold(const Walker& walker, const GaitPlan& gait, const FootholdRule& rule, const Instant& now,
              const Vec3& v_ref, double turning, double rest, std::size_t leg) {
  Vec3 reach = 0.5 * gait.stand() * v_ref + rule.gain * (now.v - v_ref);
  reach.z() = 0;
  if (const double far = reach.norm(); far > rule.reach) reach *= rule.reach / far;
  Vec3 p = now.com + rest * now.v + reach +
           heading(now.angles.z() + turning * (rest + 0.5 * gait.stand())) * walker.home[leg];
  p.z() = now.com.z();
  return p;
}

}  // namespace tribo::walk
