// One iteration of the interior-point method: products, residual, factor, direction, how far, and the move.
// See interior_point.cpp for the equations.
#include <cmath>
#include <utility>

#include "base/limits.hpp"
#include "contact/solvers/interior_point.hpp"

namespace tribo {
namespace {

// Of W. On bodies less of it costs the factor the digits of a residual of 1e-8.
double floor(const ContactProblem& problem) { return problem.dense() ? 1e-14 : 1e-12; }

// Largest alpha in [0, most] with u + alpha du >= 0.
double step_line(double most, double u, double du) { return u + most * du < 0 ? std::min(most, -u / du) : most; }

// Largest alpha in [0, most] with |a + alpha da| <= a0 + alpha da0, from a strictly inside. The disc's cone is convex: where
// the end of the step is inside, all of it is.
double step_cone(double most, double a0, double ax, double ay, double d0, double dx, double dy) {
  const double e0 = a0 + most * d0, ex = ax + most * dx, ey = ay + most * dy;
  if (e0 > 0 && e0 * e0 > ex * ex + ey * ey) return most;
  const double A = d0 * d0 - dx * dx - dy * dy;
  const double B = a0 * d0 - ax * dx - ay * dy;
  const double C = std::max(a0 * a0 - ax * ax - ay * ay, 0.0);
  double alpha = step_line(most, a0, d0);
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

double step_turning(double most, double a0, double ax, double ay, double d0, double dx, double dy) {
  const auto [room, rate] = slack(a0, ax, ay, d0, dx, dy);
  return step_line(step_line(most, a0, d0), room, rate);
}

}  // namespace

// Mean of all products that shall become kappa.
double InteriorPoint::complementarity(const ContactProblem& problem) const {
  double sum = 0;
  const int nc = problem.nc();
  int count = nc + cones();
  for (int i = 0; i < nc; ++i) sum += x_.f[3 * i + 2] * x_.c[3 * i + 2];
  for (int k = 0; k < cones(); ++k) sum += view(x_, k).product();
  for (int j = 0; j < problem.nr(); ++j) {
    const double f = x_.f[3 * nc + j];
    if (std::isfinite(lower_[j])) sum += x_.z_lower[j] * (f - lower_[j]), ++count;
    if (std::isfinite(upper_[j])) sum += x_.z_upper[j] * (upper_[j] - f), ++count;
  }
  return count ? sum / count : 0;
}

void InteriorPoint::residual(const ContactProblem& problem) {
  multiply(problem, x_.f.data(), r_.data());
  for (int i = 0; i < problem.size(); ++i) r_[i] += g_[i];
  subtract_velocities(problem);
}

// The same, where the judge has just seen x_: c_true_ are its velocities.
void InteriorPoint::residual_of_judged(const ContactProblem& problem) {
  for (int i = 0; i < problem.size(); ++i) r_[i] = d_scale_[i] * c_true_[i] / beta_;
  subtract_velocities(problem);
}

void InteriorPoint::subtract_velocities(const ContactProblem& problem) {
  const int nc = problem.nc();
  for (int i = 0; i < 3 * nc; ++i) r_[i] -= x_.c[i];
  for (int j = 0; j < problem.nr(); ++j) r_[3 * nc + j] -= x_.z_lower[j] - x_.z_upper[j];
  for (const FrictionDisc& d : problem.discs)
    for (int k = 0; k < d.size; ++k) r_[3 * nc + d.row + k] -= x_.c[3 * nc + d.row + k];
}

// P^-1 for P = a0 - a a^T / a0, a matrix of the cone at x.
Eigen::Matrix2d InteriorPoint::divisor(const ConePoint& x) {
  const double square = x.a0 * x.a0, both = x.a[0] * x.a[1];
  Eigen::Matrix2d P;
  P << square - x.a[1] * x.a[1], both, both, square - x.a[0] * x.a[0];
  return (1 / (x.a0 * (square - x.a[0] * x.a[0] - x.a[1] * x.a[1]))) * P;
}

// D = (R + W)^-1 of (ip.5), and the factor. A floor keeps D finite where a contact sticks and is rigid.
bool InteriorPoint::factor(const ContactProblem& problem) {
  allowed_ -= system_.work();
  if (spent()) return false;
  const int nc = problem.nc();
  D_.setZero(D_size(problem));
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i + 2;
    D_[9 * i + 8] = d_scale_[o] * d_scale_[o] / (x_.c[o] / x_.f[o] + R_[o] + floor(problem));
  }
  for (int j = 0; j < problem.nr(); ++j) {
    if (fixed(j)) continue;
    const int o = 3 * nc + j;
    double W = R_[o] + floor(problem);
    if (std::isfinite(lower_[j])) W += x_.z_lower[j] / (x_.f[o] - lower_[j]);
    if (std::isfinite(upper_[j])) W += x_.z_upper[j] / (upper_[j] - x_.f[o]);
    D_[9 * nc + j] = d_scale_[o] * d_scale_[o] / W;
  }
  for (int k = 0; k < cones(); ++k) factor_cone(problem, k);
  return system_.factor(problem, D_.data());
}

// P dc + Q df + q df_N = rho with P = a0 - a a^T/a0, Q = psi - a c^T/a0, q = mu (c - a psi/a0): W = P^-1 (Q, q).
void InteriorPoint::factor_cone(const ContactProblem& problem, int k) {
  const Cone& cone = cones_[at(k)];
  const ConePoint x = view(x_, k);
  const Eigen::Matrix2d P = divisor(x);
  const double per_a0 = 1 / x.a0;
  const Eigen::Vector2d a(x.a[0], x.a[1]), c(x.c[0], x.c[1]), along = per_a0 * a;
  const Eigen::Vector2d q = cone.mu * (P * (c - x.psi * along));
  Eigen::Matrix2d W = -along * c.transpose();
  W(0, 0) += x.psi;
  W(1, 1) += x.psi;
  W = (P * W).eval();
  for (int r = 0; r < cone.size; ++r) W(r, r) += R_[cone.first + r] + floor(problem);
  const double scale = d_scale_[cone.first];
  const Eigen::Matrix2d D = scale * scale * W.inverse();
  // The column of f_N: -D q D_NN, D_NN having the scale of the normal squared already.
  const Eigen::Vector2d column = -D * q * (D_[9 * (cone.normal / 3) + 8] / (scale * d_scale_[cone.normal]));
  if (cone.disc < 0) {
    Eigen::Map<Mat3> block(D_.data() + 9 * (cone.normal / 3));
    block.topLeftCorner<2, 2>() = D;
    block.topRightCorner<2, 1>() = column;
    return;
  }
  double* d = D_.data() + disc_offset(problem, cone.disc);
  for (int r = 0; r < cone.size; ++r) {
    D_[9 * problem.nc() + problem.discs[at(cone.disc)].row + r] = D(r, r);
    d[r] = cone.size == 2 ? D(r, 1 - r) : 0;
    d[2 + r] = column[r];
  }
}

// What the products lack of their target, divided as W is; the corrector takes the second order of the affine direction
// along.
void InteriorPoint::aim(const ContactProblem& problem, double target, double on) {
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    rho_[o] = rho_[o + 1] = 0;
    rho_[o + 2] = (target - x_.f[o + 2] * x_.c[o + 2] - on * affine_.f[o + 2] * affine_.c[o + 2]) / x_.f[o + 2];
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
  for (int k = 0; k < cones(); ++k) {
    const Cone& cone = cones_[at(k)];
    const ConePoint x = view(x_, k), d = view(affine_, k);
    const double p0 = target - x.product() - on * d.product();
    double p[2];
    for (int r = 0; r < 2; ++r)
      p[r] = -(x.a0 * x.c[r] + x.psi * x.a[r]) - on * (d.a0 * d.c[r] + d.psi * d.a[r]) - x.a[r] * p0 / x.a0;
    const Eigen::Vector2d rho = divisor(x) * Eigen::Vector2d(p[0], p[1]);
    for (int r = 0; r < cone.size; ++r) rho_[cone.first + r] = rho[r];
  }
}

// Newton's direction towards products = target into d_.
void InteriorPoint::direction(const ContactProblem& problem, double target, bool corrector) {
  const int n = problem.size(), nc = problem.nc();
  const double on = corrector ? 1.0 : 0.0;
  aim(problem, target, on);
  // e = D rhs in the units of the problem, where rhs / d is the unscaled right-hand side.
  for (int i = 0; i < n; ++i) rho_[i] = (rho_[i] - r_[i]) / d_scale_[i];
  for (int i = 0; i < nc; ++i) {
    const Eigen::Map<const Mat3> D(D_.data() + 9 * i);
    d_.f.map().segment<3>(3 * i) = D * rho_.map().segment<3>(3 * i);
  }
  for (int i = 3 * nc; i < n; ++i) d_.f[i] = D_[6 * nc + i] * rho_[i];
  const double* D = D_.data() + disc_offset(problem, 0);
  for (const FrictionDisc& disc : problem.discs) {
    const int o = 3 * nc + disc.row;
    for (int k = 0; k < disc.size; ++k) {
      d_.f[o + k] += D[2 + k] * rho_[3 * disc.contact + 2];
      if (disc.size == 2) d_.f[o + k] += D[k] * rho_[o + 1 - k];
    }
    D += disc_numbers;
  }
  system_.solve(problem, D_.data(), d_.f.data(), d_.c.data());
  for (int i = 0; i < n; ++i) {
    d_.f[i] /= d_scale_[i];
    d_.c[i] = d_scale_[i] * d_.c[i] + R_[i] * d_.f[i] + r_[i];
  }
  for (int k = 0; k < cones(); ++k) {
    const ConePoint x = view(x_, k), a = view(affine_, k), d = view(d_, k);
    const double p0 = target - x.product() - on * a.product();
    d_.psi[k] = (p0 - x.a[0] * d.c[0] - x.a[1] * d.c[1] - x.psi * d.a0 - x.c[0] * d.a[0] - x.c[1] * d.a[1]) / x.a0;
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
    const int o = 3 * i + 2;
    alpha = step_line(step_line(alpha, x_.f[o], d_.f[o]), x_.c[o], d_.c[o]);
  }
  for (int k = 0; k < cones(); ++k) {
    const ConePoint x = view(x_, k), d = view(d_, k);
    const bool turn_f = turning_ && turns(x.a0, x.a[0], x.a[1], d.a[0], d.a[1]);
    const bool turn_c = turning_ && turns(x.psi, x.c[0], x.c[1], d.c[0], d.c[1]);
    alpha = (turn_f ? step_turning : step_cone)(alpha, x.a0, x.a[0], x.a[1], d.a0, d.a[0], d.a[1]);
    alpha = (turn_c ? step_turning : step_cone)(alpha, x.psi, x.c[0], x.c[1], d.psi, d.c[0], d.c[1]);
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j;
    if (std::isfinite(lower_[j]))
      alpha = step_line(step_line(alpha, x_.f[o] - lower_[j], d_.f[o]), x_.z_lower[j], d_.z_lower[j]);
    if (std::isfinite(upper_[j]))
      alpha = step_line(step_line(alpha, upper_[j] - x_.f[o], -d_.f[o]), x_.z_upper[j], d_.z_upper[j]);
  }
  return alpha;
}

void InteriorPoint::move(double alpha) {
  for (int k = 0; turning_ && k < cones(); ++k) {  // (ip.7): what the straight step shall leave, into the direction
    const Cone& cone = cones_[at(k)];
    const ConePoint x = view(x_, k), d = view(d_, k);
    if (turns(x.a0, x.a[0], x.a[1], d.a[0], d.a[1])) {
      const auto [room, rate] = slack(x.a0, x.a[0], x.a[1], d.a0, d.a[0], d.a[1]);
      const double a[2] = {x.a[0] + alpha * d.a[0], x.a[1] + alpha * d.a[1]};
      const double ratio = (x.a0 + alpha * d.a0 - room - alpha * rate) / std::sqrt(a[0] * a[0] + a[1] * a[1]);
      for (int r = 0; r < cone.size; ++r) d_.f[cone.first + r] = (ratio * a[r] - x.a[r]) / alpha;
    }
    if (turns(x.psi, x.c[0], x.c[1], d.c[0], d.c[1])) {
      const auto [room, rate] = slack(x.psi, x.c[0], x.c[1], d.psi, d.c[0], d.c[1]);
      const double c[2] = {x.c[0] + alpha * d.c[0], x.c[1] + alpha * d.c[1]};
      d_.psi[k] = (std::sqrt(c[0] * c[0] + c[1] * c[1]) + room + alpha * rate - x.psi) / alpha;
    }
  }
  x_.add(alpha, d_);
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
  std::swap(affine_, d_);                                          // what direction() leaves alone is zero in both
  direction(problem, centring * kappa, true);
  return std::min(1.0, 0.995 * longest_step(problem));
}

}  // namespace tribo
