// What the parts of the experiment quadruped-control share.
#pragma once

#include "control_study.hpp"

namespace tribo::experiments {

/// What the constraint is solved by.
struct Solving {
  std::string model = "ncp", solver = "newton";
  double compliance = 1e-6;  ///< of the targets
  int facets = 4;
  std::function<std::unique_ptr<ContactSolver>()> make;
};

/// The scene under the velocity constraint.
void constrain(Scene& scene, const std::shared_ptr<const Reference>& reference, TargetLaw law, const Solving& solving);
/// The scene under the trot whose targets come from the feet.
void trot_from_feet(Scene& scene);

/// Share of the problems of a run that pivoting does not solve, with and without Tikhonov regularisation: contact and
/// inverse dynamics together, and each alone. scene: the consistent gait under a pd controller.
void pivoting(const ExperimentOptions& options, const Scene& scene, Result& result);

}  // namespace tribo::experiments
