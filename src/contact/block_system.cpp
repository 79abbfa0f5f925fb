#include "contact/block_system.hpp"

#include <algorithm>

#include "contact/block_kernels.hpp"
#include "contact/factor.hpp"
#include "linalg/dense.hpp"

namespace tribo {

void BlockSystem::analyse(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  sparse_ = !factor.empty() && (!problem.dense() || factor.nw < problem.size());
  if (sparse_) lu_.analyse(problem);
}

// Y_a^T (D Y_b) into the block of the trees of a and b; scratch_ holds D Y_b.
void BlockSystem::assemble_block(const ContactFactor& factor, int rows, const FactorBlock& a, const FactorBlock& b) {
  const BlockLu::Block block = lu_.block(a.node, b.node);
  const double *ya = factor.y.data() + a.first, *yb = scratch_.data();
  if (rows == 3 && a.depth == 6 && b.depth == 6 && lu_.size(a.node) == 6 && lu_.size(b.node) == 6) {
    const bool turned = block.row_step > 1;
    turned ? kernels::add_product_6(yb, ya, block.first) : kernels::add_product_6(ya, yb, block.first);
    return;
  }
  const int *ia = factor.index.data() + a.index, *ib = factor.index.data() + b.index;
  const int p = lu_.start(a.node), q = lu_.start(b.node);
  for (int l = 0; l < b.depth; ++l)
    for (int k = 0; k < a.depth; ++k) {
      double sum = 0;
      for (int m = 0; m < rows; ++m) sum += ya[rows * k + m] * yb[rows * l + m];
      block(ia[k] - p, ib[l] - q) += sum;
    }
}

// Of contacts of free bodies, which stand by themselves, in pairs that follow each other.
bool BlockSystem::assemble_free(const ContactFactor& factor, int i, const double* D) {
  const int first = factor.start[at(i)], sides = factor.start[at(i + 1)] - first;
  const FactorBlock *a = factor.blocks.data() + first, *b = a + sides - 1;
  if (a->depth != 6 || b->depth != 6 || lu_.size(a->node) != 6 || lu_.size(b->node) != 6) return false;
  if (a != b && a->node == b->node) return false;
  if (a->node != pair_[0] || b->node != pair_[1]) {
    pair_[0] = a->node;
    pair_[1] = b->node;
    const bool turned = !lu_.before(a->node, b->node);
    const int early = turned ? b->node : a->node, late = turned ? a->node : b->node;
    pair_blocks_ = {lu_.block(early, early).first, lu_.block(late, late).first, lu_.block(late, early).first,
                    lu_.block(early, late).first};
    turned_ = turned;
  }
  const double *ya = factor.y.data() + a->first, *yb = factor.y.data() + b->first;
  if (a == b)
    kernels::add_contact_6(D, ya, pair_blocks_.early);
  else
    kernels::add_contact_6(D, turned_ ? yb : ya, turned_ ? ya : yb, pair_blocks_);
  return true;
}

// I + Y^T D Y.
void BlockSystem::assemble(const ContactProblem& problem, const double* D) {
  const ContactFactor& factor = problem.factor;
  lu_.set_zero();
  for (int node = 0; node < lu_.nodes(); ++node)
    for (int k = 0; k < lu_.size(node); ++k) lu_.block(node, node)(k, k) = 1;
  pair_[0] = pair_[1] = -1;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    const double* Di = D + block_offset(problem, i);
    if (std::all_of(Di, Di + rows * rows, [](double x) { return x == 0; })) continue;
    if (i < problem.nc() && assemble_free(factor, i, Di)) continue;
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
  if (!sparse_) return factor_dense(problem, D);
  assemble(problem, D);
  return lu_.factor();
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
  lu_.solve(w_.data());
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
