#include "linalg/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr double measured = 1e-4;  // of a squared length: less is not left by subtraction, it is measured again

}  // namespace

void PivotedQr::compute(const RowMatrix& Y, int first, double rounding) {
  const int count = Y.rows(), n = Y.stride();
  independent_.clear();
  taken_.assign(at(count), 0);
  left_.resize(count, n);
  Q_.resize(count, n);
  T_.resize(count, count);
  length_.resize(2 * count);
  share_.resize(count);
  std::copy_n(Y.data(), count * n, left_.data());
  double* last = length_.data() + count;  // squared length when it was measured
  for (int k = 0; k < count; ++k) {
    length_[k] = last[k] = rows::dot(Y.row(k), Y.row(k), n);
    share_[k] = 1;
  }
  for (int end : {first, count}) {
    for (;;) {
      int next = -1;
      double best = rounding * rounding;
      for (int k = 0; k < end; ++k)
        if (!taken_[at(k)] && length_[k] > 0 && share_[k] > best) next = k, best = share_[k];
      if (next < 0) break;
      taken_[at(next)] = 1;
      const int m = static_cast<int>(independent_.size());
      independent_.push_back(next);
      double* q = Q_.row(m);
      std::copy_n(left_.row(next), n, q);
      for (int i = 0; i < m; ++i) rows::add(-rows::dot(Q_.row(i), q, n), Q_.row(i), q, n);  // the second time
      const double scale = 1 / std::sqrt(rows::dot(q, q, n));
      for (int i = 0; i < n; ++i) q[i] *= scale;
      for (int i = 0; i <= m; ++i) T_(i, m) = rows::dot(Q_.row(i), Y.row(next), n);
      for (int k = 0; k < count; ++k) {
        if (taken_[at(k)]) continue;
        double* x = left_.row(k);
        const double along = rows::dot(q, x, n);
        rows::add(-along, q, x, n);
        double squared = share_[k] * length_[k] - along * along;
        if (squared < measured * last[k]) squared = last[k] = rows::dot(x, x, n);
        share_[k] = length_[k] > 0 ? squared / length_[k] : 0;
      }
    }
  }
}

void PivotedQr::solve(RowMatrix& X) {
  const int n = static_cast<int>(independent_.size()), columns = X.stride();
  w_.resize(n);
  for (int i = 0; i < n; ++i) {
    const double inverse = 1 / T_(i, i);
    for (int k = 0; k < i; ++k) w_[k] = -inverse * T_(k, i);
    rows::combine(inverse, X.row(i), X.data(), columns, w_.data(), i, columns);
  }
  for (int i = n - 1; i >= 0; --i) {
    const double inverse = 1 / T_(i, i);
    for (int k = i + 1; k < n; ++k) w_[k] = -inverse * T_(i, k);
    rows::combine(inverse, X.row(i), X.row(i) + columns, columns, w_.data() + i + 1, n - i - 1, columns);
  }
}

bool PivotedQr::compute_plainly(const RowMatrix& Y, double least) {
  const int count = Y.rows(), n = Y.stride();
  if (count > Y.cols()) return false;
  T_.set_zero(count, count);
  w_.resize(count);
  for (int i = 0; i < count; ++i) {  // T^T T = Y Y^T, from above; what stands below the diagonal is of no use
    double* row = T_.row(i);
    rows::dots(Y.row(i), Y.data(), n, count, n, row);
    const double before = row[i];
    double left = before;
    for (int k = 0; k < i; ++k) {
      left -= T_(k, i) * T_(k, i);
      w_[k] = -T_(k, i);
    }
    if (!(left > least * before)) return false;
    rows::combine(1, row, T_.data(), T_.stride(), w_.data(), i, T_.stride());
    row[i] = std::sqrt(left);
    const double inverse = 1 / row[i];
    for (int j = i + 1; j < count; ++j) row[j] *= inverse;
  }
  independent_.clear();
  for (int i = 0; i < count; ++i) independent_.push_back(i);
  return true;
}

// With Y^T = Q^T B, B the products of the basis with all vectors: f = B^T (B B^T)^-1 Q Y^T given.
void PivotedQr::least(const RowMatrix& Y, const double* given, double* f) {
  const int count = Y.rows(), n = Y.stride(), m = static_cast<int>(independent_.size());
  load_.setZero(n);
  for (int k = 0; k < count; ++k) rows::add(given[k], Y.row(k), load_.data(), n);
  B_.resize(m, count);
  G_.resize(m, m);
  w_.resize(m);
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < m; ++i) B_.map()(i, k) = rows::dot(Q_.row(i), Y.row(k), n);
  for (int i = 0; i < m; ++i) w_[i] = rows::dot(Q_.row(i), load_.data(), n);
  dense::gram(B_.data(), m, count, G_.data());
  if (!dense::cholesky(G_.data(), m)) {
    std::copy_n(given, count, f);
    return;
  }
  dense::cholesky_solve(G_.data(), m, w_.data());
  for (int k = 0; k < count; ++k) f[k] = rows::dot(B_.data() + m * k, w_.data(), m);
}

}  // namespace tribo
