#include "contact/block_system.hpp"

#include <algorithm>

#include "contact/block_kernels.hpp"
#include "contact/factor.hpp"
#include "linalg/dense.hpp"

namespace tribo {
void BlockSystem::analyse(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  sparse_ = !factor.empty() && (!problem.dense() || factor.nw < problem.size());
  if (!sparse_ || !order_.analyse(problem)) return;
  diagonal_.resize(at(order_.nodes()));
  lower_.resize(at(order_.links()));
  upper_.resize(at(order_.links()));
  entries_ = 0;
  for (int p = 0; p < order_.nodes(); ++p) {
    diagonal_[at(p)] = entries_;
    entries_ += at(order_.size(p) * order_.size(p));
    for (int l = order_.first(p); l < order_.last(p); ++l) {
      const std::size_t n = at(order_.size(p) * order_.size(order_.other(l)));
      lower_[at(l)] = entries_;
      upper_[at(l)] = entries_ + n;
      entries_ += 2 * n;
    }
  }
  values_.resize(std::max(values_.size(), entries_));
  pivots_.resize(at(factor.nw));
}

// Y_a^T (D Y_b) into the block of the trees of a and b; scratch_ holds D Y_b.
void BlockSystem::assemble_block(const ContactFactor& factor, int rows, const FactorBlock& a, const FactorBlock& b) {
  const int p = order_.position(a.node), q = order_.position(b.node);
  const double *ya = factor.y.data() + a.first, *yb = scratch_.data();
  const int *ia = factor.index.data() + a.index, *ib = factor.index.data() + b.index;
  const bool turned = p < q;  // above the diagonal the transpose is kept
  double* out = values_.data() + (p == q   ? diagonal_[at(p)]
                                  : turned ? upper_[at(order_.link(p, q))]
                                           : lower_[at(order_.link(q, p))]);
  const int height = order_.size(turned ? q : p);
  if (rows == 3 && a.depth == 6 && b.depth == 6 && order_.size(p) == 6 && order_.size(q) == 6) {
    turned ? kernels::add_product_6(yb, ya, out) : kernels::add_product_6(ya, yb, out);
    return;
  }
  const int step_a = turned ? height : 1, step_b = turned ? 1 : height;
  for (int l = 0; l < b.depth; ++l)
    for (int k = 0; k < a.depth; ++k) {
      double sum = 0;
      for (int m = 0; m < rows; ++m) sum += ya[rows * k + m] * yb[rows * l + m];
      out[(ia[k] - order_.start(p)) * step_a + (ib[l] - order_.start(q)) * step_b] += sum;
    }
}

// I + Y^T D Y.
void BlockSystem::assemble(const ContactProblem& problem, const double* D) {
  const ContactFactor& factor = problem.factor;
  std::fill_n(values_.begin(), static_cast<std::ptrdiff_t>(entries_), 0.0);
  for (int p = 0; p < order_.nodes(); ++p)
    for (int k = 0; k < order_.size(p); ++k) values_[diagonal_[at(p)] + at(k * (order_.size(p) + 1))] = 1;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    const double* Di = D + block_offset(problem, i);
    if (std::all_of(Di, Di + rows * rows, [](double x) { return x == 0; })) continue;
    for (int t = factor.start[at(i)]; t < factor.start[at(i + 1)]; ++t) {
      const FactorBlock& b = factor.blocks[at(t)];
      scratch_.resize(std::max(scratch_.size(), at(rows * b.depth)));
      const double* y = factor.y.data() + b.first;
      const bool free_body = rows == 3 && b.depth == 6;
      if (free_body) kernels::multiply_3x6(Di, y, scratch_.data());
      for (int k = 0; k < b.depth && !free_body; ++k)  // D Y_b
        for (int r = 0; r < rows; ++r) {
          double sum = 0;
          for (int m = 0; m < rows; ++m) sum += Di[r + rows * m] * y[rows * k + m];
          scratch_[at(rows * k + r)] = sum;
        }
      for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s)
        assemble_block(factor, rows, factor.blocks[at(s)], b);
    }
  }
  assemble_discs(problem, D);
}

// Y_row^T d Y_other, `other` being a component of a block.
void BlockSystem::add_scaled(const ContactProblem& problem, int row, int other, int component, double d) {
  if (d == 0) return;
  const ContactFactor& factor = problem.factor;
  const int rows = problem.block_size(other);
  for (int t = factor.start[at(other)]; t < factor.start[at(other + 1)]; ++t) {
    const FactorBlock& b = factor.blocks[at(t)];
    scratch_.resize(std::max(scratch_.size(), at(b.depth)));
    for (int k = 0; k < b.depth; ++k) scratch_[at(k)] = d * factor.y[at(b.first + rows * k + component)];
    for (int s = factor.start[at(row)]; s < factor.start[at(row + 1)]; ++s)
      assemble_block(factor, 1, factor.blocks[at(s)], b);
  }
}

void BlockSystem::assemble_discs(const ContactProblem& problem, const double* D) {
  const int nc = problem.nc();
  const double* d = D + disc_offset(problem, 0);
  for (const FrictionDisc& disc : problem.discs) {
    for (int k = 0; k < disc.size; ++k) {
      if (disc.size == 2) add_scaled(problem, nc + disc.row + k, nc + disc.row + 1 - k, 0, d[k]);
      add_scaled(problem, nc + disc.row + k, disc.contact, 2, d[2 + k]);
    }
    d += disc_numbers;
  }
}

// Factors the diagonal block of position k and takes it out of the later ones.
bool BlockSystem::eliminate(int k) {
  const int n = order_.size(k);
  double *values = values_.data(), *A = values + diagonal_[at(k)];
  const int* pivot = pivots_.data() + order_.start(k);
  if (!dense::lu(A, n, pivots_.data() + order_.start(k))) return false;
  const int first = order_.first(k), last = order_.last(k);
  for (int l = first; l < last; ++l)  // upper <- A^-1 upper
    kernels::divide_by_transposed(A, n, pivot, order_.size(order_.other(l)), values + upper_[at(l)]);
  for (int i = first; i < last; ++i) {
    const int p = order_.other(i), columns = order_.size(p);
    const double *lower = values + lower_[at(i)], *upper = values + upper_[at(i)];
    kernels::subtract_outer(lower, upper, columns, n, columns, values + diagonal_[at(p)]);
    int target = order_.first(p);
    for (int j = i + 1; j < last; ++j) {
      while (order_.other(target) != order_.other(j)) ++target;
      const int rows = order_.size(order_.other(j));
      kernels::subtract_outer(values + lower_[at(j)], upper, rows, n, columns, values + lower_[at(target)]);
      kernels::subtract_outer(values + upper_[at(j)], lower, rows, n, columns, values + upper_[at(target)]);
    }
  }
  return true;
}

bool BlockSystem::factor_sparse(const ContactProblem& problem, const double* D) {
  assemble(problem, D);
  for (int k = 0; k < order_.nodes(); ++k)
    if (!eliminate(k)) return false;
  return true;
}

void BlockSystem::solve_sparse(double* w) {
  for (int k = 0; k < order_.nodes(); ++k) {
    const int n = order_.size(k);
    double* x = w + order_.start(k);
    dense::lu_solve(values_.data() + diagonal_[at(k)], n, pivots_.data() + order_.start(k), x);
    for (int l = order_.first(k); l < order_.last(k); ++l)
      kernels::subtract_times(values_.data() + lower_[at(l)], x, order_.size(order_.other(l)), n,
                              w + order_.start(order_.other(l)));
  }
  for (int k = order_.nodes() - 1; k >= 0; --k)
    for (int l = order_.first(k); l < order_.last(k); ++l)
      kernels::subtract_transposed_times(values_.data() + upper_[at(l)], w + order_.start(order_.other(l)),
                                         order_.size(order_.other(l)), order_.size(k), w + order_.start(k));
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
  const double* d = D + disc_offset(problem, 0);
  for (const FrictionDisc& disc : problem.discs) {
    const int o = 3 * problem.nc() + disc.row, normal = 3 * disc.contact + 2;
    for (int k = 0; k < disc.size; ++k) {
      A.row(o + k) += d[2 + k] * G.row(normal);
      if (disc.size == 2) A.row(o + k) += d[k] * G.row(o + 1 - k);
    }
    d += disc_numbers;
  }
  A.diagonal().array() += 1;
  pivots_.resize(std::max(pivots_.size(), at(n)));
  return dense::lu(matrix_.data(), n, pivots_.data());
}

bool BlockSystem::factor(const ContactProblem& problem, const double* D) {
  return sparse_ ? factor_sparse(problem, D) : factor_dense(problem, D);
}

void BlockSystem::solve(const ContactProblem& problem, const double* D, double* e, double* Gf) {
  if (!sparse_) {
    dense::lu_solve(matrix_.data(), problem.size(), pivots_.data(), e);
    if (Gf) problem.multiply(e, Gf);
    return;
  }
  w_.resize(problem.factor.nw);
  y_.resize(problem.size());
  to_bodies(problem, e, w_.data());
  solve_sparse(w_.data());
  to_contacts(problem, w_.data(), y_.data());  // = G f, since w = Y^T f
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i), o = problem.offset(i);
    const double* Di = D + block_offset(problem, i);
    for (int r = 0; r < rows; ++r)
      for (int m = 0; m < rows; ++m) e[o + r] -= Di[r + rows * m] * y_[o + m];
  }
  const double* d = D + disc_offset(problem, 0);
  for (const FrictionDisc& disc : problem.discs) {
    const int o = 3 * problem.nc() + disc.row, normal = 3 * disc.contact + 2;
    for (int k = 0; k < disc.size; ++k) {
      e[o + k] -= d[2 + k] * y_[normal];
      if (disc.size == 2) e[o + k] -= d[k] * y_[o + 1 - k];
    }
    d += disc_numbers;
  }
  if (Gf) std::copy_n(y_.data(), problem.size(), Gf);
}

}  // namespace tribo
