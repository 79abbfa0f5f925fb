// A matrix (nv x nv) that is zero between trees: the block of each tree is kept, one behind the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

class TreeBlocks {
 public:
  explicit TreeBlocks(const Model& model) : model_(&model), first_(at(model.nv)) {
    std::ptrdiff_t size = 0;
    for (const Tree& tree : model.trees) {
      for (int j = 0; j < tree.nv; ++j) first_[at(tree.iv + j)] = size + std::ptrdiff_t{j} * tree.nv - tree.iv;
      size += std::ptrdiff_t{tree.nv} * tree.nv;
    }
    values_.assign(static_cast<std::size_t>(size), 0);
  }

  /// k, j: coordinates of the model, both of one tree.
  double& operator()(int k, int j) { return values_[static_cast<std::size_t>(first_[at(j)] + k)]; }
  double operator()(int k, int j) const { return values_[static_cast<std::size_t>(first_[at(j)] + k)]; }
  /// Block of a tree.
  Eigen::Map<MatX> tree(int t) {
    const Tree& tree = model_->trees[at(t)];
    return {begin(tree), tree.nv, tree.nv};
  }
  Eigen::Map<const MatX> tree(int t) const {
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
  double* begin(const Tree& tree) { return tree.nv > 0 ? &(*this)(tree.iv, tree.iv) : nullptr; }
  const double* begin(const Tree& tree) const {
    return tree.nv > 0 ? values_.data() + first_[at(tree.iv)] + tree.iv : nullptr;
  }

  const Model* model_;
  std::vector<std::ptrdiff_t> first_;  // by column: where row 0 of the model would be
  std::vector<double> values_;
};

}  // namespace tribo
