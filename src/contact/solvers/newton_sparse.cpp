// Semismooth Newton on bodies instead of contacts: newton.cpp's (newton.1) to (newton.4), each contact's three
// equations written as  E f+ = rho - P (G f+ + g)  and so as
//   f+ + D G f+ = e,   D = E^-1 P,   e = E^-1 (rho - P g)                                               (sparse.1)
//   open   D = 0, e = 0
//   stick  P = 1, E = sigma + R, rho = sigma f_k
//   slip   P = (r N, 1), E = (1 - N + r N (sigma + R), -mu y^; 0, sigma + R),
//          rho = (f'_T - mu y_N y^ + r N sigma f_k, sigma f_k)
// solved for the change of f:
//   df + D G df = E^-1 rho' - f_k + D ((sigma + R) f_k - c_k),   rho' = rho without sigma f_k               (sparse.2)
// One factorisation serves several proximal steps f_k <- f_k + df, which remove what sigma leaves, and refine: each has the
// digits of c_k. sigma is 1e-6 of the block's scale: smaller loses digits in 1/sigma, larger takes more steps.
#include "contact/solvers/newton_sparse.hpp"

#include <cmath>

#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr double relative_sigma = 1e-6;
constexpr int proximal_steps = 4;
constexpr double refined_share = 1e-6;  // of the tolerance: what is left is the speed at which things at rest creep

}  // namespace

// D, E^-1 and the part of rho that does not depend on the centre f_k. False where the factor fails.
bool SparseNewton::linearise(const ContactProblem& problem, const double* f) {
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const double s = scale_[i], r = 1 / s, mu = problem.mu()[i], sigma = relative_sigma * s;
    Eigen::Map<Mat3> D(D_.data() + 9 * i);
    Vec3 rho = Vec3::Zero();
    const Vec3 y = Eigen::Map<const Vec3>(f + o) - r * Eigen::Map<const Vec3>(c_.data() + o);
    const double t = std::sqrt(y.x() * y.x() + y.y() * y.y());
    Mat3 P = Mat3::Identity(), E = Mat3::Zero();
    for (int k = 0; k < 3; ++k) E(k, k) = sigma + problem.R()[o + k];
    if (y.z() <= 0) {
      P.setZero();
      E.setIdentity();
    } else if (mu == 0 || t > mu * y.z()) {
      const double bound = mu * y.z();
      const Eigen::Vector2d direction = t > 0 ? Eigen::Vector2d(y.head<2>() / t) : Eigen::Vector2d::Zero();
      Eigen::Vector2d ft(f[o], f[o + 1]);
      if (ft.norm() > bound) ft *= bound / ft.norm();
      Eigen::Matrix2d N = Eigen::Matrix2d::Zero();
      if (t > 0) N = bound / t * Eigen::Matrix2d::Identity() - ft * direction.transpose() / t;
      P.topLeftCorner<2, 2>() = r * N;
      E.topLeftCorner<2, 2>() = Eigen::Matrix2d::Identity() - N + r * N * (sigma + problem.R()[o]);
      E.topRightCorner<2, 1>() = -mu * direction;
      rho.head<2>() = ft - bound * direction;
    }
    const Mat3 Ei = E.inverse();
    D = Ei * P;
    rho_.map().segment<3>(o) = Ei * rho;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j, d = 9 * nc + j;
    const double s = scale_[nc + j], y = f[o] - c_[o] / s;
    const bool low = y <= problem.lower()[j], high = y >= problem.upper()[j];
    D_[d] = low || high ? 0 : 1 / (relative_sigma * s + problem.R()[o]);
    rho_[o] = low ? problem.lower()[j] : high ? problem.upper()[j] : 0;
  }
  for (int k = 0; k < static_cast<int>(problem.discs.size()); ++k) linearise_disc(problem, k, f);
  return system_.factor(problem, D_.data());
}

// The rows of a disc, E f+ = rho - P (G f+ + g) + r y^ f+_N with f+_N = -D_NN (G f+ + g - sigma f_k)_N: a column of D.
void SparseNewton::linearise_disc(const ContactProblem& problem, int k, const double* f) {
  const FrictionDisc& disc = problem.discs[at(k)];
  const int nc = problem.nc(), o = 3 * nc + disc.row, normal = 3 * disc.contact + 2;
  const double s = scale_[nc + disc.row], r = 1 / s, sigma = relative_sigma * s;
  const double y_N = f[normal] - c_[normal] / scale_[disc.contact], bound = disc.length * y_N;
  double* d = D_.data() + disc_offset(problem, k);
  std::fill_n(d, disc_numbers, 0.0);
  Eigen::Vector2d y = Eigen::Vector2d::Zero(), ft = y, R = y;
  for (int i = 0; i < disc.size; ++i) {
    y[i] = f[o + i] - r * c_[o + i];
    ft[i] = f[o + i];
    R[i] = problem.R()[o + i];
    rho_[o + i] = 0;
    D_[9 * nc + disc.row + i] = y_N > 0 ? 1 / (sigma + R[i]) : 0;
  }
  const double t = y.norm();
  if (y_N <= 0 || t <= bound) return;
  const Eigen::Vector2d direction = y / t;
  if (ft.norm() > bound) ft *= bound / ft.norm();
  Eigen::Matrix2d N = bound / t * Eigen::Matrix2d::Identity() - ft * direction.transpose() / t;
  if (disc.size == 1) {  // (newton.6)
    N.setZero();
    ft = bound * direction;
  }
  const Eigen::Matrix2d E = Eigen::Matrix2d::Identity() - N + r * N * (sigma + R[0]), Ei = E.inverse(), D = Ei * r * N;
  const Eigen::Vector2d rho = Ei * (ft - bound * direction), column = Ei * (disc.length * direction);
  for (int i = 0; i < disc.size; ++i) {
    rho_[o + i] = rho[i];
    D_[9 * nc + disc.row + i] = D(i, i);
    d[i] = disc.size == 2 ? D(i, 1 - i) : 0;
    d[2 + i] = column[i] * D_[9 * disc.contact + 8];
  }
}

// The right-hand side of (sparse.2), c_ being of f. Where a contact sticks, f cancels and -D c is left.
void SparseNewton::centre(const ContactProblem& problem, const double* f, double* e) const {
  const int nc = problem.nc();
  for (int i = 0; i < nc; ++i) {
    const int o = 3 * i;
    const Eigen::Map<const Mat3> D(D_.data() + 9 * i);
    const Eigen::Map<const Vec3> fi(f + o), c(c_.data() + o);
    const Vec3 kept = (relative_sigma * scale_[i] + problem.R().segment<3>(o).array()) * fi.array();
    Eigen::Map<Vec3>(e + o) = (rho_.map().segment<3>(o) + D * kept - fi) - D * c;
  }
  for (int j = 0; j < problem.nr(); ++j) {
    const int o = 3 * nc + j;
    const double d = D_[9 * nc + j];
    e[o] = (rho_[o] + d * kept(problem, o, nc + j, f) - f[o]) - d * c_[o];
  }
  const double* d = D_.data() + disc_offset(problem, 0);
  for (const FrictionDisc& disc : problem.discs) {
    const int o = 3 * nc + disc.row, normal = 3 * disc.contact + 2;
    const double push = kept(problem, normal, disc.contact, f) - c_[normal];
    for (int k = 0; k < disc.size; ++k) {
      e[o + k] += d[2 + k] * push;
      if (disc.size == 2) e[o + k] += d[k] * (kept(problem, o + 1 - k, nc + disc.row, f) - c_[o + 1 - k]);
    }
    d += disc_numbers;
  }
}

double SparseNewton::kept(const ContactProblem& problem, int i, int block, const double* f) const {
  return (relative_sigma * scale_[block] + problem.R()[i]) * f[i];
}

SolveReport SparseNewton::iterate(const ContactProblem& problem, const Tolerance& tolerance, int most, VecRef f,
                                  std::vector<double>* trace) {
  const int n = problem.size(), nc = problem.nc();
  for (VectorBuffer* b : {&c_, &rho_, &e_, &best_}) b->resize(n);
  D_.resize(D_size(problem));
  SolveReport report;
  report.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_);
  if (!std::isfinite(report.residual.absolute())) {
    report.status = SolveStatus::Invalid;
    return report;
  }
  if (within(tolerance, guess_share).met(report.residual)) return report;
  const Tolerance aim = within(tolerance, refined_share);
  if (tolerance.met(report.residual)) most = 1;
  report.status = SolveStatus::IterationLimit;
  if (report.residual.relative() > poor_guess) return report;
  scale_.resize(problem.blocks());
  problem.diagonal(e_.data());
  for (int i = 0; i < n; ++i) e_[i] += problem.R()[i];
  for (int i = 0; i < nc; ++i) scale_[i] = std::max({e_[3 * i], e_[3 * i + 1], e_[3 * i + 2], 1e-300});
  for (int j = 0; j < problem.nr(); ++j) scale_[nc + j] = std::max(e_[3 * nc + j], 1e-300);
  for (const FrictionDisc& d : problem.discs)
    if (d.size == 2) scale_[nc + d.row] = scale_[nc + d.row + 1] = std::max(scale_[nc + d.row], scale_[nc + d.row + 1]);
  system_.analyse(problem);
  best_.map() = f;
  double earlier = report.residual.relative(), now_relative = earlier;
  for (int k = 0; k < most; ++k) {
    // It converges fast or not at all; one step may go wrong where it does not go far.
    if (k >= 1 && report.residual.relative() > 0.3 * earlier && (k > 1 || now_relative > 1e-3)) break;
    if (k >= 1) earlier = report.residual.relative();
    if (!linearise(problem, f.data())) {
      report.status = SolveStatus::Stalled;
      break;
    }
    double last = std::numeric_limits<double>::infinity();
    for (int step = 0; step < proximal_steps; ++step) {
      centre(problem, f.data(), e_.data());
      system_.solve(problem, D_.data(), e_.data());
      f += e_.map();
      for (int j = 0; j < problem.nr(); ++j)  // at a bound to the bit
        if (D_[9 * nc + j] == 0 && rho_[3 * nc + j] != 0) f[3 * nc + j] = rho_[3 * nc + j];
      const Residual now = judge_afresh(problem, ContactModel::Ncp, f.data(), c_);
      now_relative = now.relative();
      if (trace) trace->push_back(now.absolute());
      report.iterations = k + 1;
      if (now.relative() < report.residual.relative()) {
        report.residual = now;
        best_.map() = f;
      }
      if (aim.met(now)) break;
      if (now.relative() > 0.3 * last) break;  // the modes are wrong, not the proximal term
      last = now.relative();
    }
    if (tolerance.met(report.residual)) break;
  }
  if (tolerance.met(report.residual)) report.status = SolveStatus::Converged;
  f = best_.map();
  return report;
}

}  // namespace tribo
