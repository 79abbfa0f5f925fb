// ADMM on the contact problem: (admm.1) to (admm.4) of admm_core.hpp with x the forces, the cones and boxes for the set.
//   CCP   b = g                                                                                    (admm.5)
//   NCP   b = g + Gamma(c),  c + Gamma(c) = -y, so Gamma = mu |y_T| on the normal, renewed each time   (admm.6)
// [LeLidec2024, alg. 3; Carpentier2024 for the shift]. Departs from them: the unknowns of a contact are divided by the
// root of its block's mean diagonal, which leaves the cones as they are and takes most of a mass ratio out of the
// spectrum. Warm start: z from the guess, y from c at the guess.
// Where G is no matrix but a factor, (admm.1) is solved on velocities: with the scales S and f = S x
//   (S (G + R) S + s) x = r   as   f + D G f = D S^-1 r,   D = (R + s S^-2)^-1, by (block.1)                  (admm.7)
#include "contact/block_system.hpp"
#include "contact/diagonal_block.hpp"
#include "contact/solvers/admm_core.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

// S (G + R) S of a problem by its factor (admm.7).
class ScaledProblem final : public AdmmOperator {
 public:
  void set(const ContactProblem& problem, const VectorBuffer& scale) {
    problem_ = &problem;
    scale_ = scale.data();
    work_.resize(problem.size());
    system_.analyse(problem);
  }
  double trace() const override {
    double sum = 0;
    for (int i = 0; i < problem_->blocks(); ++i) {
      const int rows = problem_->block_size(i), o = problem_->offset(i);
      double D[9];
      diagonal_block(*problem_, i, D);
      for (int r = 0; r < rows; ++r) sum += scale_[o + r] * scale_[o + r] * D[(rows + 1) * r];
    }
    return sum;
  }
  void multiply(const double* x, double* y) override {
    const int n = problem_->size();
    for (int i = 0; i < n; ++i) work_[i] = scale_[i] * x[i];
    problem_->multiply(work_.data(), y);
    for (int i = 0; i < n; ++i) y[i] = scale_[i] * (y[i] + problem_->R()[i] * work_[i]);
  }
  bool factor(double shift) override {
    const int nc = problem_->nc();
    D_.setZero(D_size(*problem_));
    for (int i = 0; i < problem_->size(); ++i)
      D_[i < 3 * nc ? 9 * (i / 3) + 4 * (i % 3) : 6 * nc + i] =
          1 / (problem_->R()[i] + shift / (scale_[i] * scale_[i]));
    return system_.factor(*problem_, D_.data());
  }
  void solve(double* x) override {
    const int n = problem_->size(), nc = problem_->nc();
    for (int i = 0; i < n; ++i) x[i] *= D_[i < 3 * nc ? 9 * (i / 3) + 4 * (i % 3) : 6 * nc + i] / scale_[i];
    system_.solve(*problem_, D_.data(), x);
    for (int i = 0; i < n; ++i) x[i] /= scale_[i];
  }

 private:
  const ContactProblem* problem_ = nullptr;
  const double* scale_ = nullptr;
  BlockSystem system_;
  VectorBuffer D_, work_;
};

class Admm final : public ContactSolver {
 public:
  explicit Admm(const SolverOptions& options) : options_(options) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (problem.size() == 0) return report;
    if (!usable(problem, f)) return refused();
    report.residual = judge_afresh(problem, options_.model, f.data(), c_);
    if (tolerance.met(report.residual)) return report;
    report.status = SolveStatus::IterationLimit;
    prepare(problem, f);
    double least = report.residual.relative();
    best_.resize(problem.size());
    best_.map() = f;
    int until_judged = 1;
    for (int k = 1; k <= options_.max_iterations; ++k) {
      report.iterations = k;
      if (!iterate(problem)) {
        report.status = SolveStatus::Stalled;
        break;
      }
      if (--until_judged > 0 && !options_.trace && k < options_.max_iterations) continue;
      until_judged = std::min(1 + k / 8, 16);
      f = scale_.map().cwiseProduct(core_.z().map());
      const Residual residual = judge_afresh(problem, options_.model, f.data(), c_);
      if (options_.trace) options_.trace->push_back(residual.absolute());
      if (residual.relative() < least) {
        least = residual.relative();
        report.residual = residual;
        best_.map() = f;
      }
      if (tolerance.met(residual)) {
        report.residual = residual;
        report.status = SolveStatus::Converged;
        return report;
      }
      const double still = 1e-6 * options_.stall * std::max(core_.z().map().cwiseAbs().maxCoeff(), 1e-300);
      if (core_.change() < still && core_.gap() < still) {
        report.status = SolveStatus::Stalled;
        break;
      }
    }
    f = best_.map();
    return report;
  }

 private:
  void prepare(const ContactProblem& problem, const VecRef& f) {
    const int n = problem.size();
    scale_.resize(n);
    b_.resize(n);
    for (int i = 0; i < problem.blocks(); ++i) {
      const int rows = problem.block_size(i), o = problem.offset(i);
      double D[9], trace = 0;
      diagonal_block(problem, i, D);
      for (int r = 0; r < rows; ++r) trace += D[(rows + 1) * r];
      for (int r = 0; r < rows; ++r) scale_[o + r] = trace > 0 ? std::sqrt(rows / trace) : 1.0;
    }
    if (problem.dense()) {
      auto A = core_.matrix(n);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) A(i, j) = scale_[i] * scale_[j] * problem.G()(i, j);
      for (int i = 0; i < n; ++i) A(i, i) += scale_[i] * scale_[i] * problem.R()[i];
    } else {
      scaled_.set(problem, scale_);
      core_.use(scaled_, n);
    }
    for (int i = 0; i < n; ++i) {
      b_[i] = scale_[i] * problem.g()[i];
      core_.z()[i] = f[i] / scale_[i];
      core_.y()[i] = -scale_[i] * c_[i];  // c_ of the guess, from the first judgement
    }
    if (options_.model == ContactModel::Ncp)
      for (int i = 0; i < problem.nc(); ++i) core_.y()[3 * i + 2] -= shift(problem, i);
    core_.prepare();
    project(problem, core_.z().data());
    core_.start();
  }

  double shift(const ContactProblem& problem, int i) {  // (admm.6)
    return problem.mu()[i] * std::hypot(core_.y()[3 * i], core_.y()[3 * i + 1]);
  }

  bool iterate(const ContactProblem& problem) {
    if (options_.model == ContactModel::Ncp)
      for (int i = 0; i < problem.nc(); ++i)
        b_[3 * i + 2] = scale_[3 * i + 2] * problem.g()[3 * i + 2] + shift(problem, i);
    return core_.step(b_.data(), [&](double* z) { project(problem, z); });
  }

  void project(const ContactProblem& problem, double* z) const {
    for (int i = 0; i < problem.nc(); ++i)
      Eigen::Map<Vec3>(z + 3 * i) = project_cone(Eigen::Map<Vec3>(z + 3 * i), problem.mu()[i]);
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      z[o] = std::clamp(z[o], problem.lower()[j] / scale_[o], problem.upper()[j] / scale_[o]);
    }
  }

  SolverOptions options_;
  ScaledProblem scaled_;
  AdmmCore core_;
  VectorBuffer scale_, b_, c_, best_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_admm(const SolverOptions& options) { return std::make_unique<Admm>(options); }

}  // namespace tribo
