// A step as a function: the end of it for a start and inputs that are moved a little.
#pragma once

#include "stepping/substeps.hpp"
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
  /// From now on touches within steps are found to the last digit.
  void find_exactly() { substeps_.find_exactly(true); }
  const State& end() const { return state_; }
  StepStatus status() const { return status_; }
  int substeps() const { return taken_; }  ///< that the last step was divided into
  const Scheme& scheme() const { return *scheme_; }
  const Outcome& outcome() const { return crossing_.outcome(); }
  const std::vector<ContactReport>& contacts() const { return crossing_.contacts(); }

  /// Fills state and actuation as `input` and `shift` have them.
  static void start(const Model& model, const StepInput& input, const Shift& shift, State& state, Workspace& work);

 private:
  bool whole(double dt);

  const Model& model_;
  Workspace work_;
  State state_;
  std::unique_ptr<Scheme> scheme_;
  SubstepRules rules_;
  Crossing crossing_;
  Substeps substeps_;
  StepStatus status_ = StepStatus::Ok;
  int taken_ = 1;
};

/// Tangent from one configuration to another, all bodies (nv).
void tangent(const Model& model, const VecX& from, const VecX& to, VecX& d);

}  // namespace tribo
