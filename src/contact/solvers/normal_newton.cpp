#include "contact/solvers/normal_newton.hpp"

#include <algorithm>

#include "linalg/dense.hpp"

namespace tribo {
namespace {

constexpr int most_guesses_of_normals = 20;

// The unknown of a block: a contact's normal force, or a row.
int unknown_of(const ContactProblem& problem, int block) {
  return block < problem.nc() ? 3 * block + 2 : problem.offset(block);
}

}  // namespace

NormalNewton::NormalNewton(int normals, int coordinates) {
  for (MatrixBuffer* x : {&G_, &matrix_}) x->resize(normals, normals);
  for (VectorBuffer* x : {&c_, &best_}) x->resize(3 * normals);
  b_.resize(normals);
  w_.resize(std::max(normals, coordinates));
  active_.reserve(at(normals));
}

// G = Y Y^T, a row of Y spread over all whitened coordinates at a time.
void NormalNewton::make_matrix(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  const int n = problem.blocks();
  G_.resize(n, n);
  auto G = G_.map();
  if (problem.dense()) {
    const auto all = problem.G();
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) G(i, j) = all(unknown_of(problem, i), unknown_of(problem, j));
      G(j, j) += problem.R()[unknown_of(problem, j)];
    }
    return;
  }
  w_.setZero(factor.nw);
  const auto visit = [&](int i, auto&& use) {
    const int stride = problem.block_size(i), row = stride - 1;
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const double* y = factor.y.data() + b.first + row;
      const int* index = factor.index.data() + b.index;
      for (int k = 0; k < b.depth; ++k) use(index[k], y[stride * k]);
    }
  };
  for (int j = 0; j < n; ++j) {
    visit(j, [&](int k, double y) { w_[k] += y; });
    for (int i = j; i < n; ++i) {
      double sum = 0;
      visit(i, [&](int k, double y) { sum += y * w_[k]; });
      G(i, j) = G(j, i) = sum;
    }
    visit(j, [&](int k, double) { w_[k] = 0; });
    G(j, j) += problem.R()[unknown_of(problem, j)];
  }
}

// c along normals and rows.
void NormalNewton::move(const ContactProblem& problem, const double* f) {
  const int n = problem.blocks();
  b_.resize(n);
  w_.resize(std::max(n, problem.factor.nw));
  for (int i = 0; i < n; ++i) b_[i] = f[unknown_of(problem, i)];
  dense::multiply(G_.data(), n, b_.data(), w_.data());
  for (int i = 0; i < n; ++i) c_[unknown_of(problem, i)] = w_[i] + problem.g()[unknown_of(problem, i)];
}

// (newton.4) with a normal force as a row from zero up.
bool NormalNewton::step(const ContactProblem& problem, VecRef f) {
  const int n = problem.blocks();
  const auto G = G_.map();
  active_.clear();
  for (int i = 0; i < n; ++i) {
    const int o = unknown_of(problem, i), j = i - problem.nc();
    const double low = j < 0 ? 0 : problem.lower()[j], high = j < 0 ? HUGE_VAL : problem.upper()[j];
    if (!(G(i, i) > 0)) continue;  // nothing moves it
    const double y = f[o] - c_[o] / G(i, i);
    if (y <= low)
      f[o] = low;
    else if (y >= high)
      f[o] = high;
    else
      active_.push_back(i), f[o] = 0;
  }
  const int m = static_cast<int>(active_.size());
  if (m == 0) return true;
  matrix_.resize(m, m);
  auto A = matrix_.map();
  move(problem, f.data());  // what those at a bound do
  b_.resize(m);
  for (int a = 0; a < m; ++a) {
    b_[a] = -c_[unknown_of(problem, active_[at(a)])];
    for (int b = a; b < m; ++b) A(b, a) = G(active_[at(b)], active_[at(a)]);
  }
  if (!dense::cholesky(matrix_.data(), m)) return false;
  dense::cholesky_solve(matrix_.data(), m, b_.data());
  for (int a = 0; a < m; ++a) f[unknown_of(problem, active_[at(a)])] = b_[a];
  return true;
}

SolveReport NormalNewton::solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) {
  SolveReport report;
  make_matrix(problem);
  best_.resize(problem.size());
  best_.map() = f;
  c_.setZero(problem.size());  // without friction it does not matter how fast a contact slides
  move(problem, f.data());
  report.status = SolveStatus::IterationLimit;
  while (report.iterations < most_guesses_of_normals && step(problem, f)) {
    ++report.iterations;
    move(problem, f.data());
    report.residual = judge(problem, ContactModel::Ncp, f.data(), c_.data());
    if (!tolerance.met(report.residual)) continue;
    report.status = SolveStatus::Converged;
    return report;
  }
  f = best_.map();
  return report;
}

}  // namespace tribo
