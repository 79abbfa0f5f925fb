#include "linalg/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>

namespace tribo {

void PivotedQr::compute(const double* Y, int rows, int columns, int first, double rounding) {
  rows_ = rows;
  lead_ = columns;
  independent_.clear();
  taken_.assign(at(columns), 0);
  left_.resize(static_cast<Eigen::Index>(rows) * columns);
  Q_.resize(static_cast<Eigen::Index>(rows) * columns);
  T_.setZero(static_cast<Eigen::Index>(columns) * columns);
  length_.resize(columns);
  std::copy_n(Y, rows * columns, left_.data());
  const auto column = [&](VectorBuffer& x, int k) { return Eigen::Map<VecX>(x.data() + rows * k, rows); };
  for (int k = 0; k < columns; ++k) length_[k] = column(left_, k).norm();
  for (int end : {first, columns}) {
    for (;;) {
      int next = -1;
      double best = rounding;
      for (int k = 0; k < end; ++k) {
        if (taken_[at(k)] || !(length_[k] > 0)) continue;
        const double share = column(left_, k).norm() / length_[k];
        if (share > best) next = k, best = share;
      }
      if (next < 0) break;
      taken_[at(next)] = 1;
      const int n = static_cast<int>(independent_.size());
      independent_.push_back(next);
      auto q = column(Q_, n);
      q = column(left_, next);
      for (int i = 0; i < n; ++i) {  // the second time
        const double along = column(Q_, i).dot(q);
        q -= along * column(Q_, i);
      }
      q.normalize();
      for (int i = 0; i <= n; ++i) T_[lead_ * n + i] = column(Q_, i).dot(Eigen::Map<const VecX>(Y + rows * next, rows));
      for (int k = 0; k < columns; ++k) {
        if (taken_[at(k)]) continue;
        auto x = column(left_, k);
        const double along = q.dot(x);
        x -= along * q;
      }
    }
  }
}

void PivotedQr::solve(Eigen::Ref<MatX> X) const {
  const auto n = static_cast<Eigen::Index>(independent_.size());
  const Eigen::Map<const MatX, 0, Eigen::OuterStride<>> T(T_.data(), n, n, Eigen::OuterStride<>(lead_));
  T.triangularView<Eigen::Upper>().transpose().solveInPlace(X);
  T.triangularView<Eigen::Upper>().solveInPlace(X);
}

}  // namespace tribo
