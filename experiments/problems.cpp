#include "problems.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "linalg/decompositions.hpp"
#include "tribo/rigid.hpp"
#include "tribo/solver_options.hpp"

namespace tribo::experiments {

std::vector<Recorded> record(Scene scene, int every) {
  std::vector<Recorded> kept;
  Recorded best;
  scene.stepper_options.own.as<RigidOptions>().on_problem = [&](ContactProblem& problem, const double* f) {
    if (problem.nc() == 0 || problem.nc() <= best.problem.nc()) return;
    best.problem = problem;
    best.guess = Eigen::Map<const VecX>(f, problem.size());
  };
  Simulation simulation = make_simulation(scene);
  const auto steps = std::lround(scene.duration / scene.dt);
  for (long k = 0; k < steps; ++k) {
    best = {};
    best.t = simulation.state().t;
    simulation.step();
    if (k % every == 0 && best.problem.nc() > 0) kept.push_back(best);
  }
  return kept;
}

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (ContactModel model : {ContactModel::Ncp, ContactModel::Ccp, ContactModel::Lcp, ContactModel::Raisim})
    for (const SolverEntry& entry : contact_solvers())
      if (std::find(entry.models.begin(), entry.models.end(), model) != entry.models.end())
        pairs.push_back({model, entry.name});
  return pairs;
}

ContactProblem own_law(const ContactProblem& problem, const Pair& pair) {
  ContactProblem own = problem;
  if (!pair.solver.starts_with("primal-newton")) return own;
  const bool sap = pair.solver == "primal-newton-sap";
  const double ratio = pair.compliance_ratio > 0 ? pair.compliance_ratio : MujocoNewtonOptions{}.compliance_ratio;
  const MatX G = dense_matrix(problem);
  for (int i = 0; i < problem.blocks(); ++i) {
    const int rows = problem.block_size(i), o = problem.offset(i);
    const MatX block = G.block(o, o, rows, rows);
    const double W = block.norm() / std::sqrt(rows);  // root mean square
    VecX R = ratio * block.diagonal();
    if (sap) R.setConstant(1e-3 * W);
    if (sap) R[rows - 1] = W / (4 * std::numbers::pi * std::numbers::pi);
    R = R.cwiseMax(problem.R().segment(o, rows));
    if (rows == 3) R[0] = R[1] = std::max(R[0], R[1]);
    own.R().segment(o, rows) = R;
  }
  return own;
}

Solved solve(const ContactProblem& problem, const Pair& pair, const Tolerance& tolerance, const VecX& guess,
             int repeats, std::vector<double>* trace) {
  using Clock = std::chrono::steady_clock;
  SolverOptions options;
  options.model = pair.model;
  options.trace = trace;
  if (pair.compliance_ratio > 0) options.own.as<MujocoNewtonOptions>().compliance_ratio = pair.compliance_ratio;
  const auto solver = make_contact_solver(pair.solver, options);
  Solved best;
  for (int k = 0; k < repeats + (repeats > 1); ++k) {  // where times matter, a first one fills the buffers
    VecX f = guess;
    if (trace) trace->clear();
    const auto began = Clock::now();
    const SolveReport report = solver->solve(problem, tolerance, f);
    const double time = std::chrono::duration<double>(Clock::now() - began).count();
    if (k <= 1 || time < best.time) best.time = time;
    best.f = f;
    best.report = report;
  }
  best.c.resize(problem.size());
  problem.velocity(best.f.data(), best.c.data());
  return best;
}

MatX dense_matrix(const ContactProblem& problem) {
  MatX G(problem.size(), problem.size());
  for (int k = 0; k < problem.size(); ++k) {
    const VecX e = VecX::Unit(problem.size(), k);
    problem.multiply(e.data(), G.col(k).data());
  }
  return 0.5 * (G + G.transpose());
}

ContactProblem as_dense(const ContactProblem& problem) {
  ContactProblem out;
  out.resize(problem.nc(), problem.nr(), true);
  out.G() = dense_matrix(problem);
  out.g() = problem.g();
  out.R() = problem.R();
  out.mu() = problem.mu();
  out.lower() = problem.lower();
  out.upper() = problem.upper();
  out.weight = problem.weight;
  return out;
}

double internal_force(const ContactProblem& problem, const VecX& f) {
  const SymmetricEigen eigen = symmetric_eigen(dense_matrix(problem));
  const double smallest = 1e-10 * eigen.values.maxCoeff();
  double sum = 0;
  for (Eigen::Index k = 0; k < f.size() && eigen.values[k] < smallest; ++k)
    sum += std::pow(eigen.vectors.col(k).dot(f), 2);
  return std::sqrt(sum);
}

}  // namespace tribo::experiments
