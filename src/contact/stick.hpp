// What forces leave of motions that friction holds. The judge hardly sees them: the work that friction should do at a speed c is
// mu f_N |c|, what it does is -f_T . c, and near the edge of the cone, against c, the two are the same.
#pragma once

#include <algorithm>
#include <cmath>

#include "tribo/contact_solver.hpp"

namespace tribo {

/// The fastest tangential acceleration of a contact whose force is inside of its cone [m/s^2].
inline double creep(const ContactProblem& problem, const double* f, const double* c) {
  double most = 0;
  for (int i = 0; i < problem.nc(); ++i, f += 3, c += 3) {
    const double bound = problem.mu()[i] * f[2] * (1 - 1e-9);
    if (bound > 0 && f[0] * f[0] + f[1] * f[1] < bound * bound) most = std::max(most, c[0] * c[0] + c[1] * c[1]);
  }
  return std::sqrt(most);
}

/// Do the forces meet a share of the tolerance, and hold what they hold as well?
inline bool holds(const ContactProblem& problem, const Tolerance& tolerance, double share, const Residual& residual,
                  const double* f, const double* c) {
  const Tolerance part{share * tolerance.abs, share * tolerance.rel};
  return part.met(residual) && creep(problem, f, c) <= std::max(part.abs, part.rel * residual.motion_scale);
}

}  // namespace tribo
