// First a point that satisfies the normal and the joint constraints, then friction that dissipates without violating
// them:
//   1. 0 <= f_N ⟂ c_N >= 0,  rows as they are,  f_T = 0                                                  (two.1)
//   2. min 1/2 x^T A x + b^T x,  |x| <= mu f_N,  c_N + N x >= 0   over the friction x, f_N of (two.1) held  (two.2)
// A row that (two.1) met is to stay met. Held: P x = 0, the torques stay; x = Z z with Z the null space of P.
// Answers: the torques follow, -G_PP^-1 P x; A, N are G with those rows eliminated.
// (two.2) is solved by its dual, a box: min 1/2 y^T (B A^-1 B^T) y + (d + B A^-1 b)^T y, y >= 0, for B x <= d.
#include "two_stage.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "contact/solvers/box_qp.hpp"

namespace tribo::experiments {
namespace {

class TwoStage final : public ContactSolver {
 public:
  explicit TwoStage(SecondStage stage) : stage_(stage), normal_(make_contact_solver("newton", {})) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (problem.size() == 0) return report;
    copy_without_friction(problem);
    f.setZero();
    report = normal_->solve(frictionless_, tolerance, f);  // (two.1)
    if (problem.nc() > 0 && report.status == SolveStatus::Converged) add_friction(problem, f);
    VecX c(problem.size());
    problem.velocity(f.data(), c.data());
    report.residual = judge(problem, ContactModel::Ncp, f.data(), c.data());
    return report;
  }

 private:
  void copy_without_friction(const ContactProblem& problem) {
    frictionless_.resize(problem.nc(), problem.nr(), true);
    frictionless_.G() = problem.G();
    frictionless_.g() = problem.g();
    frictionless_.R() = problem.R();
    frictionless_.mu().setZero();
    frictionless_.lower() = problem.lower();
    frictionless_.upper() = problem.upper();
    frictionless_.weight = problem.weight;
    frictionless_.factor = {};
  }

  void add_friction(const ContactProblem& problem, VecRef f) {
    const int nc = problem.nc(), nr = problem.nr();
    VecX c(problem.size());
    problem.velocity(f.data(), c.data());
    std::vector<int> T, N, P;
    for (int i = 0; i < nc; ++i) {
      T.insert(T.end(), {3 * i, 3 * i + 1});
      N.push_back(3 * i + 2);
    }
    for (int j = 0; j < nr; ++j)
      if (f[3 * nc + j] > problem.lower()[j] && f[3 * nc + j] < problem.upper()[j]) P.push_back(3 * nc + j);
    const MatX G = problem.G();
    MatX A = G(T, T), NT = G(N, T), answer = MatX::Zero(static_cast<Eigen::Index>(P.size()), A.cols());
    MatX Z = MatX::Identity(A.cols(), A.cols());
    if (!P.empty() && stage_ == SecondStage::Held) {
      Eigen::FullPivLU<MatX> lu(G(P, T));
      lu.setThreshold(1e-9);
      if (lu.dimensionOfKernel() == 0) return;  // no friction leaves the joints alone
      Z = lu.kernel();
    } else if (!P.empty()) {
      MatX PP = G(P, P);
      for (std::size_t k = 0; k < P.size(); ++k)
        PP(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(k)) += problem.R()[P[k]];
      answer = -PP.ldlt().solve(G(P, T));
      A += G(T, P) * answer;
      NT += G(N, P) * answer;
    }
    const VecX x = dissipate(problem, A, NT, Z, c, f);
    for (int k = 0; k < x.size(); ++k) f[T[static_cast<std::size_t>(k)]] = x[k];
    const VecX tau = answer * x;
    for (int k = 0; k < tau.size(); ++k) f[P[static_cast<std::size_t>(k)]] += tau[k];
  }

  // (two.2)
  VecX dissipate(const ContactProblem& problem, const MatX& A, const MatX& NT, const MatX& Z, const VecX& c,
                 const VecRef& f) {
    const int nc = problem.nc(), n = static_cast<int>(A.cols());
    MatX B(5 * nc, n);
    VecX d(5 * nc), b(n);
    for (int i = 0; i < nc; ++i) {
      b.segment<2>(2 * i) = c.segment<2>(3 * i);
      d[4 * nc + i] = std::max(c[3 * i + 2], 0.0);
      for (int k = 0; k < 2; ++k) d[2 * i + k] = d[2 * nc + 2 * i + k] = problem.mu()[i] * std::max(f[3 * i + 2], 0.0);
    }
    B << MatX::Identity(n, n), -MatX::Identity(n, n), -NT;
    MatX H = Z.transpose() * A * Z;
    H.diagonal().array() += 1e-10 * std::max(H.diagonal().maxCoeff(), 1e-300);
    const Eigen::LDLT<MatX> factor(H);
    const MatX BZ = B * Z, dual = BZ * factor.solve(BZ.transpose());
    const VecX h = Z.transpose() * b, rhs = d + BZ * factor.solve(h);
    VecX lower = VecX::Zero(rhs.size()), y = lower;
    const VecX upper = VecX::Constant(rhs.size(), std::numeric_limits<double>::infinity());
    box_.solve(dual.data(), static_cast<int>(rhs.size()), rhs.data(), lower.data(), upper.data(), y.data());
    return Z * factor.solve(-h - BZ.transpose() * y);
  }

  SecondStage stage_;
  std::unique_ptr<ContactSolver> normal_;
  ContactProblem frictionless_;
  BoxQp box_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_two_stage(SecondStage stage) { return std::make_unique<TwoStage>(stage); }

}  // namespace tribo::experiments
