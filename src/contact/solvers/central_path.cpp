// The interior-point method's last resort: the central path itself, followed by its arc length.
//
// Predictor and corrector (interior_point.cpp) leave the path where it bends at a small kappa, and then stay pinned to
// the boundary. Where the problem is far from monotone the path may also turn back: kappa has to rise for a while
// before it falls to zero. So kappa is an unknown as well. With x the point of the path, s = log kappa and
// x' = dx/ds, a step from (x, s) of length h along t = (x', 1)/|(x', 1)| is, with Newton's direction n at fixed kappa,
//   x+ = x + h t_x,  s+ = s + h t_s,   then   dx = n + ds x',   t . (dx, ds) = h - t . (x+ - x, s+ - s)       (path.1)
// until |products - kappa| <= 0.01 kappa. Lengths are relative: f over f_N, torques over their bound, psi over itself. A point that leaves the
// cones, or does not come back to the path in six steps, is given up for half the h; h doubles where two steps were
// enough. About a hundred steps a problem, where predictor and corrector take ten.
#include <cmath>

#include "contact/solvers/interior_point.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr double off_path = 1e-2;
constexpr int most_corrections = 6;
constexpr int most_path_steps = 1000;
constexpr double least_step = 1e-7;
constexpr double most_change = 3;  // of log kappa in a correction

}  // namespace

// Largest distance of a product from kappa, over kappa.
double InteriorPoint::eccentricity(const ContactProblem& problem, double kappa) const {
  const int nc = problem.nc();
  double worst = 0;
  for (int i = 0; i < nc; ++i) {
    worst = std::max(worst, std::abs(x_.f[3 * i + 2] * x_.c[3 * i + 2] - kappa));
  }
  for (int k = 0; k < cones(); ++k) {
    const ConePoint x = view(x_, k);
    worst = std::max({worst, std::abs(x.product() - kappa), std::abs(x.a0 * x.c[0] + x.psi * x.a[0]),
                      std::abs(x.a0 * x.c[1] + x.psi * x.a[1])});
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const double f = x_.f[3 * nc + j];
    if (std::isfinite(lower_[j])) worst = std::max(worst, std::abs(x_.z_lower[j] * (f - lower_[j]) - kappa));
    if (std::isfinite(upper_[j])) worst = std::max(worst, std::abs(x_.z_upper[j] * (upper_[j] - f) - kappa));
  }
  return worst / kappa;
}

// From the middle of the cones to the path, and the rest of (ip.1) to nothing.
bool InteriorPoint::centre(const ContactProblem& problem, double kappa) {
  for (int k = 0; k < 50; ++k) {
    residual(problem);
    if (!factor(problem)) return false;
    direction(problem, kappa, false);
    const double longest = longest_step(problem);
    move(longest < 1 ? 0.9 * longest : 1);
    if (longest >= 1 && eccentricity(problem, kappa) <= off_path) return true;
  }
  return false;
}

// x' for the point at hand into rate_, Newton's direction at fixed kappa into d_: directions are linear in their
// target.
bool InteriorPoint::differentiate(const ContactProblem& problem, double kappa) {
  residual(problem);
  if (!factor(problem)) return false;
  direction(problem, 2 * kappa, false);
  rate_ = d_;
  direction(problem, kappa, false);
  rate_.add(-1, d_);
  return true;
}

// The product of lengths, over forces and psi.
double InteriorPoint::along(const Point& a, const Point& b) const {
  const auto w = metric_.map();
  const auto n = a.f.map().size();
  return (w.head(n).array() * a.f.map().array() * b.f.map().array()).sum() +
         (w.tail(w.size() - n).array() * a.psi.map().array() * b.psi.map().array()).sum();
}

void InteriorPoint::measure(const ContactProblem& problem) {
  const int n = problem.size(), nc = problem.nc();
  metric_.resize(n + cones());
  for (int i = 0; i < nc; ++i) metric_.map().segment<3>(3 * i).setConstant(1 / (x_.f[3 * i + 2] * x_.f[3 * i + 2]));
  for (int j = 0; j < problem.nr(); ++j) {
    const double room = std::min({1.0, x_.f[3 * nc + j] - lower_[j], upper_[j] - x_.f[3 * nc + j]});
    metric_[3 * nc + j] = 1 / (room * room);
  }
  for (int k = 0; k < cones(); ++k) {
    const Cone& cone = cones_[at(k)];
    const double a0 = cone.mu * x_.f[cone.normal];
    metric_[n + k] = 1 / (x_.psi[k] * x_.psi[k]);
    if (cone.disc >= 0) metric_.map().segment(cone.first, cone.size).setConstant(1 / (a0 * a0));
  }
}

// (path.1) from kept_ along tangent_, whose rate of s is slope: false where the step is too long.
bool InteriorPoint::advance(const ContactProblem& problem, double h, double slope, double& s) {
  double change = h * slope;
  d_ = tangent_;
  d_.scale(h);
  for (corrections_ = 0; corrections_ <= most_corrections; ++corrections_) {
    if (longest_step(problem) < 1) return false;
    move(1);
    const double kappa = std::exp(s + change);
    if (eccentricity(problem, kappa) <= off_path) {
      s += change;
      return true;
    }
    if (!differentiate(problem, kappa)) return false;
    secant_ = x_;
    secant_.add(-1, kept_);
    const double left = h - along(tangent_, secant_) - slope * change;
    const double ds = (left - along(tangent_, d_)) / (along(tangent_, rate_) + slope);
    if (!(std::abs(ds) < most_change)) return false;
    d_.add(ds, rate_);
    change += ds;
  }
  return false;
}

// One step along the path, h as long as it may be; false where none is possible.
bool InteriorPoint::walk(const ContactProblem& problem, Path& path) {
  if (!differentiate(problem, std::exp(path.s))) return false;
  measure(problem);
  const double onward = along(rate_, secant_) + path.change;  // the side that does not go back
  const double slope = (onward < 0 ? -1 : 1) / std::sqrt(along(rate_, rate_) + 1);
  tangent_ = rate_;
  tangent_.scale(slope);
  kept_ = x_;
  const double before = path.s;
  while (!advance(problem, path.h, slope, path.s)) {
    path.steps += corrections_ + 1;
    x_ = kept_;
    path.h *= 0.5;
    if (path.h < least_step) return false;
  }
  path.steps += corrections_ + 1;
  if (corrections_ <= 2) path.h *= 2;
  secant_ = x_;
  secant_.add(-1, kept_);
  path.change = path.s - before;
  return true;
}

SolveReport InteriorPoint::follow(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  SolveReport report;
  report.status = SolveStatus::Stalled;
  report.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_true_);
  turning_ = true;
  start(problem);
  start_cold(problem);
  Path path;
  path.s = std::log(complementarity(problem));
  if (!centre(problem, std::exp(path.s))) return report;
  best_.map() = f;
  secant_ = x_;
  secant_.scale(0);
  const double highest = path.s + 1;  // beyond it the walk has turned on its heel and goes back to where it came from
  while (path.steps < most_path_steps && path.s < highest && walk(problem, path)) {
    take_forces(problem, f);
    const Residual now = judge_afresh(problem, ContactModel::Ncp, f.data(), c_true_);
    if (now.relative() < report.residual.relative()) {
      report.residual = now;
      best_.map() = f;
    }
    if (!tolerance.met(now)) continue;
    report.status = SolveStatus::Converged;
    break;
  }
  report.iterations = path.steps;
  f = best_.map();
  return report;
}

}  // namespace tribo
