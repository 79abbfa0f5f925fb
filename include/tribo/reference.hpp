// Motions that the joints of a robot are to follow.
#pragma once

#include <memory>

#include "tribo/model.hpp"

namespace tribo {

/// Of every joint with one coordinate: angle or length, velocity, acceleration. Shape (nv of the member); 0 elsewhere.
struct JointMotion {
  VecX q;  ///< [rad] or [m]
  VecX v;  ///< [rad/s] or [m/s]
  VecX a;  ///< [rad/s^2] or [m/s^2]

  explicit JointMotion(int nv = 0) : q(VecX::Zero(nv)), v(VecX::Zero(nv)), a(VecX::Zero(nv)) {}
};

/// Constant: a simulation, and every copy of it, may share one.
class Reference {
 public:
  virtual ~Reference() = default;
  virtual int nv() const = 0;
  /// False where it is the same at every time.
  virtual bool moves() const { return true; }
  /// out has been sized; nothing is allocated.
  virtual void at(double t, JointMotion& out) const = 0;
};

/// q = center + amplitude (sin(2 pi frequency t + phase) - sin(phase)): it begins at the center.
/// InvalidInput for sizes that differ and for what is not finite.
struct Sinusoid {
  VecX center, amplitude, frequency, phase;  ///< (nv of the member) [rad] or [m], [Hz], [rad]
};
std::shared_ptr<const Reference> make_sinusoid(const Sinusoid& sinusoid);

/// A pose.
std::shared_ptr<const Reference> make_constant(const VecX& q);

/// Knots at equal times, joined by cubics that have the velocity of the knots; at rest after the last.
/// InvalidInput for sizes that differ and for what is not finite.
struct SampledMotion {
  double dt = 0;  ///< between knots [s]
  MatX q, v;      ///< (nv of the member x knots); v may be empty: differences of the neighbours
};
std::shared_ptr<const Reference> make_sampled(SampledMotion motion);

/// A trot that four point feet can follow without slip: stance feet stand still in the world, and a level base moves
/// forward while all four of them do. Legs on one diagonal swing together. See gait.hpp, (trot.1) and (trot.2).
struct Trot {
  double period = 0.8;    ///< of the gait [s]
  double swing = 0.2;     ///< time that a foot is in the air, below period / 2 [s]
  double height = 0.03;   ///< to which it is lifted [m]
  double speed = 0.05;    ///< of the base, forward, on average [m/s]
  double ramp = 0.8;      ///< time in which the speed is reached [s]
  double duration = 5.0;  ///< the motion ends at rest after this [s]

  /// Is the foot to stand still over the whole of [t, t + dt]? diagonal: 0 or 1, see trot_diagonal.
  bool stands(int diagonal, double t, double dt) const;
};
/// q: the pose in which all four feet stand (nq of the model). InvalidInput where the feet cannot follow.
std::shared_ptr<const Reference> make_trot(const Model& model, int member, const VecX& q, const Trot& trot);
/// 0 for the foot in front on the left and the one behind on the right, 1 for the others. foot: index in Member::feet.
int trot_diagonal(const Model& model, const Member& member, const VecX& q, int foot);

/// Angle or length of every joint with one coordinate (nv of the member); q: (nq of the member).
VecX joint_positions(const Model& model, const Member& member, const VecX& q);
/// reference - q of one joint; a continuous one goes the shorter way. q: (nq of the model).
double joint_error(const Body& body, double reference, const VecX& q);

/// Which velocity at the end of a step is asked of a joint.
enum class TargetLaw {
  Velocity,  ///< v_ref(t + dt)                                                                       (target.1)
  Position   ///< (q_ref(t + dt) - q_ref(t))/dt + share (q_ref(t) - q)/dt                             (target.2)
};

/// What inverse dynamics and velocity constraints make of a reference.
struct TargetOptions {
  TargetLaw law = TargetLaw::Position;
  double share = 1;  ///< of the position error that a step is to remove, in (target.2); [0, 1]
};

}  // namespace tribo
