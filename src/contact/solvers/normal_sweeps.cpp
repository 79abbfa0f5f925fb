#include "contact/solvers/normal_sweeps.hpp"

#include "contact/factor.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr int between_looks = 8;  // sweeps: the judge costs as much as one

// The row of a block that has a force, and how far its numbers are apart.
struct ScalarRow {
  const double* y;
  int stride;
};

ScalarRow row_of(const ContactProblem& problem, const FactorBlock& b, int i) {
  const double* y = problem.factor.y.data() + b.first;
  return i < problem.nc() ? ScalarRow{y + 2, 3} : ScalarRow{y, 1};
}

}  // namespace

void NormalSweeps::sweep(const ContactProblem& problem, int first, int step, VecRef f) {
  const ContactFactor& factor = problem.factor;
  const int blocks = problem.blocks(), nc = problem.nc();
  for (int i = first; i >= 0 && i < blocks; i += step) {
    const int o = i < nc ? 3 * i + 2 : problem.offset(i);
    if (!(diagonal_[o] > 0)) continue;  // nothing moves it
    double c = problem.g()[o] + problem.R()[o] * f[o];
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const ScalarRow row = row_of(problem, b, i);
      const int* index = factor.index.data() + b.index;
      for (int k = 0; k < b.depth; ++k) c += row.y[row.stride * k] * w_[index[k]];
    }
    const double low = i < nc ? 0 : problem.lower()[i - nc];
    const double high = i < nc ? std::numeric_limits<double>::infinity() : problem.upper()[i - nc];
    const double change = std::clamp(f[o] - c / diagonal_[o], low, high) - f[o];  // (normal.1)
    if (change == 0) continue;
    f[o] += change;
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const ScalarRow row = row_of(problem, b, i);
      const int* index = factor.index.data() + b.index;
      for (int k = 0; k < b.depth; ++k) w_[index[k]] += row.y[row.stride * k] * change;
    }
  }
}

SolveReport NormalSweeps::solve(const ContactProblem& problem, const Tolerance& tolerance, int most, VecRef f) {
  SolveReport report;
  w_.resize(problem.factor.nw);
  to_bodies(problem, f.data(), w_.data());
  diagonal_.resize(problem.size());
  problem.diagonal(diagonal_.data());
  for (int i = 0; i < problem.size(); ++i) diagonal_[i] += problem.R()[i];
  report.status = SolveStatus::IterationLimit;
  while (report.iterations < most) {
    const bool back = report.iterations % 2 == 1;
    sweep(problem, back ? problem.blocks() - 1 : 0, back ? -1 : 1, f);
    if (++report.iterations % between_looks != 0 && report.iterations < most) continue;
    report.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_);
    if (!tolerance.met(report.residual)) continue;
    report.status = SolveStatus::Converged;
    break;
  }
  return report;
}

}  // namespace tribo
