// The judge: how far forces and velocities are from the laws of contact. See (problem.2), (problem.3).
//
// LCP with m facets: the regular polygon P around the unit disc, corners v_k,
//   f_T in mu f_N P,   -c_T . f_T = mu f_N max_k (-c_T . v_k),   0 <= f_N ⟂ c_N >= 0               (residuals.1)
// RaiSim: a sliding contact minimises its block's energy over the cone cut by the plane c_N = 0 [LeLidec2024, eq. 23].
// With s = G_TN / G_NN of the block, the conditions of optimality (eq. 24 there) are those of the NCP with another
// shift,
//   K ∋ f ⟂ c + z mu (s, 1) ∈ K*,   z >= 0 the least with |c_T + z mu s| <= z                      (residuals.2)
// which is that of [DeSaxce1998] where s = 0. So one residual zero says: Signorini, Coulomb, and this law instead of maximal
// dissipation. Judge with Ncp to see what the model loses.
#include <algorithm>
#include <cmath>

#include "contact/diagonal_block.hpp"

namespace tribo {
namespace {

// c + Gamma(c) is in K* exactly where c_N >= 0, and its distance is at most -c_N: equal without slip, less by
// sqrt(1 + mu^2) with it. -c_N is told, so that no mu hides an approach. Most forces are in K: the projection is
// for the others. At mu = 0 the cone is its axis, and f_N < 0 has to be asked for by itself.
void judge_ncp(const double* f, const double* c, double mu, Residual& r) {
  const double ft = std::sqrt(f[0] * f[0] + f[1] * f[1]), ct = std::sqrt(c[0] * c[0] + c[1] * c[1]);
  if (f[2] < 0 || ft > mu * f[2]) r.primal = std::max(r.primal, (Vec3(f) - project_cone(Vec3(f), mu)).norm());
  r.dual = std::max(r.dual, -c[2]);
  r.complementarity = std::max(r.complementarity, std::abs(f[0] * c[0] + f[1] * c[1] + f[2] * (c[2] + mu * ct)));
}

void judge_cone(const Vec3& f, const Vec3& c, double mu, Residual& r) {
  r.primal = std::max(r.primal, (f - project_cone(f, mu)).norm());
  r.dual = std::max(r.dual, project_cone(-c, mu).norm());  // distance to K*, by Moreau
  r.complementarity = std::max(r.complementarity, std::abs(f.dot(c)));
}

void judge_raisim(const ContactProblem& problem, int i, const Vec3& f, Vec3 c, double mu, Residual& r) {
  double D[9];
  diagonal_block(problem, i, D);
  r.dual = std::max(r.dual, -c.z());  // as in the NCP
  const double sx = D[8] > 0 ? mu * D[2] / D[8] : 0, sy = D[8] > 0 ? mu * D[5] / D[8] : 0;
  // (1 - s^2) z^2 - 2 b z - |c_T|^2 = 0
  const double a = 1 - sx * sx - sy * sy, b = c.x() * sx + c.y() * sy, t = c.x() * c.x() + c.y() * c.y();
  const double root = std::sqrt(std::max(b * b + a * t, 0.0));
  const double below = root - b;  // z = |c_T|^2 / (root - b) is the smaller positive root, whatever the sign of a
  if (t > 0 && (b * b + a * t < 0 || !(below > 0))) {  // the cut cone is unbounded along -c_T: no force but zero
    r.complementarity = std::max(r.complementarity, f.norm() * std::sqrt(t));
    c.z() += mu * std::sqrt(t);
  } else if (t > 0) {
    const double z = t / below;  // (residuals.2)
    c += z * Vec3(sx, sy, mu);
  }
  judge_cone(f, c, mu, r);
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

// (residuals.1)
void judge_polygon(const Vec3& f, const Vec3& c, double mu, int facets, Residual& r) {
  const double bound = mu * std::max(f.z(), 0.0), step = 2 * M_PI / facets;
  double outside = 0, support = 0;
  for (int k = 0; k < facets; ++k) {
    outside = std::max(outside, f.x() * std::cos(k * step) + f.y() * std::sin(k * step) - bound);
    const double corner = (k + 0.5) * step;
    support = std::max(support, -(c.x() * std::cos(corner) + c.y() * std::sin(corner)) / std::cos(0.5 * step));
  }
  r.primal = std::max({r.primal, -f.z(), outside});
  r.dual = std::max(r.dual, -c.z());
  const double gap = std::abs(f.z() * c.z()) + std::abs(f.x() * c.x() + f.y() * c.y() + bound * support);
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

// (problem.4)
void judge_disc(const FrictionDisc& disc, const double* f, const double* c, double normal, Residual& r) {
  double ff = 0, cc = 0, power = 0;
  for (int k = 0; k < disc.size; ++k) {
    ff += f[k] * f[k];
    cc += c[k] * c[k];
    power += f[k] * c[k];
  }
  const double bound = disc.length * std::max(normal, 0.0);
  r.primal = std::max(r.primal, std::sqrt(ff) - bound);
  r.complementarity = std::max(r.complementarity, std::abs(power + bound * std::sqrt(cc)));
}

constexpr double pressing = 1e-8;  // of the largest force: what has less is merely listed

// Of what has a force: open gaps of contacts that are merely listed, over dt^2, are no motion.
double motion_scale(const ContactProblem& problem, const double* f, double least) {
  const auto g = problem.g();
  double largest = 0;
  for (int i = 0; i < problem.nc(); ++i)
    if (f[3 * i + 2] > least)
      largest = std::max({largest, std::abs(g[3 * i]), std::abs(g[3 * i + 1]), std::abs(g[3 * i + 2])});
  for (int j = 3 * problem.nc(); j < problem.size(); ++j)
    if (std::abs(f[j]) > least) largest = std::max(largest, std::abs(g[j]));
  return largest + 9.81;
}

}  // namespace

double Residual::absolute() const { return std::max({primal, dual, complementarity}); }

double Residual::relative() const {
  return std::max({primal / force_scale, dual / motion_scale, complementarity / (force_scale * motion_scale)});
}

Residual judge(const ContactProblem& problem, ContactModel model, const double* f, const double* c, int facets) {
  Residual r;
  const int n = problem.size();
  double largest_f = 0, bad = 0;
  for (int i = 0; i < n; ++i) {
    largest_f = std::max(largest_f, std::abs(f[i]));
    bad += 0 * (f[i] + c[i]);  // NaN where either is not finite
  }
  r.force_scale = std::max({largest_f, problem.weight, 1e-300});
  r.motion_scale = motion_scale(problem, f, pressing * r.force_scale);
  for (int i = 0; i < problem.nc(); ++i) {
    const Vec3 fi(f + 3 * i), ci(c + 3 * i);
    const double mu = problem.mu()[i];
    switch (model) {
      case ContactModel::Ncp:
        judge_ncp(f + 3 * i, c + 3 * i, mu, r);
        break;
      case ContactModel::Ccp:
        judge_cone(fi, ci, mu, r);
        break;
      case ContactModel::Lcp:
        facets == 4 ? judge_pyramid(fi, ci, mu, r) : judge_polygon(fi, ci, mu, facets, r);
        break;
      case ContactModel::Raisim:
        judge_raisim(problem, i, fi, ci, mu, r);
        break;
    }
  }
  const double *rows_f = f + 3 * problem.nc(), *rows_c = c + 3 * problem.nc();
  int j = 0;
  auto judge_rows = [&](int end) {
    for (; j < end; ++j) judge_row(rows_f[j], rows_c[j], problem.lower()[j], problem.upper()[j], r);
  };
  for (const FrictionDisc& disc : problem.discs) {
    judge_rows(disc.row);
    judge_disc(disc, rows_f + disc.row, rows_c + disc.row, f[3 * disc.contact + 2], r);
    j = disc.row + disc.size;
  }
  judge_rows(problem.nr());
  if (std::isnan(bad)) r.primal = r.dual = r.complementarity = std::numeric_limits<double>::infinity();
  return r;
}

Residual judge(const ContactProblem& problem, ContactModel model, const VecX& f) {
  VecX c(problem.size());
  problem.velocity(f.data(), c.data());
  return judge(problem, model, f.data(), c.data());
}

}  // namespace tribo
