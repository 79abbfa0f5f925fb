// Gauss-Seidel over contacts and rows: what PGS and the per-contact bisection share.
//   for each contact i:   c_i = ((G + R) f + g)_i,   f_i <- f_i + w (update(c_i, f_i) - f_i)       (sweep.1)
//   for each row j:       f_j <- clamp(f_j - c_j / G_jj, lower, upper), relaxed by w as well       (sweep.2)
//   for each disc D:      f_D <- project onto |f_D| <= r f_N:  f_D - c_D / (size x largest G_jj)   (sweep.3)
// The order of the blocks turns after each sweep. The residual is recomputed from f, never gathered within a sweep.
// Without a dense G the sweep works on whitened velocities w = Y^T f: memory and time linear in the contacts.
//
// An Update has
//   double prepare(const double* D, double mu)     what the update needs of its block D of G + R, in one number
//   Vec3 operator()(const Block&, const Vec3& c, const Vec3& f)     the new force
//   double relaxation(int k)                       w in sweep k = 1, 2, …
#pragma once

#include <cmath>

#include "contact/diagonal_block.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {

struct SweepBlock {
  const double* D;  ///< 3 x 3, symmetric
  double prepared;
  double mu;
};

template <class Update>
class Sweep final : public ContactSolver {
 public:
  explicit Sweep(const SolverOptions& options, const Update& update = {}) : options_(options), update_(update) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (problem.size() == 0) return report;
    if (!usable(problem, f)) return refused();
    prepare(problem, f);
    report.status = SolveStatus::IterationLimit;
    report.residual = judge_afresh(problem, options_.model, f.data(), c_);
    if (tolerance.met(report.residual)) {
      report.status = SolveStatus::Converged;
      return report;
    }
    int until_judged = 1;
    for (int k = 1; k <= options_.max_iterations; ++k) {
      const double relaxation = update_.relaxation(k);
      const double change = sweep(problem, f, k % 2 == 1, relaxation) / relaxation;
      report.iterations = k;
      if (--until_judged > 0 && !options_.trace && k < options_.max_iterations) continue;
      until_judged = std::min(1 + k / 8, 16);  // the judge costs as much as a sweep
      report.residual = judge_afresh(problem, options_.model, f.data(), c_);
      if (options_.trace) options_.trace->push_back(report.residual.absolute());
      if (tolerance.met(report.residual)) {
        report.status = SolveStatus::Converged;
        break;
      }
      if (change < options_.stall * 1e-6 * report.residual.force_scale) {
        report.status = SolveStatus::Stalled;
        break;
      }
    }
    return report;
  }

 private:
  // Diagonal blocks with R, and w = Y^T f where there is no dense G.
  void prepare(const ContactProblem& problem, const VecRef& f) {
    diagonal_.resize(9 * problem.nc() + problem.nr());
    prepared_.resize(problem.nc());
    if (!problem.dense()) w_.setZero(problem.factor.nw);
    for (int i = 0; i < problem.blocks(); ++i) {
      diagonal_block(problem, i, block(problem, i));
      if (!problem.dense()) scatter(problem, i, f.data() + problem.offset(i));
      if (i < problem.nc()) prepared_[i] = update_.prepare(block(problem, i), problem.mu()[i]);
    }
    disc_of_.assign(static_cast<std::size_t>(problem.nr()), nullptr);
    for (const FrictionDisc& disc : problem.discs)
      for (int k = 0; k < disc.size; ++k) disc_of_[at(disc.row + k)] = &disc;
  }

  double* block(const ContactProblem& problem, int i) {
    return diagonal_.data() + (i < problem.nc() ? 9 * i : 8 * problem.nc() + i);
  }

  void scatter(const ContactProblem& problem, int i, const double* df) {
    const ContactFactor& factor = problem.factor;
    const int rows = problem.block_size(i);
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r)
          w_[factor.index[at(b.index + k)]] += factor.y[at(b.first + rows * k + r)] * df[r];
    }
  }

  void velocity(const ContactProblem& problem, const VecRef& f, int i, double* c) {
    const int rows = problem.block_size(i), o = problem.offset(i);
    for (int r = 0; r < rows; ++r) c[r] = problem.g()[o + r] + problem.R()[o + r] * f[o + r];
    if (problem.dense()) {
      const double* G = problem.G().data() + static_cast<std::ptrdiff_t>(o) * problem.size();
      for (int r = 0; r < rows; ++r, G += problem.size())  // G is symmetric: its columns are its rows
        c[r] += Eigen::Map<const VecX>(G, problem.size()).dot(f);
      return;
    }
    const ContactFactor& factor = problem.factor;
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
      const FactorBlock& b = factor.blocks[at(s)];
      for (int k = 0; k < b.depth; ++k)
        for (int r = 0; r < rows; ++r) c[r] += factor.y[at(b.first + rows * k + r)] * w_[factor.index[at(b.index + k)]];
    }
  }

  // Of a row that no force moves: the bound that c asks for, where there is one.
  static double bound(const ContactProblem& problem, int j, double c, double f) {
    const double wanted = c > 0 ? problem.lower()[j] : c < 0 ? problem.upper()[j] : f;
    return std::isfinite(wanted) ? wanted : f;
  }

  // (sweep.3); returns the largest change.
  double turn(const ContactProblem& problem, const FrictionDisc& disc, double relaxation, VecRef f) {
    const int i = problem.nc() + disc.row, o = problem.offset(i);
    double y[2] = {0, 0}, largest = 0;
    for (int k = 0; k < disc.size; ++k) largest = std::max(largest, *block(problem, i + k));
    for (int k = 0; k < disc.size; ++k) {
      double c = 0;
      velocity(problem, f, i + k, &c);
      y[k] = largest > 0 ? f[o + k] - c / (disc.size * largest) : f[o + k];
    }
    const double bound = disc.length * std::max(f[3 * disc.contact + 2], 0.0);
    const double length = std::sqrt(y[0] * y[0] + y[1] * y[1]), share = length > bound ? bound / length : 1;
    double change = 0;
    for (int k = 0; k < disc.size; ++k) {
      const double df = relaxation * (share * y[k] - f[o + k]);
      f[o + k] += df;
      change = std::max(change, std::abs(df));
      if (!problem.dense()) scatter(problem, i + k, &df);
    }
    return change;
  }

  double sweep(const ContactProblem& problem, VecRef f, bool forward, double relaxation) {
    double change = 0;
    const int nb = problem.blocks();
    for (int b = 0; b < nb; ++b) {
      const int i = forward ? b : nb - 1 - b;
      const int o = problem.offset(i);
      if (const FrictionDisc* disc = i < problem.nc() ? nullptr : disc_of_[at(i - problem.nc())]) {
        if (i - problem.nc() == disc->row) change = std::max(change, turn(problem, *disc, relaxation, f));
        continue;
      }
      Vec3 c = Vec3::Zero(), df = Vec3::Zero();
      velocity(problem, f, i, c.data());
      const double* D = block(problem, i);
      if (i < problem.nc()) {
        const Vec3 before = f.segment<3>(o);
        df = relaxation * (update_(SweepBlock{D, prepared_[i], problem.mu()[i]}, c, before) - before);  // (sweep.1)
      } else {
        const int j = i - problem.nc();
        const double goal = D[0] > 0 ? f[o] - c[0] / D[0] : bound(problem, j, c[0], f[o]);
        df[0] = relaxation * (std::clamp(goal, problem.lower()[j], problem.upper()[j]) - f[o]);  // (sweep.2)
      }
      for (int r = 0; r < problem.block_size(i); ++r) {
        f[o + r] += df[r];
        change = std::max(change, std::abs(df[r]));
      }
      if (!problem.dense()) scatter(problem, i, df.data());
    }
    return change;
  }

  SolverOptions options_;
  Update update_;
  VectorBuffer diagonal_, prepared_, c_, w_;
  std::vector<const FrictionDisc*> disc_of_;  // by row
};

}  // namespace tribo
