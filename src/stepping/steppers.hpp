// Factories of the schemes and their options, for the table.
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

OptionTable rigid_options();
OptionTable explicit_euler_options();
OptionTable runge_kutta_options();
OptionTable implicit_euler_options();
OptionTable exponential_options();
OptionTable momentum_options();
OptionTable relaxed_options();
OptionTable macroscopic_options();
OptionTable microscopic_options();

}  // namespace tribo
