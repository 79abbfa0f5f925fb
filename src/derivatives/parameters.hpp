// How the end of a step moves with parameters of the model.
#pragma once

#include "derivatives/step_map.hpp"

namespace tribo {

/// A column for each name, "mass:BODY" or "friction:MATERIAL" (2 nv x n); by (lin.2) over models that are changed a little.
MatX parameter_slopes(const Model& model, const std::string& stepper, const StepperOptions& options,
                      const StepInput& step, const std::vector<std::string>& names);

}  // namespace tribo
