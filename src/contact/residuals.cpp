// The judge: how far forces and velocities are from the laws of contact. See (problem.2), (problem.3).
#include <algorithm>
#include <cmath>

#include "tribo/contact_problem.hpp"

namespace tribo {
namespace {

void judge_cone(const Vec3& f, Vec3 c, double mu, bool de_saxce, Residual& r) {
  if (de_saxce) c.z() += mu * std::hypot(c.x(), c.y());
  r.primal = std::max(r.primal, (f - project_cone(f, mu)).norm());
  r.dual = std::max(r.dual, project_cone(-c, mu).norm());  // distance to K*, by Moreau
  r.complementarity = std::max(r.complementarity, std::abs(f.dot(c)));
}

// The pyramid |f_x|, |f_y| <= mu f_N, dissipation maximal along each axis.
void judge_pyramid(const Vec3& f, const Vec3& c, double mu, Residual& r) {
  const double bound = mu * std::max(f.z(), 0.0);
  r.primal = std::max({r.primal, -f.z(), std::abs(f.x()) - bound, std::abs(f.y()) - bound});
  r.dual = std::max(r.dual, -c.z());
  const double gap = std::abs(f.z() * c.z()) + std::abs(f.x() * c.x() + bound * std::abs(c.x())) +
                     std::abs(f.y() * c.y() + bound * std::abs(c.y()));
  r.complementarity = std::max(r.complementarity, gap);
}

void judge_row(double f, double c, double lower, double upper, Residual& r) {
  r.primal = std::max({r.primal, lower - f, f - upper});
  const double up = std::max(c, 0.0), down = std::max(-c, 0.0);
  if (std::isinf(lower))
    r.dual = std::max(r.dual, up);
  else
    r.complementarity = std::max(r.complementarity, up * std::abs(f - lower));
  if (std::isinf(upper))
    r.dual = std::max(r.dual, down);
  else
    r.complementarity = std::max(r.complementarity, down * std::abs(upper - f));
}

}  // namespace

double Residual::absolute() const { return std::max({primal, dual, complementarity}); }

double Residual::relative() const {
  return std::max({primal / force_scale, dual / motion_scale, complementarity / (force_scale * motion_scale)});
}

Residual judge(const ContactProblem& problem, ContactModel model, const double* f, const double* c) {
  Residual r;
  const int n = problem.size();
  double largest_f = 0, largest_g = 0, bad = 0;
  for (int i = 0; i < n; ++i) {
    largest_f = std::max(largest_f, std::abs(f[i]));
    largest_g = std::max(largest_g, std::abs(problem.g()[i]));
    bad += 0 * (f[i] + c[i]);  // NaN where either is not finite
  }
  r.force_scale = std::max({largest_f, problem.weight, 1e-300});
  r.motion_scale = largest_g + 9.81;
  for (int i = 0; i < problem.nc(); ++i) {
    const Vec3 fi(f + 3 * i), ci(c + 3 * i);
    if (model == ContactModel::Lcp)
      judge_pyramid(fi, ci, problem.mu()[i], r);
    else
      judge_cone(fi, ci, problem.mu()[i], model != ContactModel::Ccp, r);
  }
  for (int j = 0; j < problem.nr(); ++j)
    judge_row(f[3 * problem.nc() + j], c[3 * problem.nc() + j], problem.lower()[j], problem.upper()[j], r);
  if (std::isnan(bad)) r.primal = r.dual = r.complementarity = std::numeric_limits<double>::infinity();
  return r;
}

Residual judge(const ContactProblem& problem, ContactModel model, const VecX& f) {
  VecX c(problem.size());
  problem.velocity(f.data(), c.data());
  return judge(problem, model, f.data(), c.data());
}

}  // namespace tribo
