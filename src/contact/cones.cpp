// Projections onto the friction cone and its dual, from their definition, so that mu = 0 and mu = 1e6 need no special
// case.
#include <cmath>

#include "tribo/contact_problem.hpp"

namespace tribo {

Vec3 project_cone(const Vec3& f, double mu) {
  const double t = std::sqrt(f.x() * f.x() + f.y() * f.y()), n = f.z();
  if (n >= 0 && t <= mu * n) return f;
  if (mu * t <= -n) return Vec3::Zero();
  const double s = (n + mu * t) / (1 + mu * mu);  // normal part of the nearest point on the boundary
  const double scale = t > 0 ? mu * s / t : 0;
  return {scale * f.x(), scale * f.y(), s};
}

// Moreau: c = P_K*(c) - P_K(-c).
Vec3 project_dual_cone(const Vec3& c, double mu) { return c + project_cone(-c, mu); }

}  // namespace tribo
