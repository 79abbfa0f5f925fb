// Mt^-1 on many right-hand sides: the factor of a tree (dyn.5), applied to whole rows.
//
//   M = L^T D L:   x_j <- x_j - sum over the dofs k that j carries of L_kj x_k,   from the leaves              (solve.1)
//                  x_k <- x_k / D_k - sum over the chain j of k of L_kj x_j,      from the root                (solve.2)
// Between the two y = D^-1/2 L^-T x, as the rows of a contact problem are kept: with Y^T = D^-1/2 L^-T J^T
//   J M^-1 x = Y y,   M^-1 (x - J^T p) = L^-1 D^-1/2 (y - Y^T p)                                              (solve.3)
#pragma once

#include <vector>

#include "dynamics/tree_blocks.hpp"
#include "linalg/row_kernels.hpp"
#include "tribo/model.hpp"

namespace tribo {

class TreeSolve {
 public:
  explicit TreeSolve(const Model& model);

  /// Of M + diag(extra).
  void factor(int tree, const TreeBlocks& M, const VecX& extra);
  /// Rows [first, first + nv of the tree) of X <- (M + extra)^-1 times them, columns [0, columns).
  void solve(int tree, RowMatrix& X, int first, int columns) const;
  /// The first half of it, D^-1/2 L^-T, and the second, L^-1 D^-1/2.
  void whiten(int tree, RowMatrix& X, int first, int columns) const;
  void unwhiten(int tree, RowMatrix& X, int first, int columns) const;

 private:
  struct List {  // of coordinates within the tree
    int first, count;
  };
  template <bool First, bool Second>
  struct Block;  // of columns
  template <bool First, bool Second>
  void run(int tree, RowMatrix& X, int first, int columns) const;

  const Model& model_;
  std::vector<List> above_, below_;      // by coordinate: its chain without it, and what it carries
  std::vector<int> index_;               // above_ into index_ and value_, whose rows are whole fours
  std::vector<int> carried_, mirror_;    // below_ into these and by_root_; mirror: place in value of the same entry
  std::vector<double> value_, by_root_;  // L along chains; by what is carried, for scaled x; negative
  VecX dis_;                             // D^-1/2, then D^1/2
};

}  // namespace tribo
