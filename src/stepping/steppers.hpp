// Factories of the schemes, for the table.
#pragma once

#include "tribo/stepper.hpp"

namespace tribo {

std::unique_ptr<Scheme> make_rigid(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_explicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_runge_kutta(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_implicit_euler(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_exponential(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_momentum(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_relaxed(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_macroscopic(const Model& model, const StepperOptions& options);
std::unique_ptr<Scheme> make_microscopic(const Model& model, const StepperOptions& options);

}  // namespace tribo
