// Primal-dual interior-point method for the nonlinear complementarity problem.
//
// Coulomb's law as two pairs of cones a contact [Howell2022], c a variable of its own:
//   (G + R) f + g - c = 0                                                               (ip.1)
//   f_N c_N = kappa                                                                     (ip.2)
//   (mu f_N, f_T) o (psi, c_T) = (kappa, 0, 0),   o the product of the second-order cone (ip.3)
//   a friction disc:  (r f_N, f_D) o (psi, c_D) = (kappa, 0, 0), its rows having c of their own
//   rows:  c = z_l - z_u,  z_l (f - lower) = kappa,  z_u (upper - f) = kappa            (ip.4)
// At kappa = 0 psi is the slip speed and (ip.3) is maximal dissipation. Newton's direction with psi and c eliminated:
//   (G + R + W) df = rhs,   W block-diagonal; solved as df + D G df = D rhs, D = (R + W)^-1, by BlockSystem   (ip.5)
// Mehrotra's predictor and corrector, fraction to the boundary 0.995, one factorisation an iteration
// (interior_step.cpp).
// The problem is scaled block by block so that G has a unit diagonal (mass ratios leave it), then by |g|.
// First from the guess (ip.6), with a kappa that fits its residual; where that stalls, from the middle of the cones;
// where that stalls too, along the central path (central_path.cpp).
// mu = 0 has no interior in (ip.3): such contacts keep f_T = 0. Nor has a row whose bounds coincide: f is known.
#include "contact/solvers/interior_point.hpp"

#include <cmath>

#include "base/limits.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr int most_iterations = 100;
constexpr int other_starts = 20;
constexpr double short_step = 0.2;
constexpr int most_short_steps = 3;
constexpr double start_share = 1e-3;  // to which the path's start is found: its products are exact in any case
constexpr double no_width = 1e-12;    // of scaled forces, which are of order 1, or of the bounds where these are larger

// t + kappa t / (a0^2 - t^2) = length, 0 <= t < a0: the left side is convex. Newton's method where it stays in, else the middle.
double inner_length(double a0, double length, double kappa) {
  double low = 0, high = std::min(a0, length), t = 0.5 * high;
  for (int k = 0; k < 30 && high - low > start_share * high; ++k) {
    const double room = (a0 - t) * (a0 + t), shift = kappa / room;
    const double left = t + shift * t - length;
    (left < 0 ? low : high) = t;
    const double next = t - left / (1 + shift + 2 * shift * t * t / room);
    if (std::abs(next - t) < start_share * t) break;
    t = next > low && next < high ? next : 0.5 * (low + high);
  }
  return t;
}

}  // namespace

void InteriorPoint::Point::add(double a, const Point& other) {
  f.map() += a * other.f.map();
  c.map() += a * other.c.map();
  psi.map() += a * other.psi.map();
  z_lower.map() += a * other.z_lower.map();
  z_upper.map() += a * other.z_upper.map();
}

void InteriorPoint::Point::scale(double a) {
  for (VectorBuffer* x : {&f, &c, &psi, &z_lower, &z_upper}) x->map() *= a;
}

void InteriorPoint::scale(const ContactProblem& problem) {
  const int n = problem.size(), nc = problem.nc();
  d_scale_.resize(n);
  problem.diagonal(d_scale_.data());
  for (int i = 0; i < n; ++i) d_scale_[i] += problem.R()[i];
  for (int i = 0; i < nc; ++i) {
    const double trace = d_scale_[3 * i] + d_scale_[3 * i + 1] + d_scale_[3 * i + 2];
    for (int k = 0; k < 3; ++k) d_scale_[3 * i + k] = trace > 0 ? 1.0 / std::sqrt(trace / 3) : 1.0;
  }
  for (const FrictionDisc& d : problem.discs)
    if (d.size == 2) {
      double* s = d_scale_.data() + 3 * nc + d.row;
      s[0] = s[1] = 0.5 * (s[0] + s[1]);
    }
  for (int i = 3 * nc; i < n; ++i) d_scale_[i] = d_scale_[i] > 0 ? 1.0 / std::sqrt(d_scale_[i]) : 1.0;
  const auto D = d_scale_.map();
  work_.setZero(n);
  c_true_.resize(n);
  for (int j = 0; j < problem.nr(); ++j)
    if (problem.lower()[j] == problem.upper()[j]) work_[3 * nc + j] = problem.lower()[j];
  for (const FrictionDisc& d : problem.discs) work_.map().segment(3 * nc + d.row, d.size).setZero();
  problem.velocity(work_.data(), c_true_.data());  // g, and what the known forces add to it
  beta_ = 1e-300;
  for (int i = 0; i < n; ++i) beta_ = std::max(beta_, std::abs(D[i] * c_true_[i]));
  g_.resize(n);
  R_.resize(n);
  for (int j = 0; j < n; ++j) {
    g_[j] = D[j] * problem.g()[j] / beta_;
    R_[j] = D[j] * D[j] * problem.R()[j];
  }
  lower_.resize(problem.nr());
  upper_.resize(problem.nr());
  for (int j = 0; j < problem.nr(); ++j) {
    lower_[j] = problem.lower()[j] / (D[3 * nc + j] * beta_);
    upper_[j] = problem.upper()[j] / (D[3 * nc + j] * beta_);
  }
  list_cones(problem);
  fix_rows(problem.nr());
}

// Discs that a normal force bounds. Their rows have no other bounds.
void InteriorPoint::list_cones(const ContactProblem& problem) {
  const int nc = problem.nc();
  cones_.clear();
  for (int i = 0; i < nc; ++i)
    if (problem.mu()[i] > 0) cones_.push_back({3 * i, 2, 3 * i + 2, -1, problem.mu()[i]});
  for (int k = 0; k < static_cast<int>(problem.discs.size()); ++k) {
    const FrictionDisc& d = problem.discs[at(k)];
    const int first = 3 * nc + d.row, normal = 3 * d.contact + 2;
    cones_.push_back({first, d.size, normal, k, d.length * d_scale_[normal] / d_scale_[first]});
    for (int r = 0; r < d.size; ++r) {
      lower_[d.row + r] = -inf;
      upper_[d.row + r] = inf;
    }
  }
}

// Rows without room lose their bounds here, and D is 0 for them in factor(): their force never moves.
void InteriorPoint::fix_rows(int rows) {
  fixed_.resize(rows);
  for (int j = 0; j < rows; ++j) {
    const double size = std::max({1.0, std::abs(lower_[j]), std::abs(upper_[j])});
    const bool wide = std::isinf(size) || upper_[j] - lower_[j] > no_width * size;
    fixed_[j] = wide ? inf : 0.5 * (lower_[j] + upper_[j]);
    if (wide) continue;
    lower_[j] = -inf;
    upper_[j] = inf;
  }
}

// y = (scaled G + R) x.
void InteriorPoint::multiply(const ContactProblem& problem, const double* x, double* y) {
  const int n = problem.size();
  for (int i = 0; i < n; ++i) work_[i] = d_scale_[i] * x[i];
  problem.multiply(work_.data(), y);
  for (int i = 0; i < n; ++i) y[i] = d_scale_[i] * y[i] + R_[i] * x[i];
}

// From nothing: the middle of each cone.
void InteriorPoint::start_cold(const ContactProblem& problem) {
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) x_.f[3 * i + 2] = x_.c[3 * i + 2] = 1;
  for (int k = 0; k < cones(); ++k) x_.psi[k] = std::max(1.0, cones_[at(k)].mu);
  for (int j = 0; j < problem.nr(); ++j) {
    double& f = x_.f[3 * nc + j];
    const double l = lower_[j], u = upper_[j];
    if (fixed(j))
      f = fixed_[j];
    else if (std::isfinite(l) && std::isfinite(u))
      f = 0.5 * (l + u);
    else if (std::isfinite(l))
      f = l + 1;
    else if (std::isfinite(u))
      f = u - 1;
    if (std::isfinite(l)) x_.z_lower[j] = 1;
    if (std::isfinite(u)) x_.z_upper[j] = 1;
  }
}

// From a guess: every contact on its central path at kappa, with f - c as the guess has it (the trial point of
// Newton's method), so that open ones begin open and stuck ones stuck                                       (ip.6)
//   f_N - c_N = u_N,  f_N c_N = kappa;     f_T - c_T = u_T,  (psi, c_T) = kappa (mu f_N, f_T)^-1
void InteriorPoint::start_warm(const ContactProblem& problem, const double* guess, double kappa) {
  const int nc = problem.nc(), n = problem.size();
  for (int i = 0; i < n; ++i) x_.f[i] = guess[i] / (d_scale_[i] * beta_);
  for (int j = 0; j < problem.nr(); ++j)
    if (fixed(j)) x_.f[3 * nc + j] = fixed_[j];
  multiply(problem, x_.f.data(), x_.c.data());
  for (int i = 0; i < n; ++i) x_.c[i] += g_[i];
  for (int i = 0; i < nc; ++i) {
    double *f = x_.f.data() + 3 * i, *c = x_.c.data() + 3 * i;
    const double u = f[2] - c[2], root = std::sqrt(u * u + 4 * kappa);
    f[2] = u >= 0 ? 0.5 * (u + root) : 2 * kappa / (root - u);
    c[2] = kappa / f[2];
    if (problem.mu()[i] == 0) f[0] = f[1] = c[0] = c[1] = 0;
  }
  for (int k = 0; k < cones(); ++k) start_cone(cones_[at(k)], kappa, x_.psi[k]);
  for (int j = 0; j < problem.nr(); ++j) {
    double& f = x_.f[3 * nc + j];
    const double l = lower_[j], u = upper_[j], inset = std::min(std::sqrt(kappa), 0.25 * (u - l));
    f = std::clamp(f, l + inset, u - inset);
    if (std::isfinite(l)) x_.z_lower[j] = kappa / (f - l);
    if (std::isfinite(u)) x_.z_upper[j] = kappa / (u - f);
  }
}

// The disc's part of (ip.6), its normal force being set.
void InteriorPoint::start_cone(const Cone& cone, double kappa, double& psi) {
  double *f = x_.f.data() + cone.first, *c = x_.c.data() + cone.first;
  const double a0 = cone.mu * x_.f[cone.normal], ux = f[0] - c[0], uy = cone.size == 2 ? f[1] - c[1] : 0;
  const double length = std::sqrt(ux * ux + uy * uy);
  const double t = inner_length(a0, length, kappa);
  const double inverse = kappa / ((a0 - t) * (a0 + t)), share = length > 0 ? t / length : 0;
  psi = inverse * a0;
  for (int k = 0; k < cone.size; ++k) {
    f[k] = share * (k == 0 ? ux : uy);
    c[k] = -inverse * f[k];
  }
}

void InteriorPoint::start(const ContactProblem& problem) {
  const int n = problem.size(), nr = problem.nr();
  for (Point* p : {&x_, &d_, &affine_}) {
    p->f.setZero(n);
    p->c.setZero(n);
    p->psi.setZero(cones());
    p->z_lower.setZero(nr);
    p->z_upper.setZero(nr);
  }
  r_.resize(n);
  rho_.resize(n);
}

// In the units of the problem. Rows stay within their bounds, whatever the scales round off: a limit of torque is exact.
void InteriorPoint::take_forces(const ContactProblem& problem, VecRef f) const {
  for (int i = 0; i < problem.size(); ++i) f[i] = x_.f[i] * d_scale_[i] * beta_;
  for (int j = 0; j < problem.nr(); ++j) {
    double& force = f[3 * problem.nc() + j];
    if (std::isfinite(lower_[j])) force = std::max(force, problem.lower()[j]);
    if (std::isfinite(upper_[j])) force = std::min(force, problem.upper()[j]);
  }
}

double InteriorPoint::first_kappa(Way way, double residual) {
  return way == Way::Again ? std::clamp(residual, 1e-3, 0.1) : std::clamp(0.1 * residual, 1e-4, 0.1);
}

// One run of the method; f holds the best point seen.
SolveReport InteriorPoint::run(const ContactProblem& problem, const Tolerance& tolerance, Way way, VecRef f) {
  SolveReport report;
  report.status = SolveStatus::IterationLimit;
  best_.resize(problem.size());
  best_.map() = f;
  report.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_true_);
  double least = report.residual.relative();
  start(problem);
  if (way == Way::Cold)
    start_cold(problem);
  else
    start_warm(problem, f.data(), first_kappa(way, least));
  const bool brief = way == Way::Brief || way == Way::Again;
  const int patience = way == Way::Cold ? 15 : 6;
  int without_gain = 0, steps_within = 0, short_steps = 0;
  // What is left is noise for the next step: a few steps more, in small problems towards rounding.
  const int more = brief ? 0 : problem.dense() ? 3 : 2;
  const Tolerance aim = within(tolerance, problem.dense() ? 0 : 1e-2);
  last_step_ = 1;
  turning_ = false;
  for (int k = 0; k < most_iterations; ++k) {
    k == 0 ? residual(problem) : residual_of_judged(problem);
    if (!factor(problem)) {
      if (steps_within == 0) report.status = SolveStatus::Stalled;
      break;
    }
    last_step_ = step(problem);
    move(last_step_);
    short_steps = last_step_ < short_step ? short_steps + 1 : 0;
    report.iterations = k + 1;
    take_forces(problem, f);
    const Residual now = judge_afresh(problem, ContactModel::Ncp, f.data(), c_true_);
    ++without_gain;
    if (now.relative() < least) {
      if (now.relative() < 0.9 * least) without_gain = 0;
      least = now.relative();
      report.residual = now;
      best_.map() = f;
    }
    if (tolerance.met(now)) report.status = SolveStatus::Converged;
    if (report.status == SolveStatus::Converged && (++steps_within > more || aim.met(now))) break;
    if (steps_within == 0 && x_.f.map().cwiseAbs().maxCoeff() > 1e12) {
      report.status = SolveStatus::Stalled;
      break;
    }
    if (steps_within == 0 && (without_gain > patience || (brief && short_steps == most_short_steps))) {
      report.status = SolveStatus::Stalled;
      break;
    }
  }
  f = best_.map();
  return report;
}

SolveReport InteriorPoint::approach(const ContactProblem& problem, const Tolerance& tolerance, bool again, VecRef f) {
  scale(problem);
  system_.analyse(problem);
  return run(problem, tolerance, again ? Way::Again : Way::Brief, f);
}

SolveReport InteriorPoint::solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  scale(problem);
  system_.analyse(problem);
  SolveReport report;
  int iterations = 0;
  for (Way way : {Way::Warm, Way::Cold, Way::Path}) {
    report = way == Way::Path ? follow(problem, tolerance, f) : run(problem, tolerance, way, f);
    iterations += report.iterations;
    if (report.status == SolveStatus::Converged) break;
  }
  // The problem is not monotone: a path may turn back before its end. Other starts take other paths.
  const double F = report.residual.force_scale;
  start_.resize(problem.size());
  for (int k = 0; k < other_starts && report.status != SolveStatus::Converged && !spent(); ++k) {
    for (int i = 0; i < problem.size(); ++i) {
      const double x = std::fmod(0.7548776662466927 * (i + 1) + 0.5698402909980532 * (k + 1) * (i + 1), 1.0);
      start_[i] = f[i] + F * (x - 0.5);
    }
    const SolveReport other = run(problem, tolerance, Way::Warm, start_.map());
    iterations += other.iterations;
    if (!(other.residual.relative() < report.residual.relative())) continue;
    report = other;
    f = start_.map();
  }
  if (spent() && report.status == SolveStatus::Stalled) report.status = SolveStatus::IterationLimit;
  report.iterations = iterations;
  return report;
}

}  // namespace tribo
