// Dantzig's principal pivoting for the LCP with a four-sided pyramid [Baraff1994; LeLidec2024, sec. III-A].
// The bounds of friction are held while the box (box_qp.1) is solved exactly, then renewed from the new normal forces:
//   |f_x| <= b_x,   b_x <- mu f_N, less and less of the way where that does not help               (dantzig.1)
// Once the sides of all unknowns repeat, they are kept and the friction at its bound is tied to the normal force,
//   c_i = 0 for i free,  f_t = +-mu f_N for t at its bound                                         (dantzig.2)
// one linear solve that ends the iteration exactly. Departs from Baraff: he updates the bounds while pivoting, which
// may leave earlier friction beyond its bound; here the judge decides, and a cycle of (dantzig.1) is told as Stalled.
// Where G is singular and pivoting does not end (and subproblems is not "pivoting"), each pass is a proximal step from the forces x- of the one before,
//   A + sigma for A,  g - sigma x- for g,  sigma = 1e-6 of the diagonal                             (dantzig.3)
// Cap and report count the passes of (dantzig.1). Rows are boxes. No bound on some row and
// no force that stops it: Infeasible. Dense problems only.
#include <cmath>

#include "contact/solvers/box_qp.hpp"
#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

using Side = BoxQp::Side;

constexpr double proximal_share = 1e-6;     // of the diagonal
constexpr double pivots_an_iteration = 10;  // allowed, on the mean

class Dantzig final : public ContactSolver {
 public:
  explicit Dantzig(const SolverOptions& options)
      : options_(options),
        softens_(options.own.taken<DantzigOptions>("solver 'dantzig'").subproblems == SubproblemSolve::Proximal) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (settled(problem, ContactModel::Lcp, tolerance, f, c_, report)) return report;
    prepare(problem, f);
    report.status = SolveStatus::IterationLimit;
    int since_best = 0;
    int left = static_cast<int>(std::min(1e9, pivots_an_iteration * options_.max_iterations));
    while (report.iterations < options_.max_iterations && left > 0) {
      set_bounds(problem, since_best > 3 ? std::max(2.0 / since_best, 0.02) : 1.0);
      b_.map() = problem.g() - sigma_.map().cwiseProduct(x_.map());
      const bool hard = softens_ && sigma_.map().isZero(0);  // then something is left for the softened problem
      const auto outcome = box_.solve(A_.data(), problem.size(), b_.data(), lower_.data(), upper_.data(), x_.data(),
                                      hard ? left / 2 : left);
      ++report.iterations;
      left -= box_.pivots();
      if (outcome == BoxQp::Outcome::PivotLimit && hard) {
        soften();
        continue;
      }
      if (left <= 0) break;
      if (outcome != BoxQp::Outcome::Solved) {
        report.status = outcome == BoxQp::Outcome::Unbounded ? SolveStatus::Infeasible : SolveStatus::Stalled;
        break;
      }
      if (consider(problem, tolerance, x_, f, report)) return report;
      since_best = improved_ ? 0 : since_best + 1;
      if (box_.sides() == sides_ && tie(problem) && consider(problem, tolerance, tied_, f, report)) return report;
      sides_ = box_.sides();
      if (since_best > 500) {
        report.status = SolveStatus::Stalled;
        break;
      }
    }
    return report;
  }

 private:
  void prepare(const ContactProblem& problem, const VecRef& f) {
    const int n = problem.size();
    A_.resize(n, n);
    A_.map() = problem.G();
    A_.map().diagonal() += problem.R();
    for (VectorBuffer* buffer : {&x_, &lower_, &upper_, &tied_, &b_}) buffer->resize(n);
    sigma_.setZero(n);
    x_.map() = f;
    sides_.clear();
  }

  // (dantzig.3)
  void soften() {
    sigma_.map() = proximal_share * A_.map().diagonal();
    A_.map().diagonal() += sigma_.map();
    x_.map().setZero();
  }

  void set_bounds(const ContactProblem& problem, double share) {
    for (int i = 0; i < problem.nc(); ++i) {
      const double wanted = problem.mu()[i] * std::max(x_[3 * i + 2], 0.0);
      const double bound = share < 1 ? share * wanted + (1 - share) * upper_[3 * i] : wanted;  // (dantzig.1)
      lower_[3 * i] = lower_[3 * i + 1] = -bound;
      upper_[3 * i] = upper_[3 * i + 1] = bound;
      lower_[3 * i + 2] = 0;
      upper_[3 * i + 2] = std::numeric_limits<double>::infinity();
    }
    for (int j = 0; j < problem.nr(); ++j) {
      lower_[3 * problem.nc() + j] = problem.lower()[j];
      upper_[3 * problem.nc() + j] = problem.upper()[j];
    }
  }

  // Keeps a candidate that is better than f; true where it meets the tolerance.
  bool consider(const ContactProblem& problem, const Tolerance& tolerance, const VectorBuffer& candidate, VecRef f,
                SolveReport& report) {
    const Residual residual = judge_afresh(problem, ContactModel::Lcp, candidate.data(), c_);
    if (options_.trace) options_.trace->push_back(residual.absolute());
    improved_ = residual.relative() < 0.999 * report.residual.relative();
    if (residual.relative() < report.residual.relative()) {
      report.residual = residual;
      f = candidate.map();
    }
    if (!tolerance.met(residual)) return false;
    report.residual = residual;
    f = candidate.map();
    report.status = SolveStatus::Converged;
    return true;
  }

  // (dantzig.2); false where the matrix is singular.
  bool tie(const ContactProblem& problem) {
    const int n = problem.size();
    unknown_.clear();
    for (int i = 0; i < n; ++i)
      if (sides_[at(i)] == Side::Free) unknown_.push_back(i);
    const int m = static_cast<int>(unknown_.size());
    matrix_.resize(m, m);
    pivot_.resize(at(m));
    rhs_.resize(m);
    for (int i = 0; i < n; ++i) tied_[i] = sides_[at(i)] == Side::Free || i < 3 * problem.nc() ? 0.0 : x_[i];
    const double* A = A_.data();
    for (int a = 0; a < m; ++a) {
      const int i = unknown_[at(a)];
      double sum = -b_[i];
      for (int k = 3 * problem.nc(); k < n; ++k) sum -= A[static_cast<std::ptrdiff_t>(i) * n + k] * tied_[k];
      rhs_[a] = sum;
    }
    for (int b = 0; b < m; ++b) {
      const int j = unknown_[at(b)];
      for (int a = 0; a < m; ++a) {
        const double* row = A + static_cast<std::ptrdiff_t>(unknown_[at(a)]) * n;
        double entry = row[j];
        if (is_normal(problem, j))
          for (int t = j - 2; t < j; ++t) entry += sign(t) * problem.mu()[j / 3] * row[t];
        matrix_.map()(a, b) = entry;
      }
    }
    if (m > 0 && !dense::lu(matrix_.data(), m, pivot_.data())) return false;
    dense::lu_solve(matrix_.data(), m, pivot_.data(), rhs_.data());
    for (int b = 0; b < m; ++b) {
      const int j = unknown_[at(b)];
      tied_[j] = rhs_[b];
      if (is_normal(problem, j))
        for (int t = j - 2; t < j; ++t)
          if (sides_[at(t)] != Side::Free) tied_[t] = sign(t) * problem.mu()[j / 3] * rhs_[b];
    }
    return true;
  }

  static bool is_normal(const ContactProblem& problem, int i) { return i < 3 * problem.nc() && i % 3 == 2; }
  double sign(int t) const { return sides_[at(t)] == Side::Upper ? 1 : sides_[at(t)] == Side::Lower ? -1 : 0; }

  SolverOptions options_;
  BoxQp box_;
  std::vector<Side> sides_;
  std::vector<int> unknown_, pivot_;
  MatrixBuffer A_, matrix_;
  VectorBuffer x_, lower_, upper_, tied_, rhs_, b_, sigma_, c_;
  bool improved_ = false, softens_;
};

}  // namespace

OptionTable dantzig_options() {
  FieldTable<DantzigOptions> table;
  table.add("subproblems", &DantzigOptions::subproblems,
            {{"proximal", SubproblemSolve::Proximal}, {"pivoting", SubproblemSolve::Pivoting}},
            "where pivoting on a singular G does not end: proximal steps, or give up");
  return table;
}

std::unique_ptr<ContactSolver> make_dantzig(const SolverOptions& options) { return std::make_unique<Dantzig>(options); }

}  // namespace tribo
