// Every contact solver: one line each.
#include "base/names.hpp"
#include "contact/solvers/solvers.hpp"

namespace tribo {

const std::vector<SolverEntry>& contact_solvers() {
  using enum ContactModel;
  static const std::vector<SolverEntry> table = {
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
       true},
      {"raisim",
       {Raisim},
       true,
       "per-contact bisection: each contact exact given the others",
       make_raisim,
       false,
       true},
      {"admm", {Ncp, Ccp}, true, "alternating directions with a spectral rule: robust, mild accuracy soon", make_admm},
      {"staggered", {Ncp, Lcp}, true, "staggered projections: normal and tangential problems in turn", make_staggered},
      {"dantzig", {Lcp}, true, "principal pivoting with four facets, bounds of friction renewed", make_dantzig},
      {"lemke", {Lcp}, true, "complementary pivoting with 4, 8 or 16 facets: exact where it ends", make_lemke},
      {"proximal", {Ccp}, true, "proximal semismooth Newton on the convex problem: exact", make_proximal, false},
      {"primal-newton-mujoco", {Ccp}, true, "Newton on velocities, R = alpha diag G", make_primal_newton_mujoco, false},
      {"primal-newton-sap",
       {Ccp},
       true,
       "Newton on velocities, R physical or near-rigid",
       make_primal_newton_sap,
       false},
  };
  return table;
}

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
  std::vector<std::string> known;
  for (const SolverEntry& entry : contact_solvers()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw InvalidInput(unknown_name("solver", name, known));
}

std::unique_ptr<ContactSolver> make_contact_solver(const std::string& name, const SolverOptions& options) {
  const SolverEntry& entry = contact_solver_entry(name);
  auto fits = [&](const SolverEntry& e) {
    return std::find(e.models.begin(), e.models.end(), options.model) != e.models.end();
  };
  if (fits(entry)) return entry.make(options);
  std::string list;
  for (const SolverEntry& other : contact_solvers())
    if (fits(other)) list += (list.empty() ? "" : ", ") + other.name;
  throw InvalidInput("solver '" + name + "' does not solve the contact model '" + to_string(options.model) +
                     "'; those that do: " + list);
}

}  // namespace tribo
