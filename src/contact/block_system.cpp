#include "contact/block_system.hpp"

#include <algorithm>
#include <iterator>

#include "contact/dense.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void BlockSystem::analyse(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  sparse_ = !factor.empty() && (!problem.dense() || factor.nw < problem.size());
  if (!sparse_) return;
  nodes_ = static_cast<int>(factor.node_start.size()) - 1;
  if (neighbours_.size() < at(nodes_)) {
    neighbours_.resize(at(nodes_));
    links_.resize(at(nodes_));
  }
  for (int k = 0; k < nodes_; ++k) {
    neighbours_[at(k)].clear();
    links_[at(k)].clear();
  }
  for (int i = 0; i < problem.blocks(); ++i)
    if (factor.start[at(i + 1)] - factor.start[at(i)] == 2) {
      const int a = factor.blocks[at(factor.start[at(i)])].node, b = factor.blocks[at(factor.start[at(i)] + 1)].node;
      if (a == b) continue;
      neighbours_[at(a)].push_back(b);
      neighbours_[at(b)].push_back(a);
    }
  auto tidy = [](std::vector<int>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  for (int k = 0; k < nodes_; ++k) tidy(neighbours_[at(k)]);
  // Least degree first; ties by number. Eliminating a node joins its neighbours: the fill.
  position_.assign(at(nodes_), -1);
  order_.resize(at(nodes_));
  for (int p = 0; p < nodes_; ++p) {
    int best = -1;
    for (int k = 0; k < nodes_; ++k)
      if (position_[at(k)] < 0 && (best < 0 || neighbours_[at(k)].size() < neighbours_[at(best)].size())) best = k;
    position_[at(best)] = p;
    order_[at(p)] = best;
    const std::vector<int>& list = neighbours_[at(best)];
    for (int j : list) {
      std::vector<int>& theirs = neighbours_[at(j)];
      merged_.clear();
      std::set_union(theirs.begin(), theirs.end(), list.begin(), list.end(), std::back_inserter(merged_));
      merged_.erase(std::remove_if(merged_.begin(), merged_.end(), [&](int x) { return x == j || x == best; }),
                    merged_.end());
      theirs.assign(merged_.begin(), merged_.end());
    }
  }
  size_.resize(at(nodes_));
  start_.resize(at(nodes_));
  diagonal_.resize(at(nodes_));
  std::size_t entries = 0;
  for (int p = 0; p < nodes_; ++p) {
    const int k = order_[at(p)];
    start_[at(p)] = factor.node_start[at(k)];
    size_[at(p)] = factor.node_start[at(k + 1)] - factor.node_start[at(k)];
  }
  for (int p = 0; p < nodes_; ++p) {
    diagonal_[at(p)] = entries;
    entries += at(size_[at(p)] * size_[at(p)]);
    for (int j : neighbours_[at(order_[at(p)])]) {
      const std::size_t n = at(size_[at(p)] * size_[at(position_[at(j)])]);
      links_[at(p)].push_back({position_[at(j)], entries, entries + n});
      entries += 2 * n;
    }
    std::sort(links_[at(p)].begin(), links_[at(p)].end(),
              [](const Link& a, const Link& b) { return a.other < b.other; });
  }
  values_.resize(std::max(values_.size(), entries));
  pivots_.resize(at(factor.nw));
}

// Block (row, column), by positions.
double* BlockSystem::block(int row, int column) {
  if (row == column) return values_.data() + diagonal_[at(row)];
  const int first = std::min(row, column), other = std::max(row, column);
  const std::vector<Link>& list = links_[at(first)];
  const auto it = std::lower_bound(list.begin(), list.end(), other, [](const Link& l, int x) { return l.other < x; });
  return values_.data() + (row < column ? it->upper : it->lower);
}

// I + Y^T D Y.
void BlockSystem::assemble(const ContactProblem& problem, const double* D) {
  const ContactFactor& factor = problem.factor;
  const std::size_t last = at(nodes_ - 1);
  std::size_t entries = diagonal_[last] + at(size_[last] * size_[last]);
  std::fill(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(entries), 0.0);
  for (int p = 0; p < nodes_; ++p)
    for (int k = 0; k < size_[at(p)]; ++k) values_[diagonal_[at(p)] + at(k * (size_[at(p)] + 1))] = 1;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    const double* Di = D + block_offset(problem, i);
    bool any = false;
    for (int k = 0; k < rows * rows; ++k) any |= Di[k] != 0;
    if (!any) continue;
    for (int t = factor.start[at(i)]; t < factor.start[at(i + 1)]; ++t) {
      const FactorBlock& b = factor.blocks[at(t)];
      const int q = position_[at(b.node)];
      scratch_.resize(std::max(scratch_.size(), at(rows * b.depth)));
      for (int k = 0; k < b.depth; ++k)  // D Y_b
        for (int r = 0; r < rows; ++r) {
          double sum = 0;
          for (int m = 0; m < rows; ++m) sum += Di[r + rows * m] * factor.y[at(b.first + rows * k + m)];
          scratch_[at(rows * k + r)] = sum;
        }
      for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
        const FactorBlock& a = factor.blocks[at(s)];
        const int p = position_[at(a.node)];
        double* out = block(p, q);
        const int height = size_[at(p)];
        const int *ia = factor.index.data() + a.index, *ib = factor.index.data() + b.index;
        for (int l = 0; l < b.depth; ++l) {
          double* column = out + static_cast<std::ptrdiff_t>(ib[l] - start_[at(q)]) * height - start_[at(p)];
          for (int k = 0; k < a.depth; ++k) {
            double sum = 0;
            for (int m = 0; m < rows; ++m) sum += factor.y[at(a.first + rows * k + m)] * scratch_[at(rows * l + m)];
            column[ia[k]] += sum;
          }
        }
      }
    }
  }
}

// Factors the diagonal block of position k and takes it out of the later ones.
bool BlockSystem::eliminate(int k) {
  const int n = size_[at(k)];
  double* A = values_.data() + diagonal_[at(k)];
  int* pivot = pivots_.data() + start_[at(k)];
  if (!dense::lu(A, n, pivot)) return false;
  for (const Link& link : links_[at(k)]) {  // upper <- A^-1 upper
    const int m = size_[at(link.other)];
    for (int c = 0; c < m; ++c)
      dense::lu_solve(A, n, pivot, values_.data() + link.upper + static_cast<std::ptrdiff_t>(c) * n);
  }
  const std::vector<Link>& list = links_[at(k)];
  for (std::size_t i = 0; i < list.size(); ++i) {
    const int rows = size_[at(list[i].other)];
    // Targets (i, j) for j >= i are the diagonal block and the links of i, in the same order as ours.
    auto target = links_[at(list[i].other)].begin();
    for (std::size_t j = i; j < list.size(); ++j) {
      const int columns = size_[at(list[j].other)];
      if (j == i) {
        dense::subtract_product(values_.data() + list[i].lower, values_.data() + list[i].upper, rows, n, columns,
                                values_.data() + diagonal_[at(list[i].other)]);
        continue;
      }
      while (target->other != list[j].other) ++target;
      dense::subtract_product(values_.data() + list[i].lower, values_.data() + list[j].upper, rows, n, columns,
                              values_.data() + target->upper);
      dense::subtract_product(values_.data() + list[j].lower, values_.data() + list[i].upper, columns, n, rows,
                              values_.data() + target->lower);
    }
  }
  return true;
}

bool BlockSystem::factor_sparse(const ContactProblem& problem, const double* D) {
  assemble(problem, D);
  for (int k = 0; k < nodes_; ++k)
    if (!eliminate(k)) return false;
  return true;
}

void BlockSystem::solve_sparse(double* w) {
  for (int k = 0; k < nodes_; ++k) {
    const int n = size_[at(k)];
    double* x = w + start_[at(k)];
    dense::lu_solve(values_.data() + diagonal_[at(k)], n, pivots_.data() + start_[at(k)], x);
    for (const Link& link : links_[at(k)])
      dense::subtract_product(values_.data() + link.lower, x, size_[at(link.other)], n, 1, w + start_[at(link.other)]);
  }
  for (int k = nodes_ - 1; k >= 0; --k)
    for (const Link& link : links_[at(k)])
      dense::subtract_product(values_.data() + link.upper, w + start_[at(link.other)], size_[at(k)],
                              size_[at(link.other)], 1, w + start_[at(k)]);
}

bool BlockSystem::factor_dense(const ContactProblem& problem, const double* D) {
  const int n = problem.size();
  matrix_.resize(n, n);
  auto A = matrix_.map();
  const auto G = problem.G();
  for (int i = 0; i < problem.blocks(); ++i) {
    const int o = problem.offset(i), rows = problem.block_size(i);
    const double* Di = D + block_offset(problem, i);
    for (int j = 0; j < n; ++j)
      for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int m = 0; m < rows; ++m) sum += Di[r + rows * m] * G(o + m, j);
        A(o + r, j) = sum;
      }
  }
  A.diagonal().array() += 1;
  pivots_.resize(std::max(pivots_.size(), at(n)));
  return dense::lu(matrix_.data(), n, pivots_.data());
}

bool BlockSystem::factor(const ContactProblem& problem, const double* D) {
  return sparse_ ? factor_sparse(problem, D) : factor_dense(problem, D);
}

void BlockSystem::solve(const ContactProblem& problem, const double* D, double* e) {
  if (!sparse_) {
    dense::lu_solve(matrix_.data(), problem.size(), pivots_.data(), e);
    return;
  }
  const ContactFactor& factor = problem.factor;
  w_.setZero(factor.nw);
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r)
          w_[factor.index[at(b.index + k)]] += factor.y[at(b.first + rows * k + r)] * e[problem.offset(i) + r];
    }
  }
  solve_sparse(w_.data());
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    const double* Di = D + block_offset(problem, i);
    double y[3] = {0, 0, 0};
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r) y[r] += factor.y[at(b.first + rows * k + r)] * w_[factor.index[at(b.index + k)]];
    }
    for (int r = 0; r < rows; ++r)
      for (int m = 0; m < rows; ++m) e[problem.offset(i) + r] -= Di[r + rows * m] * y[m];
  }
}

}  // namespace tribo
