// Which of a set of vectors are independent, by Gram and Schmidt with exchanges, twice each so that the basis is orthogonal to
// rounding.
#pragma once

#include <vector>

#include "linalg/row_matrix.hpp"

namespace tribo {

class PivotedQr {
 public:
  /// Vectors are the rows of Y. One is dependent where what is left of it, beside those chosen before, is below `rounding` of
  /// its length. Those of [0, first) are chosen before the others.
  void compute(const RowMatrix& Y, int first, double rounding);

  /// The same where all vectors are clearly independent: more than `least` is left of each squared length. False where not.
  bool compute_plainly(const RowMatrix& Y, double least);

  const std::vector<int>& independent() const { return independent_; }  ///< in the order in which they were chosen
  /// X <- (Y_i Y_i^T)^-1 X over the independent ones, in their order: Y_i = T^T Q. X has a row for each.
  void solve(RowMatrix& X);
  /// The smallest f of those with Y^T f = Y^T given: forces that share a load as evenly as they can.
  void least(const RowMatrix& Y, const double* given, double* f);

 private:
  std::vector<int> independent_;
  std::vector<char> taken_;
  RowMatrix left_, Q_, T_;       // T: row n has the products of q_n with the chosen ones
  VectorBuffer length_, share_;  // share: squared length that is left, of that at the beginning
  MatrixBuffer B_, G_;           // of least(): products of q_n with all vectors
  VectorBuffer load_, w_;
};

}  // namespace tribo
