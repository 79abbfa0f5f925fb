// Staggered projections [LeLidec2024, alg. 7; Kaufman2008]: two convex problems that feed each other.
//   f_N, rows <- min 1/2 x^T A_NN x + (g_N + A_NT f_T)^T x,   x_N >= 0, rows in their bounds          (staggered.1)
//   f_T <- min 1/2 x^T A_TT x + (g_T + A_TN f_N)^T x,   |x_i| <= mu_i f_N,i                           (staggered.2)
// with A = G + R; the disc for the NCP, the square for the LCP. In line 2 of the paper's algorithm g_T is a misprint
// for g_N. Boxes: a proximal step a pass, from the forces x- of the pass before,
//   min 1/2 x^T A x + b^T x + 1/2 sigma |x - x-|^2,   sigma = 1e-6 of the diagonal                    (staggered.3)
// solved exactly by pivoting (box_qp.hpp). Where A is singular this picks the forces nearest to x-. In the first pass x- is 0, so
// they begin with the least norm: no internal forces. The passes end at the optimum of (staggered.1) itself. With `pivoting` sigma is 0: forces are those of
// a vertex. Discs: by ADMM (admm_core.hpp) with at most 300 iterations
// a pass, its multipliers kept from pass to pass; so the accuracy of (staggered.2) grows as the passes converge. The
// iteration may cycle (large mu, strong coupling): Stalled, with the best point seen. Dense problems only.
#include <cmath>

#include "contact/solvers/admm_core.hpp"
#include "contact/solvers/box_qp.hpp"
#include "contact/solvers/solvers.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

constexpr double pivots_a_pass = 10;      // allowed, on the mean
constexpr double staggered_sigma = 1e-6;  // sigma of (staggered.3), of the diagonal

class Staggered final : public ContactSolver {
 public:
  explicit Staggered(const SolverOptions& options)
      : options_(options),
        share_(options.own.taken<StaggeredOptions>("solver 'staggered'").subproblems == SubproblemSolve::Proximal
                   ? staggered_sigma
                   : 0) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (settled(problem, options_.model, tolerance, f, c_, report)) return report;
    prepare(problem, f);
    report.status = SolveStatus::IterationLimit;
    double least = report.residual.relative(), milestone = least;
    int since = 0, rises = 0;
    pivots_ = 0;
    double previous = least;
    for (int k = 1; k <= options_.max_iterations; ++k) {
      report.iterations = k;
      if (pivots_ > pivots_a_pass * options_.max_iterations) break;
      centre_ = k > 1 ? 1 : 0;
      const auto outcome = normal_pass(problem, rises > 5 ? 0.5 : 1.0);
      if (outcome != BoxQp::Outcome::Solved || !tangential_pass(problem)) {
        report.status = outcome == BoxQp::Outcome::Unbounded ? SolveStatus::Infeasible : SolveStatus::Stalled;
        break;
      }
      const Residual residual = judge_afresh(problem, options_.model, x_.data(), c_);
      if (options_.trace) options_.trace->push_back(residual.absolute());
      if (residual.relative() < least) {
        least = residual.relative();
        report.residual = residual;
        f = x_.map();
      }
      if (tolerance.met(residual)) {
        report.residual = residual;
        f = x_.map();
        report.status = SolveStatus::Converged;
        break;
      }
      rises += residual.relative() > previous;
      previous = residual.relative();
      since = least < 0.5 * milestone ? 0 : since + 1;
      if (since == 0) milestone = least;
      if (since > 500) {
        report.status = SolveStatus::Stalled;
        break;
      }
    }
    return report;
  }

 private:
  // Unknowns of the two problems: normals and rows; both tangents of each contact.
  static int normal_index(const ContactProblem& problem, int a) {
    return a < problem.nc() ? 3 * a + 2 : 2 * problem.nc() + a;
  }
  static int tangent_index(int a) { return 3 * (a / 2) + a % 2; }

  void prepare(const ContactProblem& problem, const VecRef& f) {
    const int nn = problem.blocks(), nt = 2 * problem.nc();
    x_.resize(problem.size());
    x_.map() = f;
    A_.resize(nn, nn);
    for (VectorBuffer* buffer : {&b_, &part_, &lower_, &upper_}) buffer->resize(std::max(nn, nt));
    for (int b = 0; b < nn; ++b)
      for (int a = 0; a < nn; ++a) A_.map()(a, b) = entry(problem, normal_index(problem, a), normal_index(problem, b));
    sigma_.resize(nn);
    for (int a = 0; a < nn; ++a) {
      sigma_[a] = share_ * A_.map()(a, a);
      A_.map()(a, a) += sigma_[a];
    }
    disc_ = options_.model == ContactModel::Ncp;
    scale_.resize(problem.nc());
    for (int i = 0; i < problem.nc(); ++i) {
      const double trace = entry(problem, 3 * i, 3 * i) + entry(problem, 3 * i + 1, 3 * i + 1);
      scale_[i] = disc_ && trace > 0 ? std::sqrt(2 / trace) : 1;
    }
    T_.resize(nt, nt);
    auto T = disc_ ? admm_.matrix(nt) : T_.map();
    for (int b = 0; b < nt; ++b)
      for (int a = 0; a < nt; ++a)
        T(a, b) = scale_[a / 2] * scale_[b / 2] * entry(problem, tangent_index(a), tangent_index(b));
    for (int a = 0; a < nt && !disc_; ++a) T(a, a) *= 1 + share_;
    if (!disc_ || nt == 0) return;
    admm_.prepare();
    for (int a = 0; a < nt; ++a) {
      admm_.z()[a] = share_ > 0 ? 0 : f[tangent_index(a)] / scale_[a / 2];  // nothing: what it adds has the least norm
      admm_.y()[a] = -c_[tangent_index(a)] * scale_[a / 2];
    }
    admm_.start();
  }

  static double entry(const ContactProblem& problem, int i, int j) {
    return problem.G()(i, j) + (i == j ? problem.R()[i] : 0.0);
  }

  BoxQp::Outcome normal_pass(const ContactProblem& problem, double share) {  // (staggered.1)
    const int nn = problem.blocks();
    for (int a = 0; a < nn; ++a) {
      const int i = normal_index(problem, a);
      const double* row = problem.G().data() + static_cast<std::ptrdiff_t>(i) * problem.size();
      b_[a] = problem.g()[i];
      for (int t = 0; t < 2 * problem.nc(); ++t) b_[a] += row[tangent_index(t)] * x_[tangent_index(t)];
      lower_[a] = a < problem.nc() ? 0 : problem.lower()[a - problem.nc()];
      upper_[a] = a < problem.nc() ? std::numeric_limits<double>::infinity() : problem.upper()[a - problem.nc()];
      part_[a] = x_[i];
      b_[a] -= sigma_[a] * centre_ * x_[i];  // (staggered.3)
    }
    const auto outcome = normal_.solve(A_.data(), nn, b_.data(), lower_.data(), upper_.data(), part_.data());
    pivots_ += normal_.pivots();
    for (int a = 0; a < nn; ++a) {
      double& x = x_[normal_index(problem, a)];
      x = a < problem.nc() ? share * part_[a] + (1 - share) * x : part_[a];
    }
    return outcome;
  }

  bool tangential_pass(const ContactProblem& problem) {  // (staggered.2)
    const int nt = 2 * problem.nc();
    if (nt == 0) return true;
    for (int a = 0; a < nt; ++a) {
      const int i = tangent_index(a);
      const double* row = problem.G().data() + static_cast<std::ptrdiff_t>(i) * problem.size();
      b_[a] = problem.g()[i];
      for (int k = 0; k < problem.blocks(); ++k) b_[a] += row[normal_index(problem, k)] * x_[normal_index(problem, k)];
      b_[a] *= scale_[a / 2];
      upper_[a] = problem.mu()[a / 2] * std::max(x_[3 * (a / 2) + 2], 0.0) / scale_[a / 2];
      lower_[a] = -upper_[a];
      part_[a] = std::clamp(x_[i] / scale_[a / 2], lower_[a], upper_[a]);
      if (!disc_) b_[a] -= centre_ * share_ / (1 + share_) * T_.map()(a, a) * x_[i];  // (staggered.3), unscaled here
    }
    if (disc_) {
      if (!discs(problem.nc())) return false;
    } else {
      const auto outcome = tangential_.solve(T_.data(), nt, b_.data(), lower_.data(), upper_.data(), part_.data());
      pivots_ += tangential_.pivots();
      if (outcome != BoxQp::Outcome::Solved) return false;
    }
    for (int a = 0; a < nt; ++a) x_[tangent_index(a)] = scale_[a / 2] * part_[a];
    return true;
  }

  bool discs(int nc) {
    const auto project = [&](double* z) {
      for (int i = 0; i < nc; ++i) {
        const double t = std::hypot(z[2 * i], z[2 * i + 1]);
        const double shorter = t > upper_[2 * i] ? upper_[2 * i] / t : 1;
        z[2 * i] *= shorter;
        z[2 * i + 1] *= shorter;
      }
    };
    for (int k = 0; k < 300; ++k) {
      if (!admm_.step(b_.data(), project)) return false;
      const double still = 1e-13 * admm_.z().map().cwiseAbs().maxCoeff();
      if (admm_.change() <= still && admm_.gap() <= still) break;
    }
    part_.resize(2 * nc);
    part_.map() = admm_.z().map();
    return true;
  }

  SolverOptions options_;
  BoxQp normal_, tangential_;
  int pivots_ = 0;
  AdmmCore admm_;
  bool disc_ = true;
  MatrixBuffer A_, T_;
  VectorBuffer x_, b_, part_, lower_, upper_, scale_, sigma_, c_;
  double share_;       // sigma over the diagonal
  double centre_ = 0;  // of (staggered.3): 0 for nothing, 1 for x-
};

}  // namespace

OptionTable staggered_options() {
  FieldTable<StaggeredOptions> table;
  table.add("subproblems", &StaggeredOptions::subproblems,
            {{"proximal", SubproblemSolve::Proximal}, {"pivoting", SubproblemSolve::Pivoting}},
            "forces that are not unique: those nearest to the last ones, or those of a vertex");
  return table;
}

std::unique_ptr<ContactSolver> make_staggered(const SolverOptions& options) {
  return std::make_unique<Staggered>(options);
}

}  // namespace tribo
