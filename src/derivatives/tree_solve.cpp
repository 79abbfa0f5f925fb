#include "derivatives/tree_solve.hpp"

#include <cmath>
#include <utility>

#include "linalg/clones.hpp"
#include "linalg/quad.hpp"
#include "linalg/row_block.hpp"
#include "tribo/types.hpp"

namespace tribo {

TreeSolve::TreeSolve(const Model& model) : model_(model), above_(at(model.nv)), below_(at(model.nv)) {
  dis_.setZero(2 * model.nv);
  std::vector<std::vector<std::pair<int, int>>> carried(at(model.nv));  // coordinate, place
  for (const Body& body : model.bodies) {
    const int root = model.trees[at(body.tree)].iv;
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      above_[at(k)] = {static_cast<int>(index_.size()), 0};
      for (int j : body.chain) {
        if (j >= k) break;
        carried[at(j)].push_back({k - root, static_cast<int>(index_.size())});
        index_.push_back(j - root);
        ++above_[at(k)].count;
      }
      while (index_.size() % 4 != 0) index_.push_back(0);
    }
  }
  value_.assign(index_.size(), 0);
  for (std::size_t j = 0; j < carried.size(); ++j) {
    below_[j] = {static_cast<int>(carried_.size()), static_cast<int>(carried[j].size())};
    for (const auto& [k, place] : carried[j]) {
      carried_.push_back(k);
      mirror_.push_back(place);
    }
  }
  by_root_.assign(mirror_.size(), 0);
}

// By four: what stands behind a row is of no use afterwards.
TRIBO_CLONES void TreeSolve::factor(int t, const TreeBlocks& M, const VecX& extra) {
  const Tree& tree = model_.trees[at(t)];
  const int iv = tree.iv, nv = tree.nv;
  double *const value = value_.data(), *const root = dis_.data() + model_.nv;
  for (int k = iv; k < iv + nv; ++k) {
    const List& chain = above_[at(k)];
    const double* const m = M.row(k);
    const int* const path = index_.data() + chain.first;
    for (int a = 0; a < chain.count; ++a) value[chain.first + a] = m[iv + path[a]];
    dis_[k] = m[k] + extra[k];
  }
  for (int k = iv + nv - 1; k >= iv; --k) {
    const List& chain = above_[at(k)];
    double* const row = value + chain.first;
    const int* const path = index_.data() + chain.first;
    const double pivot = dis_[k], inverse = 1 / pivot;
    for (int a = chain.count - 1; a >= 0; --a) {
      const double share = row[a] * inverse;
      const int j = iv + path[a];
      double* const other = value + above_[at(j)].first;
      for (int b = 0; b < a; b += 4) store(other + b, load(other + b) - share * load(row + b));
      dis_[j] -= share * row[a];
    }
    for (int a = 0; a < chain.count; a += 4) store(row + a, -inverse * load(row + a));
    dis_[k] = std::sqrt(inverse);
    root[k] = pivot * dis_[k];
  }
  for (int j = iv; j < iv + nv; ++j) {
    const List& list = below_[at(j)];
    const double dis = dis_[j];
    for (int i = list.first; i < list.first + list.count; ++i)
      by_root_[at(i)] = value[mirror_[at(i)]] * (dis * root[iv + carried_[at(i)]]);
  }
}

// Passes over a block of columns, whose rows then are at hand.
template <bool First, bool Second>
struct TreeSolve::Block {
  const TreeSolve& of;
  const Tree& tree;
  double* rows;
  int stride;

  template <class Pack, int Packs>
  [[gnu::always_inline]] void run(int c) const {
    for (int k = tree.nv - 1; First && k >= 0; --k) {  // (solve.1)
      const List& list = of.below_[at(tree.iv + k)];
      rows::combine<Pack, Packs, true>({of.dis_[tree.iv + k], rows + k * stride, rows, stride,
                                        of.carried_.data() + list.first, of.by_root_.data() + list.first, list.count},
                                       c);
    }
    for (int k = 0; Second && k < tree.nv; ++k) {  // (solve.2)
      const List& list = of.above_[at(tree.iv + k)];
      rows::combine<Pack, Packs, true>({of.dis_[tree.iv + k], rows + k * stride, rows, stride,
                                        of.index_.data() + list.first, of.value_.data() + list.first, list.count},
                                       c);
    }
  }
};

namespace {

#ifdef TRIBO_WIDE
template <class B>
TRIBO_WIDE void run_eight(const B& block, int columns) {
  rows::each_block<rows::Pack8>(columns, block);
}
#endif
template <class B>
TRIBO_AVX2 void run_four(const B& block, int columns) {
  rows::each_block<rows::Pack4>(columns, block);
}

}  // namespace

template <bool First, bool Second>
void TreeSolve::run(int t, RowMatrix& X, int first, int columns) const {
  const Block<First, Second> block{*this, model_.trees[at(t)], X.row(first), X.stride()};
  const int packed = (columns + 3) / 4 * 4;
#ifdef TRIBO_WIDE
  if (rows::width() == 8) return run_eight(block, packed);
#endif
  rows::width() == 4 ? run_four(block, packed) : rows::each_block<rows::Pack2>(packed, block);
}

void TreeSolve::solve(int t, RowMatrix& X, int first, int columns) const { run<true, true>(t, X, first, columns); }
void TreeSolve::whiten(int t, RowMatrix& X, int first, int columns) const { run<true, false>(t, X, first, columns); }
void TreeSolve::unwhiten(int t, RowMatrix& X, int first, int columns) const { run<false, true>(t, X, first, columns); }

}  // namespace tribo
