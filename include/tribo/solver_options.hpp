// Options of single contact solvers; what all of them share is in tribo/contact_solver.hpp.
#pragma once

namespace tribo {

struct LemkeOptions {
  int facets = 4;  ///< of the friction pyramid: 4, 8 or 16
};

enum class SweepSteps { Bounded, Paper };

struct PgsOptions {
  SweepSteps steps = SweepSteps::Bounded;  ///< along the tangents: as long as the block allows, or the document's
  double relaxation = 1;                   ///< w of a sweep [-], in (0, 2)
};

enum class SubproblemSolve { Proximal, Pivoting };

struct StaggeredOptions {
  SubproblemSolve subproblems = SubproblemSolve::Proximal;  ///< of normal forces and of square friction bounds
};
struct DantzigOptions {
  SubproblemSolve subproblems = SubproblemSolve::Proximal;  ///< Proximal: where pivoting does not end; Pivoting: never
};

enum class LineSearch { Exact, Armijo };

/// Of primal-newton-sap, and of primal-newton-mujoco as the base of its own.
struct PrimalNewtonOptions {
  using Family = PrimalNewtonOptions;
  LineSearch line_search = LineSearch::Exact;
};
struct MujocoNewtonOptions : PrimalNewtonOptions {
  double compliance_ratio = 1e-3;  ///< alpha in R = alpha diag G [-], > 0
};

}  // namespace tribo
