#include "contact/whitened_stiffness.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "contact/block_kernels.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

using Pack4 [[gnu::vector_size(32)]] = double;

struct Rows {
  const WhitenedStiffness::Block* blocks;
  const int *row_start, *node_start;
  int nodes;
  const double *values, *x;  // each of the values twice; two vectors side by side
};

// Six rows: three packs of two numbers of both vectors.
[[gnu::always_inline]] inline void sum_6(const Rows& q, int node, double* y) {
  Pack4 sum[3] = {}, a;
  for (int k = q.row_start[node]; k < q.row_start[node + 1]; ++k) {
    const double *A = q.values + 2 * q.blocks[k].first, *x = q.x + 2 * q.blocks[k].column;
    for (int j = 0; j < q.blocks[k].columns; ++j, A += 12, x += 2) {
      const Pack4 both{x[0], x[1], x[0], x[1]};
      for (int i = 0; i < 3; ++i) {
        std::memcpy(&a, A + 4 * i, sizeof(a));
        sum[i] += a * both;
      }
    }
  }
  std::memcpy(y, sum, sizeof(sum));
}

[[gnu::always_inline]] inline void sum_any(const Rows& q, int node, int rows, double* y) {
  std::fill_n(y, 2 * rows, 0.0);
  for (int k = q.row_start[node]; k < q.row_start[node + 1]; ++k) {
    const double *A = q.values + 2 * q.blocks[k].first, *x = q.x + 2 * q.blocks[k].column;
    for (int j = 0; j < q.blocks[k].columns; ++j, A += 2 * rows, x += 2)
      for (int i = 0; i < rows; ++i) {
        y[2 * i] += A[2 * i] * x[0];
        y[2 * i + 1] += A[2 * i + 1] * x[1];
      }
  }
}

TRIBO_CLONES void multiply(Rows q, double* y) {
  for (int node = 0; node < q.nodes; ++node) {
    const int first = q.node_start[node], rows = q.node_start[node + 1] - first;
    rows == 6 ? sum_6(q, node, y + 2 * first) : sum_any(q, node, rows, y + 2 * first);
  }
}

}  // namespace

void WhitenedStiffness::assemble(const ContactProblem& problem, const double* K) {
  const ContactFactor& factor = problem.factor;
  pairs_.clear();
  for (int i = 0; i < problem.blocks(); ++i)
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s)
      for (int t = factor.start[at(i)]; t < factor.start[at(i + 1)]; ++t)
        pairs_.push_back(static_cast<std::uint64_t>(factor.blocks[at(s)].node) << 32 |
                         static_cast<std::uint32_t>(factor.blocks[at(t)].node));
  if (pairs_ != seen_ || factor.node_start != node_start_) lay_out(factor);
  std::fill(values_.begin(), values_.end(), 0.0);
  std::size_t pair = 0;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i), first = factor.start[at(i)], last = factor.start[at(i + 1)];
    const double* stiffness = K + problem.offset(i);
    const bool holds = std::any_of(stiffness, stiffness + rows, [](double k) { return k != 0; });
    for (int t = first; t < last && holds; ++t) {
      const FactorBlock& b = factor.blocks[at(t)];
      scratch_.resize(std::max(scratch_.size(), at(rows * b.depth)));
      for (int k = 0; k < rows * b.depth; ++k) scratch_[at(k)] = stiffness[k % rows] * factor.y[at(b.first + k)];
      for (int s = first; s < last; ++s)
        add(factor, rows, factor.blocks[at(s)], b, slots_[pair + at((s - first) * (last - first) + t - first)]);
    }
    pair += at((last - first) * (last - first));
  }
  for (std::size_t k = 0; k < values_.size(); ++k) doubled_[2 * k] = doubled_[2 * k + 1] = values_[k];
}

// Y_a^T (K Y_b), the second factor in scratch_.
void WhitenedStiffness::add(const ContactFactor& factor, int rows, const FactorBlock& a, const FactorBlock& b,
                            std::size_t block) {
  const Block& x = blocks_[block];
  const int first = node_start_[at(a.node)], height = node_start_[at(a.node) + 1] - first;
  const double* y = factor.y.data() + a.first;
  double* out = values_.data() + x.first;
  if (rows == 3 && a.depth == 6 && b.depth == 6 && height == 6 && x.columns == 6)
    return kernels::add_product_6(y, scratch_.data(), out);
  const int *ia = factor.index.data() + a.index, *ib = factor.index.data() + b.index;
  for (int l = 0; l < b.depth; ++l)
    for (int k = 0; k < a.depth; ++k) {
      double sum = 0;
      for (int r = 0; r < rows; ++r) sum += y[rows * k + r] * scratch_[at(rows * l + r)];
      out[(ib[l] - x.column) * height + ia[k] - first] += sum;
    }
}

void WhitenedStiffness::lay_out(const ContactFactor& factor) {
  seen_ = pairs_;
  node_start_ = factor.node_start;
  keys_ = pairs_;
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  const int nodes = static_cast<int>(node_start_.size()) - 1;
  row_start_.assign(at(nodes) + 1, 0);
  blocks_.resize(keys_.size());
  std::size_t size = 0;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const std::size_t row = keys_[k] >> 32, column = keys_[k] & 0xffffffff;
    Block& block = blocks_[k];
    block.first = size;
    block.column = node_start_[column];
    block.columns = node_start_[column + 1] - node_start_[column];
    size += at(block.columns * (node_start_[row + 1] - node_start_[row]));
    ++row_start_[row + 1];
  }
  for (int k = 0; k < nodes; ++k) row_start_[at(k) + 1] += row_start_[at(k)];
  values_.resize(size);
  doubled_.resize(2 * size);
  slots_.clear();
  for (std::uint64_t pair : pairs_)
    slots_.push_back(static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), pair) - keys_.begin()));
}

double WhitenedStiffness::bound() const {
  double most = 0;
  for (std::size_t node = 0; node + 1 < node_start_.size(); ++node) {
    const int rows = node_start_[node + 1] - node_start_[node];
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int k = row_start_[node]; k < row_start_[node + 1]; ++k)
        for (int j = 0; j < blocks_[at(k)].columns; ++j)
          sum += std::abs(values_[blocks_[at(k)].first + at(j * rows + i)]);
      most = std::max(most, sum);
    }
  }
  return most;
}

void WhitenedStiffness::times(const double* x, double* y) const {
  const int nodes = static_cast<int>(node_start_.size()) - 1;
  multiply({blocks_.data(), row_start_.data(), node_start_.data(), nodes, doubled_.data(), x}, y);
}

}  // namespace tribo
