#include "linalg/least_squares.hpp"

#include <cmath>
#include <numeric>

namespace tribo {
namespace {

using Eigen::Index;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// x <- (1 - beta v v^T) x, with v = (1, tail of column j) over the rows j to end - 1.
template <class Column>
void apply(const MatrixBuffer::Map& M, Index j, Index end, double beta, Column x) {
  const auto tail = M.col(j).segment(j + 1, end - j - 1);
  const double s = beta * (x[j] + tail.dot(x.segment(j + 1, end - j - 1)));
  x[j] -= s;
  x.segment(j + 1, end - j - 1) -= s * tail;
}

}  // namespace

// The diagonal keeps R, below it lies the reflector with its first entry 1 left out.
void LeastSquares::reflect(MatrixBuffer::Map M, Index j, Index end, double& beta, double* rhs) {
  auto tail = M.col(j).segment(j + 1, end - j - 1);
  const double head = M(j, j), norm2 = tail.squaredNorm();
  beta = 0;
  if (norm2 > 0) {
    const double alpha = head > 0 ? -std::sqrt(head * head + norm2) : std::sqrt(head * head + norm2);
    const double v0 = head - alpha;
    beta = -v0 / alpha;
    tail /= v0;
    M(j, j) = alpha;
    for (Index c = j + 1; c < M.cols(); ++c) apply(M, j, end, beta, M.col(c));
  }
  if (rhs != nullptr) apply(M, j, end, beta, Eigen::Map<VecX>(rhs, M.rows()));
}

// (ls.1). Rows of the stack below n + j are still zero in column j.
void LeastSquares::relaxed(const MatrixBuffer& B, const double* y, double eps, double* x) {
  const Index n = B.rows();
  M_.resize(2 * n, n);
  rhs_.setZero(2 * n);
  auto M = M_.map();
  M.topRows(n) = B.map();
  M.bottomRows(n).setZero();
  M.bottomRows(n).diagonal().setConstant(eps);
  rhs_.map().head(n) = Eigen::Map<const VecX>(y, n);
  double beta;
  for (Index j = 0; j < n; ++j) reflect(M, j, n + j + 1, beta, rhs_.data());
  for (Index j = n - 1; j >= 0; --j) {
    double s = rhs_[j];
    for (Index c = j + 1; c < n; ++c) s -= M(j, c) * x[c];
    x[j] = M(j, j) != 0 ? s / M(j, j) : 0;
  }
}

double LeastSquares::begin(const MatrixBuffer& B, const double* y, double tolerance) {
  const Index n = B.rows();
  M_.resize(n, n);
  rhs_.resize(n);
  M_.map() = B.map();
  rhs_.map() = Eigen::Map<const VecX>(y, n);
  column_.resize(at(n));
  std::iota(column_.begin(), column_.end(), Index{0});
  return n > 0 ? tolerance * M_.map().cwiseAbs().maxCoeff() : 0;
}

// (ls.2)
void LeastSquares::pivoting(const MatrixBuffer& B, const double* y, double tolerance, double* x) {
  const Index n = B.rows();
  const double least = begin(B, y, tolerance);
  auto M = M_.map();
  Index rank = 0;
  for (; rank < n; ++rank) {
    Index r, c;
    const double pivot = M.bottomRightCorner(n - rank, n - rank).cwiseAbs().maxCoeff(&r, &c);
    if (!(pivot > least)) break;
    M.row(rank).swap(M.row(rank + r));
    std::swap(rhs_[rank], rhs_[rank + r]);
    M.col(rank).swap(M.col(rank + c));
    std::swap(column_[at(rank)], column_[at(rank + c)]);
    for (Index i = rank + 1; i < n; ++i) {
      const double share = M(i, rank) / M(rank, rank);
      M.row(i).tail(n - rank) -= share * M.row(rank).tail(n - rank);
      rhs_[i] -= share * rhs_[rank];
    }
  }
  std::fill(x, x + n, 0.0);
  for (Index j = rank - 1; j >= 0; --j) {
    double s = rhs_[j];
    for (Index c = j + 1; c < rank; ++c) s -= M(j, c) * x[column_[at(c)]];
    x[column_[at(j)]] = s / M(j, j);
  }
}

// (ls.3): B P = Q (R1; 0) with R1 (rank x n) = S^T Q1^T, and x = P Q1 S^-T (Q^T y).
void LeastSquares::minimum_norm(const MatrixBuffer& B, const double* y, double tolerance, double* x) {
  const Index n = B.rows();
  const double least = begin(B, y, tolerance);
  beta_.resize(n);
  auto M = M_.map();
  Index rank = 0;
  for (; rank < n; ++rank) {
    Index c = rank;
    double longest = 0;
    for (Index k = rank; k < n; ++k) {
      const double length = M.col(k).tail(n - rank).norm();
      if (length > longest) longest = length, c = k;
    }
    if (!(longest > least)) break;
    M.col(rank).swap(M.col(c));
    std::swap(column_[at(rank)], column_[at(c)]);
    reflect(M, rank, n, beta_[rank], rhs_.data());
  }
  T_.resize(n, rank);
  beta_t_.resize(rank);
  auto T = T_.map();
  T.setZero();
  for (Index i = 0; i < rank; ++i) T.col(i).tail(n - i) = M.row(i).tail(n - i);
  for (Index j = 0; j < rank; ++j) reflect(T, j, n, beta_t_[j], nullptr);
  VectorBuffer::Map z = beta_.map();
  z.setZero();
  for (Index i = 0; i < rank; ++i) {  // S^T z = Q^T y
    double s = rhs_[i];
    for (Index k = 0; k < i; ++k) s -= T(k, i) * z[k];
    z[i] = s / T(i, i);
  }
  for (Index j = rank - 1; j >= 0; --j) apply(T_.map(), j, n, beta_t_[j], z);
  for (Index i = 0; i < n; ++i) x[column_[at(i)]] = z[i];
}

}  // namespace tribo
