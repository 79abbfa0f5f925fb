// Large problems part by part: what presses falls into parts that share no body. See parts_solver.cpp.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "contact/solvers/contact_sweeps.hpp"
#include "contact/solvers/interior_point.hpp"
#include "contact/solvers/problem_parts.hpp"

namespace tribo {

class Crew;

class PartsSolver {
 public:
  explicit PartsSolver(const SolverOptions& options);
  /// From now on parts are solved on its threads.
  void take(Crew& crew);

  /// Problems on bodies, without discs; f: forces of a few sweeps in, best point out. allowed: products of numbers that
  /// the interior point may take, and what is left of them.
  SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, double& allowed, VecRef f);

 private:
  struct Worker {  // of a slot of the crew
    ProblemParts::Numbers numbers;
    ContactProblem part;
    VectorBuffer f;
    ContactSweeps sweeps;
    InteriorPoint interior_point;
    std::unique_ptr<ContactSolver> newton;  // of dense parts, made for the first
  };
  struct Taken {
    int iterations = 0;
    double products = 0;
  };

  int solve_each(const ContactProblem& problem, const Tolerance& tolerance, double& allowed, VecRef f);
  SolveReport solve_part(Worker& worker, const Tolerance& tolerance) const;

  SolverOptions options_;
  ProblemParts parts_;
  VectorBuffer c_;
  std::vector<int> order_;    // of parts
  std::vector<Taken> taken_;  // by parts in that order
  std::deque<Worker> workers_;
  Crew* crew_ = nullptr;
};

}  // namespace tribo
