// One contact problem, solved and judged.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "base/names.hpp"
#include "tribo/contact_solver.hpp"

namespace tribo::python {
namespace {

using namespace nb::literals;

constexpr double symmetry = 1e-8;  // of the largest entry of G

struct Solution {
  VecX f, c;
  SolveReport report;
  bool converged = false;
  std::string solver, model;
};

ContactProblem problem_of(const MatrixIn& G, const VectorIn& g, const VectorIn& mu, const std::optional<VectorIn>& R,
                          const std::optional<VectorIn>& lower, const std::optional<VectorIn>& upper) {
  const int nc = static_cast<int>(mu.shape(0)), n = static_cast<int>(g.shape(0)), nr = n - 3 * nc;
  if (nr < 0)
    throw InvalidInput("g has " + std::to_string(n) + " entries, must have 3 a contact: mu has " + std::to_string(nc));
  if (static_cast<int>(G.shape(0)) != n || static_cast<int>(G.shape(1)) != n)
    throw InvalidInput("G is " + std::to_string(G.shape(0)) + " x " + std::to_string(G.shape(1)) + ", must be " +
                       std::to_string(n) + " x " + std::to_string(n));
  if (nr > 0 && !lower && !upper)
    throw InvalidInput("g has " + std::to_string(n) + " entries, 3 a contact make " + std::to_string(3 * nc) +
                       ": mu must have one entry a contact, or lower and upper bound the rows beyond");
  ContactProblem problem;
  problem.resize(nc, nr, true);
  problem.G() = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(G.data(), n, n);
  problem.g() = vector(g);
  problem.mu() = vector(mu);
  problem.R().setZero();
  if (R) problem.R() = vector(*R, n, "R");
  problem.lower().setConstant(-std::numeric_limits<double>::infinity());
  problem.upper().setConstant(std::numeric_limits<double>::infinity());
  if (lower) problem.lower() = vector(*lower, nr, "lower");
  if (upper) problem.upper() = vector(*upper, nr, "upper");
  if (const std::string defect = problem.defect(); !defect.empty()) throw InvalidInput(defect);
  const double largest = problem.G().cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (!(std::abs(problem.G()(i, j) - problem.G()(j, i)) <= symmetry * largest))
        throw InvalidInput("G[" + std::to_string(i) + ", " + std::to_string(j) + "] is " + shown(problem.G()(i, j)) +
                           " but G[" + std::to_string(j) + ", " + std::to_string(i) + "] is " +
                           shown(problem.G()(j, i)) + ": G must be symmetric to 1e-8 of its largest entry");
  return problem;
}

Solution solve(const MatrixIn& G, const VectorIn& g, const VectorIn& mu, const std::string& contact_model,
               const std::string& solver, double tolerance, bool relative, int max_iterations,
               const std::optional<VectorIn>& R, const std::optional<VectorIn>& lower,
               const std::optional<VectorIn>& upper, const std::optional<VectorIn>& guess) {
  if (!(tolerance > 0) || !std::isfinite(tolerance)) throw InvalidInput("tolerance must be finite and > 0");
  if (max_iterations < 1) throw InvalidInput("max_iterations must be >= 1");
  const ContactProblem problem = problem_of(G, g, mu, R, lower, upper);
  SolverOptions options;
  options.model = contact_model_from(contact_model);
  options.max_iterations = max_iterations;
  Solution out;
  out.model = contact_model;
  out.solver = solver;
  if (solver.empty()) out.solver = default_contact_solver(options.model).name;
  const auto method = make_contact_solver(out.solver, options);
  if (problem.nr() > 0 && !contact_solver_entry(out.solver).rows)
    throw InvalidInput("the solver '" + out.solver + "' takes no rows beside contacts");
  out.f = VecX::Zero(problem.size());
  if (guess) out.f = vector(*guess, problem.size(), "guess");
  const Tolerance wanted = relative ? Tolerance{.abs = 0, .rel = tolerance} : Tolerance{.abs = tolerance, .rel = 0};
  {
    nb::gil_scoped_release release;
    out.report = method->solve(problem, wanted, out.f);
    out.c.resize(problem.size());
    problem.velocity(out.f.data(), out.c.data());
    out.report.residual = judge(problem, options.model, out.f.data(), out.c.data(), method->facets());
  }
  out.converged = out.report.status == SolveStatus::Converged && wanted.met(out.report.residual);
  return out;
}

}  // namespace

void bind_solve(nb::module_& m) {
  nb::class_<Residual>(m, "Residual", "Distances to the laws, largest over all contacts and rows.")
      .def_ro("primal", &Residual::primal, "dist(f, K) [N]")
      .def_ro("dual", &Residual::dual, "dist(c + Gamma(c), K*) [m/s^2]")
      .def_ro("complementarity", &Residual::complementarity, "|<f, c + Gamma(c)>| [N m/s^2]")
      .def_prop_ro("absolute", &Residual::absolute, "the largest of the three")
      .def_prop_ro("relative", &Residual::relative, "the largest of the three over their scales");
  nb::class_<Solution>(m, "Solution", "Forces of a contact problem.")
      .def_prop_ro(
          "f", [](nb::handle self) { return view(std::as_const(nb::cast<Solution&>(self).f), self); },
          "forces, (t1, t2, n) a contact, then the rows (n) [N]", nb::rv_policy::automatic)
      .def_prop_ro(
          "c", [](nb::handle self) { return view(std::as_const(nb::cast<Solution&>(self).c), self); },
          "accelerations (G + R) f + g (n) [m/s^2]", nb::rv_policy::automatic)
      .def_prop_ro(
          "residual", [](const Solution& s) { return s.report.residual; }, "judged afresh from f")
      .def_prop_ro("iterations", [](const Solution& s) { return s.report.iterations; })
      .def_prop_ro("status", [](const Solution& s) { return to_string(s.report.status); })
      .def_ro("converged", &Solution::converged)
      .def_ro("solver", &Solution::solver)
      .def_ro("contact_model", &Solution::model)
      .def("__repr__", [](const Solution& s) {
        return "Solution(" + s.solver + ", " + to_string(s.report.status) + ", " + std::to_string(s.report.iterations) +
               " iterations)";
      });
  m.def("solve", solve, "G"_a, "g"_a, "mu"_a, nb::kw_only(), "contact_model"_a = "ncp", "solver"_a = "",
        "tolerance"_a = 1e-8, "relative"_a = false, "max_iterations"_a = 10000, "R"_a = nb::none(),
        "lower"_a = nb::none(), "upper"_a = nb::none(), "guess"_a = nb::none(),
        "Solves c = (G + R) f + g with f in its cones. G (n x n) [1/kg], g (n) [m/s^2], mu (nc) [-], contact-major,\n"
        "(t1, t2, n); entries beyond 3 nc are rows with lower and upper bounds [N]. tolerance is absolute unless\n"
        "relative is set. Without a solver: the first of solvers() that knows the law.");
}

}  // namespace tribo::python
