// The linear system that Newton-like solvers meet: f + D G f = e, D block-diagonal, a block a contact or row.
//
// With G = Y Y^T and w = Y^T f:   (I + Y^T D Y) w = Y^T e,   f = e - D Y w              (block.1)
// a matrix of the size of the bodies' coordinates, with a block for each pair of trees that touch. It is factored by
// block elimination, without exchanges between blocks, in the order of least degree: nothing is dense, and memory
// grows with the contacts and their fill. Problems that come without a factor are solved with I + D G instead.
#pragma once

#include <vector>

#include "tribo/contact_problem.hpp"

namespace tribo {

class BlockSystem {
 public:
  /// Pattern, order and fill for a problem; once a problem.
  void analyse(const ContactProblem& problem);
  /// D: 9 numbers a contact (column-major 3 x 3), then one a row. False where the matrix is singular.
  bool factor(const ContactProblem& problem, const double* D);
  /// e -> f in place.
  void solve(const ContactProblem& problem, const double* D, double* e);

 private:
  struct Link {     // blocks (node, other) and (other, node) of the matrix, other later in the order
    int other = 0;  // position in the order
    std::size_t upper = 0, lower = 0;
  };

  bool factor_dense(const ContactProblem& problem, const double* D);
  bool factor_sparse(const ContactProblem& problem, const double* D);
  void assemble(const ContactProblem& problem, const double* D);
  bool eliminate(int k);
  void solve_sparse(double* w);
  double* block(int row, int column);

  bool sparse_ = false;
  int nodes_ = 0;
  std::vector<int> size_, start_;             // of the node at each position of the order: size, first coordinate
  std::vector<int> position_;                 // node -> position
  std::vector<std::vector<int>> neighbours_;  // for the ordering
  std::vector<std::vector<Link>> links_;      // by position
  std::vector<std::size_t> diagonal_;         // offset of the diagonal block, by position
  std::vector<double> values_, scratch_;
  std::vector<int> pivots_, merged_, order_;
  VectorBuffer w_;
  MatrixBuffer matrix_;
};

/// Offset of block i of D.
inline int block_offset(const ContactProblem& problem, int i) {
  return i < problem.nc() ? 9 * i : 8 * problem.nc() + i;
}

}  // namespace tribo
