// Primal-dual interior-point method for the nonlinear complementarity problem.
//
// Coulomb's law as two pairs of cones a contact [Howell2022], c a variable of its own:
//   (G + R) f + g - c = 0                                                               (ip.1)
//   f_N c_N = kappa                                                                     (ip.2)
//   (mu f_N, f_T) o (psi, c_T) = (kappa, 0, 0),   o the product of the second-order cone (ip.3)
//   rows:  c = z_l - z_u,  z_l (f - lower) = kappa,  z_u (upper - f) = kappa            (ip.4)
// At kappa = 0 psi is the slip speed and (ip.3) is maximal dissipation. Newton's direction with psi and c eliminated:
//   (G + R + W) df = rhs,   W block-diagonal; solved as df + D G df = D rhs, D = (R + W)^-1, by BlockSystem   (ip.5)
// Mehrotra's predictor and corrector, fraction to the boundary 0.995, one factorisation an iteration.
// The problem is scaled block by block so that G has a unit diagonal (mass ratios leave it), then by |g|.
// First from the guess (ip.6), with a kappa that fits its residual; where that stalls, from the middle of the cones;
// where that stalls too, along the central path (central_path.cpp).
// mu = 0 has no interior in (ip.3): such contacts keep f_T = 0. Nor has a row whose bounds coincide: f is known.
#include "contact/solvers/interior_point.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr int most_iterations = 100;
constexpr int other_starts = 20;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double no_width = 1e-12;  // of scaled forces, which are of order 1, or of the bounds where these are larger

// Largest alpha in [0, 1] with u + alpha du >= 0.
double step_line(double u, double du) { return du < 0 ? std::min(1.0, -u / du) : 1.0; }

// Largest alpha in [0, 1] with |a + alpha da| <= a0 + alpha da0, from a strictly inside.
double step_cone(double a0, double ax, double ay, double d0, double dx, double dy) {
  const double A = d0 * d0 - dx * dx - dy * dy;
  const double B = a0 * d0 - ax * dx - ay * dy;
  const double C = std::max(a0 * a0 - ax * ax - ay * ay, 0.0);
  double alpha = step_line(a0, d0);
  // Smallest positive root of A s^2 + 2 B s + C.
  const double disc = B * B - A * C;
  if (disc >= 0) {
    const double root = std::sqrt(disc);
    const double q = -(B + (B >= 0 ? root : -root));
    for (double s : {A != 0 ? q / A : inf, q != 0 ? C / q : inf})
      if (s > 0 && s < alpha) alpha = s;
  }
  return alpha;
}

// Near the boundary of a disc a step along a straight line leaves it by its curvature, however short: such a step turns
// a with the disc and changes the slack a0 - |a| by its first order                                          (ip.7)
bool turns(double a0, double ax, double ay, double dx, double dy) {
  const double length = std::sqrt(ax * ax + ay * ay);
  return a0 - length < 0.1 * a0 && dx * dx + dy * dy < 0.25 * length * length;
}

// The slack and its rate.
std::pair<double, double> slack(double a0, double ax, double ay, double d0, double dx, double dy) {
  const double length = std::sqrt(ax * ax + ay * ay);
  return {a0 - length, d0 - (ax * dx + ay * dy) / length};
}

double step_turning(double a0, double ax, double ay, double d0, double dx, double dy) {
  const auto [room, rate] = slack(a0, ax, ay, d0, dx, dy);
  return std::min(step_line(a0, d0), step_line(room, rate));
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
  for (int i = 3 * nc; i < n; ++i) d_scale_[i] = d_scale_[i] > 0 ? 1.0 / std::sqrt(d_scale_[i]) : 1.0;
  const auto D = d_scale_.map();
  work_.setZero(n);
  c_true_.resize(n);
  for (int j = 0; j < problem.nr(); ++j)
    if (problem.lower()[j] == problem.upper()[j]) work_[3 * nc + j] = problem.lower()[j];
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
  fix_rows(problem.nr());
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
  for (int i = 0; i < nc; ++i) {
    x_.f[3 * i + 2] = x_.c[3 * i + 2] = 1;
    x_.psi[i] = std::max(1.0, problem.mu()[i]);
  }
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
    const double a0 = problem.mu()[i] * f[2], ux = f[0] - c[0], uy = f[1] - c[1], length = std::sqrt(ux * ux + uy * uy);
    f[0] = f[1] = c[0] = c[1] = 0;
    if (a0 == 0) continue;
    double low = 0, high = std::min(a0, length);  // t + kappa t / (a0^2 - t^2) = length
    for (int k = 0; k < 30; ++k) {
      const double t = 0.5 * (low + high);
      (t + kappa * t / ((a0 - t) * (a0 + t)) < length ? low : high) = t;
    }
    const double inverse = kappa / ((a0 - low) * (a0 + low));
    x_.psi[i] = inverse * a0;
    if (!(length > 0)) continue;
    f[0] = low * ux / length;
    f[1] = low * uy / length;
    c[0] = -inverse * f[0];
    c[1] = -inverse * f[1];
  }
  for (int j = 0; j < problem.nr(); ++j) {
    double& f = x_.f[3 * nc + j];
    const double l = lower_[j], u = upper_[j], inset = std::min(std::sqrt(kappa), 0.25 * (u - l));
    f = std::clamp(f, l + inset, u - inset);
    if (std::isfinite(l)) x_.z_lower[j] = kappa / (f - l);
    if (std::isfinite(u)) x_.z_upper[j] = kappa / (u - f);
  }
}

void InteriorPoint::start(const ContactProblem& problem) {
  const int n = problem.size(), nc = problem.nc(), nr = problem.nr();
  for (Point* p : {&x_, &d_, &affine_}) {
    p->f.setZero(n);
    p->c.setZero(n);
    p->psi.setZero(nc);
    p->z_lower.setZero(nr);
    p->z_upper.setZero(nr);
  }
  r_.resize(n);
  rho_.resize(n);
}

// Mean of all products that shall become kappa.
double InteriorPoint::complementarity(const ContactProblem& problem) const {
  double sum = 0;
  int count = 0;
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) {
    const double* f = x_.f.data() + 3 * i;
    const double* c = x_.c.data() + 3 * i;
    const double mu = problem.mu()[i];
    sum += f[2] * c[2];
    ++count;
    if (mu > 0) {
      sum += mu * f[2] * x_.psi[i] + f[0] * c[0] + f[1] * c[1];
      ++count;
    }
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const double f = x_.f[3 * nc + j];
    if (std::isfinite(lower_[j])) sum += x_.z_lower[j] * (f - lower_[j]), ++count;
    if (std::isfinite(upper_[j])) sum += x_.z_upper[j] * (upper_[j] - f), ++count;
  }
  return count ? sum / count : 0;
}

void InteriorPoint::residual(const ContactProblem& problem) {
  const int n = problem.size();
  multiply(problem, x_.f.data(), r_.data());
  for (int i = 0; i < n; ++i) r_[i] += g_[i];
  for (int i = 0; i < 3 * problem.nc(); ++i) r_[i] -= x_.c[i];
  for (int j = 0; j < problem.nr(); ++j) r_[3 * problem.nc() + j] -= x_.z_lower[j] - x_.z_upper[j];
}

// D = (R + W)^-1 of (ip.5), and the factor. A floor keeps D finite where a contact sticks and is rigid.
bool InteriorPoint::factor(const ContactProblem& problem) {
  constexpr double floor = 1e-14;
  const int nc = problem.nc();
  D_.setZero(9 * nc + problem.nr());
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const double mu = problem.mu()[i], square = d_scale_[o] * d_scale_[o];
    const double* f = x_.f.data() + o;
    const double* c = x_.c.data() + o;
    Eigen::Map<Mat3> D(D_.data() + 9 * i);
    Mat3 W = Mat3::Zero();
    W(2, 2) = c[2] / f[2] + R_[o + 2] + floor;
    if (mu == 0) {
      D(2, 2) = square / W(2, 2);
      continue;
    }
    // P dc_T + Q df_T + q df_N = rho with P = a0 - a a^T/a0, Q = psi - a c^T/a0, q = mu (c - a psi/a0); W_T = P^-1 (Q,
    // q).
    const double a0 = mu * f[2], psi = x_.psi[i];
    const Eigen::Vector2d a(f[0], f[1]), ct(c[0], c[1]);
    const double det = a0 * a0 - a.squaredNorm();
    Eigen::Matrix2d Pi;
    Pi << a0 * a0 - a.y() * a.y(), a.x() * a.y(), a.x() * a.y(), a0 * a0 - a.x() * a.x();
    Pi /= a0 * det;
    W.topLeftCorner<2, 2>() = Pi * (psi * Eigen::Matrix2d::Identity() - a * ct.transpose() / a0);
    W.topRightCorner<2, 1>() = mu * (Pi * (ct - a * psi / a0));
    W(0, 0) += R_[o] + floor;
    W(1, 1) += R_[o + 1] + floor;
    D = square * W.inverse();
  }
  for (int j = 0; j < problem.nr(); ++j) {
    if (fixed(j)) continue;
    const int o = 3 * nc + j;
    double W = R_[o] + floor;
    if (std::isfinite(lower_[j])) W += x_.z_lower[j] / (x_.f[o] - lower_[j]);
    if (std::isfinite(upper_[j])) W += x_.z_upper[j] / (upper_[j] - x_.f[o]);
    D_[9 * nc + j] = d_scale_[o] * d_scale_[o] / W;
  }
  return system_.factor(problem, D_.data());
}

// Newton's direction towards products = target; the corrector takes the second order of the affine direction along.
void InteriorPoint::direction(const ContactProblem& problem, double target, bool corrector) {
  const int n = problem.size(), nc = problem.nc();
  const double on = corrector ? 1.0 : 0.0;
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const double mu = problem.mu()[i];
    const double *f = x_.f.data() + o, *c = x_.c.data() + o;
    const double *df = affine_.f.data() + o, *dc = affine_.c.data() + o;
    rho_[o + 2] = (target - f[2] * c[2] - on * df[2] * dc[2]) / f[2];
    rho_[o] = rho_[o + 1] = 0;
    if (mu == 0) continue;
    const double a0 = mu * f[2], psi = x_.psi[i], da0 = mu * df[2], dpsi = affine_.psi[i];
    const double p0 =
        target - (a0 * psi + f[0] * c[0] + f[1] * c[1]) - on * (da0 * dpsi + df[0] * dc[0] + df[1] * dc[1]);
    double p[2];
    for (int k = 0; k < 2; ++k) p[k] = -(a0 * c[k] + psi * f[k]) - on * (da0 * dc[k] + dpsi * df[k]) - f[k] * p0 / a0;
    const double det = a0 * a0 - f[0] * f[0] - f[1] * f[1];
    rho_[o] = ((a0 * a0 - f[1] * f[1]) * p[0] + f[0] * f[1] * p[1]) / (a0 * det);
    rho_[o + 1] = (f[0] * f[1] * p[0] + (a0 * a0 - f[0] * f[0]) * p[1]) / (a0 * det);
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j;
    rho_[o] = 0;
    const double df = affine_.f[o];
    if (std::isfinite(lower_[j])) {
      const double s = x_.f[o] - lower_[j];
      rho_[o] += (target - x_.z_lower[j] * s - on * df * affine_.z_lower[j]) / s;
    }
    if (std::isfinite(upper_[j])) {
      const double s = upper_[j] - x_.f[o];
      rho_[o] -= (target - x_.z_upper[j] * s + on * df * affine_.z_upper[j]) / s;
    }
  }
  // e = D rhs in the units of the problem, where rhs / d is the unscaled right-hand side.
  for (int i = 0; i < nc; ++i) {
    const Eigen::Map<const Mat3> D(D_.data() + 9 * i);
    d_.f.map().segment<3>(3 * i) = D * (rho_.map() - r_.map()).segment<3>(3 * i) / d_scale_[3 * i];
  }
  for (int i = 3 * nc; i < n; ++i) d_.f[i] = D_[6 * nc + i] * (rho_[i] - r_[i]) / d_scale_[i];
  system_.solve(problem, D_.data(), d_.f.data());
  for (int i = 0; i < n; ++i) d_.f[i] /= d_scale_[i];
  multiply(problem, d_.f.data(), d_.c.data());
  for (int i = 0; i < n; ++i) d_.c[i] += r_[i];
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const double mu = problem.mu()[i];
    if (mu == 0) continue;
    const double *f = x_.f.data() + o, *c = x_.c.data() + o;
    const double *df = affine_.f.data() + o, *dc = affine_.c.data() + o;
    const double a0 = mu * f[2];
    const double p0 = target - (a0 * x_.psi[i] + f[0] * c[0] + f[1] * c[1]) -
                      on * (mu * df[2] * affine_.psi[i] + df[0] * dc[0] + df[1] * dc[1]);
    d_.psi[i] = (p0 - f[0] * d_.c[o] - f[1] * d_.c[o + 1] - x_.psi[i] * mu * d_.f[o + 2] - c[0] * d_.f[o] -
                 c[1] * d_.f[o + 1]) /
                a0;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j;
    const double df = affine_.f[o];
    if (std::isfinite(lower_[j])) {
      const double s = x_.f[o] - lower_[j];
      d_.z_lower[j] = (target - x_.z_lower[j] * s - on * df * affine_.z_lower[j] - x_.z_lower[j] * d_.f[o]) / s;
    }
    if (std::isfinite(upper_[j])) {
      const double s = upper_[j] - x_.f[o];
      d_.z_upper[j] = (target - x_.z_upper[j] * s + on * df * affine_.z_upper[j] + x_.z_upper[j] * d_.f[o]) / s;
    }
  }
}

double InteriorPoint::longest_step(const ContactProblem& problem) const {
  double alpha = 1;
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const double mu = problem.mu()[i];
    const double *f = x_.f.data() + o, *c = x_.c.data() + o, *df = d_.f.data() + o, *dc = d_.c.data() + o;
    alpha = std::min({alpha, step_line(f[2], df[2]), step_line(c[2], dc[2])});
    if (mu == 0) continue;
    const bool turn_f = turning_ && turns(mu * f[2], f[0], f[1], df[0], df[1]);
    const bool turn_c = turning_ && turns(x_.psi[i], c[0], c[1], dc[0], dc[1]);
    alpha = std::min(alpha, (turn_f ? step_turning : step_cone)(mu * f[2], f[0], f[1], mu * df[2], df[0], df[1]));
    alpha = std::min(alpha, (turn_c ? step_turning : step_cone)(x_.psi[i], c[0], c[1], d_.psi[i], dc[0], dc[1]));
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j;
    if (std::isfinite(lower_[j]))
      alpha = std::min({alpha, step_line(x_.f[o] - lower_[j], d_.f[o]), step_line(x_.z_lower[j], d_.z_lower[j])});
    if (std::isfinite(upper_[j]))
      alpha = std::min({alpha, step_line(upper_[j] - x_.f[o], -d_.f[o]), step_line(x_.z_upper[j], d_.z_upper[j])});
  }
  return alpha;
}

void InteriorPoint::move(const ContactProblem& problem, double alpha) {
  for (int i = 0; turning_ && i < problem.nc();
       ++i) {  // (ip.7): what the straight step shall leave, written into the direction
    const double mu = problem.mu()[i];
    double *f = x_.f.data() + 3 * i, *c = x_.c.data() + 3 * i, *df = d_.f.data() + 3 * i, *dc = d_.c.data() + 3 * i;
    if (mu == 0) continue;
    if (turns(mu * f[2], f[0], f[1], df[0], df[1])) {
      const auto [room, rate] = slack(mu * f[2], f[0], f[1], mu * df[2], df[0], df[1]);
      const double x = f[0] + alpha * df[0], y = f[1] + alpha * df[1];
      const double ratio = (mu * (f[2] + alpha * df[2]) - room - alpha * rate) / std::sqrt(x * x + y * y);
      df[0] = (ratio * x - f[0]) / alpha;
      df[1] = (ratio * y - f[1]) / alpha;
    }
    if (turns(x_.psi[i], c[0], c[1], dc[0], dc[1])) {
      const auto [room, rate] = slack(x_.psi[i], c[0], c[1], d_.psi[i], dc[0], dc[1]);
      const double x = c[0] + alpha * dc[0], y = c[1] + alpha * dc[1];
      d_.psi[i] = (std::sqrt(x * x + y * y) + room + alpha * rate - x_.psi[i]) / alpha;
    }
  }
  x_.add(alpha, d_);
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
  if (way == Way::Warm)
    start_warm(problem, f.data(), std::clamp(0.1 * least * least, 1e-4, 0.1));
  else
    start_cold(problem);
  const int patience = way == Way::Warm ? 6 : 15;
  int without_gain = 0, steps_within = 0;  // small problems are cheap: three steps more, towards rounding
  last_step_ = 1;
  turning_ = false;
  for (int k = 0; k < most_iterations; ++k) {
    residual(problem);
    if (!factor(problem)) {
      if (steps_within == 0) report.status = SolveStatus::Stalled;
      break;
    }
    last_step_ = step(problem);
    move(problem, last_step_);
    report.iterations = k + 1;
    for (int i = 0; i < problem.size(); ++i) f[i] = x_.f[i] * d_scale_[i] * beta_;
    const Residual now = judge_afresh(problem, ContactModel::Ncp, f.data(), c_true_);
    ++without_gain;
    if (now.relative() < least) {
      if (now.relative() < 0.9 * least) without_gain = 0;
      least = now.relative();
      report.residual = now;
      best_.map() = f;
    }
    if (tolerance.met(now)) report.status = SolveStatus::Converged;
    if (report.status == SolveStatus::Converged && ++steps_within > (problem.dense() ? 3 : 0)) break;
    if (steps_within == 0 && x_.f.map().cwiseAbs().maxCoeff() > 1e12) {
      report.status = SolveStatus::Stalled;
      break;
    }
    if (steps_within == 0 && without_gain > patience) {
      report.status = SolveStatus::Stalled;
      break;
    }
  }
  f = best_.map();
  return report;
}

// Predictor and corrector: the direction into d_; returns how far to go along it.
double InteriorPoint::step(const ContactProblem& problem) {
  const double kappa = complementarity(problem);
  if (last_step_ < 0.2) {  // against the boundary: back to the centre first
    direction(problem, kappa, false);
    return std::min(1.0, 0.9 * longest_step(problem));
  }
  direction(problem, 0, false);
  const double reach = longest_step(problem);
  const double centring = std::max(std::pow(1 - reach, 3), 1e-3);  // Mehrotra: the further the affine step, the less
  affine_ = d_;
  direction(problem, centring * kappa, true);
  return std::min(1.0, 0.995 * longest_step(problem));
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
  for (int k = 0; k < other_starts && report.status != SolveStatus::Converged; ++k) {
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
  report.iterations = iterations;
  return report;
}

}  // namespace tribo
