// What presses, part by part; what is left out is looked at with the velocities that they give, and comes in where it would
// close. Parts share no body, so each is solved as if it were alone, on as many threads as there are, with the same answer.
#include "contact/solvers/parts_solver.hpp"

#include <algorithm>

#include "base/crew.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {
namespace {

constexpr int most_rounds = 8;      // of parts: each looks at what the one before left out
constexpr double may_close = 0.05;  // of the scale of accelerations: what opens slower after the sweeps is not left out
constexpr int most_tries = 8, sweeps_between = 200;  // of the interior point on a part
constexpr int worth_sharing = 64;  // contacts of a problem from which on its parts go to several threads

}  // namespace

PartsSolver::PartsSolver(const SolverOptions& options) : options_(options), workers_(1) {}

void PartsSolver::take(Crew& crew) {
  crew_ = &crew;
  options_.trace = nullptr;
  workers_.resize(at(crew.slots()));
}

SolveReport PartsSolver::solve(const ContactProblem& problem, const Tolerance& tolerance, double& allowed, VecRef f) {
  SolveReport report;
  int iterations = 0;
  report.residual = judge_afresh(problem, options_.model, f.data(), c_);
  parts_.choose(problem, f.data(), c_.data(), may_close * report.residual.motion_scale);
  report.status = SolveStatus::Stalled;
  bool more = true;
  for (int round = 0; round < most_rounds && more; ++round) {
    parts_.split(problem);
    iterations += solve_each(problem, tolerance, allowed, f);
    parts_.clear_others(problem, f.data());
    report.residual = judge_afresh(problem, options_.model, f.data(), c_);
    if (tolerance.met(report.residual)) report.status = SolveStatus::Converged;
    more = report.status != SolveStatus::Converged && allowed >= 0 && parts_.choose_more(problem, c_.data(), 0);
  }
  report.iterations = iterations;
  report.escalated = true;
  return report;
}

// Large parts first. Neither a part nor what it may take depends on what becomes of the others.
int PartsSolver::solve_each(const ContactProblem& problem, const Tolerance& tolerance, double& allowed, VecRef f) {
  order_.clear();
  for (int k = 0; k < parts_.size(); ++k)
    if (parts_.fresh(k)) order_.push_back(k);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    return parts_.blocks(a) != parts_.blocks(b) ? parts_.blocks(a) > parts_.blocks(b) : a < b;
  });
  taken_.assign(order_.size(), {});
  const auto solve_one = [&](int job, int slot) {
    Worker& worker = workers_[at(slot)];
    const int k = order_[at(job)];
    parts_.extract(problem, k, f.data(), worker.numbers, worker.part, worker.f);
    worker.interior_point.allow(allowed);
    taken_[at(job)] = {solve_part(worker, tolerance).iterations, allowed - worker.interior_point.allowed()};
    parts_.put_back(problem, k, worker.f, f.data());
  };
  const int jobs = static_cast<int>(order_.size());
  if (crew_ && problem.nc() >= worth_sharing)
    crew_->share(jobs, solve_one);
  else
    for (int job = 0; job < jobs; ++job) solve_one(job, 0);
  int iterations = 0;
  for (const Taken& taken : taken_) {
    iterations += taken.iterations;
    allowed -= taken.products;
  }
  return iterations;
}

// Where the path of the interior point turns back a few sweeps lead to another one.
SolveReport PartsSolver::solve_part(Worker& worker, const Tolerance& tolerance) const {
  const ContactProblem& part = worker.part;
  VecRef f = worker.f.map();
  if (part.dense()) {
    if (!worker.newton) worker.newton = make_newton_of_parts(options_);
    return worker.newton->solve(part, tolerance, f);
  }
  SolveReport report;
  int iterations = 0;
  for (int k = 0; k < most_tries; ++k) {
    report = worker.interior_point.approach(part, tolerance, k > 0, f);
    iterations += report.iterations;
    if (report.status == SolveStatus::Converged || worker.interior_point.spent()) break;
    worker.sweeps.run(part, sweeps_between, f);
  }
  if (report.status != SolveStatus::Converged) {
    report = worker.interior_point.solve(part, tolerance, f);
    iterations += report.iterations;
  }
  report.iterations = iterations;
  return report;
}

}  // namespace tribo
