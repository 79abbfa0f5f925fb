// Explicit Euler on visco-elastic contact.
//   v' = v + h vdot,  q+ = q moved along h v + h^2/2 vdot,  vdot = M^-1 (tau - bias + J^T f)  [Hammoud2022, (34)]
//   (euler.1)
// Gains and joint damping are taken at the start of the step.
#include "stepping/compliant/compliant.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class ExplicitEuler final : public Compliant {
 public:
  ExplicitEuler(const Model& model, const StepperOptions& options) : Compliant(model, options) {}

 private:
  bool solve(const Model& model, const State& state, Workspace& work, double h, StepReport&) override {
    if (!factored_) work.dynamics.factor(zero_);
    factored_ = true;
    applied(model, state, work, vdot_);
    for (Spring& s : springs_) s.mean = s.f;
    for (LimitSpring& l : limits_) l.mean = l.f;
    add_generalised(work.dynamics, vdot_);
    to_acceleration(model, work.dynamics, vdot_);
    v_new_ = state.v + h * vdot_;
    v_mean_ = state.v + 0.5 * h * vdot_;  // (euler.1)
    return true;
  }

  VecX vdot_;
};

}  // namespace

std::unique_ptr<Stepper> make_explicit_euler(const Model& model, const StepperOptions& options) {
  return std::make_unique<ExplicitEuler>(model, options);
}

}  // namespace tribo
