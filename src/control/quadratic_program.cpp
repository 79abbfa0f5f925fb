#include "control/quadratic_program.hpp"

#include <cmath>

#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr double dependent = 1e-12;  // squared sine of the angle to the active normals
constexpr double slack = 1e-10;      // relative violation that is forgiven

}  // namespace

void QuadraticProgram::resize(int n, int equalities, int inequalities) {
  n_ = n;
  H.setZero(n, n);
  g.setZero(n);
  A.setZero(n, equalities);
  b.setZero(equalities);
  C.setZero(n, inequalities);
  d.setConstant(inequalities, -HUGE_VAL);
  for (VecX* v : {&x_, &y_, &z_, &r_, &s_, &u_}) v->setZero(n);
  Y_.setZero(n, n);
  gram_.resize(at(n * n));
  index_.assign(at(n), -1);
  is_active_.assign(at(inequalities), 0);
}

bool QuadraticProgram::solve() {
  active_ = equalities_ = iterations_ = 0;
  std::fill(is_active_.begin(), is_active_.end(), 0);
  if (!H.allFinite() || !dense::cholesky(H.data(), n_)) return false;
  x_ = -g;
  dense::cholesky_solve(H.data(), n_, x_.data());
  return meet_equalities() && meet_inequalities() && x_.allFinite();
}

// z_, r_ and y_ for a normal (qp.2).
QuadraticProgram::Direction QuadraticProgram::direct(const double* normal) {
  y_ = Eigen::Map<const VecX>(normal, n_);
  H.triangularView<Eigen::Lower>().solveInPlace(y_);
  z_ = y_;
  const int k = active_;
  if (k > 0) {
    const auto Y = Y_.leftCols(k);
    auto r = r_.head(k);
    r.noalias() = Y.transpose() * y_;
    // Column by column: a product of matrices would allocate.
    for (int j = 0; j < k; ++j)
      for (int i = j; i < k; ++i) gram_[at(i + j * k)] = Y_.col(i).dot(Y_.col(j));
    dense::cholesky(gram_.data(), k);
    dense::cholesky_solve(gram_.data(), k, r.data());
    z_.noalias() -= Y * r;
    auto more = s_.head(k);  // the Gram matrix has the squared condition of Y: what it left is taken away again
    more.noalias() = Y.transpose() * z_;
    dense::cholesky_solve(gram_.data(), k, more.data());
    z_.noalias() -= Y * more;
    r += more;
  }
  Direction direction;
  direction.slope = z_.squaredNorm();
  direction.blocked = k >= n_ || direction.slope <= dependent * y_.squaredNorm();
  H.transpose().triangularView<Eigen::Upper>().solveInPlace(z_);
  return direction;
}

void QuadraticProgram::move(double t) { x_ += t * z_; }

void QuadraticProgram::add(int index, double multiplier) {
  Y_.col(active_) = y_;
  u_[active_] = multiplier;
  index_[at(active_)] = index;
  if (index >= 0) is_active_[at(index)] = 1;
  ++active_;
}

void QuadraticProgram::drop(int place) {
  is_active_[at(index_[at(place)])] = 0;
  for (int k = place; k + 1 < active_; ++k) {
    Y_.col(k) = Y_.col(k + 1);
    u_[k] = u_[k + 1];
    index_[at(k)] = index_[at(k + 1)];
  }
  --active_;
}

bool QuadraticProgram::meet_equalities() {
  for (int i = 0; i < A.cols(); ++i) {
    const double miss = A.col(i).dot(x_) - b[i];
    const Direction direction = direct(A.col(i).data());
    if (direction.blocked && leaves_contradictions_out) continue;
    if (direction.blocked) {
      const double size = A.col(i).cwiseAbs().dot(x_.cwiseAbs()) + std::abs(b[i]);
      if (std::abs(miss) > 1e-6 * (1 + size)) return false;
      continue;
    }
    const double t = -miss / direction.slope;
    move(t);
    u_.head(active_) -= t * r_.head(active_);
    add(-1, t);
  }
  equalities_ = active_;
  return true;
}

bool QuadraticProgram::meet_inequalities() {
  const int most = 50 + 10 * static_cast<int>(C.cols());
  while (true) {
    int worst = -1;
    double deepest = 0;
    for (int i = 0; i < C.cols(); ++i) {
      if (is_active_[at(i)] || !std::isfinite(d[i])) continue;
      const double size = C.col(i).norm(), miss = C.col(i).dot(x_) - d[i];
      const double relative = miss / (size * (1 + x_.norm()) + std::abs(d[i]));
      if (relative < -slack && relative < deepest) deepest = relative, worst = i;
    }
    if (worst < 0) return true;
    double multiplier = 0;
    while (true) {
      if (++iterations_ > most) return false;
      const Direction direction = direct(C.col(worst).data());
      double most_dual = HUGE_VAL;  // until a multiplier would turn negative
      int leaving = -1;
      for (int k = equalities_; k < active_; ++k)
        if (r_[k] > 0 && u_[k] / r_[k] < most_dual) most_dual = u_[k] / r_[k], leaving = k;
      const double full = direction.blocked ? HUGE_VAL : (d[worst] - C.col(worst).dot(x_)) / direction.slope;
      const double t = std::min(most_dual, full);
      if (!std::isfinite(t)) return false;
      if (!direction.blocked) move(t);
      u_.head(active_) -= t * r_.head(active_);
      multiplier += t;
      if (full <= most_dual) {
        add(worst, multiplier);
        break;
      }
      drop(leaving);
    }
  }
}

}  // namespace tribo
