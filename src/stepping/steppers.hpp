// Factories of the steppers, for the table.
#pragma once

#include "tribo/stepper.hpp"

namespace tribo {

std::unique_ptr<Stepper> make_rigid(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_explicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_runge_kutta(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_implicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_exponential(const Model& model, const StepperOptions& options);

}  // namespace tribo
