// Equations by mode, c = (G + R) f + g:
//   open   f = 0                                                            (truth.1)
//   stick  c = 0                                                            (truth.2)
//   slip   c_N = 0,  f_T + mu f_N c_T / |c_T| = 0                           (truth.3)
//   closed without friction: c_N = 0, f_T = 0                               (truth.4)
//   row    f = its bound, or c = 0                                          (truth.5)
// Rows in c are scaled by the mean diagonal of G. Steps are of minimum norm, since G may be rank-deficient.
#include "reference.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace tribo::experiments {
namespace {

using Real = long double;
using Vec = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Mat = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

std::string modes_of(const ContactProblem& problem, const VecX& f) {
  const Residual scale = judge(problem, ContactModel::Ncp, f);
  VecX c(problem.size());
  problem.velocity(f.data(), c.data());
  std::string modes;
  for (int i = 0; i < problem.nc(); ++i) {
    const int o = 3 * i;
    const double mu = problem.mu()[i], ft = std::hypot(f[o], f[o + 1]), ct = std::hypot(c[o], c[o + 1]);
    if (f[o + 2] <= 1e-7 * scale.force_scale && c[o + 2] >= -1e-7 * scale.motion_scale)
      modes += 'o';
    else if (mu == 0)
      modes += 'f';
    else
      modes += ct > 1e-6 * scale.motion_scale && ft > mu * f[o + 2] * (1 - 1e-5) ? 'l' : 'k';
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const double x = c[3 * problem.nc() + j], slack = 1e-8 * scale.motion_scale;
    modes += x > slack ? 'a' : x < -slack ? 'b' : 'i';
  }
  return modes;
}

struct Equations {
  Vec r;
  Mat J;
};

/// (truth.3), and its derivative in f through f_T, f_N and c_T.
void slip(const Mat& A, const Vec& f, const Vec& c, Real mu, Real scale, int o, Equations& e) {
  const Real ct = std::hypot(c[o], c[o + 1]), x = c[o] / ct, y = c[o + 1] / ct;
  e.r[o] = scale * (f[o] + mu * f[o + 2] * x);
  e.r[o + 1] = scale * (f[o + 1] + mu * f[o + 2] * y);
  e.r[o + 2] = c[o + 2];
  e.J.row(o + 2) = A.row(o + 2);
  const Real k = scale * mu * f[o + 2] / ct;
  e.J.row(o) = k * ((1 - x * x) * A.row(o) - x * y * A.row(o + 1));
  e.J.row(o + 1) = k * ((1 - y * y) * A.row(o + 1) - x * y * A.row(o));
  e.J(o, o) += scale, e.J(o + 1, o + 1) += scale;
  e.J(o, o + 2) += scale * mu * x, e.J(o + 1, o + 2) += scale * mu * y;
}

Equations equations(const ContactProblem& problem, const std::string& modes, const Mat& A, const Vec& f, const Vec& c,
                    Real scale) {
  const int n = problem.size();
  Equations e{Vec::Zero(n), Mat::Zero(n, n)};
  const auto hold = [&](int k, Real value) {  // f_k = value
    e.r[k] = scale * (f[k] - value);
    e.J(k, k) = scale;
  };
  const auto rest = [&](int k) {  // c_k = 0
    e.r[k] = c[k];
    e.J.row(k) = A.row(k);
  };
  for (int i = 0; i < problem.nc(); ++i) {
    const int o = 3 * i;
    const char mode = modes[at(i)];
    if (mode == 'l') {
      slip(A, f, c, problem.mu()[i], scale, o, e);
      continue;
    }
    for (int k = o; k < o + 3; ++k) mode == 'k' || (mode == 'f' && k == o + 2) ? rest(k) : hold(k, 0);
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const char mode = modes[at(problem.nc() + j)];
    const int k = 3 * problem.nc() + j;
    mode == 'i' ? rest(k) : hold(k, mode == 'a' ? problem.lower()[j] : problem.upper()[j]);
  }
  return e;
}

/// Distance to K_mu = {|f_T| <= mu f_N}; with 1/mu, and the axes as they are, to its dual.
Real cone_distance(Real t, Real n, Real mu) {
  if (t <= mu * n) return 0;
  if (mu * t <= -n) return std::hypot(t, n);
  return (t - mu * n) / std::sqrt(1 + mu * mu);
}

Real dual_distance(Real t, Real n, Real mu) {  // K* = {mu t <= n}
  if (mu * t <= n) return 0;
  if (mu * n <= -t) return std::hypot(t, n);
  return (mu * t - n) / std::sqrt(1 + mu * mu);
}

}  // namespace

double exact_residual(const ContactProblem& problem, const VecX& f, const VecX& c) {
  const Mat G = problem.G().cast<Real>();
  const Vec ff = f.cast<Real>();
  const Vec exact = G * ff + problem.R().cast<Real>().cwiseProduct(ff) + problem.g().cast<Real>();
  const Residual scale = judge(problem, ContactModel::Ncp, f);
  const Real F = scale.force_scale, a = scale.motion_scale;
  Real worst = (exact - c.cast<Real>()).cwiseAbs().maxCoeff() / a;
  for (int i = 0; i < problem.nc(); ++i) {
    const int o = 3 * i;
    const Real mu = problem.mu()[i], ct = std::hypot(exact[o], exact[o + 1]), cn = exact[o + 2] + mu * ct;
    const Real gap = ff[o] * exact[o] + ff[o + 1] * exact[o + 1] + ff[o + 2] * cn;
    worst = std::max({worst, cone_distance(std::hypot(ff[o], ff[o + 1]), ff[o + 2], mu) / F,
                      dual_distance(ct, cn, mu) / a, std::abs(gap) / (F * a)});
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int k = 3 * problem.nc() + j;
    const Real lower = problem.lower()[j], upper = problem.upper()[j];
    worst = std::max({worst, (lower - ff[k]) / F, (ff[k] - upper) / F});
    const bool low = ff[k] <= lower, high = ff[k] >= upper;
    worst = std::max(worst, (low && high ? 0 : low ? -exact[k] : high ? exact[k] : std::abs(exact[k])) / a);
  }
  return static_cast<double>(worst);
}

namespace {

/// Rows that lie so close to a bound that the solution at hand could not tell; true where one was changed.
bool mend_rows(const ContactProblem& problem, const Vec& f, const Vec& c, std::string& modes) {
  bool changed = false;
  for (int j = 0; j < problem.nr(); ++j) {
    char& mode = modes[at(problem.nc() + j)];
    const int k = 3 * problem.nc() + j;
    const char before = mode;
    if (mode == 'i')
      mode = f[k] < problem.lower()[j] ? 'a' : f[k] > problem.upper()[j] ? 'b' : 'i';
    else if (mode == 'a' ? c[k] < 0 : c[k] > 0)
      mode = 'i';
    changed |= mode != before;
  }
  return changed;
}

/// Of four corners that lie within rounding of the ground three carry: of those that should rest and rise, the fastest
/// opens; one that pulls opens too; an open one that would sink rests.
bool mend_contacts(const ContactProblem& problem, const Vec& f, const Vec& c, const Residual& scale,
                   std::string& modes) {
  const Real F = scale.force_scale, a = scale.motion_scale;
  bool changed = false;
  int fastest = -1;
  for (int i = 0; i < problem.nc(); ++i) {
    char& mode = modes[at(i)];
    const Real cn = c[3 * i + 2];
    const bool closed = mode != 'o';
    if (closed && cn > 1e-12 * a && (fastest < 0 || cn > c[3 * fastest + 2])) fastest = i;
    if (closed ? f[3 * i + 2] < -1e-13 * F : cn < -1e-12 * a) {
      mode = closed ? 'o' : problem.mu()[i] == 0 ? 'f' : 'k';
      changed = true;
    }
  }
  if (changed || fastest < 0) return changed;
  modes[at(fastest)] = 'o';
  return true;
}

}  // namespace

Reference refine(const ContactProblem& problem, const VecX& near) {
  Reference out;
  const Residual scales = judge(problem, ContactModel::Ncp, near);
  std::string modes = modes_of(problem, near);
  Mat A = problem.G().cast<Real>();
  A.diagonal() += problem.R().cast<Real>();
  const Vec g = problem.g().cast<Real>();
  const Real scale = A.diagonal().mean();
  Vec f = near.cast<Real>();
  out.residual = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 40; ++k) {
    const Equations e = equations(problem, modes, A, f, A * f + g, scale);
    Eigen::CompleteOrthogonalDecomposition<Mat> qr;
    qr.setThreshold(1e-13L);
    qr.compute(e.J);
    f -= qr.solve(e.r);
    for (int j = 0; j < problem.nr(); ++j) {  // at a bound, not within rounding of it
      const char mode = modes[at(problem.nc() + j)];
      if (mode != 'i') f[3 * problem.nc() + j] = mode == 'a' ? problem.lower()[j] : problem.upper()[j];
    }
    const VecX rounded = f.cast<double>();
    const VecX c = (A * f + g).cast<double>();
    const double residual = exact_residual(problem, rounded, c);
    if (residual < out.residual) out.f = rounded, out.c = c, out.residual = residual, out.modes = modes;
    if (k % 4 != 3 || residual < 1e-13) continue;
    if (!mend_rows(problem, f, A * f + g, modes) && !mend_contacts(problem, f, A * f + g, scales, modes)) break;
  }
  return out;
}

}  // namespace tribo::experiments
