// A matrix whose rows are whole packs of four, for kernels that work on many right-hand sides at once. It keeps its memory
// when it shrinks.
#pragma once

#include <algorithm>

#include "tribo/buffer.hpp"

namespace tribo {

class RowMatrix {
 public:
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Map = Eigen::Map<Rows, 0, Eigen::OuterStride<>>;

  /// Rows stay as they are where the number of columns does.
  void resize(int rows, int columns) {
    rows_ = rows;
    columns_ = columns;
    stride_ = (columns + 3) / 4 * 4;
    storage_.resize(static_cast<Eigen::Index>(rows) * stride_);
  }
  void set_zero(int rows, int columns) {
    resize(rows, columns);
    std::fill_n(data(), static_cast<Eigen::Index>(rows) * stride_, 0.0);
  }
  int rows() const { return rows_; }
  int cols() const { return columns_; }
  int stride() const { return stride_; }  ///< of a row to the next; entries behind the last column are zero
  double* data() { return storage_.data(); }
  const double* data() const { return storage_.data(); }
  double* row(int i) { return storage_.data() + static_cast<Eigen::Index>(i) * stride_; }
  const double* row(int i) const { return storage_.data() + static_cast<Eigen::Index>(i) * stride_; }
  double& operator()(int i, int j) { return row(i)[j]; }
  double operator()(int i, int j) const { return row(i)[j]; }
  Map map() { return Map(storage_.data(), rows_, columns_, Eigen::OuterStride<>(stride_)); }

 private:
  VectorBuffer storage_;
  int rows_ = 0, columns_ = 0, stride_ = 0;
};

}  // namespace tribo
