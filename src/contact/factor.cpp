#include "contact/factor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "contact/block_product.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

using Pack4 [[gnu::vector_size(32)]] = double;

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

// Index lists ascend, and chains run from the root: what two blocks of one tree share is mostly a common prefix.
[[gnu::always_inline]] inline int shared_prefix(const Rows& x, const FactorBlock& a, const FactorBlock& b) {
  const int n = std::min(a.depth, b.depth);
  if (a.body == b.body && a.body >= 0) return n;
  const int *p = x.index + a.index, *q = x.index + b.index;
  int k = 0;
  while (k < n && p[k] == q[k]) ++k;
  return k;
}

// out (3 x 3, columns `stride` apart) += sum_k a_k b_k^T.
[[gnu::always_inline]] inline void add_outer_3x3(const double* a, const double* b, int depth, int stride, double* out) {
  Pack4 x{}, y{}, z{}, column;
  for (int k = 0; k + 1 < depth; ++k) {  // the fourth number is the first of the next column
    std::memcpy(&column, a + 3 * k, sizeof(Pack4));
    x += b[3 * k] * column;
    y += b[3 * k + 1] * column;
    z += b[3 * k + 2] * column;
  }
  a += 3 * (depth - 1);
  b += 3 * (depth - 1);
  for (int r = 0; r < 3; ++r) {
    out[r] += x[r] + b[0] * a[r];
    out[stride + r] += y[r] + b[1] * a[r];
    out[2 * stride + r] += z[r] + b[2] * a[r];
  }
}

// out (1 x 3, columns `stride` apart) += sum_k a_k b_k^T.
[[gnu::always_inline]] inline void add_outer_1x3(const double* a, const double* b, int depth, int stride, double* out) {
  Pack4 sum{}, column;
  for (int k = 0; k + 1 < depth; ++k) {
    std::memcpy(&column, b + 3 * k, sizeof(Pack4));
    sum += a[k] * column;
  }
  a += depth - 1;
  b += 3 * (depth - 1);
  for (int q = 0; q < 3; ++q) out[static_cast<std::ptrdiff_t>(q) * stride] += sum[q] + a[0] * b[q];
}

[[gnu::always_inline]] inline void add_outer(const double* a, int rows_a, const double* b, int rows_b, int depth,
                                             int stride, double* out) {
  for (int q = 0; q < rows_b; ++q)
    for (int r = 0; r < rows_a; ++r) {
      double sum = 0;
      for (int k = 0; k < depth; ++k) sum += a[rows_a * k + r] * b[rows_b * k + q];
      out[static_cast<std::ptrdiff_t>(q) * stride + r] += sum;
    }
}

// What the blocks share beyond their common prefix of k.
[[gnu::always_inline]] inline void add_rest(const Rows& x, const FactorBlock& a, int rows_a, const FactorBlock& b,
                                            int rows_b, int k, double* out) {
  const int *p = x.index + a.index, *q = x.index + b.index;
  if (k == a.depth || k == b.depth || p[k] > q[b.depth - 1] || q[k] > p[a.depth - 1]) return;
  for (int i = k, j = k; i < a.depth && j < b.depth;) {
    if (p[i] == q[j]) {
      add_outer(x.y + a.first + rows_a * i, rows_a, x.y + b.first + rows_b * j, rows_b, 1, x.stride, out);
      ++i, ++j;
    } else {
      p[i] < q[j] ? ++i : ++j;
    }
  }
}

TRIBO_CLONES void gram_of_rows(Rows x, double* G) {
  const int n = x.stride;
  std::fill_n(G, static_cast<std::ptrdiff_t>(n) * n, 0.0);
  for (int j = 0; j < x.size; ++j) {
    const int oj = offset(x, j), rows_j = j < x.contacts ? 3 : 1;
    for (int i = j; i < x.size; ++i) {
      const int oi = offset(x, i), rows_i = i < x.contacts ? 3 : 1;
      double* out = G + static_cast<std::ptrdiff_t>(oj) * n + oi;
      for (int s = x.start[i]; s < x.start[i + 1]; ++s)
        for (int t = x.start[j]; t < x.start[j + 1]; ++t) {
          const FactorBlock &a = x.blocks[s], &b = x.blocks[t];
          if (a.tree != b.tree) continue;
          const int depth = shared_prefix(x, a, b);
          add_rest(x, a, rows_i, b, rows_j, depth, out);
          if (depth == 0) continue;
          if (rows_i == 3 && rows_j == 3)
            add_outer_3x3(x.y + a.first, x.y + b.first, depth, n, out);
          else if (rows_i == 1 && rows_j == 3)
            add_outer_1x3(x.y + a.first, x.y + b.first, depth, n, out);
          else
            add_outer(x.y + a.first, rows_i, x.y + b.first, rows_j, depth, n, out);
        }
    }
  }
  for (int j = 0; j < n; ++j)
    for (int i = j + 1; i < n; ++i)
      G[static_cast<std::ptrdiff_t>(i) * n + j] = G[static_cast<std::ptrdiff_t>(j) * n + i];
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
    Pack4 even{}, odd{}, column;  // the fourth number is the first of the next column
    int k = 0;
    for (; k + 2 < b.depth; k += 2) {
      std::memcpy(&column, y + 3 * k, sizeof(Pack4));
      even += w[index[k]] * column;
      std::memcpy(&column, y + 3 * k + 3, sizeof(Pack4));
      odd += w[index[k + 1]] * column;
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

void gram(const ContactProblem& problem, double* G) { gram_of_rows(rows_of(problem), G); }

}  // namespace tribo
