// A step as a function: the end of it for a start and inputs that are moved a little.
#pragma once

#include "stepping/workspace.hpp"
#include "tribo/linearization.hpp"

namespace tribo {

/// dx = (dq, dv) and du, each (nv); du is of torques or targets. m: of the compliant memory, see remembered(); empty: none.
struct Shift {
  VecX q, v, u, m;
};

/// What compliant contacts remember, as in Linearization::whole_A.
void remembered(const Memory& memory, VecX& m);

class StepMap {
 public:
  StepMap(const Model& model, const std::string& stepper, const StepperOptions& options);

  /// The step with its start and inputs moved. False where it was not taken.
  bool step(const StepInput& input, const Shift& shift);
  const State& end() const { return state_; }
  StepStatus status() const { return status_; }
  const Stepper& stepper() const { return *stepper_; }

  /// Fills state and actuation as `input` and `shift` have them.
  static void start(const Model& model, const StepInput& input, const Shift& shift, State& state, Workspace& work);

 private:
  const Model& model_;
  Workspace work_;
  State state_;
  std::unique_ptr<Stepper> stepper_;
  StepStatus status_ = StepStatus::Ok;
};

/// Tangent from one configuration to another, all bodies (nv).
void tangent(const Model& model, const VecX& from, const VecX& to, VecX& d);

}  // namespace tribo
