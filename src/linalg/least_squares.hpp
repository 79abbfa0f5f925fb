// Small dense systems B x = y that may be singular, solved in three ways, in buffers that only grow.
//
//   relaxed:       min 1/2 |B x - y|^2 + 1/2 eps^2 |x|^2, by Householder's QR of (B; eps 1): the condition
//                  number is that of the stack, never its square                                          (ls.1)
//   pivoting:      Gaussian elimination with complete pivoting; where no pivot is left, unknowns are 0   (ls.2)
//   minimum norm:  the shortest of all least-squares solutions, by QR with column pivoting and QR of what
//                  that left, transposed                                                                 (ls.3)
#pragma once

#include <vector>

#include "tribo/buffer.hpp"

namespace tribo {

class LeastSquares {
 public:
  /// x (n) from B (n x n) and y (n); eps >= 0. A zero column with eps = 0 gives x = 0 there.
  void relaxed(const MatrixBuffer& B, const double* y, double eps, double* x);
  /// A pivot below tolerance times the largest entry counts as none.
  void pivoting(const MatrixBuffer& B, const double* y, double tolerance, double* x);
  void minimum_norm(const MatrixBuffer& B, const double* y, double tolerance, double* x);

 private:
  /// Takes a copy of B and y, columns in their order. Returns what a pivot must exceed.
  double begin(const MatrixBuffer& B, const double* y, double tolerance);
  /// Reflects column j of M below its diagonal away, from row j to row end - 1; the reflector stays in the column.
  static void reflect(MatrixBuffer::Map M, Eigen::Index j, Eigen::Index end, double& beta, double* rhs);

  MatrixBuffer M_, T_;
  VectorBuffer rhs_, beta_, beta_t_;
  std::vector<Eigen::Index> column_;
};

}  // namespace tribo
