// Every contact solver: one line each.
#include <algorithm>

#include "base/table.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {

namespace {

std::deque<SolverEntry>& table_of_solvers() {
  using enum ContactModel;
  static std::deque<SolverEntry> table = {
      {"newton",
       {Ncp},
       true,
       "semismooth Newton, then interior point where needed: exact, the default",
       make_newton,
       false,
       true},
      {"pgs",
       {Ncp, Ccp, Lcp},
       true,
       "projected Gauss-Seidel: cheap sweeps, slow where masses differ",
       make_pgs,
       false,
       true,
       pgs_options()},
      {"raisim",
       {Raisim},
       true,
       "per-contact bisection: each contact exact given the others",
       make_raisim,
       false,
       true},
      {"admm",
       {Ncp, Ccp},
       true,
       "alternating directions with a spectral rule: robust, mild accuracy soon",
       make_admm,
       false},
      {"staggered",
       {Ncp, Lcp},
       true,
       "staggered projections: normal and tangential problems in turn",
       make_staggered,
       true,
       false,
       staggered_options()},
      {"dantzig",
       {Lcp},
       true,
       "principal pivoting with four facets, bounds of friction renewed",
       make_dantzig,
       true,
       false,
       dantzig_options()},
      {"lemke",
       {Lcp},
       true,
       "complementary pivoting with 4, 8 or 16 facets: exact where it ends",
       make_lemke,
       true,
       false,
       lemke_options()},
      {"proximal", {Ccp}, true, "proximal semismooth Newton on the convex problem: exact", make_proximal, false},
      {"primal-newton-mujoco",
       {Ccp},
       true,
       "Newton on velocities, R = alpha diag G",
       make_primal_newton_mujoco,
       false,
       false,
       primal_newton_mujoco_options()},
      {"primal-newton-sap",
       {Ccp},
       true,
       "Newton on velocities, R physical or near-rigid",
       make_primal_newton_sap,
       false,
       false,
       primal_newton_sap_options()},
  };
  return table;
}

bool solves(const SolverEntry& entry, ContactModel model) {
  return std::find(entry.models.begin(), entry.models.end(), model) != entry.models.end();
}

}  // namespace

const std::deque<SolverEntry>& contact_solvers() { return table_of_solvers(); }

void register_contact_solver(SolverEntry entry) { add_entry(table_of_solvers(), std::move(entry), "solver"); }

std::string to_string(ContactModel model) {
  switch (model) {
    case ContactModel::Ncp:
      return "ncp";
    case ContactModel::Ccp:
      return "ccp";
    case ContactModel::Lcp:
      return "lcp";
    case ContactModel::Raisim:
      return "raisim";
  }
  return "";
}

ContactModel contact_model_from(const std::string& name) {
  for (ContactModel m : {ContactModel::Ncp, ContactModel::Ccp, ContactModel::Lcp, ContactModel::Raisim})
    if (to_string(m) == name) return m;
  throw InvalidInput(unknown_name("contact model", name, {"ncp", "ccp", "lcp", "raisim"}));
}

std::string to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::Converged:
      return "converged";
    case SolveStatus::Stalled:
      return "stalled";
    case SolveStatus::IterationLimit:
      return "iteration limit";
    case SolveStatus::Infeasible:
      return "infeasible";
    case SolveStatus::Invalid:
      return "invalid";
  }
  return "";
}

const SolverEntry& contact_solver_entry(const std::string& name) {
  return find_entry(contact_solvers(), name, "solver");
}

const SolverEntry& default_contact_solver(ContactModel model) {
  for (const SolverEntry& entry : contact_solvers())
    if (solves(entry, model)) return entry;
  throw InvalidInput("no solver knows the contact model '" + to_string(model) + "'");
}

std::unique_ptr<ContactSolver> make_contact_solver(const std::string& name, const SolverOptions& options) {
  const SolverEntry& entry = contact_solver_entry(name);
  if (solves(entry, options.model)) {
    entry.options.check(options.own, "solver '" + name + "'");
    return entry.make(options);
  }
  std::string list;
  for (const SolverEntry& other : contact_solvers())
    if (solves(other, options.model)) list += (list.empty() ? "" : ", ") + other.name;
  throw InvalidInput("solver '" + name + "' does not solve the contact model '" + to_string(options.model) +
                     "'; those that do: " + list);
}

}  // namespace tribo
