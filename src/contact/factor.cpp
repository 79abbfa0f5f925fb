#include "contact/factor.hpp"

#include <algorithm>

#include "linalg/clones.hpp"

namespace tribo {
namespace {

// A contact of a free body: six coordinates in a row.
TRIBO_CLONES void add_transposed_3x6(const double* y, const double* f, double* w) {
  for (int k = 0; k < 6; ++k) w[k] += y[3 * k] * f[0] + y[3 * k + 1] * f[1] + y[3 * k + 2] * f[2];
}

TRIBO_CLONES void add_product_3x6(const double* y, const double* w, double* c) {
  double a = c[0], b = c[1], n = c[2];
  for (int k = 0; k < 6; ++k) {
    a += y[3 * k] * w[k];
    b += y[3 * k + 1] * w[k];
    n += y[3 * k + 2] * w[k];
  }
  c[0] = a;
  c[1] = b;
  c[2] = n;
}

bool free_body(int rows, int depth, const int* index) { return rows == 3 && depth == 6 && index[5] == index[0] + 5; }

}  // namespace

void to_bodies(const ContactProblem& problem, const double* f, double* w) {
  const ContactFactor& factor = problem.factor;
  std::fill_n(w, factor.nw, 0.0);
  const int* start = factor.start.data();
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    const double* fi = f + problem.offset(i);
    for (int s = start[i]; s < start[i + 1]; ++s) {
      const FactorBlock& b = factor.blocks[static_cast<std::size_t>(s)];
      const double* y = factor.y.data() + b.first;
      const int* index = factor.index.data() + b.index;
      if (free_body(rows, b.depth, index)) {
        add_transposed_3x6(y, fi, w + index[0]);
        continue;
      }
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r) w[index[k]] += y[rows * k + r] * fi[r];
    }
  }
}

void to_contacts(const ContactProblem& problem, const double* w, double* c) {
  const ContactFactor& factor = problem.factor;
  const int* start = factor.start.data();
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i);
    double* ci = c + problem.offset(i);
    for (int r = 0; r < rows; ++r) ci[r] = 0;
    for (int s = start[i]; s < start[i + 1]; ++s) {
      const FactorBlock& b = factor.blocks[static_cast<std::size_t>(s)];
      const double* y = factor.y.data() + b.first;
      const int* index = factor.index.data() + b.index;
      if (free_body(rows, b.depth, index)) {
        add_product_3x6(y, w + index[0], ci);
        continue;
      }
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r) ci[r] += y[rows * k + r] * w[index[k]];
    }
  }
}

}  // namespace tribo
