// The face of every contact solver, and the table of them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tribo/contact_problem.hpp"
#include "tribo/options.hpp"

namespace tribo {

/// A solve is done when the judge's residual is below abs, or its relative form below rel.
struct Tolerance {
  double abs = 0;     ///< [N], [m/s^2], [N m/s^2]
  double rel = 1e-8;  ///< [-]

  bool met(const Residual& residual) const { return residual.absolute() <= abs || residual.relative() <= rel; }
};

enum class SolveStatus {
  Converged,
  Stalled,  ///< no progress; the residual says how far it came
  IterationLimit,
  Infeasible,  ///< no forces satisfy the laws
  Invalid      ///< the problem itself is unusable
};

struct SolveReport {
  SolveStatus status = SolveStatus::Converged;
  int iterations = 0;
  Residual residual;       ///< judged afresh from f at the end
  bool escalated = false;  ///< the first method did not reach the tolerance, a stronger one was called
};

/// What every solver is made from.
struct SolverOptions {
  ContactModel model = ContactModel::Ncp;
  int max_iterations = 10000;
  double stall = 1e-8;                   ///< relative change of f below which a first-order solver is said to stall
  std::vector<double>* trace = nullptr;  ///< where wanted: absolute residual after each iteration
  Options own = {};                      ///< of the solver: LemkeOptions, …; empty: its defaults
};

class ContactSolver {
 public:
  virtual ~ContactSolver() = default;
  /// f: guess in, solution out. Never throws; buffers belong to the solver and only grow.
  virtual SolveReport solve(const ContactProblem& problem, const Tolerance& tolerance, VecRef f) = 0;
  /// Sides of the friction pyramid that it solves for, where its model has one.
  virtual int facets() const { return 4; }
};

struct SolverEntry {
  std::string name = {};                  ///< what the command line calls it
  std::vector<ContactModel> models = {};  ///< the models it solves
  bool rows = false;                      ///< handles rows beside the contacts
  std::string summary = {};               ///< one line for `tribo list solvers`
  std::function<std::unique_ptr<ContactSolver>(const SolverOptions&)> make = {};
  bool dense = true;   ///< needs G as a matrix; otherwise its factor will do
  bool discs = false;  ///< takes torsional and rolling friction; else the step is solved in rounds with their bounds
  OptionTable options = {};  ///< its own
};

/// In the order in which they were registered, those of the library first.
const std::deque<SolverEntry>& contact_solvers();
const SolverEntry& contact_solver_entry(const std::string& name);
/// Adds a solver to the table, for scenes, lists and pages. Before it is used, and not from two threads at once.
/// InvalidInput where the name is taken.
void register_contact_solver(SolverEntry entry);
/// The first that solves the model.
const SolverEntry& default_contact_solver(ContactModel model);
/// InvalidInput lists what is known, and which solvers go with the model; names options that are out of their bounds.
std::unique_ptr<ContactSolver> make_contact_solver(const std::string& name, const SolverOptions& options);

std::string to_string(ContactModel model);
ContactModel contact_model_from(const std::string& name);
std::string to_string(SolveStatus status);

}  // namespace tribo
