// A matrix (nv x nv) that is zero between trees: the block of each tree is kept by rows, one behind the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

class TreeBlocks {
 public:
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit TreeBlocks(const Model& model) : model_(&model), first_(at(model.nv)) {
    std::ptrdiff_t size = 0;
    for (const Tree& tree : model.trees) {
      for (int j = 0; j < tree.nv; ++j) first_[at(tree.iv + j)] = size + std::ptrdiff_t{j} * tree.nv - tree.iv;
      size += std::ptrdiff_t{tree.nv} * tree.nv;
    }
    values_.assign(static_cast<std::size_t>(size), 0);
  }

  /// k, j: coordinates of the model, both of one tree.
  double& operator()(int k, int j) { return row(k)[j]; }
  double operator()(int k, int j) const { return row(k)[j]; }
  /// Entry j of it is that of coordinate j of the model.
  double* row(int k) { return values_.data() + first_[at(k)]; }
  const double* row(int k) const { return values_.data() + first_[at(k)]; }
  /// Block of a tree.
  Eigen::Map<Block> tree(int t) {
    const Tree& tree = model_->trees[at(t)];
    return {begin(tree), tree.nv, tree.nv};
  }
  Eigen::Map<const Block> tree(int t) const {
    const Tree& tree = model_->trees[at(t)];
    return {begin(tree), tree.nv, tree.nv};
  }
  void set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }
  /// The whole matrix (nv x nv).
  MatX dense() const {
    MatX all = MatX::Zero(model_->nv, model_->nv);
    for (std::size_t t = 0; t < model_->trees.size(); ++t) {
      const Tree& x = model_->trees[t];
      all.block(x.iv, x.iv, x.nv, x.nv) = tree(static_cast<int>(t));
    }
    return all;
  }

 private:
  double* begin(const Tree& tree) { return tree.nv > 0 ? row(tree.iv) + tree.iv : nullptr; }
  const double* begin(const Tree& tree) const { return tree.nv > 0 ? row(tree.iv) + tree.iv : nullptr; }

  const Model* model_;
  std::vector<std::ptrdiff_t> first_;  // by row: where column 0 of the model would be
  std::vector<double> values_;
};

}  // namespace tribo
