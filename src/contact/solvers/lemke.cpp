// Lemke's complementary pivoting for the LCP with a friction pyramid of 4, 8 or 16 facets [Lemke1965;
// AnitescuPotra1997]. The pyramid is the regular polygon around the friction disc, corners v_k; four facets give
// |f_T|_inf <= mu f_N:
//   f_T = sum_k b_k v_k,   0 <= b_k ⟂ v_k . c_T + l >= 0,   0 <= l ⟂ mu f_N - sum_k b_k >= 0,
//   0 <= f_N ⟂ c_N >= 0                                                                              (lemke.1)
// Rows: a finite bound is the origin of a variable >= 0, a second one has a multiplier, a free row is the difference of
// two, and a row whose bounds coincide has no variable:
//   f = lower + p,  0 <= p ⟂ c + y >= 0,  0 <= y ⟂ upper - lower - p >= 0                           (lemke.2)
// All of it is  0 <= z ⟂ M z + q >= 0,  M = B^T (G + R) B + S,  f = B z + f_0                        (lemke.3)
// The covering variable z_0 enters along with the vector of ones; ties are broken in lexicographic order, so no basis
// comes twice. The tableau only finds the basis: the forces are solved for afresh from M.            (lemke.4)
// A ray, where no variable leaves, is told as Infeasible. No warm start beyond a guess that is the answer: pivoting
// from another basis has no guarantee. Contacts are scaled by their block's mean diagonal. Dense problems only.
#include <cmath>

#include "contact/diagonal_block.hpp"
#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

constexpr double smallest_pivot = 1e-10;  // in the scaled problem, whose diagonal is 1

class Lemke final : public ContactSolver {
 public:
  explicit Lemke(const SolverOptions& options)
      : options_(options), facets_(options.own.taken<LemkeOptions>("solver 'lemke'").facets) {}

  int facets() const override { return facets_; }

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (settled(problem, ContactModel::Lcp, tolerance, f, c_, report, facets_)) return report;
    list_variables(problem);
    assemble(problem);
    // Where rounding leads the first attempt astray, others go with q moved by a little; f is judged by the q as given.
    for (const double shift : {0.0, 1e-10, 1e-8}) {
      report.status = pivot(shift, report.iterations);
      if (report.status == SolveStatus::Converged) report.status = answer(problem, tolerance, f, report);
      if (report.status == SolveStatus::Converged || report.status == SolveStatus::IterationLimit) break;
    }
    return report;
  }

 private:
  enum class Kind : char { Normal, Corner, Slide, Row, Multiplier };
  struct Variable {
    Kind kind;
    int block;     // contact or row
    int first;     // unknown that it moves; -1: none
    double a = 0;  // by a, and the next one by b
    double b = 0;
  };

  void list_variables(const ContactProblem& problem) {
    variables_.clear();
    f_.setZero(problem.size());
    scale_.resize(problem.blocks());
    for (int i = 0; i < problem.blocks(); ++i) {
      double D[9], trace = 0;
      diagonal_block(problem, i, D);
      const int rows = problem.block_size(i);
      for (int r = 0; r < rows; ++r) trace += D[(rows + 1) * r];
      scale_[i] = trace > 0 ? std::sqrt(rows / trace) : 1;
    }
    for (int i = 0; i < problem.nc(); ++i) {
      variables_.push_back({Kind::Normal, i, 3 * i + 2, 1, 0});
      if (problem.mu()[i] <= 0) continue;
      const double step = 2 * M_PI / facets_, length = 1 / std::cos(0.5 * step);
      for (int k = 0; k < facets_; ++k) {
        const double angle = (k + 0.5) * step;
        variables_.push_back({Kind::Corner, i, 3 * i, length * std::cos(angle), length * std::sin(angle)});
      }
      variables_.push_back({Kind::Slide, i, -1});
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j, block = problem.nc() + j;
      const bool below = std::isfinite(problem.lower()[j]), above = std::isfinite(problem.upper()[j]);
      f_[o] = below ? problem.lower()[j] : above ? problem.upper()[j] : 0;  // f_0
      if (problem.lower()[j] == problem.upper()[j]) continue;
      if (below || !above) variables_.push_back({Kind::Row, block, o, 1, 0});
      if (!below) variables_.push_back({Kind::Row, block, o, -1, 0});
      if (below && above) variables_.push_back({Kind::Multiplier, block, -1});
    }
  }

  // M and q of (lemke.3) in scaled unknowns.
  void assemble(const ContactProblem& problem) {
    const int m = static_cast<int>(variables_.size());
    M_.resize(m, m);
    q_.resize(m);
    problem.velocity(f_.data(), c_.data());
    auto M = M_.map();
    for (int b = 0; b < m; ++b) {
      const Variable& v = variables_[at(b)];
      const double s = scale_[v.block];
      q_[b] = 0;
      if (v.first >= 0) q_[b] = s * (v.a * c_[v.first] + (v.b != 0 ? v.b * c_[v.first + 1] : 0.0));
      if (v.kind == Kind::Multiplier)
        q_[b] = (problem.upper()[v.block - problem.nc()] - problem.lower()[v.block - problem.nc()]) / s;
      for (int a = 0; a < m; ++a) {
        const Variable& u = variables_[at(a)];
        M(a, b) = u.first < 0 || v.first < 0 ? 0.0 : s * scale_[u.block] * product(problem, u, v);
        if (u.block != v.block) continue;
        if (u.kind == Kind::Corner && v.kind == Kind::Slide) M(a, b) = 1;
        if (u.kind == Kind::Slide && v.kind == Kind::Corner) M(a, b) = -1;
        if (u.kind == Kind::Slide && v.kind == Kind::Normal) M(a, b) = problem.mu()[u.block];
        if (u.kind == Kind::Row && v.kind == Kind::Multiplier) M(a, b) = 1;
        if (u.kind == Kind::Multiplier && v.kind == Kind::Row) M(a, b) = -1;
      }
    }
  }

  // The better of z solved afresh and z of the tableau.
  SolveStatus answer(const ContactProblem& problem, const Tolerance& tolerance, VecRef f, SolveReport& report) {
    for (const bool afresh : {true, false}) {
      if (afresh ? !solve_basis() : !read_tableau()) continue;
      forces(problem);
      const Residual residual = judge_afresh(problem, ContactModel::Lcp, f_.data(), c_, facets_);
      if (options_.trace) options_.trace->push_back(residual.absolute());
      if (residual.relative() < report.residual.relative() || tolerance.met(residual)) {
        report.residual = residual;
        f = f_.map();
      }
      if (tolerance.met(residual)) return SolveStatus::Converged;
    }
    return SolveStatus::Stalled;
  }

  static double product(const ContactProblem& problem, const Variable& u, const Variable& v) {
    const auto entry = [&](int i, int j) { return problem.G()(i, j) + (i == j ? problem.R()[i] : 0.0); };
    double sum = u.a * v.a * entry(u.first, v.first);
    if (v.b != 0) sum += u.a * v.b * entry(u.first, v.first + 1);
    if (u.b != 0) sum += u.b * v.a * entry(u.first + 1, v.first);
    if (u.b != 0 && v.b != 0) sum += u.b * v.b * entry(u.first + 1, v.first + 1);
    return sum;
  }

  // Columns of the tableau: w (m), z (m), z_0, right side. Row-major. shift: what moves q, over its largest entry.
  SolveStatus pivot(double shift, int& iterations) {
    const int m = static_cast<int>(variables_.size()), width = 2 * m + 2;
    tableau_.resize(static_cast<Eigen::Index>(m) * width);
    basis_.resize(at(m));
    double largest = 0;
    for (int i = 0; i < m; ++i) largest = std::max(largest, std::abs(q_[i]));
    unit_ = largest > 0 ? largest : 1;
    int leaving = -1;
    double least = 0;
    for (int i = 0; i < m; ++i) {
      double* row = tableau_.data() + static_cast<std::ptrdiff_t>(i) * width;
      std::fill_n(row, width, 0.0);
      row[i] = 1;
      for (int j = 0; j < m; ++j) row[m + j] = -M_.map()(i, j);
      row[2 * m] = -1;
      row[2 * m + 1] = q_[i] / unit_ + shift * (1.5 + std::sin(1.0 + i));
      basis_[at(i)] = i;
      if (row[2 * m + 1] < least) {
        least = row[2 * m + 1];
        leaving = i;
      }
    }
    if (leaving < 0) return SolveStatus::Converged;
    int entering = 2 * m;
    for (int k = 0; iterations < options_.max_iterations; ++k) {
      if (k > 30 * m) return SolveStatus::Stalled;  // in exact numbers no basis would come twice
      ++iterations;
      const int out = basis_[at(leaving)];
      exchange(leaving, entering, m, width);
      if (out == 2 * m) return SolveStatus::Converged;
      entering = out < m ? out + m : out - m;
      leaving = ratio_test(entering, m, width);
      if (leaving < 0) return SolveStatus::Infeasible;
    }
    return SolveStatus::IterationLimit;
  }

  void exchange(int row, int column, int m, int width) {
    double* p = tableau_.data() + static_cast<std::ptrdiff_t>(row) * width;
    const double inverse = 1 / p[column];
    for (int k = 0; k < width; ++k) p[k] *= inverse;
    p[column] = 1;
    for (int i = 0; i < m; ++i) {
      double* r = tableau_.data() + static_cast<std::ptrdiff_t>(i) * width;
      const double x = r[column];
      if (i == row || x == 0) continue;
      for (int k = 0; k < width; ++k) r[k] -= x * p[k];
      r[column] = 0;
    }
    basis_[at(row)] = column;
  }

  // The row that leaves: least ratio; z_0 where it is among the least, else the first in lexicographic order. (lemke.4)
  int ratio_test(int column, int m, int width) const {
    const auto row = [&](int i) { return tableau_.data() + static_cast<std::ptrdiff_t>(i) * width; };
    const auto ratio = [&](int i) { return std::max(row(i)[width - 1], 0.0) / row(i)[column]; };
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < m; ++i)
      if (row(i)[column] > smallest_pivot) least = std::min(least, ratio(i));
    const double tie = least + 1e-13 * (1 + least);
    int best = -1;
    for (int i = 0; i < m; ++i) {
      if (!(row(i)[column] > smallest_pivot) || ratio(i) > tie) continue;
      if (basis_[at(i)] == 2 * m) return i;
      if (best < 0 || before(row(i), row(best), column, m)) best = i;
    }
    return best;
  }

  static bool before(const double* a, const double* b, int column, int m) {
    for (int k = 0; k < m; ++k) {
      const double x = a[k] / a[column], y = b[k] / b[column];
      if (std::abs(x - y) > 1e-12 * (std::abs(x) + std::abs(y))) return x < y;
    }
    return false;
  }

  // z from M of the basic variables, twice, so that rounding goes.
  bool solve_basis() {
    const int m = static_cast<int>(variables_.size());
    active_.clear();
    for (int i = 0; i < m; ++i)
      if (basis_[at(i)] >= m && basis_[at(i)] < 2 * m) active_.push_back(basis_[at(i)] - m);
    const int k = static_cast<int>(active_.size());
    LU_.resize(k, k);
    rhs_.resize(k);
    pivot_.resize(at(k));
    for (int b = 0; b < k; ++b)
      for (int a = 0; a < k; ++a) LU_.map()(a, b) = M_.map()(active_[at(a)], active_[at(b)]);
    if (k > 0 && !dense::lu(LU_.data(), k, pivot_.data())) return false;
    z_.setZero(m);
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (int a = 0; a < k; ++a) {
        rhs_[a] = -q_[active_[at(a)]];
        for (int b = 0; b < k; ++b) rhs_[a] -= M_.map()(active_[at(a)], active_[at(b)]) * z_[active_[at(b)]];
      }
      dense::lu_solve(LU_.data(), k, pivot_.data(), rhs_.data());
      for (int a = 0; a < k; ++a) z_[active_[at(a)]] += rhs_[a];
    }
    return true;
  }

  bool read_tableau() {
    const int m = static_cast<int>(variables_.size()), width = 2 * m + 2;
    z_.setZero(m);
    for (int i = 0; i < m; ++i)
      if (basis_[at(i)] >= m && basis_[at(i)] < 2 * m)
        z_[basis_[at(i)] - m] = unit_ * tableau_[static_cast<Eigen::Index>(i) * width + width - 1];
    return true;
  }

  void forces(const ContactProblem& problem) {
    for (int i = 0; i < 3 * problem.nc(); ++i) f_[i] = 0;
    for (int j = 0; j < problem.nr(); ++j) {
      const double lower = problem.lower()[j], upper = problem.upper()[j];
      f_[3 * problem.nc() + j] = std::isfinite(lower) ? lower : std::isfinite(upper) ? upper : 0;
    }
    for (std::size_t a = 0; a < variables_.size(); ++a) {
      const Variable& v = variables_[a];
      if (v.first < 0) continue;
      const double z = scale_[v.block] * z_[static_cast<Eigen::Index>(a)];
      f_[v.first] += v.a * z;
      if (v.b != 0) f_[v.first + 1] += v.b * z;
    }
  }

  SolverOptions options_;
  int facets_;
  std::vector<Variable> variables_;
  std::vector<int> basis_, active_, pivot_;
  MatrixBuffer M_, LU_;
  VectorBuffer q_, z_, f_, c_, scale_, rhs_, tableau_;
  double unit_ = 1;
};

}  // namespace

OptionTable lemke_options() {
  FieldTable<LemkeOptions> table;
  table.add("facets", &LemkeOptions::facets, one_of({4, 8, 16}), "", "sides of the friction pyramid");
  return table;
}

std::unique_ptr<ContactSolver> make_lemke(const SolverOptions& options) { return std::make_unique<Lemke>(options); }

}  // namespace tribo
