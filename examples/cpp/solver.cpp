// A contact solver in one file: projected Gauss-Seidel on the convex problem, with over-relaxation.
#include <algorithm>
#include <tribo/contact_solver.hpp>

namespace {

using namespace tribo;

struct SorOptions {
  double omega = 1;  // over-relaxation [-]
};

class Sor final : public ContactSolver {
 public:
  Sor(const SolverOptions& options, const SorOptions& own) : options_(options), omega_(own.omega) {}

  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) override {
    SolveReport report;
    const int nc = problem.nc(), n = problem.size();
    c_.resize(n);
    report.status = SolveStatus::IterationLimit;
    for (; report.iterations <= options_.max_iterations; ++report.iterations) {
      problem.velocity(f.data(), c_.data());
      report.residual = judge(problem, options_.model, f.data(), c_.data());
      if (tolerance.met(report.residual)) {
        report.status = SolveStatus::Converged;
        break;
      }
      for (int i = 0; i < nc; ++i) {
        const auto G = problem.G().block<3, 3>(3 * i, 3 * i);
        const double step = omega_ / std::max({G(0, 0), G(1, 1), G(2, 2)});
        const Vec3 old = f.segment<3>(3 * i), c = c_.map().segment<3>(3 * i);
        const Vec3 change = project_cone(old - step * c, problem.mu()[i]) - old;
        f.segment<3>(3 * i) += change;
        c_.map() += problem.G().middleCols<3>(3 * i) * change;
        c_.map().segment<3>(3 * i) += problem.R().segment<3>(3 * i).cwiseProduct(change);
      }
      for (int j = 0, k = 3 * nc; k < n; ++j, ++k) {
        const double G = problem.G()(k, k) + problem.R()[k], old = f[k];
        f[k] = std::clamp(old - omega_ * c_[k] / G, problem.lower()[j], problem.upper()[j]);
        c_.map() += problem.G().col(k) * (f[k] - old);
        c_[k] += problem.R()[k] * (f[k] - old);
      }
    }
    return report;
  }

 private:
  SolverOptions options_;
  double omega_;
  VectorBuffer c_;
};

OptionTable keys() {
  FieldTable<SorOptions> table;
  table.add("omega", &SorOptions::omega, positive(1.9), "", "over-relaxation of a sweep");
  return table;
}

const bool registered = (register_contact_solver({.name = "sor",
                                                  .models = {ContactModel::Ccp},
                                                  .rows = true,
                                                  .summary = "over-relaxed sweeps on the convex problem",
                                                  .make =
                                                      [](const SolverOptions& options) {
                                                        return std::make_unique<Sor>(
                                                            options, options.own.taken<SorOptions>("solver 'sor'"));
                                                      },
                                                  .options = keys()}),
                         true);

}  // namespace
