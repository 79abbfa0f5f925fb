#include "contact/diagonal_block.hpp"

#include <algorithm>

namespace tribo {

void factor_block(const ContactFactor& factor, int i, int rows, double* D) {
  std::fill_n(D, rows * rows, 0.0);
  for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s)
    for (int t = factor.start[at(i)]; t < factor.start[at(i + 1)]; ++t) {
      const FactorBlock &a = factor.blocks[at(s)], &b = factor.blocks[at(t)];
      for (int k = 0; k < std::min(a.depth, b.depth); ++k) {
        if (factor.index[at(a.index + k)] != factor.index[at(b.index + k)]) break;
        for (int q = 0; q < rows; ++q)
          for (int r = 0; r < rows; ++r)
            D[rows * q + r] += factor.y[at(a.first + rows * k + r)] * factor.y[at(b.first + rows * k + q)];
      }
    }
}

void diagonal_block(const ContactProblem& problem, int block, double* D) {
  const int rows = problem.block_size(block), o = problem.offset(block);
  if (problem.dense()) {
    const auto G = problem.G();
    for (int b = 0; b < rows; ++b)
      for (int a = 0; a < rows; ++a) D[rows * b + a] = G(o + a, o + b);
  } else {
    factor_block(problem.factor, block, rows, D);
  }
  for (int a = 0; a < rows; ++a) D[rows * a + a] += problem.R()[o + a];
}

}  // namespace tribo
