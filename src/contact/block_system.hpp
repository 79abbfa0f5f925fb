// The linear system that Newton-like solvers meet: f + D G f = e, D block-diagonal, a block a contact or row. The rows
// of a friction disc have a block together, and a column for the normal force that bounds them.
//
// With G = Y Y^T and w = Y^T f:   (I + Y^T D Y) w = Y^T e,   f = e - D Y w              (block.1)
// a matrix of the size of the bodies' coordinates, with a block for each pair of trees that touch: nothing is dense.
// Problems that come without a factor are solved with I + D G instead.
#pragma once

#include <cmath>
#include <vector>

#include "contact/block_kernels.hpp"
#include "contact/block_lu.hpp"

namespace tribo {

class BlockSystem {
 public:
  /// Pattern, order and fill for a problem; little work where they are those of the last one.
  void analyse(const ContactProblem& problem);
  /// D: 9 numbers a contact (column-major 3 x 3), then one a row, then four a friction disc. False where the matrix
  /// is singular.
  bool factor(const ContactProblem& problem, const double* D);
  /// e -> f in place; and G f.
  void solve(const ContactProblem& problem, const double* D, double* e, double* Gf = nullptr);
  /// Numbers that the matrix of the last problem keeps.
  std::size_t entries() const {
    return sparse_ ? lu_.entries() : static_cast<std::size_t>(matrix_.rows() * matrix_.cols());
  }
  /// Products of numbers that its factors take.
  double work() const { return sparse_ ? lu_.work() : std::pow(static_cast<double>(matrix_.rows()), 3) / 3; }

 private:
  bool factor_dense(const ContactProblem& problem, const double* D);
  void assemble(const ContactProblem& problem, const double* D);
  bool assemble_free(const ContactFactor& factor, int i, const double* D);
  void assemble_discs(const ContactProblem& problem, const double* D);
  void add_scaled(const ContactProblem& problem, int row, int other, int component, double d);
  void assemble_block(const ContactFactor& factor, int rows, const FactorBlock& a, const FactorBlock& b);

  bool sparse_ = false;
  BlockLu lu_;
  int pair_[2] = {-1, -1};  // nodes of the last contact of free bodies, and where they stand
  kernels::PairBlocks pair_blocks_{};
  bool turned_ = false;
  std::vector<double> scratch_;
  std::vector<int> pivots_;
  VectorBuffer w_, y_;
  MatrixBuffer matrix_;
};

/// What a friction disc has in D beside the diagonal, in this order: (first, second) and (second, first) of its rows,
/// then (first, N) and (second, N), N the contact's normal.
constexpr int disc_numbers = 4;

inline int D_size(const ContactProblem& problem) {
  return 9 * problem.nc() + problem.nr() + disc_numbers * static_cast<int>(problem.discs.size());
}
/// Offset of what disc k has in D.
inline int disc_offset(const ContactProblem& problem, int k) {
  return 9 * problem.nc() + problem.nr() + disc_numbers * k;
}
/// Offset of block i of D.
inline int block_offset(const ContactProblem& problem, int i) {
  return i < problem.nc() ? 9 * i : 8 * problem.nc() + i;
}

}  // namespace tribo
