#include "dynamics/fluid.hpp"

#include <cmath>

namespace tribo {

void add_fluid_forces(const Medium& medium, const Dynamics& dynamics, VecX& tau) {
  for (const FluidBox& box : medium.boxes) {
    const Placement X = dynamics.X_WB(box.body) * box.X_BF;
    const Vec3 v = X.R.transpose() * (dynamics.point_velocity(box.body, X.p) - medium.wind);
    const Vec3 w = X.R.transpose() * dynamics.body_velocity(box.body).ang;
    const Vec3& b = box.size;
    const double d = b.sum() / 3;
    Vec3 f = -3 * M_PI * d * medium.viscosity * v, moment = -M_PI * d * d * d * medium.viscosity * w;  // (medium.1)
    for (int i = 0; i < 3; ++i) {
      const double bj = b[(i + 1) % 3], bk = b[(i + 2) % 3];
      f[i] -= 0.5 * medium.density * bj * bk * std::abs(v[i]) * v[i];  // (medium.2)
      moment[i] -= medium.density * b[i] * (bj * bj * bj * bj + bk * bk * bk * bk) * std::abs(w[i]) * w[i] / 64;
    }
    dynamics.add_force(box.body, X.p, X.R * f, tau);
    dynamics.add_torque(box.body, X.R * moment, tau);
  }
}

}  // namespace tribo
