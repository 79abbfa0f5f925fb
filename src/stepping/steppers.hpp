// Factories of the steppers, for the table.
#pragma once

#include "tribo/stepper.hpp"

namespace tribo {

std::unique_ptr<Stepper> make_rigid(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_explicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_runge_kutta(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_implicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_exponential(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_momentum(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_relaxed(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_macroscopic(const Model& model, const StepperOptions& options);
std::unique_ptr<Stepper> make_microscopic(const Model& model, const StepperOptions& options);

}  // namespace tribo
