#include "stepping/rigid/rolling_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "contact/diagonal_block.hpp"

namespace tribo {
void RollingSweep::begin(const Island& island, std::span<const Row> rows, const ContactProblem& problem,
                         const double* f) {
  turns_.assign(at(problem.nc()), {});
  alone_.assign(at(problem.nr()), 1);
  for (int j = 0; j < problem.nr(); ++j) {
    const Row& row = rows[at(island.rows[at(j)])];
    if (row.contact < 0) continue;
    const auto here = std::lower_bound(island.contacts.begin(), island.contacts.end(), row.contact);
    Turn& turn = turns_[at(static_cast<int>(here - island.contacts.begin()))];
    alone_[at(j)] = 0;
    (row.component == 0 ? turn.torsional : turn.rolling) = row.length;
    if (row.component == 0) turn.spin = j;
    if (row.component == 1) turn.roll = j;
  }
  diagonal_.resize(9 * problem.nc() + problem.nr());
  w_.setZero(problem.factor.nw);
  for (int i = 0; i < problem.blocks(); ++i) {
    diagonal_block(problem, i, diagonal_.data() + (i < problem.nc() ? 9 * i : 8 * problem.nc() + i));
    change(problem, i, f + problem.offset(i));
  }
}

void RollingSweep::run(const ContactProblem& problem, int sweeps, double* f) {
  const int nc = problem.nc(), nb = problem.blocks();
  for (int k = 0; k < sweeps; ++k)
    for (int b = 0; b < nb; ++b) {
      const int i = k % 2 == 0 ? b : nb - 1 - b;
      if (i < nc || alone_[at(i - nc)]) sweep(problem, i, f);
    }
}

void RollingSweep::velocity(const ContactProblem& problem, int i, const double* f, double* c) const {
  const ContactFactor& factor = problem.factor;
  const int n = problem.block_size(i), o = problem.offset(i);
  for (int r = 0; r < n; ++r) c[r] = problem.g()[o + r] + problem.R()[o + r] * f[o + r];
  for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
    const FactorBlock& b = factor.blocks[at(s)];
    for (int k = 0; k < b.depth; ++k)
      for (int r = 0; r < n; ++r) c[r] += factor.y[at(b.first + n * k + r)] * w_[factor.index[at(b.index + k)]];
  }
}

void RollingSweep::change(const ContactProblem& problem, int i, const double* df) {
  const ContactFactor& factor = problem.factor;
  const int n = problem.block_size(i);
  for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
    const FactorBlock& b = factor.blocks[at(s)];
    for (int k = 0; k < b.depth; ++k)
      for (int r = 0; r < n; ++r) w_[factor.index[at(b.index + k)]] += factor.y[at(b.first + n * k + r)] * df[r];
  }
}

void RollingSweep::move(const ContactProblem& problem, int row, double to, double* f) {
  double& x = f[3 * problem.nc() + row];
  const double df = to - x;
  x = to;
  change(problem, problem.nc() + row, &df);
}

namespace {

void project(double bound, double& x, double& y) {
  const double length = std::hypot(x, y);
  if (length > bound) x *= bound / length, y *= bound / length;
}

}  // namespace

void RollingSweep::sweep(const ContactProblem& problem, int i, double* f) {
  const int nc = problem.nc(), o = problem.offset(i);
  double c[3];
  velocity(problem, i, f, c);
  if (i >= nc) {
    const int j = i - nc;
    return move(problem, j, std::clamp(f[o] - step(nc, j) * c[0], problem.lower()[j], problem.upper()[j]), f);
  }
  const double* D = diagonal_.data() + 9 * i;
  const double n = std::max(0.0, f[o + 2] - c[2] / D[8]), dn = n - f[o + 2];
  const double tangential = 1 / (0.5 * (D[0] + D[4]) + std::hypot(0.5 * (D[0] - D[4]), D[1]));
  double x = f[o] - tangential * (c[0] + D[6] * dn), y = f[o + 1] - tangential * (c[1] + D[7] * dn);
  project(problem.mu()[i] * n, x, y);
  const double df[3] = {x - f[o], y - f[o + 1], dn};
  for (int k = 0; k < 3; ++k) f[o + k] += df[k];
  f[o + 2] = n;
  change(problem, i, df);
  turn(problem, i, f);
}

void RollingSweep::turn(const ContactProblem& problem, int i, double* f) {
  const int nc = problem.nc();
  const Turn& turn = turns_[at(i)];
  const double n = f[3 * i + 2];
  double c[2];
  if (const int j = turn.spin; j >= 0) {
    velocity(problem, nc + j, f, c);
    const double bound = turn.torsional * n;
    move(problem, j, std::clamp(f[3 * nc + j] - step(nc, j) * c[0], -bound, bound), f);  // (sweep.3)
  }
  if (const int j = turn.roll; j >= 0) {
    for (int k = 0; k < 2; ++k) velocity(problem, nc + j + k, f, c + k);
    const double both = 0.5 * std::min(step(nc, j), step(nc, j + 1));
    double x = f[3 * nc + j] - both * c[0], y = f[3 * nc + j + 1] - both * c[1];
    project(turn.rolling * n, x, y);  // (sweep.4)
    move(problem, j, x, f);
    move(problem, j + 1, y, f);
  }
}

}  // namespace tribo
