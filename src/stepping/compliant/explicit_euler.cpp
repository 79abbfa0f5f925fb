// Explicit Euler on visco-elastic contact.
//   v' = v + h vdot,  q+ = q moved along h v + h^2/2 vdot,  vdot = M^-1 (tau - bias + J^T f)             (euler.1)
// [Hammoud2022, (34)]
// Gains and joint damping are taken at the start of the step.
#include "stepping/compliant/compliant.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class ExplicitEuler final : public Compliant {
 public:
  ExplicitEuler(const Model& model, const StepperOptions& options)
      : Compliant(model, options.own.taken<CompliantOptions>("stepper 'explicit-euler'")) {}

 private:
  bool cross(const Start& start, Outcome& out) override {
    if (!factored_) start.dynamics.factor(zero_);
    factored_ = true;
    applied(start, out.torque, vdot_);
    for (CompliantContact& s : active_) s.mean = s.f;
    for (LimitSpring& l : limits_) l.mean = l.f;
    add_generalised(start.dynamics, vdot_);
    to_acceleration(start.model, start.dynamics, vdot_);
    out.v_end = start.state.v + start.dt * vdot_;
    out.v_mean = start.state.v + 0.5 * start.dt * vdot_;  // (euler.1)
    return true;
  }

  VecX vdot_;
};

}  // namespace

OptionTable explicit_euler_options() { return compliant_fields<CompliantOptions>(); }

std::unique_ptr<Scheme> make_explicit_euler(const Model& model, const StepperOptions& options) {
  return std::make_unique<ExplicitEuler>(model, options);
}

}  // namespace tribo
