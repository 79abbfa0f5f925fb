#include "contact/diagonal_block.hpp"

#include <algorithm>

namespace tribo {

namespace {

// Of a contact whose bodies belong to different trees: D += Y Y^T, 3 x 3.
void add_own_block(const double* Y, int depth, double* D) {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
  for (int k = 0; k < depth; ++k, Y += 3) {
    xx += Y[0] * Y[0], xy += Y[0] * Y[1], xz += Y[0] * Y[2];
    yy += Y[1] * Y[1], yz += Y[1] * Y[2], zz += Y[2] * Y[2];
  }
  D[0] += xx, D[1] += xy, D[2] += xz;
  D[3] += xy, D[4] += yy, D[5] += yz;
  D[6] += xz, D[7] += yz, D[8] += zz;
}

}  // namespace

void factor_block(const ContactFactor& factor, int i, int rows, double* D) {
  std::fill_n(D, rows * rows, 0.0);
  const FactorBlock *first = factor.blocks.data() + factor.start[at(i)],
                    *last = factor.blocks.data() + factor.start[at(i + 1)];
  if (rows == 3 && (last - first == 1 || (last - first == 2 && first->node != first[1].node))) {
    for (; first != last; ++first) add_own_block(factor.y.data() + first->first, first->depth, D);
    return;
  }
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
