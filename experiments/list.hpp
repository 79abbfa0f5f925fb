// The experiments, one file each.
#pragma once

#include "experiment.hpp"

namespace tribo::experiments {

Result cube_slide(const ExperimentOptions& options, const Progress& progress);
Result cube_drag(const ExperimentOptions& options, const Progress& progress);

}  // namespace tribo::experiments
