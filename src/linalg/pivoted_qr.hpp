// Which of a set of vectors are independent, by Gram and Schmidt with exchanges, twice each so that the basis is orthogonal to
// rounding.
#pragma once

#include <vector>

#include "tribo/buffer.hpp"

namespace tribo {

class PivotedQr {
 public:
  /// Vectors are the columns [0, columns) of Y (rows x columns, column-major), which is left. Column k is dependent where what
  /// is left of it, beside those chosen before, is below `rounding` of its length. Those of [0, first) are chosen before
  /// the others.
  void compute(const double* Y, int rows, int columns, int first, double rounding);

  const std::vector<int>& independent() const { return independent_; }  ///< in the order in which they were chosen
  /// X <- (Y_i^T Y_i)^-1 X over the independent ones, in their order: Y_i = Q T. X has a row for each.
  void solve(Eigen::Ref<MatX> X) const;

 private:
  int rows_ = 0;
  std::vector<int> independent_;
  std::vector<char> taken_;
  VectorBuffer left_, length_, Q_, T_;  // T: column-major, leading dimension columns
  int lead_ = 0;
};

}  // namespace tribo
