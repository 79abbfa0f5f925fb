// Proximal semismooth Newton for the cone complementarity problem.
//
// Around a centre f_k, with p = sigma x the block's scale, the forces at a contact acceleration c are
//   f(c) = argmin over K of 1/2 f^T (p + R) f - f^T (p f_k - c)                                         (proximal.1)
// and x with  x = f(G x + g)                                                                            (proximal.2)
// solves the proximal problem. (proximal.2) is the gradient, in the metric of G, of a convex function
// 1/2 x^T G x + psi(G x + g), psi' = -f, with Lipschitz derivatives: Newton's method
//   dx + D G dx = f - x,   D = -f'(c), symmetric                                                        (proximal.3)
// with a line search on its slope  dc . (x + a dx - f(c + a dc)),  dc = G dx,  converges from everywhere. BlockSystem
// solves (proximal.3), with or without a dense G. Then f_k <- x and sigma falls                         (proximal.4)
// p is made equal along both tangents together with R, so that (proximal.1) is a projection in scaled coordinates.
#include <cmath>

#include "contact/block_system.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr double first_sigma = 1e-2, least_sigma = 1e-10;
constexpr int most_inner = 50, most_outer = 60;

class Proximal final : public ContactSolver {
 public:
  explicit Proximal(const SolverOptions& options) : options_(options) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    if (problem.size() == 0) return {};
    if (!usable(problem, f)) return refused();
    prepare(problem, f);
    SolveReport report;
    report.residual = judge_afresh(problem, options_.model, f.data(), c_true_);
    if (tolerance.met(report.residual)) return report;
    report.status = SolveStatus::IterationLimit;
    double sigma = first_sigma;
    for (int outer = 0; outer < most_outer && report.iterations < options_.max_iterations; ++outer) {
      set_weights(problem, sigma);
      const int inner = minimise(problem);
      report.iterations += inner;
      const Residual now = judge_afresh(problem, options_.model, f_.data(), c_true_);
      if (options_.trace) options_.trace->push_back(now.absolute());
      if (now.relative() < report.residual.relative()) {
        report.residual = now;
        f = f_.map();
      }
      if (tolerance.met(now)) {
        report.residual = now;
        f = f_.map();
        report.status = SolveStatus::Converged;
        return report;
      }
      centre_.map() = f_.map();
      if (inner < 15) sigma = std::max(0.1 * sigma, least_sigma);
    }
    return report;
  }

 private:
  void prepare(const ContactProblem& problem, const VecRef& f) {
    const int n = problem.size(), nc = problem.nc();
    for (VectorBuffer* b : {&x_, &dx_, &c_, &dc_, &f_, &centre_, &S_, &p_, &trial_}) b->resize(n);
    D_.resize(9 * nc + problem.nr());
    scale_.resize(problem.blocks());
    problem.diagonal(S_.data());
    for (int i = 0; i < nc; ++i) scale_[i] = std::max({S_[3 * i], S_[3 * i + 1], S_[3 * i + 2], 1e-300});
    for (int j = 0; j < problem.nr(); ++j) scale_[nc + j] = std::max(S_[3 * nc + j], 1e-300);
    centre_.map() = f;
    system_.analyse(problem);
  }

  // S = p + R.
  void set_weights(const ContactProblem& problem, double sigma) {
    const auto R = problem.R();
    const int nc = problem.nc();
    for (int i = 0; i < nc; ++i) {
      const int o = 3 * i;
      const double p = sigma * scale_[i];
      S_[o] = S_[o + 1] = p + std::max(R[o], R[o + 1]);
      S_[o + 2] = p + R[o + 2];
      for (int k = 0; k < 3; ++k) p_[o + k] = S_[o + k] - R[o + k];
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * nc + j;
      p_[o] = sigma * scale_[nc + j];
      S_[o] = p_[o] + R[o];
    }
  }

  // Steps of (proximal.3) from the centre; f_ holds the answer.
  int minimise(const ContactProblem& problem) {
    x_.map() = centre_.map();
    problem.multiply(x_.data(), c_.data());
    c_.map() += problem.g();
    forces(problem, c_.data(), f_.data());
    double last = std::numeric_limits<double>::infinity();
    for (int k = 0; k < most_inner; ++k) {
      dx_.map() = f_.map() - x_.map();
      problem.multiply(dx_.data(), dc_.data());
      const double error = dc_.map().cwiseAbs().maxCoeff() / (problem.g().cwiseAbs().maxCoeff() + 9.81);
      if (error < 1e-12 || (error < 1e-9 && error > 0.5 * last)) return k;  // rounding stops it there
      last = error;
      derivative(problem);
      if (!system_.factor(problem, D_.data())) return k;
      system_.solve(problem, D_.data(), dx_.data());
      problem.multiply(dx_.data(), dc_.data());
      const double a = search(problem);
      x_.map() += a * dx_.map();
      c_.map() += a * dc_.map();
      forces(problem, c_.data(), f_.data());
    }
    return most_inner;
  }

  // (proximal.1)
  void forces(const ContactProblem& problem, const double* c, double* f) const {
    const int nc = problem.nc();
    for (int i = 0; i < nc; ++i) {
      const int o = 3 * i;
      const double st = std::sqrt(S_[o]), sn = std::sqrt(S_[o + 2]);
      const Vec3 y = trial(c, o, st, sn), z = project_cone(y, problem.mu()[i] * st / sn);
      f[o] = z.x() / st;
      f[o + 1] = z.y() / st;
      f[o + 2] = z.z() / sn;
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * nc + j;
      f[o] = std::clamp((p_[o] * centre_[o] - c[o]) / S_[o], problem.lower()[j], problem.upper()[j]);
    }
  }

  Vec3 trial(const double* c, int o, double st, double sn) const {
    return {(p_[o] * centre_[o] - c[o]) / st, (p_[o + 1] * centre_[o + 1] - c[o + 1]) / st,
            (p_[o + 2] * centre_[o + 2] - c[o + 2]) / sn};
  }

  void derivative(const ContactProblem& problem) {
    const int nc = problem.nc();
    for (int i = 0; i < nc; ++i) {
      const int o = 3 * i;
      const double st = std::sqrt(S_[o]), sn = std::sqrt(S_[o + 2]), mu = problem.mu()[i] * st / sn;
      const Vec3 y = trial(c_.data(), o, st, sn);
      const double t = std::sqrt(y.x() * y.x() + y.y() * y.y());
      Eigen::Map<Mat3> D(D_.data() + 9 * i);
      D.setZero();
      if (mu > 0 && y.z() >= 0 && t <= mu * y.z()) {
        D.diagonal() << 1 / S_[o], 1 / S_[o + 1], 1 / S_[o + 2];
      } else if (mu * t > -y.z()) {  // on the boundary: along the ray, and turning with it
        const Vec3 u(t > 0 ? y.x() / t : 0, t > 0 ? y.y() / t : 0, 0), across(-u.y(), u.x(), 0);
        const Vec3 ray = Vec3(mu * u.x(), mu * u.y(), 1) / std::sqrt(1 + mu * mu);
        const double turn = t > 0 ? mu * (y.z() + mu * t) / ((1 + mu * mu) * t) : 0;
        const Vec3 inverse(1 / st, 1 / st, 1 / sn);
        D = inverse.asDiagonal() * (ray * ray.transpose() + turn * across * across.transpose()) * inverse.asDiagonal();
      }
    }
    for (int j = 0; j < problem.nr(); ++j) {
      const int o = 3 * nc + j;
      const double y = (p_[o] * centre_[o] - c_[o]) / S_[o];
      D_[9 * nc + j] = y > problem.lower()[j] && y < problem.upper()[j] ? 1 / S_[o] : 0;
    }
  }

  // Where the slope along dx is a small part of that at 0.
  double search(const ContactProblem& problem) {
    auto slope = [&](double a) {
      trial_.map() = c_.map() + a * dc_.map();
      forces(problem, trial_.data(), trial_.data());
      return dc_.map().dot(x_.map() + a * dx_.map() - trial_.map());
    };
    const double start = slope(0);
    double low = 0, high = 1, at_low = start, at_high = slope(1);
    if (at_high <= 0.3 * std::abs(start)) return 1;
    for (int k = 0; k < 20; ++k) {
      const double width = high - low;
      const double a = std::clamp(low - at_low * width / (at_high - at_low), low + 0.1 * width, high - 0.1 * width);
      const double now = slope(a);
      if (std::abs(now) <= 0.3 * std::abs(start)) return a;
      (now < 0 ? low : high) = a;
      (now < 0 ? at_low : at_high) = now;
    }
    return low > 0 ? low : high;
  }

  SolverOptions options_;
  BlockSystem system_;
  VectorBuffer x_, dx_, c_, dc_, f_, centre_, S_, p_, trial_, scale_, D_, c_true_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_proximal(const SolverOptions& options) {
  return std::make_unique<Proximal>(options);
}

}  // namespace tribo
