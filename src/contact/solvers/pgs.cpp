// Projected Gauss-Seidel on the nonlinear complementarity problem.
//   for each contact i:   c_i = ((G + R) f + g)_i                                       (pgs.1)
//     f_N <- max(0, f_N - c_N / G_NN)                                                   (pgs.2)
//     f_T <- project onto the disc of radius mu f_N:  f_T - c_T / (largest eigenvalue of G_TT)   (pgs.3)
//   for each row j:       f_j <- clamp(f_j - c_j / G_jj, lower, upper)                  (pgs.4)
// [LeLidec2024, alg. 6]. Departs from it: c_T is renewed after (pgs.2); the tangential step is the inverse of the largest
// eigenvalue, where the paper's min(G_xx, G_yy) overshoots when the block is far from isotropic; the order of the
// blocks turns after each sweep; the residual is recomputed, not gathered within the sweep.
// Without a dense G the sweep works on whitened velocities w = Y^T f: memory and time linear in the contacts.
#include <cmath>

#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Pgs final : public ContactSolver {
 public:
  explicit Pgs(const SolverOptions& options) : options_(options) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (problem.size() == 0) return report;
    prepare(problem, f);
    report.status = SolveStatus::IterationLimit;
    report.residual = judge_afresh(problem, options_.model, f.data(), c_);
    if (tolerance.met(report.residual)) {
      report.status = SolveStatus::Converged;
      return report;
    }
    int until_judged = 1;
    for (int k = 1; k <= options_.max_iterations; ++k) {
      const double change = sweep(problem, f, k % 2 == 1);
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
  void prepare(const ContactProblem& problem, VecRef f) {
    diagonal_.resize(9 * problem.nc() + problem.nr());
    step_.resize(problem.nc());
    if (!problem.dense()) w_.setZero(problem.factor.nw);
    for (int i = 0; i < problem.blocks(); ++i) {
      const int rows = problem.block_size(i), o = problem.offset(i);
      Eigen::Map<MatX> D(block(problem, i), rows, rows);
      if (problem.dense()) {
        for (int a = 0; a < rows; ++a)
          for (int b = 0; b < rows; ++b) D(a, b) = problem.G()(o + a, o + b);
      } else {
        D.setZero();
        gather(problem, i, D);
        scatter(problem, i, f.data() + o);
      }
      for (int a = 0; a < rows; ++a) D(a, a) += problem.R()[o + a];
      if (rows == 3) {
        const double mean = 0.5 * (D(0, 0) + D(1, 1)), half = 0.5 * (D(0, 0) - D(1, 1));
        step_[i] = 1.0 / std::max(mean + std::hypot(half, D(0, 1)), 1e-300);
      }
    }
  }

  double* block(const ContactProblem& problem, int i) {
    return diagonal_.data() + (i < problem.nc() ? 9 * i : 8 * problem.nc() + i);
  }

  // D += the block's own Y Y^T, cross terms of two sides in one tree included.
  void gather(const ContactProblem& problem, int i, Eigen::Map<MatX>& D) {
    const ContactFactor& factor = problem.factor;
    const int rows = problem.block_size(i);
    for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s)
      for (int t = factor.start[at(i)]; t < factor.start[at(i + 1)]; ++t) {
        const FactorBlock &a = factor.blocks[at(s)], &b = factor.blocks[at(t)];
        for (int k = 0; k < std::min(a.depth, b.depth); ++k) {
          if (factor.index[at(a.index + k)] != factor.index[at(b.index + k)]) break;
          for (int r = 0; r < rows; ++r)
            for (int q = 0; q < rows; ++q)
              D(r, q) += factor.y[at(a.first + rows * k + r)] * factor.y[at(b.first + rows * k + q)];
        }
      }
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

  void velocity(const ContactProblem& problem, const VecRef& f, int i, double* c) {  // (pgs.1)
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
        for (int r = 0; r < rows; ++r)
          c[r] += factor.y[at(b.first + rows * k + r)] * w_[factor.index[at(b.index + k)]];
    }
  }

  double sweep(const ContactProblem& problem, VecRef f, bool forward) {
    double change = 0;
    const int nb = problem.blocks();
    for (int b = 0; b < nb; ++b) {
      const int i = forward ? b : nb - 1 - b;
      const int o = problem.offset(i);
      double c[3], df[3] = {0, 0, 0};
      velocity(problem, f, i, c);
      const double* D = block(problem, i);
      if (i < problem.nc()) {
        const double n = D[8] > 0 ? std::max(0.0, f[o + 2] - c[2] / D[8]) : f[o + 2];  // (pgs.2)
        df[2] = n - f[o + 2];
        double x = f[o] - step_[i] * (c[0] + D[6] * df[2]);
        double y = f[o + 1] - step_[i] * (c[1] + D[7] * df[2]);
        const double t = std::hypot(x, y), bound = problem.mu()[i] * n;
        if (t > bound) {  // (pgs.3)
          x *= bound / t;
          y *= bound / t;
        }
        df[0] = x - f[o];
        df[1] = y - f[o + 1];
      } else if (D[0] > 0) {
        const int j = i - problem.nc();
        df[0] = std::clamp(f[o] - c[0] / D[0], problem.lower()[j], problem.upper()[j]) - f[o];  // (pgs.4)
      }
      for (int r = 0; r < problem.block_size(i); ++r) {
        f[o + r] += df[r];
        change = std::max(change, std::abs(df[r]));
      }
      if (!problem.dense()) scatter(problem, i, df);
    }
    return change;
  }

  SolverOptions options_;
  VectorBuffer diagonal_, step_, c_, w_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_pgs(const SolverOptions& options) { return std::make_unique<Pgs>(options); }

}  // namespace tribo
