// How near a contact or a row is to the edge of its mode.
#pragma once

#include <algorithm>
#include <cmath>

#include "tribo/contact_problem.hpp"
#include "tribo/step.hpp"

namespace tribo {

constexpr double dependent = 1e-8;   ///< of the length of a row: less is left of it beside the others
constexpr double weak_share = 1e-6;  ///< of the scales of a problem: nearer to its edge a mode is weak

/// How far the force of a row is from its bounds, as a share of them, or of F where it has only one.
inline double room_inside(const ContactProblem& problem, int j, double f, double F) {
  const double lower = problem.lower()[j], upper = problem.upper()[j], room = std::min(f - lower, upper - f);
  if (!std::isfinite(room)) return 1;
  return room / (std::isfinite(upper - lower) ? 0.5 * (upper - lower) : F);
}

/// Does a unilateral row act? Solvers leave a little force on those that are open: which of force and motion is not zero
/// is seen by their scales.
inline bool acts(const IslandSolution& s, int row) {
  const Residual& scale = s.solve.residual;
  return s.f[row] > 0 && s.f[row] * scale.motion_scale >= s.c[row] * scale.force_scale;
}

}  // namespace tribo
