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

// Blocks one after the other, of up to twelve rows of G, as lanes of W: three fours for each whitened coordinate.
struct Lanes {
  int first, count;  // blocks
  int offset, size;  // rows of G
};
constexpr int wide = 12;

[[gnu::always_inline]] inline Lanes lanes_from(const Rows& x, int first) {
  Lanes lanes{first, 0, offset(x, first), 0};
  for (int j = first; j < x.size; ++j, ++lanes.count) {
    const int rows = j < x.contacts ? 3 : 1;
    if (lanes.size + rows > wide) break;
    lanes.size += rows;
  }
  return lanes;
}

[[gnu::always_inline]] inline void spread(const Rows& x, const Lanes& lanes, double* W) {
  for (int j = lanes.first; j < lanes.first + lanes.count; ++j) {
    const int rows = j < x.contacts ? 3 : 1;
    double* const lane = W + (offset(x, j) - lanes.offset);
    for (int s = x.start[j]; s < x.start[j + 1]; ++s) {
      const FactorBlock& b = x.blocks[s];
      const double* y = x.y + b.first;
      const int* index = x.index + b.index;
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r) lane[wide * index[k] + r] += y[rows * k + r];
    }
  }
}

// A list runs from the root: its last number tells it.
[[gnu::always_inline]] inline void clear(const Rows& x, const Lanes& lanes, double* W) {
  const Quad zero{};
  int cleared = -1;
  for (int s = x.start[lanes.first]; s < x.start[lanes.first + lanes.count]; ++s) {
    const int* index = x.index + x.blocks[s].index;
    const int depth = x.blocks[s].depth;
    if (depth == 0 || index[depth - 1] == cleared) continue;
    cleared = index[depth - 1];
    for (int k = 0; k < depth; ++k)
      for (int q = 0; q < wide; q += 4) store(W + wide * index[k] + q, zero);
  }
}

[[gnu::always_inline]] inline bool same_tree(const Rows& x, const Lanes& lanes, int tree) {
  for (int s = x.start[lanes.first]; s < x.start[lanes.first + lanes.count]; ++s)
    if (x.blocks[s].tree == tree) return true;
  return false;
}

// Columns of G of block i, of R rows, from the first of the lanes, in Q fours. What lies beyond the lanes is not known yet, or
// below the diagonal.
template <int R, int Q>
[[gnu::always_inline]] inline void meet(const Rows& x, const Lanes& lanes, const double* W, int i, double* G) {
  Quad sum[R][Q] = {};
  for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
    const FactorBlock& b = x.blocks[s];
    if (!same_tree(x, lanes, b.tree)) continue;
    const double* y = x.y + b.first;
    const int* index = x.index + b.index;
    for (int k = 0; k < b.depth; ++k) {
      const double* const w = W + wide * index[k];
      for (int r = 0; r < R; ++r)
        for (int q = 0; q < Q; ++q) sum[r][q] += y[R * k + r] * load(w + 4 * q);
    }
  }
  const int room = std::min(x.stride - lanes.offset, 4 * Q);
  for (int r = 0; r < R; ++r) {
    double* out = G + static_cast<std::ptrdiff_t>(offset(x, i) + r) * x.stride + lanes.offset;
    if (room == 4 * Q) {
      for (int q = 0; q < Q; ++q) store(out + 4 * q, sum[r][q]);
      continue;
    }
    double last[4 * Q];
    for (int q = 0; q < Q; ++q) store(last + 4 * q, sum[r][q]);
    std::copy_n(last, room, out);
  }
}

template <int Q>
[[gnu::always_inline]] inline void meet_all(const Rows& x, const Lanes& lanes, const double* W, double* G) {
  for (int i = lanes.first; i < x.contacts; ++i) meet<3, Q>(x, lanes, W, i, G);
  for (int i = std::max(lanes.first, x.contacts); i < x.size; ++i) meet<1, Q>(x, lanes, W, i, G);
}

// Below the diagonal what stands above it, by squares of four.
[[gnu::always_inline]] inline void mirror(double* G, int n) {
  const auto at = [=](int row, int column) { return G + static_cast<std::ptrdiff_t>(column) * n + row; };
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    for (int c = j; c < j + 4; ++c)
      for (int r = c + 1; r < j + 4; ++r) *at(r, c) = *at(c, r);
    for (int i = j + 4; i < n; ++i) {
      const Quad column = load(at(j, i));
      for (int c = 0; c < 4; ++c) *at(i, j + c) = column[c];
    }
  }
  for (; j < n; ++j)
    for (int i = j + 1; i < n; ++i) *at(i, j) = *at(j, i);
}

// W (12 nw) is zero before and after.
TRIBO_CLONES void gram_of_rows(const Rows& x, double* W, double* G) {
  for (int j = 0; j < x.size;) {
    const Lanes lanes = lanes_from(x, j);
    spread(x, lanes, W);
    if (lanes.size > 8)
      meet_all<3>(x, lanes, W, G);
    else if (lanes.size > 4)
      meet_all<2>(x, lanes, W, G);
    else
      meet_all<1>(x, lanes, W, G);
    clear(x, lanes, W);
    j += lanes.count;
  }
  mirror(G, x.stride);
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
  work.setZero(wide * problem.factor.nw);
  gram_of_rows(rows_of(problem), work.data(), G);
}

}  // namespace tribo
