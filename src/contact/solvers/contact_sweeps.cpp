#include "contact/solvers/contact_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "contact/diagonal_block.hpp"
#include "contact/factor.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

using Pack4 [[gnu::vector_size(32)]] = double;
using Pack2 [[gnu::vector_size(16)]] = double;

// What the sweep over a contact reads, as plain pointers.
struct Contacts {
  const FactorBlock* blocks;
  const int *start, *index, *rows;  // rows: of a block of a free body, where its transpose lies, else -1
  const double *y, *y_rows, *g, *R, *mu, *diagonal;
};

// c += Y w, w six numbers in a row. Y has 18 numbers: its last column is read from one before.
[[gnu::always_inline]] inline void add_velocity(const double* Y, const double* w, double* c) {
  Pack4 even{}, odd{}, column;
  for (int k = 0; k < 4; k += 2) {
    std::memcpy(&column, Y + 3 * k, sizeof(Pack4));
    even += w[k] * column;
    std::memcpy(&column, Y + 3 * k + 3, sizeof(Pack4));
    odd += w[k + 1] * column;
  }
  std::memcpy(&column, Y + 12, sizeof(Pack4));
  even += w[4] * column;
  odd += even;
  std::memcpy(&column, Y + 14, sizeof(Pack4));
  for (int r = 0; r < 3; ++r) c[r] += odd[r] + w[5] * column[r + 1];
}

// w += Y^T f, from the rows of Y.
[[gnu::always_inline]] inline void add_impulse(const double* Y_rows, const double* f, double* w) {
  Pack4 a, row4;
  Pack2 b, row2;
  std::memcpy(&a, w, sizeof(Pack4));
  std::memcpy(&b, w + 4, sizeof(Pack2));
  for (int r = 0; r < 3; ++r) {
    std::memcpy(&row4, Y_rows + 6 * r, sizeof(Pack4));
    std::memcpy(&row2, Y_rows + 6 * r + 4, sizeof(Pack2));
    a += f[r] * row4;
    b += f[r] * row2;
  }
  std::memcpy(w, &a, sizeof(Pack4));
  std::memcpy(w + 4, &b, sizeof(Pack2));
}

// (pgs.1), then (pgs.2) with c_T renewed.
TRIBO_CLONES void sweep_contacts(Contacts x, const int* chosen, int count, int step, double* force, double* w) {
  for (int m = 0; m < count; ++m, chosen += step) {
    const int i = *chosen, o = 3 * i;
    const double* D = x.diagonal + 9 * i;
    double *f = force + o, c[3];
    for (int r = 0; r < 3; ++r) c[r] = x.g[o + r] + x.R[o + r] * f[r];
    for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
      const FactorBlock& b = x.blocks[s];
      const int* index = x.index + b.index;
      const double* y = x.y + b.first;
      if (x.rows[s] >= 0) {
        add_velocity(y, w + index[0], c);
      } else {
        for (int k = 0; k < b.depth; ++k)
          for (int r = 0; r < 3; ++r) c[r] += y[3 * k + r] * w[index[k]];
      }
    }
    const double wanted = D[8] > 0 ? f[2] - c[2] / D[8] : f[2], n = wanted > 0 ? wanted : 0, dn = n - f[2];
    const double half = 0.5 * (D[0] - D[4]), bound = x.mu[i] * n;
    const double largest = 0.5 * (D[0] + D[4]) + std::sqrt(half * half + D[1] * D[1]);
    const double length = largest > 0 ? 1 / largest : 0;
    double fx = f[0] - length * (c[0] + D[6] * dn), fy = f[1] - length * (c[1] + D[7] * dn);
    if (const double t = std::sqrt(fx * fx + fy * fy); t > bound) {
      fx *= bound / t;
      fy *= bound / t;
    }
    const double change[3] = {fx - f[0], fy - f[1], dn};
    f[0] = fx, f[1] = fy, f[2] = n;
    if (change[0] == 0 && change[1] == 0 && change[2] == 0) continue;
    for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
      const FactorBlock& b = x.blocks[s];
      const int* index = x.index + b.index;
      const double* y = x.y + b.first;
      if (x.rows[s] >= 0) {
        add_impulse(x.y_rows + x.rows[s], change, w + index[0]);
      } else {
        for (int k = 0; k < b.depth; ++k)
          for (int r = 0; r < 3; ++r) w[index[k]] += y[3 * k + r] * change[r];
      }
    }
  }
}

}  // namespace

// (sweep.2)
void ContactSweeps::row(const ContactProblem& problem, int j, VecRef f) {
  const int o = 3 * problem.nc() + j;
  const double d = diagonal_[9 * problem.nc() + j];
  if (held_[at(j)] || !(d > 0)) return;
  double c = problem.g()[o] + problem.R()[o] * f[o];
  add_to_contact(problem, problem.nc() + j, w_.data(), &c);
  const double change = std::clamp(f[o] - c / d, problem.lower()[j], problem.upper()[j]) - f[o];
  f[o] += change;
  add_to_bodies(problem, problem.nc() + j, &change, w_.data());
}

// Blocks of free bodies once more by rows.
void ContactSweeps::gather(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  rows_.resize(factor.blocks.size());
  y_rows_.clear();
  for (int i = 0; i < problem.nc(); ++i)
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const int* index = factor.index.data() + b.index;
      const bool free = b.depth == 6 && index[5] == index[0] + 5;
      rows_[at(s)] = free ? static_cast<int>(y_rows_.size()) : -1;
      const double* y = factor.y.data() + b.first;
      for (int r = 0; free && r < 3; ++r)
        for (int k = 0; k < 6; ++k) y_rows_.push_back(y[3 * k + r]);
    }
}

void ContactSweeps::run(const ContactProblem& problem, int sweeps, VecRef f) {
  const ContactFactor& factor = problem.factor;
  const int nc = problem.nc(), blocks = problem.blocks();
  w_.resize(factor.nw);
  to_bodies(problem, f.data(), w_.data());
  diagonal_.resize(9 * nc + problem.nr());
  for (int i = 0; i < blocks; ++i) diagonal_block(problem, i, diagonal_.data() + (i < nc ? 9 * i : 8 * nc + i));
  held_.assign(at(problem.nr()), 0);
  for (const FrictionDisc& disc : problem.discs) std::fill_n(held_.begin() + disc.row, disc.size, 1);
  gather(problem);
  chosen_.resize(at(nc));
  for (int i = 0; i < nc; ++i) chosen_[at(i)] = i;
  const Contacts contacts{factor.blocks.data(), factor.start.data(), factor.index.data(), rows_.data(),
                          factor.y.data(),      y_rows_.data(),      problem.g().data(),  problem.R().data(),
                          problem.mu().data(),  diagonal_.data()};
  for (int k = 0; k < sweeps; ++k) {
    const bool back = k % 2 == 1;
    if (back)
      for (int j = problem.nr() - 1; j >= 0; --j) row(problem, j, f);
    if (nc > 0)
      sweep_contacts(contacts, back ? &chosen_.back() : chosen_.data(), static_cast<int>(chosen_.size()), back ? -1 : 1,
                     f.data(), w_.data());
    if (!back)
      for (int j = 0; j < problem.nr(); ++j) row(problem, j, f);
  }
}

}  // namespace tribo
