// The experiments, one file each.
#pragma once

#include "experiment.hpp"

namespace tribo::experiments {

Result cube_slide(const ExperimentOptions& options, const Progress& progress);
Result cube_drag(const ExperimentOptions& options, const Progress& progress);
Result self_consistency(const ExperimentOptions& options, const Progress& progress);
Result stack_ratio(const ExperimentOptions& options, const Progress& progress);
Result compliance(const ExperimentOptions& options, const Progress& progress);
Result convergence(const ExperimentOptions& options, const Progress& progress);
Result solver_timings(const ExperimentOptions& options, const Progress& progress);
Result rigid_tables(const ExperimentOptions& options, const Progress& progress);
Result pendulum(const ExperimentOptions& options, const Progress& progress);
Result chain_scaling(const ExperimentOptions& options, const Progress& progress);
Result expo_accuracy(const ExperimentOptions& options, const Progress& progress);
Result expo_stability(const ExperimentOptions& options, const Progress& progress);
Result expo_stiffness(const ExperimentOptions& options, const Progress& progress);
Result expo_prediction(const ExperimentOptions& options, const Progress& progress);
Result expo_timing(const ExperimentOptions& options, const Progress& progress);
Result incline(const ExperimentOptions& options, const Progress& progress);
Result trot_robots(const ExperimentOptions& options, const Progress& progress);
Result many_contacts(const ExperimentOptions& options, const Progress& progress);
Result gain_tuning(const ExperimentOptions& options, const Progress& progress);
Result ur10_control(const ExperimentOptions& options, const Progress& progress);
Result quadruped_control(const ExperimentOptions& options, const Progress& progress);
Result mpc_flat(const ExperimentOptions& options, const Progress& progress);
Result mpc_bumpy(const ExperimentOptions& options, const Progress& progress);
Result gradients(const ExperimentOptions& options, const Progress& progress);
Result truth(const ExperimentOptions& options, const Progress& progress);
Result corpus(const ExperimentOptions& options, const Progress& progress);

}  // namespace tribo::experiments
