// Forces on single velocity coordinates that are linear between bounds: drives, springs in joints, dry friction.
//   f = a - K m - B v  within [lower, upper],  m: way of the coordinate since the start of the step          (joint.1)
//   drive      a = tau + kp (e - moved) + kd v_ref,  K = kp, B = kd, within the limits of the actuator       (drive.1)
//   target     a = B target,  B = 1000 M_kk / dt, within the same limits                                    (target.1)
//   spring     a = -k d,  K = k;  d: its deflection at the start
//   damping    B = D, where a scheme asks for it in this form
//   friction   spring and damper in series with a slider, as a contact's (compliant.8):
//              a = -K x, within -+ F,  K = F / deflection, B = 2 sqrt(K I)                                   (joint.2)
// I is the diagonal entry of M: the spring of a joint at rest does not ring. Where friction is at its bound, the slider
// has moved by the end of the step as (compliant.9) has it; what the spring bears is remembered as a force.
#pragma once

#include <algorithm>
#include <vector>

#include "tribo/step.hpp"

namespace tribo {

struct JointSpring {
  enum class Kind : char { Drive, Spring, Damping, Friction } kind = Kind::Drive;
  int dof = 0;
  double a = 0, K = 0, B = 0;  ///< [N m], [N m/rad], [N m s/rad], or with [N] and [m]
  double lower = 0, upper = 0;
  double mean = 0;        ///< over the step, filled by the scheme [N m] or [N]
  char bound = 0;         ///< -1 or 1: the scheme takes it at its lower or upper bound
  bool released = false;  ///< it was at a bound before, in this step
  bool target = false;    ///< a drive towards a velocity at the end of the step

  double at(double moved, double v) const { return a - K * moved - B * v; }
  double within(double f) const { return std::clamp(f, lower, upper); }
  double at_bound() const { return bound < 0 ? lower : upper; }
  /// Puts it at the bound that f is beyond; true where that is new.
  bool saturate(double f);
  /// Takes it back to its linear form, once, where f is within its bounds; true where that is new.
  bool release(double f);
};

/// Of the memory of dry friction on a coordinate.
inline std::uint64_t friction_id(int dof) { return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(dof) << 8; }

class JointSprings {
 public:
  /// deflection: of the spring of a joint that is about to slip [rad] or [m].
  JointSprings(const Model& model, double deflection);

  /// Anew for a start. damping: joint damping in this form too, where there is anything else.
  void list(const Start& start, bool damping);
  bool empty() const { return springs_.empty(); }
  std::vector<JointSpring>& all() { return springs_; }
  const std::vector<JointSpring>& all() const { return springs_; }
  /// The torque of drives without gains, within their limits (nv).
  void feed_forward(const Start& start, VecX& torque) const;
  /// Mean torque of the drives into the torque of the step (nv).
  void take_torque(VecX& torque) const;
  /// What friction leaves to the next step; h, and the mean velocity along which q moves.
  void remember(double h, const VecX& v_mean, Memory& memory) const;
  /// Work of springs, friction and damping at the mean forces, at the velocity v over a time.
  void charge(double time, const VecX& v, Work& work) const;
  bool lists_damping() const { return damping_; }
  /// Energy in them: joint springs, and friction among the contacts.
  Elastic stored(const State& state);

 private:
  double stiffness(int k) const { return model_->joints.friction[k] / deflection_; }

  const Model* model_;
  double deflection_;
  bool sprung_ = false, damping_ = false;
  std::vector<int> rubbing_;  // degrees with dry friction
  std::vector<int> scalar_;   // by velocity coordinate: the body of a joint with one, else -1
  std::vector<JointSpring> springs_;
  VecX target_gains_;  // (target.1)
  VecX stretch_;       // of the joint springs (nv)
};

}  // namespace tribo
