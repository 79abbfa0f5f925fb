#include "derivatives/smoothing.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr double shrinks = 0.2;      // kappa from one centre to the next
constexpr double to_the_edge = 0.9;  // of the way to it
constexpr double centred = 1e-12;    // of the accelerations of the problem
constexpr int most_steps = 60;       // of Newton's method at one kappa
constexpr int most_halvings = 30;

bool fixed(const ContactProblem& problem, int j) { return problem.lower()[j] == problem.upper()[j]; }

}  // namespace

bool SmoothedForces::solve(const ContactProblem& problem, double kappa) {
  const int n = problem.size();
  if (!problem.discs.empty() || n == 0) return n == 0;
  for (VectorBuffer* x : {&f_, &trial_, &r_, &step_}) x->setZero(n);
  G_.resize(n, n);
  S_.resize(n, n);
  pivot_.resize(at(n));
  for (int k = 0; k < n; ++k) {
    trial_.map().setZero();
    trial_[k] = 1;
    problem.multiply(trial_.data(), G_.data() + static_cast<Eigen::Index>(n) * k);
    G_.map()(k, k) += problem.R()[k];
  }
  start(problem);
  const double motion = problem.g().cwiseAbs().maxCoeff() + 9.81, force = std::max(problem.weight, 1e-9);
  for (double k = std::max(kappa, force * motion); k > kappa; k = std::max(kappa, shrinks * k))
    if (!centre(problem, k)) return false;
  return centre(problem, kappa);
}

// Inside all cones and bounds.
void SmoothedForces::start(const ContactProblem& problem) {
  const double load = std::max(problem.weight, 1e-9);
  for (int i = 0; i < problem.nc(); ++i) f_[3 * i + 2] = load;
  for (int j = 0; j < problem.nr(); ++j) {
    const double lower = problem.lower()[j], upper = problem.upper()[j];
    double& f = f_[3 * problem.nc() + j];
    if (std::isfinite(lower) && std::isfinite(upper))
      f = 0.5 * (lower + upper);
    else if (std::isfinite(lower))
      f = lower + load;
    else if (std::isfinite(upper))
      f = upper - load;
  }
}

// r = (G + R) f + g - c(f); its largest entry.
double SmoothedForces::residual(const ContactProblem& problem, double kappa, const VectorBuffer& f,
                                VectorBuffer& r) const {
  problem.velocity(f.data(), r.data());
  for (int i = 0; i < problem.nc(); ++i) {
    const double *x = f.data() + 3 * i, mu = problem.mu()[i];
    double* y = r.data() + 3 * i;
    y[2] -= kappa / x[2];  // (smooth.1)
    const double room = mu * mu * x[2] * x[2] - x[0] * x[0] - x[1] * x[1];
    for (int t = 0; t < 2; ++t) y[t] = mu > 0 ? y[t] + kappa * x[t] / room : 0;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * problem.nc() + j;
    const double lower = problem.lower()[j], upper = problem.upper()[j];
    if (fixed(problem, j)) {
      r[o] = 0;
      continue;
    }
    if (std::isfinite(lower)) r[o] -= kappa / (f[o] - lower);  // (smooth.2)
    if (std::isfinite(upper)) r[o] += kappa / (upper - f[o]);
  }
  return r.map().cwiseAbs().maxCoeff();
}

Mat3 SmoothedForces::compliance(const ContactProblem& problem, int i) const {
  const double *f = f_.data() + 3 * i, mu = problem.mu()[i];
  Mat3 W = Mat3::Zero();
  W(2, 2) = kappa_ / (f[2] * f[2]);
  if (mu == 0) return W;
  const double room = mu * mu * f[2] * f[2] - f[0] * f[0] - f[1] * f[1];
  for (int t = 0; t < 2; ++t) {
    for (int s = 0; s < 2; ++s) W(t, s) = kappa_ * ((t == s) / room + 2 * f[t] * f[s] / (room * room));
    W(t, 2) = -kappa_ * 2 * mu * mu * f[2] * f[t] / (room * room);
  }
  return W;
}

double SmoothedForces::row_compliance(const ContactProblem& problem, int j) const {
  const double f = f_[3 * problem.nc() + j], lower = problem.lower()[j], upper = problem.upper()[j];
  double w = 0;
  if (std::isfinite(lower)) w += kappa_ / ((f - lower) * (f - lower));
  if (std::isfinite(upper)) w += kappa_ / ((upper - f) * (upper - f));
  return w;
}

// How far the step may go and leave every force inside its cone or bounds, 1 at most.
double SmoothedForces::longest_step(const ContactProblem& problem) const {
  double t = 1;
  const auto inside = [&](double h) {
    for (int i = 0; i < problem.nc(); ++i) {
      const double *f = f_.data() + 3 * i, *d = step_.data() + 3 * i, mu = problem.mu()[i];
      const double n = f[2] + h * d[2];
      if (!(n > 0) || (mu > 0 && !(std::hypot(f[0] + h * d[0], f[1] + h * d[1]) < mu * n))) return false;
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      const double x = f_[o] + h * step_[o];
      if (!fixed(problem, j) && !(x > problem.lower()[j] && x < problem.upper()[j])) return false;
    }
    return true;
  };
  for (int i = 0; i < most_halvings && !inside(t / to_the_edge); ++i) t *= 0.7;
  return t;
}

bool SmoothedForces::centre(const ContactProblem& problem, double kappa) {  // (smooth.3)
  const int n = problem.size();
  kappa_ = kappa;
  const double enough = centred * (problem.g().cwiseAbs().maxCoeff() + 9.81);
  double before = residual(problem, kappa, f_, r_);
  for (int i = 0; i < most_steps; ++i) {
    if (before <= enough) return true;
    auto S = S_.map();
    S = G_.map();
    for (int k = 0; k < problem.nc(); ++k) {
      S.block<3, 3>(3 * k, 3 * k) += compliance(problem, k);
      if (problem.mu()[k] > 0) continue;
      for (int t = 3 * k; t < 3 * k + 2; ++t) {
        S.row(t).setZero();
        S(t, t) = 1;
      }
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      if (fixed(problem, j)) {
        S.row(o).setZero();
        S(o, o) = 1;
      } else {
        S(o, o) += row_compliance(problem, j);
      }
    }
    if (!dense::lu(S_.data(), n, pivot_.data())) return false;
    step_.map() = -r_.map();
    dense::lu_solve(S_.data(), n, pivot_.data(), step_.data());
    if (!step_.map().allFinite()) return false;
    double t = longest_step(problem), now = 0;
    for (int h = 0;; ++h) {
      trial_.map() = f_.map() + t * step_.map();
      now = residual(problem, kappa, trial_, r_);
      if (now < before || h == most_halvings) break;
      t *= 0.5;
    }
    if (!(now < before)) {
      residual(problem, kappa, f_, r_);
      return before <= 1e4 * enough;  // rounding
    }
    f_.map() = trial_.map();
    before = now;
  }
  return before <= 1e4 * enough;
}

}  // namespace tribo
