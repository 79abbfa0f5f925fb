#include "derivatives/tree_solve.hpp"

#include "linalg/clones.hpp"
#include "tribo/types.hpp"

namespace tribo {

TreeSolve::TreeSolve(const Model& model) : model_(model), above_(at(model.nv)), below_(at(model.nv)) {
  inverse_.setZero(model.nv);
  std::vector<std::vector<std::pair<int, int>>> carried(at(model.nv));  // coordinate, place
  const auto push = [&](int x) { index_.push_back(x); };
  for (const Body& body : model.bodies) {
    const int root = model.trees[at(body.tree)].iv;
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      above_[at(k)] = {static_cast<int>(index_.size()), 0};
      for (int j : body.chain) {
        if (j >= k) break;
        carried[at(j)].push_back({k - root, static_cast<int>(index_.size())});
        push(j - root);
        ++above_[at(k)].count;
      }
    }
  }
  value_.assign(index_.size(), 0);
  const int chains = static_cast<int>(index_.size());
  for (std::size_t j = 0; j < carried.size(); ++j) {
    below_[j] = {static_cast<int>(index_.size()), static_cast<int>(carried[j].size())};
    for (const auto& [k, place] : carried[j]) {
      push(k);
      mirror_.push_back(place);
    }
  }
  for (List& x : below_) x.first -= chains;
  by_root_.assign(mirror_.size(), 0);
}

TRIBO_CLONES void TreeSolve::factor(int t, const TreeBlocks& M, const VecX& extra) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv;
  for (int k = iv; k < iv + nv; ++k) {
    const List& chain = above_[at(k)];
    for (int a = 0; a < chain.count; ++a) value_[at(chain.first + a)] = M(iv + index_[at(chain.first + a)], k);
    inverse_[k] = M(k, k) + extra[k];
  }
  for (int k = iv + nv - 1; k >= iv; --k) {
    const List& chain = above_[at(k)];
    double* row = value_.data() + chain.first;
    inverse_[k] = 1 / inverse_[k];
    for (int a = chain.count - 1; a >= 0; --a) {
      const double share = row[a] * inverse_[k];
      const int j = iv + index_[at(chain.first + a)];
      double* other = value_.data() + above_[at(j)].first;
      for (int b = 0; b < a; ++b) other[b] -= share * row[b];
      inverse_[j] -= share * row[a];
    }
    for (int a = 0; a < chain.count; ++a) row[a] *= -inverse_[k];
  }
  for (int j = iv; j < iv + nv; ++j)
    for (int i = below_[at(j)].first; i < below_[at(j)].first + below_[at(j)].count; ++i)
      by_root_[at(i)] = value_[at(mirror_[at(i)])];
}

void TreeSolve::solve(int t, RowMatrix& X, int first, int columns) const {
  const Tree& tree = model_.trees[at(t)];
  const int packed = (columns + 3) / 4 * 4, stride = X.stride();
  const int* below = index_.data() + value_.size();
  double* rows = X.row(first);
  for (int k = tree.nv - 1; k >= 0; --k) {  // (solve.1)
    const List& list = below_[at(tree.iv + k)];
    if (list.count > 0)
      rows::combine(1, rows + k * stride, rows, stride, below + list.first, by_root_.data() + list.first, list.count,
                    packed);
  }
  for (int k = 0; k < tree.nv; ++k) {  // (solve.2)
    const List& list = above_[at(tree.iv + k)];
    rows::combine(inverse_[tree.iv + k], rows + k * stride, rows, stride, index_.data() + list.first,
                  value_.data() + list.first, list.count, packed);
  }
}

}  // namespace tribo
