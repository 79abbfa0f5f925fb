// Springs of an island seen from its bodies: Y^T K Y in whitened coordinates, a block for each tree and for each two that
// a contact or row lies between, and its product with two vectors at once.                               (stiffness.1)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tribo/contact_problem.hpp"

namespace tribo {

class WhitenedStiffness {
 public:
  struct Block {
    std::size_t first = 0;        ///< its numbers, column-major
    int column = 0, columns = 0;  ///< coordinates of the column's tree
  };

  /// K: stiffness of each row of the problem (n).
  void assemble(const ContactProblem& problem, const double* K);
  /// Of the norm: the largest sum of a row.
  double bound() const;
  /// y = Y^T K Y x for two vectors, x_k and x'_k side by side: (2 nw) each.
  void times(const double* x, double* y) const;

 private:
  void lay_out(const ContactFactor& factor);
  void add(const ContactFactor& factor, int rows, const FactorBlock& a, const FactorBlock& b, std::size_t block);

  std::vector<std::uint64_t> pairs_, seen_, keys_;  // (row, column) nodes as met; of the last call; sorted
  std::vector<std::size_t> slots_;                  // of pairs_ in blocks_
  std::vector<Block> blocks_;                       // row by row of nodes
  std::vector<int> row_start_, node_start_;         // blocks of a node: [row_start_[k], row_start_[k + 1])
  std::vector<double> values_, doubled_, scratch_;  // doubled_: each number twice
};

}  // namespace tribo
