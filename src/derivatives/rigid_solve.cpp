// dv' with the rows that hold (deriv.2), (deriv.3), for all right-hand sides at once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "derivatives/edges.hpp"
#include "derivatives/rigid_derivative.hpp"
#include "linalg/dense.hpp"
#include "linalg/row_kernels.hpp"

namespace tribo {
namespace {

constexpr double clearly_independent = 1e-5;  // of its squared length
constexpr double least_forces = 1e-9;  // of the diagonal of G: picks forces of least norm where they are not unique

}  // namespace

// Mt^-1 on the first columns of X, or one half of it, tree by tree. Trees that fly have none.
void RigidDerivative::smooth_solve(RowMatrix& X, int columns, Half half) {
  int first = 0;
  for (int t : group_.trees) {
    if (flies(t)) {
    } else if (half == Half::First) {
      trees_.whiten(t, X, first, columns);
    } else if (half == Half::Second) {
      trees_.unwhiten(t, X, first, columns);
    } else {
      trees_.solve(t, X, first, columns);
    }
    first += model_.trees[at(t)].nv;
  }
}

// X: right-hand sides in, dv' out (deriv.2), (deriv.3), by whitened rows (solve.3). Those behind the first `columns` are zero.
bool RigidDerivative::solve_active(RowMatrix& X, int columns, Linearization& lin) {
  if (active_ == 0) {
    smooth_solve(X, columns);
    return true;
  }
  smooth_solve(X, columns, Half::First);
  const bool plain = choose_rows(lin);
  const int m = static_cast<int>(chosen_.size()), n = group_.n(), stride = X.stride();
  rhs_.resize(m, X.cols());
  nonzero_.resize(at(std::max(m, n)));
  entry_.resize(std::max(m, n));
  int* const index = nonzero_.data();
  double* const entry = entry_.data();
  const auto gather_entries = [=](int size, auto value) {
    int count = 0;
    for (int k = 0; k < size; ++k) {
      const double x = value(k);
      index[count] = k;
      entry[count] = x;
      count += x != 0;
    }
    return count;
  };
  for (int i = 0; i < m; ++i) {
    const double* const y = Yc_.row(chosen_[at(i)]);
    std::copy_n(K_.row(chosen_[at(i)]), stride, rhs_.row(i));
    const int count = gather_entries(n, [&](int k) { return y[k]; });
    rows::combine(1, rhs_.row(i), X.data(), stride, index, entry, count, (columns + 3) / 4 * 4);
  }
  if (plain) {
    qr_.solve(rhs_);
  } else {
    S_.resize(m, m);
    auto S = S_.map();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        S(i, j) = rows::dot(Yc_.row(chosen_[at(i)]), Yb_.row(chosen_[at(j)]), n) + (i == j ? R_[chosen_[at(i)]] : 0);
    for (const Block& block : blocks_)  // all rows are chosen
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) S(block.row + i, block.row + j) += block.W(i, j);
    pivot_.resize(at(m));
    if (!dense::lu(S_.data(), m, pivot_.data())) return false;
    rows::lu_solve(S_.data(), m, pivot_.data(), rhs_);
  }
  for (int k = 0; k < n; ++k) {
    const int count = gather_entries(m, [&](int i) { return -Yb_(chosen_[at(i)], k); });
    rows::combine(1, X.row(k), rhs_.data(), stride, index, entry, count, stride);
  }
  smooth_solve(X, X.cols(), Half::Second);
  return true;
}

// Whitened rows into Q, coordinates that none of them moves left out.
void RigidDerivative::gather(const std::vector<int>& rows) {
  const int n = group_.n(), count = static_cast<int>(rows.size());
  moved_by_.assign(at(n), 0);
  for (int a : rows) {
    const double* const y = Yc_.row(a);
    char* const moved = moved_by_.data();
    for (int k = 0; k < n; ++k) moved[k] |= static_cast<char>(y[k] != 0);
  }
  nonzero_.clear();
  for (int k = 0; k < n; ++k)
    if (moved_by_[at(k)] != 0) nonzero_.push_back(k);
  Q_.set_zero(count, static_cast<int>(nonzero_.size()));
  for (int i = 0; i < count; ++i) {
    const double* y = Yc_.row(rows[at(i)]);
    double* q = Q_.row(i);
    if (static_cast<int>(nonzero_.size()) == n)
      std::copy_n(y, n, q);
    else
      for (std::size_t k = 0; k < nonzero_.size(); ++k) q[k] = y[nonzero_[k]];
  }
}

// Two bodies have six motions against each other: of the rows that see them, where they stick together at many points, six
// say what the others do. Of the rows of one joint one does. The others are dropped before all are looked at over the joints.
void RigidDerivative::drop_repeated() {
  const auto pair_of = [&](std::size_t i) { return seen_[at(rigid_[i])].pair; };
  joint_seen_.assign(at(group_.n()), 0);
  std::size_t kept = 0;
  for (std::size_t first = 0, last = 0; first < rigid_.size(); first = last) {
    const int pair = pair_of(first);
    while (last < rigid_.size() && (last == first || (pair >= 0 && pair_of(last) == pair))) ++last;
    dropped_.assign(last - first, 0);
    if (last - first > 6) keep_independent(first, last);
    const int a = rigid_[first], begin = support_first_[at(a)];
    if (last - first == 1 && support_first_[at(a + 1)] - begin == 1)
      dropped_[0] = std::exchange(joint_seen_[at(support_[at(begin)])], 1);
    for (std::size_t i = first; i < last; ++i)
      if (!dropped_[i - first]) rigid_[kept++] = rigid_[i];
  }
  rigid_.resize(kept);
}

// Of [first, last) in rigid_, by Gram and Schmidt with exchanges.
void RigidDerivative::keep_independent(std::size_t first, std::size_t last) {
  const std::size_t count = last - first;
  const Vec3 origin = seen_[at(rigid_[first])].p;
  double reach = 0;
  for (std::size_t i = first; i < last; ++i) reach = std::max(reach, (seen_[at(rigid_[i])].p - origin).norm());
  seen_rows_.resize(count);
  dropped_.assign(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const SeenRow& row = seen_[at(rigid_[first + i])];
    seen_rows_[i] << row.axis, (row.p - origin).cross(row.axis) / std::max(reach, 1e-300);
  }
  for (int chosen = 0; chosen < 6; ++chosen) {
    std::size_t best = 0;
    double most = dependent * dependent;
    for (std::size_t i = 0; i < count; ++i)
      if (dropped_[i] && seen_rows_[i].squaredNorm() > most) most = seen_rows_[best = i].squaredNorm();
    if (most == dependent * dependent) return;
    dropped_[best] = 0;
    const Vec6 q = seen_rows_[best] / std::sqrt(most);
    for (std::size_t i = 0; i < count; ++i)
      if (dropped_[i]) seen_rows_[i] -= q * q.dot(seen_rows_[i]);
  }
}

// The rows to solve for: all with compliance, and of the others as many as are independent. True where the factor of
// these is the whole matrix.
bool RigidDerivative::choose_rows(Linearization& lin) {
  chosen_.clear();
  rigid_.clear();
  if (smoothed_rows_) {
    for (int a = 0; a < active_; ++a) chosen_.push_back(a);
    return false;
  }
  for (int pass = 0; pass < 2; ++pass)  // those that do not slip first
    for (int a = 0; a < active_; ++a)
      if (R_[a] == 0 && (slips_[at(a)] != 0) == (pass == 1)) rigid_.push_back(a);
  drop_repeated();
  int sticking = 0;
  for (int a : rigid_) sticking += !slips_[at(a)];
  gather(rigid_);
  if (!qr_.compute_plainly(Q_, clearly_independent)) qr_.compute(Q_, sticking, dependent);
  const auto& independent = qr_.independent();
  int slipping = 0;
  for (int i : independent) slipping += i >= sticking;
  if (slipping < static_cast<int>(rigid_.size()) - sticking) {  // normals that share a slip: least forces
    lin.unique = false;
    for (int a : rigid_) R_[a] = least_forces * rows::dot(Yc_.row(a), Yc_.row(a), Yc_.stride());
    for (int a = 0; a < active_; ++a)
      if (R_[a] > 0) chosen_.push_back(a);  // others have no motion that they could hold
    return false;
  }
  for (int i : independent) chosen_.push_back(rigid_[at(i)]);
  for (int a = 0; a < active_; ++a)
    if (R_[a] != 0) chosen_.push_back(a);
  return slipping == 0 && chosen_.size() == independent.size();
}

}  // namespace tribo
