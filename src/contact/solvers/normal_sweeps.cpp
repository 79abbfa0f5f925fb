#include "contact/solvers/normal_sweeps.hpp"

#include <algorithm>
#include <cstring>

#include "contact/factor.hpp"
#include "contact/solvers/solvers.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

constexpr int between_looks = 8;  // sweeps: the judge costs as much as one

using Pack4 [[gnu::vector_size(32)]] = double;
using Pack2 [[gnu::vector_size(16)]] = double;

// Six numbers in a row: of a free body.
[[gnu::always_inline]] inline double dot_6(const double* y, const double* w) {
  Pack4 a, b;
  Pack2 c, d;
  std::memcpy(&a, y, sizeof(Pack4));
  std::memcpy(&b, w, sizeof(Pack4));
  std::memcpy(&c, y + 4, sizeof(Pack2));
  std::memcpy(&d, w + 4, sizeof(Pack2));
  a *= b;
  c *= d;
  return ((a[0] + a[2]) + (a[1] + a[3])) + (c[0] + c[1]);
}

[[gnu::always_inline]] inline void add_scaled_6(const double* y, double x, double* w) {
  Pack4 a, b;
  Pack2 c, d;
  std::memcpy(&a, y, sizeof(Pack4));
  std::memcpy(&b, w, sizeof(Pack4));
  std::memcpy(&c, y + 4, sizeof(Pack2));
  std::memcpy(&d, w + 4, sizeof(Pack2));
  b += x * a;
  d += x * c;
  std::memcpy(w, &b, sizeof(Pack4));
  std::memcpy(w + 4, &d, sizeof(Pack2));
}

// What a sweep reads, as plain pointers.
struct Rows {
  const FactorBlock* blocks;
  const int *start, *index, *first;
  const double *y, *g, *R, *diagonal, *lower, *upper;
  int contacts;
};

[[gnu::always_inline]] inline double speed(const Rows& x, int i, const double* w) {
  double c = 0;
  for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
    const FactorBlock& b = x.blocks[s];
    const int* index = x.index + b.index;
    const double* y = x.y + x.first[s];
    if (b.depth == 6 && index[5] == index[0] + 5) {
      c += dot_6(y, w + index[0]);
    } else {
      for (int k = 0; k < b.depth; ++k) c += y[k] * w[index[k]];
    }
  }
  return c;
}

// What the sweeps themselves know of the velocities along normals and rows.
TRIBO_CLONES void speeds(Rows x, int blocks, const double* f, const double* w, double* c) {
  for (int i = 0; i < blocks; ++i) {
    const int row = i - x.contacts, o = row < 0 ? 3 * i + 2 : 3 * x.contacts + row;
    c[o] = x.g[o] + x.R[o] * f[o] + speed(x, i, w);
  }
}

// (normal.1)
TRIBO_CLONES void sweep_rows(Rows x, const int* chosen, int count, int step, double* f, double* w) {
  for (int n = 0; n < count; ++n, chosen += step) {
    const int i = *chosen, row = i - x.contacts, o = row < 0 ? 3 * i + 2 : 3 * x.contacts + row;
    const double c = x.g[o] + x.R[o] * f[o] + speed(x, i, w);
    double force = f[o] - c / x.diagonal[o];
    if (row < 0)
      force = force > 0 ? force : 0;
    else
      force = force < x.lower[row] ? x.lower[row] : force > x.upper[row] ? x.upper[row] : force;
    const double change = force - f[o];
    if (change == 0) continue;
    f[o] += change;
    for (int s = x.start[i]; s < x.start[i + 1]; ++s) {
      const FactorBlock& b = x.blocks[s];
      const int* index = x.index + b.index;
      const double* y = x.y + x.first[s];
      if (b.depth == 6 && index[5] == index[0] + 5) {
        add_scaled_6(y, change, w + index[0]);
      } else {
        for (int k = 0; k < b.depth; ++k) w[index[k]] += y[k] * change;
      }
    }
  }
}

}  // namespace

void NormalSweeps::gather(const ContactProblem& problem) {
  const ContactFactor& factor = problem.factor;
  y_.clear();
  first_.resize(factor.blocks.size());
  for (int i = 0; i < problem.blocks(); ++i) {
    const int stride = i < problem.nc() ? 3 : 1, row = stride - 1;
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      const double* y = factor.y.data() + b.first + row;
      first_[at(s)] = static_cast<int>(y_.size());
      for (int k = 0; k < b.depth; ++k) y_.push_back(y[stride * k]);
    }
  }
}

// All that presses or shall; the others are looked at between.
void NormalSweeps::choose(const ContactProblem& problem, const VecRef& f) {
  chosen_.clear();
  for (int i = 0; i < problem.blocks(); ++i) {
    const int o = i < problem.nc() ? 3 * i + 2 : problem.offset(i);
    if (!(diagonal_[o] > 0)) continue;  // nothing moves it
    if (i >= problem.nc() || f[o] > 0 || c_[o] < 0) chosen_.push_back(i);
  }
}

// done: looks at c_, now and then.
template <class Done>
void NormalSweeps::sweep(const ContactProblem& problem, int most, VecRef f, SolveReport& report, Done&& done) {
  w_.resize(problem.factor.nw);
  to_bodies(problem, f.data(), w_.data());
  diagonal_.resize(problem.size());
  problem.diagonal(diagonal_.data());
  for (int i = 0; i < problem.size(); ++i) diagonal_[i] += problem.R()[i];
  c_.setZero(problem.size());  // without friction it does not matter how fast a contact slides
  gather(problem);
  const ContactFactor& factor = problem.factor;
  const Rows rows{factor.blocks.data(),   factor.start.data(), factor.index.data(),
                  first_.data(),          y_.data(),           problem.g().data(),
                  problem.R().data(),     diagonal_.data(),    problem.lower().data(),
                  problem.upper().data(), problem.nc()};
  report.status = SolveStatus::IterationLimit;
  while (report.iterations < most) {
    if (report.iterations % between_looks == 0) {
      speeds(rows, problem.blocks(), f.data(), w_.data(), c_.data());
      if (report.iterations > 0 && done()) break;
      choose(problem, f);
    }
    const bool back = ++report.iterations % 2 == 0;
    if (chosen_.empty()) continue;
    sweep_rows(rows, back ? &chosen_.back() : chosen_.data(), static_cast<int>(chosen_.size()), back ? -1 : 1, f.data(),
               w_.data());
  }
  speeds(rows, problem.blocks(), f.data(), w_.data(), c_.data());
}

SolveReport NormalSweeps::solve(const ContactProblem& problem, const Tolerance& tolerance, int most, VecRef f) {
  SolveReport report;
  sweep(problem, most, f, report,
        [&] { return tolerance.met(judge(problem, ContactModel::Ncp, f.data(), c_.data())); });
  report.residual = judge_afresh(problem, ContactModel::Ncp, f.data(), c_);
  if (tolerance.met(report.residual)) report.status = SolveStatus::Converged;
  return report;
}

SolveReport NormalSweeps::solve_to(const ContactProblem& problem, double off, int most, VecRef f) {
  SolveReport report;
  sweep(problem, most, f, report, [&] { return worst(problem, f) <= off; });
  if (worst(problem, f) <= off) report.status = SolveStatus::Converged;
  return report;
}

// What shall vanish, and what has the wrong sign.
double NormalSweeps::worst(const ContactProblem& problem, const VecRef& f) const {
  double most = 0;
  for (int i = 0; i < problem.blocks(); ++i) {
    const int j = i - problem.nc(), o = j < 0 ? 3 * i + 2 : problem.offset(i);
    if (!(diagonal_[o] > 0)) continue;  // nothing moves it
    const bool up = j < 0 || f[o]<problem.upper()[j], down = f[o]>(j < 0 ? 0 : problem.lower()[j]);
    most = std::max({most, up ? -c_[o] : 0, down ? c_[o] : 0});
  }
  return most;
}

}  // namespace tribo
