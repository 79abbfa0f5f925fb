// The microscopic stepper: a spring and a damper at every point that touches, friction by the speed of sliding.
//   f_N = max(0, -K phi - B c_N),  f_F = -mu_d f_N w(|c_F|) c_F / |c_F|,  w(x) = 1 - exp(-k_w x)      (microscopic.1)
// evaluated at the four stages of (momentum.5). Friction needs speed: a point that is pushed along the surface by the
// share x < 1 of mu_d f_N never rests, it creeps at
//   v = -ln(1 - x) / k_w                                                                              (microscopic.2)
#include <cmath>

#include "stepping/momentum/momentum.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

constexpr double usual_ramp = 100;                               // k_w [s/m]
constexpr double deep_limit = 0.02, slow_return = 0.1;           // of a joint beyond its range [rad]; time constant [s]
constexpr double closure_stiffness = 1e4, closure_damping = 10;  // of joints that follow others [N/m], [N s/m]

class Microscopic final : public MomentumFamily {
 public:
  Microscopic(const Model& model, const MicroscopicOptions& options) : MomentumFamily(model, options), own_(options) {
    default_kw_ = usual_ramp;
  }

  bool stores_energy() const override { return true; }

 private:
  void find_forces(const Start& start, Outcome&) override {
    for (Touching& t : touching_) {
      t.f = stage_force(t, t.c.gap, t.v);
      t.mode = t.f.z() > 0 ? ContactMode::Slip : ContactMode::Open;
    }
    for (JointForce& j : joints_) j.f = stage_force(j, j.d, j.along(start.state.v));
  }

  // (microscopic.1)
  Vec3 stage_force(const Touching& t, double gap, const Vec3& c) const override {
    if (gap >= 0) return Vec3::Zero();
    const double normal = -t.surface.stiffness * (gap - t.rest) - t.surface.damping * c.z();
    if (!(normal > 0)) return Vec3::Zero();
    const double speed = std::hypot(c.x(), c.y());
    const double share = speed > 0 ? -t.surface.mu_dynamic * normal * ramp(speed) / speed : 0;
    return Vec3(share * c.x(), share * c.y(), normal);
  }

  // Dry friction of a joint by its speed, as that of a contact (microscopic.1); of a limit by its springs.
  double stage_force(const JointForce& j, double gap, double rate) const override {
    if (j.equality()) return -closure_stiffness * gap - closure_damping * rate;
    if (j.friction > 0) return -std::copysign(j.friction * ramp(std::abs(rate)), rate);
    if (gap >= 0) return 0;
    // What began beyond its range comes back damped.
    const bool back = rate >= 0 && j.d < -deep_limit;
    const double B = back ? std::max(own_.limit_damping, slow_return * own_.limit_stiffness) : own_.limit_damping;
    return std::max(0.0, -own_.limit_stiffness * gap - B * rate);
  }

  Elastic stored(const State& state) override {
    Elastic elastic = MomentumFamily::stored(state);
    double& energy = elastic.contacts;
    for (const Touching& t : touching_) {
      const double depth = std::min(t.c.gap - t.rest, 0.0);
      energy += 0.5 * t.surface.stiffness * depth * depth;
    }
    for (const JointForce& j : joints_)
      energy += 0.5 * (j.equality() ? closure_stiffness : own_.limit_stiffness) * j.d * j.d;
    return elastic;
  }

  MicroscopicOptions own_;
};

}  // namespace

OptionTable microscopic_options() {
  using Own = MicroscopicOptions;
  auto table = momentum_fields<Own>();
  table.add("limit_stiffness", &Own::limit_stiffness, positive(), "N m/rad or N/m", "of joint limits");
  table.add("limit_damping", &Own::limit_damping, at_least(0), "N m s/rad or N s/m", "of joint limits");
  return table;
}

std::unique_ptr<Scheme> make_microscopic(const Model& model, const StepperOptions& options) {
  return std::make_unique<Microscopic>(model, options.own.taken<MicroscopicOptions>("stepper 'microscopic'"));
}

}  // namespace tribo
