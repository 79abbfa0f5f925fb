// Options of the rigid stepper. How it solves its contact problems is in ContactOptions (tribo/stepper.hpp).
#pragma once

#include <functional>
#include <memory>

#include "tribo/contact_solver.hpp"

namespace tribo {

/// The rule for what nothing acts on. Trees of several bodies fly with order two in either.
enum class SmoothScheme {
  Euler,      ///< single free bodies fall by semi-implicit Euler, as the bodies that something acts on
  Midpoint,   ///< of second order for single free bodies too
  RungeKutta  ///< of order four for all trees that fly, single bodies too
};

/// The law of restitution, where several contacts share an impact.
enum class ImpactLaw {
  Newton,     ///< every contact leaves with e times the speed that it came with
  Poisson,    ///< the impulse that stops the contacts, then e times it
  Sequential  ///< one pair after the other, in the order in which they meet, each by Newton's law
};

struct RigidOptions {
  SmoothScheme smooth = SmoothScheme::Euler;
  ImpactLaw impact = ImpactLaw::Newton;
  /// A step is divided where the next new contact touches: until then it does not act. See (rigid.17).
  bool touch = false;
  /// Compliance of velocity targets over the diagonal of G: what they give way by where contacts or limits of torque
  /// oppose them. See (rigid.10). 0: they do not, and a step may have no solution.
  double target_compliance = 1e-6;
  /// Single free bodies that have rested for so long sleep, with all that they touch, until something wakes them [s]; 0: never.
  double sleep = 0;
  /// Threads that share the islands of a step, and the parts of large ones; the same bits come out for any number of them.
  int threads = 1;
  /// Called with each contact problem and its guess (n) [N] before the solve; it may set R. For studies.
  std::function<void(ContactProblem& problem, const double* f)> on_problem;
  /// A solver that is in no table, instead of the named one; it gets a dense G. For studies.
  std::function<std::unique_ptr<ContactSolver>()> make_solver;
};

}  // namespace tribo
