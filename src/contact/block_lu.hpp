// L U of a matrix with a block for each tree, and for each two trees that touch: block elimination in the order of least
// degree. Rows are exchanged within the block of a tree, never between blocks: for matrices that are near to positive
// definite, I + Y^T D Y or M/h + B + h K. Memory grows with the pairs and their fill.
#pragma once

#include <vector>

#include "contact/block_order.hpp"

namespace tribo {

class BlockLu {
 public:
  /// Part of the matrix for the coordinates of two trees.
  struct Block {
    double* first;
    int row_step, column_step;
    double& operator()(int i, int j) const { return first[i * row_step + j * column_step]; }
  };

  /// Pattern, order and fill; little work where they are those of the last call.
  void analyse(const ContactProblem& problem);
  /// From pairs of nodes, two numbers each, and the first coordinate of each node and of the end.
  void analyse(const std::vector<int>& pairs, const std::vector<int>& node_start);

  void set_zero();
  /// Of two nodes that are one or a pair. With row_step > 1 the transpose of the block is what is stored, column-major.
  Block block(int row_node, int column_node) {
    const int p = order_.position(row_node), q = order_.position(column_node);
    if (p == q) return {values_.data() + diagonal_[at(p)], 1, order_.size(p)};
    if (p < q) return {values_.data() + upper_[at(order_.link(p, q))], order_.size(q), 1};
    return {values_.data() + lower_[at(order_.link(q, p))], 1, order_.size(p)};
  }
  /// Is a eliminated before b?
  bool before(int a, int b) const { return order_.position(a) < order_.position(b); }
  int nodes() const { return order_.nodes(); }
  int size(int node) const { return order_.size(order_.position(node)); }
  int start(int node) const { return order_.start(order_.position(node)); }
  /// Numbers that are kept.
  std::size_t entries() const { return entries_; }
  /// Products of numbers that factors take.
  double work() const { return work_; }

  /// The matrix -> its factors. False where it is singular.
  bool factor();
  void solve(double* x);

 private:
  void lay_out();
  void find_runs();
  bool divide(int k);
  bool eliminate(int k);
  bool eliminate_run(int k, int count);
  void take_out_run(int k, int count);

  BlockOrder order_;
  // Of a link of k with a later node m: the block (m, k), and the transpose of (k, m). Both have the size of m for
  // rows.
  std::vector<std::size_t> diagonal_, lower_, upper_;
  // First positions of runs, and the end. Nodes of a run are free bodies, each linked with the others and with the same later
  // nodes: these are taken up once for all of them.
  std::vector<int> runs_;
  std::size_t entries_ = 0;
  double work_ = 0;
  std::vector<double> values_;
  std::vector<int> pivots_;
};

}  // namespace tribo
