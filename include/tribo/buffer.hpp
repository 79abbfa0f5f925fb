// Vectors and matrices that keep their memory when they shrink, so that a step allocates nothing after warm-up.
// (Eigen's own resize frees and allocates whenever the size differs.)
#pragma once

#include <cstddef>
#include <vector>

#include "tribo/types.hpp"

namespace tribo {

class VectorBuffer {
 public:
  using Map = Eigen::Map<VecX>;
  using ConstMap = Eigen::Map<const VecX>;

  void resize(Eigen::Index n) {
    if (static_cast<std::size_t>(n) > data_.size()) data_.resize(static_cast<std::size_t>(n + n / 2 + 8));
    n_ = n;
  }
  void setZero(Eigen::Index n) {
    resize(n);
    map().setZero();
  }
  Eigen::Index size() const { return n_; }
  Map map() { return Map(data_.data(), n_); }
  ConstMap map() const { return ConstMap(data_.data(), n_); }
  double* data() { return data_.data(); }
  const double* data() const { return data_.data(); }
  double& operator[](Eigen::Index i) { return data_[static_cast<std::size_t>(i)]; }
  double operator[](Eigen::Index i) const { return data_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<double> data_;
  Eigen::Index n_ = 0;
};

/// Column-major, leading dimension = rows.
class MatrixBuffer {
 public:
  using Map = Eigen::Map<MatX>;
  using ConstMap = Eigen::Map<const MatX>;

  void resize(Eigen::Index rows, Eigen::Index cols) {
    storage_.resize(rows * cols);
    rows_ = rows;
    cols_ = cols;
  }
  Eigen::Index rows() const { return rows_; }
  Eigen::Index cols() const { return cols_; }
  Map map() { return Map(storage_.data(), rows_, cols_); }
  ConstMap map() const { return ConstMap(storage_.data(), rows_, cols_); }
  double* data() { return storage_.data(); }
  const double* data() const { return storage_.data(); }

 private:
  VectorBuffer storage_;
  Eigen::Index rows_ = 0, cols_ = 0;
};

}  // namespace tribo
