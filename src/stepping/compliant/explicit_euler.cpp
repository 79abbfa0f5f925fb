// Explicit Euler on visco-elastic contact.
//   v' = v + h vdot,  q+ = q moved along h v + h^2/2 vdot,  vdot = M^-1 (tau - bias + J^T f)             (euler.1)
// [Hammoud2022, (34)]
// Joint damping is taken at the start of the step. Drives, joint springs and dry friction are taken at its end, where
// they are linear, m = h v':  M + h B + h^2 K in place of M; one beyond its bounds is a constant force       (euler.2)
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
  bool takes_start_forces() const override { return true; }
  bool cross(const Start& start, Outcome& out) override {
    for (CompliantContact& s : active_) s.mean = s.f;
    for (LimitSpring& l : limits_) l.mean = l.f;
    applied(start, out.torque, known_);
    add_generalised(start.dynamics, known_);
    for (int pass = 0; pass < most_passes && accelerate(start); ++pass) {
    }
    out.v_end = start.state.v + start.dt * vdot_;
    out.v_mean = start.state.v + 0.5 * start.dt * vdot_;  // (euler.1)
    return true;
  }

  // vdot_ with the joint springs as they are taken; true where one passed a bound, or came back.
  bool accelerate(const Start& start) {
    const double h = start.dt;
    const VecX& v = start.state.v;
    const bool any = !joints_.empty();
    vdot_ = known_;
    if (any) extra_.setZero(start.model.nv);
    for (const JointSpring& s : joints_.all()) {
      const double gain = s.bound == 0 ? s.B + h * s.K : 0;
      vdot_[s.dof] += s.bound == 0 ? s.a - gain * v[s.dof] : s.at_bound();
      extra_[s.dof] += h * gain;  // (euler.2)
    }
    if (any || !factored_) start.dynamics.factor(any ? extra_ : zero_);
    factored_ = true;
    to_acceleration(start.model, start.dynamics, vdot_);
    bool again = false;
    for (JointSpring& s : joints_.all()) {
      const double v_end = v[s.dof] + h * vdot_[s.dof], f = s.at(h * v_end, v_end);
      s.mean = s.bound == 0 ? f : s.at_bound();
      again |= s.saturate(f) || s.release(f);
    }
    return again;
  }

  static constexpr int most_passes = 8;
  VecX vdot_, known_, extra_;
};

}  // namespace

OptionTable explicit_euler_options() { return compliant_fields<CompliantOptions>(); }

std::unique_ptr<Scheme> make_explicit_euler(const Model& model, const StepperOptions& options) {
  return std::make_unique<ExplicitEuler>(model, options);
}

}  // namespace tribo
