#include "contact/factor.hpp"

#include <algorithm>
#include <cstddef>

#include "contact/block_product.hpp"
#include "linalg/clones.hpp"
#include "linalg/quad.hpp"

namespace tribo {
namespace {

// Plain pointers into a factor. What clones call is inlined: else it is compiled for the base machine alone.
struct Rows {
  const FactorBlock* blocks;
  const int *start, *index;
  const double* y;
  int contacts, size, stride;  // blocks of three rows, all blocks, rows of G
};

[[gnu::always_inline]] inline int offset(const Rows& x, int block) {
  return block < x.contacts ? 3 * block : 2 * x.contacts + block;
}

// A contact, or up to four rows, as lanes of W: four numbers a whitened coordinate.
struct Lanes {
  int first, count;  // blocks
  int offset, size;  // rows of G
};

[[gnu::always_inline]] inline void spread(const Rows& x, const Lanes& lanes, double* W) {
  for (int j = lanes.first; j < lanes.first + lanes.count; ++j)
    for (int s = x.start[j]; s < x.start[j + 1]; ++s) {
      const FactorBlock& b = x.blocks[s];
      const double* y = x.y + b.first;
      const int* index = x.index + b.index;
      if (j >= x.contacts) {
        for (int k = 0; k < b.depth; ++k) W[4 * index[k] + (j - lanes.first)] += y[k];
        continue;
      }
      for (int k = 0; k < b.depth; ++k) {
        double* const w = W + 4 * index[k];
        store(w, load(w) + Quad{y[3 * k], y[3 * k + 1], y[3 * k + 2], 0});
      }
    }
}

[[gnu::always_inline]] inline void clear(const Rows& x, const Lanes& lanes, double* W) {
  const Quad zero{};
  for (int s = x.start[lanes.first]; s < x.start[lanes.first + lanes.count]; ++s) {
    const int* index = x.index + x.blocks[s].index;
    for (int k = 0; k < x.blocks[s].depth; ++k) store(W + 4 * index[k], zero);
  }
}

[[gnu::always_inline]] inline bool same_tree(const Rows& x, const Lanes& lanes, int tree) {
  for (int s = x.start[lanes.first]; s < x.start[lanes.first + lanes.count]; ++s)
    if (x.blocks[s].tree == tree) return true;
  return false;
}

// Rows of G of block i, in the columns of the lanes.
[[gnu::always_inline]] inline void meet(const Rows& x, const Lanes& lanes, const double* W, int i, double* G) {
  Quad sum[3] = {};
  const int rows = i < x.contacts ? 3 : 1;
  for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
    const FactorBlock& b = x.blocks[s];
    if (!same_tree(x, lanes, b.tree)) continue;
    const double* y = x.y + b.first;
    const int* index = x.index + b.index;
    if (rows == 1) {
      for (int k = 0; k < b.depth; ++k) sum[0] += y[k] * load(W + 4 * index[k]);
      continue;
    }
    for (int k = 0; k < b.depth; ++k) {
      const Quad w = load(W + 4 * index[k]);
      sum[0] += y[3 * k] * w;
      sum[1] += y[3 * k + 1] * w;
      sum[2] += y[3 * k + 2] * w;
    }
  }
  for (int r = 0; r < rows; ++r) {  // G is symmetric: a row of it is a column
    double* out = G + static_cast<std::ptrdiff_t>(offset(x, i) + r) * x.stride + lanes.offset;
    if (lanes.size == 4) {
      store(out, sum[r]);
      continue;
    }
    for (int q = 0; q < lanes.size; ++q) out[q] = sum[r][q];
  }
}

// W (4 nw) is zero before and after.
TRIBO_CLONES void gram_of_rows(const Rows& x, double* W, double* G) {
  const int n = x.stride;
  for (int j = 0; j < x.size;) {
    const bool contact = j < x.contacts;
    const int count = contact ? 1 : std::min(4, x.size - j);
    const Lanes lanes{j, count, offset(x, j), contact ? 3 : count};
    spread(x, lanes, W);
    for (int i = contact ? j : 0; i < x.contacts; ++i) meet(x, lanes, W, i, G);
    for (int i = contact ? x.size : j; i < x.size; ++i) meet(x, lanes, W, i, G);
    clear(x, lanes, W);
    j += count;
  }
  // The columns of contacts are known on and above the diagonal, and where rows met them; those of rows above it.
  const int of_contacts = 3 * x.contacts;
  const auto entry = [=](int row, int column) -> double& { return G[static_cast<std::ptrdiff_t>(column) * n + row]; };
  for (int j = 0; j < n; ++j) {
    const int known = j < of_contacts ? of_contacts : n;
    for (int i = j + 1; i < known; ++i) entry(i, j) = entry(j, i);
    for (int i = known; i < n; ++i) entry(j, i) = entry(i, j);
  }
}

// A contact of a free body: six coordinates in a row.
[[gnu::always_inline]] inline bool free_body(const Rows& x, int rows, const FactorBlock& b) {
  const int* index = x.index + b.index;
  return rows == 3 && b.depth == 6 && index[5] == index[0] + 5;
}

[[gnu::always_inline]] inline void add_to_bodies(const Rows& x, int i, const double* f, double* w) {
  const int rows = i < x.contacts ? 3 : 1;
  for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
    const FactorBlock& b = x.blocks[s];
    const double* y = x.y + b.first;
    const int* index = x.index + b.index;
    if (free_body(x, rows, b)) {
      add_transposed_3x6(y, f, w + index[0]);
      continue;
    }
    if (rows == 1) {
      for (int k = 0; k < b.depth; ++k) w[index[k]] += y[k] * f[0];
      continue;
    }
    const double f0 = f[0], f1 = f[1], f2 = f[2];
    for (int k = 0; k < b.depth; ++k) w[index[k]] += y[3 * k] * f0 + y[3 * k + 1] * f1 + y[3 * k + 2] * f2;
  }
}

[[gnu::always_inline]] inline void add_to_contact(const Rows& x, int i, const double* w, double* c) {
  const int rows = i < x.contacts ? 3 : 1;
  for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
    const FactorBlock& b = x.blocks[s];
    const double* y = x.y + b.first;
    const int* index = x.index + b.index;
    if (free_body(x, rows, b)) {
      add_product_3x6(y, w + index[0], c);
      continue;
    }
    if (rows == 1) {
      double sum = 0;
      for (int k = 0; k < b.depth; ++k) sum += y[k] * w[index[k]];
      c[0] += sum;
      continue;
    }
    Quad even{}, odd{};  // the fourth number is the first of the next column
    int k = 0;
    for (; k + 2 < b.depth; k += 2) {
      even += w[index[k]] * load(y + 3 * k);
      odd += w[index[k + 1]] * load(y + 3 * k + 3);
    }
    even += odd;
    for (int r = 0; r < 3; ++r) {
      double sum = even[r];
      for (int j = k; j < b.depth; ++j) sum += y[3 * j + r] * w[index[j]];
      c[r] += sum;
    }
  }
}

TRIBO_CLONES void all_to_bodies(Rows x, const double* f, double* w) {
  for (int i = 0; i < x.size; ++i) add_to_bodies(x, i, f + offset(x, i), w);
}

TRIBO_CLONES void all_to_contacts(Rows x, const double* w, double* c) {
  for (int i = 0; i < x.size; ++i) add_to_contact(x, i, w, c + offset(x, i));
}

Rows rows_of(const ContactProblem& problem) {
  const ContactFactor& f = problem.factor;
  return {f.blocks.data(), f.start.data(), f.index.data(), f.y.data(), problem.nc(), problem.blocks(), problem.size()};
}

}  // namespace

void add_to_bodies(const ContactProblem& problem, int block, const double* f, double* w) {
  add_to_bodies(rows_of(problem), block, f, w);
}

void add_to_contact(const ContactProblem& problem, int block, const double* w, double* c) {
  add_to_contact(rows_of(problem), block, w, c);
}

void to_bodies(const ContactProblem& problem, const double* f, double* w) {
  std::fill_n(w, problem.factor.nw, 0.0);
  all_to_bodies(rows_of(problem), f, w);
}

void to_contacts(const ContactProblem& problem, const double* w, double* c) {
  std::fill_n(c, problem.size(), 0.0);
  all_to_contacts(rows_of(problem), w, c);
}

void gram(const ContactProblem& problem, VectorBuffer& work, double* G) {
  work.setZero(4 * problem.factor.nw);
  gram_of_rows(rows_of(problem), work.data(), G);
}

}  // namespace tribo
