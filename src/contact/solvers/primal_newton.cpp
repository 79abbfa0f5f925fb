// Newton's method on the primal of the CCP [LeLidec2024, alg. 4, eq. 22]: no forces, but whitened velocities w, for
// which the mass matrix is the identity and G = Y Y^T. Each contact answers its velocity c = Y w + g by itself,
//   f(c) = P^R(-R^-1 c),   the projection onto K in the metric of R                                (primal.1)
//   min_w  l(w) = 1/2 |w|^2 + sum_i f_i^T R_i (y_i - f_i / 2),   y = -R^-1 c                        (primal.2)
//   grad = w - Y^T f,   H = I + Y^T (dP R^-1) Y,   dw = -H^-1 grad                                  (primal.3)
// R_T is the same along both tangents, so sqrt(R) f lives in a circular cone of mu sqrt(R_T / R_N).
// Rows: f = clamp(y, lower, upper).
//
// R must not be zero. What it is makes the two kinds:
//   mujoco   R = max(R of the problem, alpha diag G)                                               (primal.4)
//            alpha = SolverOptions::compliance_ratio; MuJoCo's default impedance 0.95 would be 0.053
//   sap      R_N = max(R of the problem, b^2 / (4 pi^2) W), b = 1;   R_T = s W, s = 1e-3             (primal.5)
//            W the root mean square of the block of G [Castro2022, secs. V-A, V-B]: physical where the contact is
//            softer than what dt can resolve, near-rigid otherwise
// So the answer is that of another, softer problem unless the problem's own R is as large. The report judges it by the
// problem as given: Stalled with the residual that R leaves is the honest end for rigid contacts.
//
// Line search: exact (root of the slope by Newton between bounds) or Armijo's (1e-4, first 1.25, shrink 0.8, at most
// 60). G = Y Y^T from the problem's factor, or by a Cholesky factorisation with pivots, cut at the rank of G.
#include <cmath>

#include "contact/diagonal_block.hpp"
#include "contact/solvers/solvers.hpp"
#include "linalg/dense.hpp"
#include "tribo/solver_options.hpp"

namespace tribo {
namespace {

enum class Compliance { MuJoCo, Sap };

// Derivative of project_cone. At mu = 0 the cone has no inside: what is not open takes the ray's.
Mat3 cone_derivative(const Vec3& y, double mu) {
  const double t = std::hypot(y.x(), y.y()), n = y.z();
  if (mu * t <= -n) return Mat3::Zero();
  if (mu > 0 && t <= mu * n) return Mat3::Identity();
  if (!(t > 0)) return Vec3(0, 0, 1).asDiagonal();
  const double ux = y.x() / t, uy = y.y() / t;
  const Vec3 ray(mu * ux, mu * uy, 1);
  const double bend = mu * (n + mu * t) / ((1 + mu * mu) * t);  // the boundary's curvature along the tangent
  Mat3 J = ray * ray.transpose() / (1 + mu * mu);
  const Vec3 across(-uy, ux, 0);
  return J + bend * across * across.transpose();
}

class PrimalNewton final : public ContactSolver {
 public:
  PrimalNewton(const SolverOptions& options, Compliance compliance, const MujocoNewtonOptions& own)
      : options_(options), own_(own), compliance_(compliance) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    if (problem.size() == 0) return report;
    if (!usable(problem, f) || (!problem.dense() && !factored(problem))) return refused();
    report.residual = judge_afresh(problem, ContactModel::Ccp, f.data(), c_true_);
    if (tolerance.met(report.residual)) return report;
    prepare(problem, f);
    report.status = SolveStatus::IterationLimit;
    double cost = evaluate(problem, 0);
    for (int k = 1; k <= options_.max_iterations; ++k) {
      report.iterations = k;
      const double norm = gradient();
      if (!direction(problem)) {
        report.status = SolveStatus::Stalled;
        break;
      }
      const double before = cost, alpha = search(problem, cost);
      w_.map() += alpha * dw_.map();
      c_.map() += alpha * dc_.map();
      cost = evaluate(problem, 0);
      f = f_.map();
      report.residual = judge_afresh(problem, ContactModel::Ccp, f.data(), c_true_);
      if (options_.trace) options_.trace->push_back(report.residual.absolute());
      if (tolerance.met(report.residual)) {
        report.status = SolveStatus::Converged;
        break;
      }
      const double size = std::max(w_.map().norm(), 1e-300);
      const bool still = norm <= 1e-13 * size || alpha * dw_.map().norm() <= 1e-13 * size;
      if (still || (k > 1 && !(cost < before) && norm <= 1e-9 * size)) {
        report.status = SolveStatus::Stalled;  // at the optimum of the softer problem
        break;
      }
    }
    return report;
  }

 private:
  static bool factored(const ContactProblem& problem) {
    return problem.factor.start.size() == at(problem.blocks() + 1);
  }

  void prepare(const ContactProblem& problem, const VecRef& f) {
    const int n = problem.size();
    if (factored(problem))
      dense_factor(problem);
    else
      cholesky(problem);
    const int nw = static_cast<int>(Y_.rows());
    set_compliance(problem);
    for (VectorBuffer* buffer : {&c_, &dc_, &f_}) buffer->resize(n);
    for (VectorBuffer* buffer : {&w_, &dw_, &grad_}) buffer->resize(nw);
    H_.resize(nw, nw);
    w_.map().noalias() = Y_.map() * f;  // w of the guess: the free motion and what its forces add
    c_.map().noalias() = Y_.map().transpose() * w_.map();
    c_.map() += problem.g();
  }

  // Y_ holds Y^T: a column for each unknown.
  void dense_factor(const ContactProblem& problem) {
    const ContactFactor& factor = problem.factor;
    Y_.resize(factor.nw, problem.size());
    Y_.map().setZero();
    for (int i = 0; i < problem.blocks(); ++i) {
      const int rows = problem.block_size(i), o = problem.offset(i);
      for (int s = factor.start[at(i)]; s < factor.start[at(i + 1)]; ++s) {
        const FactorBlock& b = factor.blocks[at(s)];
        for (int k = 0; k < b.depth; ++k)
          for (int r = 0; r < rows; ++r)
            Y_.map()(factor.index[at(b.index + k)], o + r) += factor.y[at(b.first + rows * k + r)];
      }
    }
  }

  void cholesky(const ContactProblem& problem) {
    const int n = problem.size();
    rest_.resize(n);
    L_.resize(n, n);
    auto L = L_.map();  // row k: the k-th row of Y^T
    double trace = 0;
    for (int i = 0; i < n; ++i) trace += rest_[i] = problem.G()(i, i);
    int rank = 0;
    for (; rank < n; ++rank) {
      int p = 0;
      for (int i = 1; i < n; ++i)
        if (rest_[i] > rest_[p]) p = i;
      if (!(rest_[p] > 1e-14 * trace)) break;
      const double root = std::sqrt(rest_[p]);
      for (int i = 0; i < n; ++i) {
        double sum = problem.G()(i, p);
        for (int k = 0; k < rank; ++k) sum -= L(k, i) * L(k, p);
        L(rank, i) = sum / root;
        rest_[i] -= L(rank, i) * L(rank, i);
      }
      rest_[p] = 0;
    }
    Y_.resize(rank, n);
    Y_.map() = L.topRows(rank);
  }

  void set_compliance(const ContactProblem& problem) {
    R_.resize(problem.size());
    for (int i = 0; i < problem.blocks(); ++i) {
      const int rows = problem.block_size(i), o = problem.offset(i);
      double D[9], square = 0;
      diagonal_block(problem, i, D);
      for (int r = 0; r < rows; ++r) D[(rows + 1) * r] -= problem.R()[o + r];
      for (int k = 0; k < rows * rows; ++k) square += D[k] * D[k];
      const double W = std::sqrt(square / rows), floor = W > 0 ? 0.0 : 1.0;  // nothing moves: any R does
      for (int r = 0; r < rows; ++r) {
        const bool normal = r == rows - 1;
        const double rigid = compliance_ == Compliance::MuJoCo ? own_.compliance_ratio * D[(rows + 1) * r]
                             : normal                          ? W / (4 * M_PI * M_PI)
                                                               : 1e-3 * W;  // (primal.4), (primal.5)
        R_[o + r] = std::max({problem.R()[o + r], rigid, 1e-12 * W, floor});
      }
      if (rows == 3) R_[o] = R_[o + 1] = std::max(R_[o], R_[o + 1]);
    }
  }

  // f at c + alpha dc, and l of (primal.2) there.
  double evaluate(const ContactProblem& problem, double alpha) {
    double cost = 0.5 * w_.map().squaredNorm();
    if (alpha != 0) cost += alpha * w_.map().dot(dw_.map()) + 0.5 * alpha * alpha * dw_.map().squaredNorm();
    for (int i = 0; i < problem.nc(); ++i) {
      const int o = 3 * i;
      const double rt = std::sqrt(R_[o]), rn = std::sqrt(R_[o + 2]);
      Vec3 c(c_.data() + o);
      if (alpha != 0) c += alpha * Vec3(dc_.data() + o);
      const Vec3 f = project_cone(Vec3(-c.x() / rt, -c.y() / rt, -c.z() / rn), problem.mu()[i] * rt / rn);
      cost += 0.5 * f.squaredNorm();
      f_[o] = f.x() / rt;
      f_[o + 1] = f.y() / rt;
      f_[o + 2] = f.z() / rn;  // (primal.1)
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      const double y = -(c_[o] + (alpha != 0 ? alpha * dc_[o] : 0.0)) / R_[o];
      f_[o] = std::clamp(y, problem.lower()[j], problem.upper()[j]);
      cost += R_[o] * f_[o] * (y - 0.5 * f_[o]);
    }
    return cost;
  }

  double gradient() {
    grad_.map() = w_.map();
    grad_.map().noalias() -= Y_.map() * f_.map();
    return grad_.map().norm();
  }

  // dP R^-1 of one block, at c + alpha dc.
  Mat3 stiffness(const ContactProblem& problem, int i, double alpha) const {
    const int o = 3 * i;
    const double rt = std::sqrt(R_[o]), rn = std::sqrt(R_[o + 2]);
    Vec3 c(c_.data() + o);
    if (alpha != 0) c += alpha * Vec3(dc_.data() + o);
    const Vec3 scale(1 / rt, 1 / rt, 1 / rn);
    const Mat3 J = cone_derivative(-scale.cwiseProduct(c), problem.mu()[i] * rt / rn);
    return scale.asDiagonal() * J * scale.asDiagonal();
  }

  double stiffness_row(const ContactProblem& problem, int j, double alpha) const {
    const int o = 3 * problem.nc() + j;
    const double y = -(c_[o] + (alpha != 0 ? alpha * dc_[o] : 0.0)) / R_[o];
    return y > problem.lower()[j] && y < problem.upper()[j] ? 1 / R_[o] : 0.0;
  }

  bool direction(const ContactProblem& problem) {  // (primal.3)
    auto H = H_.map();
    const auto Y = Y_.map();
    H.setIdentity();
    for (int i = 0; i < problem.nc(); ++i) {
      const Mat3 K = stiffness(problem, i, 0);
      if (K.isZero(0)) continue;
      for (int b = 0; b < H.cols(); ++b) {
        const Vec3 Ky = K * Vec3(Y(b, 3 * i), Y(b, 3 * i + 1), Y(b, 3 * i + 2));
        if (Ky.isZero(0)) continue;
        H.col(b).tail(H.rows() - b) += Ky[0] * Y.col(3 * i).tail(H.rows() - b) +
                                       Ky[1] * Y.col(3 * i + 1).tail(H.rows() - b) +
                                       Ky[2] * Y.col(3 * i + 2).tail(H.rows() - b);
      }
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * problem.nc() + j;
      const double k = stiffness_row(problem, j, 0);
      for (int b = 0; k > 0 && b < H.cols(); ++b)
        H.col(b).tail(H.rows() - b) += k * Y(b, o) * Y.col(o).tail(H.rows() - b);
    }
    const int nw = static_cast<int>(H.rows());
    if (!dense::cholesky(H_.data(), nw)) return false;
    dw_.map() = -grad_.map();
    dense::cholesky_solve(H_.data(), nw, dw_.data());
    dc_.map().noalias() = Y.transpose() * dw_.map();
    return true;
  }

  double search(const ContactProblem& problem, double cost) {
    if (own_.line_search == LineSearch::Exact) return exact(problem);
    const double slope = grad_.map().dot(dw_.map());
    double alpha = 1.25;
    for (int k = 0; k < 60; ++k, alpha *= 0.8)
      if (evaluate(problem, alpha) <= cost + 1e-4 * alpha * slope + 1e-15 * std::abs(cost)) return alpha;
    return alpha;
  }

  // l' along the line grows; its root by Newton, halving where Newton leaves the bracket.
  double exact(const ContactProblem& problem) {
    const double w_dw = w_.map().dot(dw_.map()), dw_dw = dw_.map().squaredNorm();
    const double first = grad_.map().dot(dw_.map());
    double low = 0, high = std::numeric_limits<double>::infinity(), alpha = 1;
    for (int k = 0; k < 50; ++k) {
      evaluate(problem, alpha);
      const double slope = w_dw + alpha * dw_dw - dc_.map().dot(f_.map());
      if (std::abs(slope) <= 1e-10 * std::abs(first)) break;
      (slope > 0 ? high : low) = alpha;
      const double curvature = dw_dw + bend(problem, alpha);
      double next = alpha - slope / curvature;
      if (!(next > low && next < high)) next = std::isinf(high) ? 2 * alpha : 0.5 * (low + high);
      if (std::abs(next - alpha) <= 1e-14 * alpha) break;
      alpha = next;
    }
    return alpha;
  }

  double bend(const ContactProblem& problem, double alpha) const {
    double sum = 0;
    for (int i = 0; i < problem.nc(); ++i) {
      const Vec3 d(dc_.data() + 3 * i);
      sum += d.dot(stiffness(problem, i, alpha) * d);
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const double d = dc_[3 * problem.nc() + j];
      sum += d * d * stiffness_row(problem, j, alpha);
    }
    return sum;
  }

  SolverOptions options_;
  MujocoNewtonOptions own_;
  Compliance compliance_;
  MatrixBuffer Y_, L_, H_;
  VectorBuffer w_, dw_, grad_, c_, dc_, f_, R_, c_true_, rest_;
};

}  // namespace

namespace {

template <class T>
FieldTable<T> primal_newton_fields() {
  FieldTable<T> table;
  table.add("line_search", &T::line_search, {{"exact", LineSearch::Exact}, {"armijo", LineSearch::Armijo}},
            "along each step: to the minimum, or until the cost falls enough");
  return table;
}

}  // namespace

OptionTable primal_newton_mujoco_options() {
  auto table = primal_newton_fields<MujocoNewtonOptions>();
  table.add("compliance_ratio", &MujocoNewtonOptions::compliance_ratio, positive(), "", "R over the diagonal of G");
  return table;
}

OptionTable primal_newton_sap_options() { return primal_newton_fields<PrimalNewtonOptions>(); }

std::unique_ptr<ContactSolver> make_primal_newton_mujoco(const SolverOptions& options) {
  const auto own = options.own.taken<MujocoNewtonOptions>("solver 'primal-newton-mujoco'");
  return std::make_unique<PrimalNewton>(options, Compliance::MuJoCo, own);
}

std::unique_ptr<ContactSolver> make_primal_newton_sap(const SolverOptions& options) {
  MujocoNewtonOptions own;
  static_cast<PrimalNewtonOptions&>(own) = options.own.taken<PrimalNewtonOptions>("solver 'primal-newton-sap'");
  return std::make_unique<PrimalNewton>(options, Compliance::Sap, own);
}

}  // namespace tribo
