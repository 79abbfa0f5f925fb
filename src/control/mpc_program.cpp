#include "control/mpc_program.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// e(f) of a foot (mpc.3); its gradient times f where the bounds are zero.
void slack_of(double mu, double least, double most, const double* f, double* e) {
  const double z = mu * f[2];
  e[0] = z - f[0], e[1] = z + f[0], e[2] = z - f[1], e[3] = z + f[1], e[4] = f[2] - least, e[5] = most - f[2];
}

// out -= E^T w.
void subtract_gradient(double mu, const double* w, double* out) {
  out[0] -= w[1] - w[0];
  out[1] -= w[3] - w[2];
  out[2] -= mu * (w[0] + w[1] + w[2] + w[3]) + w[4] - w[5];
}

// x <- A^T x.
void transpose_advance(const MpcStage& s, const Vec6& x1, Vec6& x2) {
  x2.head<3>() += s.step * x1.head<3>();
  x2.tail<3>().noalias() += s.turn.transpose() * x1.tail<3>();
}

// M D, D = diag(step, turn).
Mat6 times_rate(const Mat6& M, const MpcStage& s) {
  Mat6 out;
  out.leftCols<3>() = s.step * M.leftCols<3>();
  out.rightCols<3>().noalias() = M.rightCols<3>().lazyProduct(s.turn);
  return out;
}

}  // namespace

template <class Body>
void MpcProgram::by_feet(int feet, Body&& body) {
  switch (feet) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    case 4:
      return body(std::integral_constant<int, 4>());
    default:
      return body(std::integral_constant<int, 0>());
  }
}

void MpcProgram::resize(int stages) {
  stage.assign(at(stages), {});
  work_.clear();
  work_.resize(at(stages));
}

void MpcProgram::roll(Vec12& x, const MpcStage& s, const Vec12& f) const {
  x.head<3>() += s.step * x.segment<3>(6);
  x.segment<3>(3).noalias() += s.turn * x.tail<3>();
  x.tail<6>() += s.c;
  for (int j = 0; j < 3 * s.feet; ++j) x.tail<6>() += f[j] * s.B.col(j);
}

// In the middle of the bounds, with multipliers as large as the slope of the cost there.
void MpcProgram::begin() {
  rows_ = 0;
  for (std::size_t k = 0; k < stage.size(); ++k) {
    const MpcStage& s = stage[k];
    Work& w = work_[k];
    w.f.setZero();
    for (int i = 0; i < s.feet; ++i) {
      const FootBounds& b = s.bounds[i];
      const double middle = 0.5 * (b.least + b.most), room = 0.5 * (b.most - b.least);
      w.f[3 * i + 2] = middle;
      slack_of(b.mu, b.least, b.most, w.f.data() + 3 * i, w.s.data() + 6 * i);
      for (int r = 6 * i; r < 6 * i + 6; ++r) w.s[r] = std::max(w.s[r], 0.1 * room);
    }
    rows_ += 6 * s.feet;
    w.z.setZero();
  }
  Report slope;
  measure(slope);
  for (Work& w : work_) w.z.setConstant(std::max(0.1 * slope.dual, 1e-9));
}

template <int Feet>
bool MpcProgram::factor(int k) {
  constexpr int n = 3 * Feet;
  const MpcStage& s = stage[at(k)];
  Work& w = work_[at(k)];
  if constexpr (n > 0) {
    const Eigen::Matrix<double, 6, n> B = s.B.template leftCols<n>();
    Eigen::Matrix<double, n, 6> T1, T2;
    Eigen::Matrix<double, n, n> F;
    T1.noalias() = B.transpose().lazyProduct(P12_.transpose());
    T2.noalias() = B.transpose().lazyProduct(P22_);
    F.noalias() = T2.lazyProduct(B);
    for (int i = 0; i < Feet; ++i) {  // H of (mpc.4)
      const double* d = w.weight.data() + 6 * i;
      const double mu = s.bounds[i].mu;
      F(3 * i, 3 * i) += force_weight + d[0] + d[1];
      F(3 * i + 1, 3 * i + 1) += force_weight + d[2] + d[3];
      F(3 * i + 2, 3 * i + 2) += force_weight + mu * mu * (d[0] + d[1] + d[2] + d[3]) + d[4] + d[5];
      F(3 * i + 2, 3 * i) += mu * (d[1] - d[0]);
      F(3 * i + 2, 3 * i + 1) += mu * (d[3] - d[2]);
    }
    for (int j = 0; j < n; ++j) {  // F = L L^T, T = L^-1 T, together
      if (!(F(j, j) > 0)) return false;
      const double inverse = 1 / std::sqrt(F(j, j));
      F(j, j) = inverse;  // of L
      for (int i = j + 1; i < n; ++i) F(i, j) *= inverse;
      T1.row(j) *= inverse;
      T2.row(j) *= inverse;
      for (int i = j + 1; i < n; ++i) {
        const double l = F(i, j);
        for (int m = i; m < n; ++m) F(m, i) -= l * F(m, j);
        T1.row(i) -= l * T1.row(j);
        T2.row(i) -= l * T2.row(j);
      }
    }
    w.L.template topLeftCorner<n, n>() = F;
    w.T1.template topRows<n>() = T1;
    w.T2.template topRows<n>() = T2;
    if (k == 0) return true;
    P11_.noalias() -= T1.transpose().lazyProduct(T1);
    P12_.noalias() -= T1.transpose().lazyProduct(T2);
    P22_.noalias() -= T2.transpose().lazyProduct(T2);
  }
  if (k == 0) return true;
  // P <- A^T P A + Q (mpc.6)
  const Mat6 right = P22_ + times_rate(P12_.transpose(), s);
  P12_ += times_rate(P11_, s);
  const Mat6 turned = times_rate(P12_.transpose(), s);
  P22_ = right + turned.transpose();
  P11_.diagonal() += stage[at(k - 1)].Q.head<6>();
  P22_.diagonal() += stage[at(k - 1)].Q.tail<6>();
  return true;
}

bool MpcProgram::factor_all() {
  const int n = stages();
  P11_ = stage.back().Q.head<6>().asDiagonal();
  P12_.setZero();
  P22_ = stage.back().Q.tail<6>().asDiagonal();
  bool fine = true;
  for (int k = n - 1; k >= 0 && fine; --k) by_feet(stage[at(k)].feet, [&](auto feet) { fine = factor<feet.value>(k); });
  return fine;
}

template <int Feet>
void MpcProgram::backward(int k) {
  constexpr int n = 3 * Feet;
  const MpcStage& s = stage[at(k)];
  Work& w = work_[at(k)];
  if constexpr (n > 0) {
    Eigen::Matrix<double, n, 1> eta = w.g.template head<n>();
    eta.noalias() += s.B.template leftCols<n>().transpose().lazyProduct(p2_);
    for (int j = 0; j < n; ++j) {
      eta[j] *= w.L(j, j);
      for (int i = j + 1; i < n; ++i) eta[i] -= w.L(i, j) * eta[j];
    }
    w.eta.template head<n>() = eta;
    p1_.noalias() -= w.T1.template topRows<n>().transpose().lazyProduct(eta);
    p2_.noalias() -= w.T2.template topRows<n>().transpose().lazyProduct(eta);
  }
  transpose_advance(s, p1_, p2_);
}

template <int Feet>
void MpcProgram::forward(int k, Vec12& dx) {
  constexpr int n = 3 * Feet;
  const MpcStage& s = stage[at(k)];
  Work& w = work_[at(k)];
  dx.head<3>() += s.step * dx.segment<3>(6);
  dx.segment<3>(3).noalias() += s.turn * dx.tail<3>();
  if constexpr (n > 0) {
    Eigen::Matrix<double, n, 1> f = -w.eta.template head<n>();
    f.noalias() -= w.T1.template topRows<n>().lazyProduct(dx.head<6>());
    f.noalias() -= w.T2.template topRows<n>().lazyProduct(dx.tail<6>());
    for (int j = n - 1; j >= 0; --j) {
      for (int i = j + 1; i < n; ++i) f[j] -= w.L(i, j) * f[i];
      f[j] *= w.L(j, j);
    }
    w.df.template head<n>() = f;
    dx.tail<6>().noalias() += s.B.template leftCols<n>().lazyProduct(f);
  }
}

void MpcProgram::newton() {
  const int n = stages();
  for (int k = 0; k < n; ++k) {  // g of (mpc.4)
    Work& w = work_[at(k)];
    w.g = w.slope;
    for (int i = 0; i < stage[at(k)].feet; ++i) {
      double pull[6];
      for (int r = 0; r < 6; ++r) pull[r] = w.pull[6 * i + r] - w.weight[6 * i + r] * w.miss[6 * i + r];
      subtract_gradient(stage[at(k)].bounds[i].mu, pull, w.g.data() + 3 * i);
    }
  }
  p1_.setZero();
  p2_.setZero();
  for (int k = n - 1; k >= 0; --k) by_feet(stage[at(k)].feet, [&](auto feet) { backward<feet.value>(k); });
  Vec12 dx = Vec12::Zero();
  for (int k = 0; k < n; ++k) {
    by_feet(stage[at(k)].feet, [&](auto feet) { forward<feet.value>(k, dx); });
    Work& w = work_[at(k)];
    for (int i = 0; i < stage[at(k)].feet; ++i) {
      slack_of(stage[at(k)].bounds[i].mu, 0, 0, w.df.data() + 3 * i, w.ds.data() + 6 * i);
      for (int r = 6 * i; r < 6 * i + 6; ++r) {
        w.ds[r] += w.miss[r];
        w.dz[r] = w.pull[r] - w.weight[r] * w.ds[r];
      }
    }
  }
}

// How far s and z may go and stay positive; at most 1.
double MpcProgram::step_length() const {
  double a = 1;
  for (std::size_t k = 0; k < work_.size(); ++k) {
    const Work& w = work_[k];
    for (int r = 0; r < 6 * stage[k].feet; ++r) {
      if (w.s[r] + a * w.ds[r] < 0) a = -w.s[r] / w.ds[r];
      if (w.z[r] + a * w.dz[r] < 0) a = -w.z[r] / w.dz[r];
    }
  }
  return a;
}

// The pull to s z = 0; or to the centre, corrected for the product of the changes that the first one found [Mehrotra1992].
void MpcProgram::aim(bool corrected) {
  double now = 0, then = 0, centre = 0;
  if (corrected) {
    const double a = step_length();
    for (std::size_t k = 0; k < work_.size(); ++k) {
      const Work& w = work_[k];
      for (int r = 0; r < 6 * stage[k].feet; ++r) {
        now += w.s[r] * w.z[r];
        then += (w.s[r] + a * w.ds[r]) * (w.z[r] + a * w.dz[r]);
      }
    }
    const double ratio = then / now;
    centre = ratio * ratio * ratio * now / rows_;
  }
  for (std::size_t k = 0; k < work_.size(); ++k) {
    Work& w = work_[k];
    for (int r = 0; r < 6 * stage[k].feet; ++r)
      w.pull[r] = (corrected ? (centre - w.ds[r] * w.dz[r]) / w.s[r] : 0) - w.z[r];
  }
}

// Residuals at f, s, z; x is rolled from f.
void MpcProgram::measure(Report& report) {
  report.primal = report.dual = report.gap = 0;
  Vec12 x = start;
  for (std::size_t k = 0; k < work_.size(); ++k) {
    Work& w = work_[k];
    roll(x, stage[k], w.f);
    w.x = x;
    for (int i = 0; i < stage[k].feet; ++i) {
      const FootBounds& b = stage[k].bounds[i];
      slack_of(b.mu, b.least, b.most, w.f.data() + 3 * i, w.miss.data() + 6 * i);
      for (int r = 6 * i; r < 6 * i + 6; ++r) {
        w.miss[r] -= w.s[r];
        report.primal = std::max(report.primal, std::abs(w.miss[r]));
        report.gap += w.s[r] * w.z[r];
      }
    }
  }
  Vec6 y1 = Vec6::Zero(), y2 = Vec6::Zero();  // slope of the cost to go by x
  for (int k = stages() - 1; k >= 0; --k) {
    const MpcStage& s = stage[at(k)];
    Work& w = work_[at(k)];
    const Vec12 pull = s.Q.cwiseProduct(w.x - s.ref);
    y1 += pull.head<6>();
    y2 += pull.tail<6>();
    for (int i = 0; i < s.feet; ++i) {
      for (int j = 3 * i; j < 3 * i + 3; ++j) w.slope[j] = force_weight * w.f[j] + s.B.col(j).dot(y2);
      subtract_gradient(s.bounds[i].mu, w.z.data() + 6 * i, w.slope.data() + 3 * i);
      for (int j = 3 * i; j < 3 * i + 3; ++j) report.dual = std::max(report.dual, std::abs(w.slope[j]));
    }
    transpose_advance(s, y1, y2);
  }
  if (!std::isfinite(y1.sum() + y2.sum())) report.dual = HUGE_VAL;  // a maximum passes over NaN
}

MpcProgram::Report MpcProgram::solve(double tolerance, int most_iterations) {
  Report report;
  begin();
  while (true) {
    measure(report);
    report.solved = report.primal <= tolerance && report.dual <= tolerance && report.gap <= tolerance;
    if (report.solved || report.iterations >= most_iterations || !std::isfinite(report.dual)) return report;
    ++report.iterations;
    for (std::size_t k = 0; k < work_.size(); ++k) {
      const int rows = 6 * stage[k].feet;
      work_[k].weight.head(rows) = work_[k].z.head(rows).cwiseQuotient(work_[k].s.head(rows));
    }
    if (!factor_all()) return report;
    aim(false);
    newton();
    aim(true);
    newton();
    const double whole = step_length(), a = whole < 1 ? 0.995 * whole : 1;
    for (std::size_t k = 0; k < work_.size(); ++k) {
      Work& w = work_[k];
      const int feet = stage[k].feet;
      w.f.head(3 * feet) += a * w.df.head(3 * feet);
      w.s.head(6 * feet) += a * w.ds.head(6 * feet);
      w.z.head(6 * feet) += a * w.dz.head(6 * feet);
    }
  }
}

}  // namespace tribo
