#include "dynamics/chart.hpp"

#include <cmath>

#include "dynamics/group.hpp"

namespace tribo {
namespace {

// T(r) w
Vec3 rotation_rate(const Vec3& r, const Vec3& w) {
  const double a2 = r.squaredNorm(), a = std::sqrt(a2);
  const double k = a2 < 1e-4 ? 1.0 / 12 + a2 / 720 : 1 / a2 - (1 + std::cos(a)) / (2 * a * std::sin(a));
  const Vec3 rw = r.cross(w);
  return w + 0.5 * rw + k * r.cross(rw);
}

}  // namespace

Chart::Chart(const Model& model) {
  for (const Body& b : model.bodies) {
    if (b.joint == JointKind::Free) free_.push_back(b.iv);
    if (b.joint == JointKind::Free) turning_.push_back(b.iv + 3);
    if (b.joint == JointKind::Spherical) turning_.push_back(b.iv);
  }
}

void Chart::turn(const VecX& v, double time, VecX& x) const {
  for (int i : free_) {
    const Vec3 w = v.segment<3>(i + 3);
    if (!w.isZero(0)) x.segment<3>(i) = rotation_exponential(time * w) * Vec3(x.segment<3>(i));
  }
}

void Chart::turn_all(const VecX& v, double time, VecX& x) const {
  for (int i : free_) {
    const Vec3 w = v.segment<3>(i + 3);
    if (w.isZero(0)) continue;
    const Quat turn = rotation_exponential(time * w);
    for (int k : {i, i + 3}) x.segment<3>(k) = turn * Vec3(x.segment<3>(k));
  }
}

void Chart::rate(const VecX& move, const VecX& u, VecX& rate) const {
  rate = u;
  for (int i : turning_) rate.segment<3>(i) = rotation_rate(move.segment<3>(i), u.segment<3>(i));
}

}  // namespace tribo
