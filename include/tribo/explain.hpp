// Why did it slip, fall or explode: what a witness saw of a run, and the likely first cause with its evidence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/run.hpp"
#include "tribo/scene.hpp"

namespace tribo {

enum class Cause {
  Overlap,       ///< surfaces overlap at the start
  Gains,         ///< gains taken explicitly are too high for the step
  Stiffness,     ///< contact springs taken explicitly are too stiff for the step
  Soft,          ///< contact springs give way by much of the size of what they carry
  MassRatio,     ///< bodies in contact differ so much in mass that the solver does not converge
  Unconverged,   ///< the contact solve missed its tolerance
  Infeasible,    ///< no contact forces satisfy the laws
  External,      ///< a push put in most of the energy
  Actuators,     ///< the actuators put in most of the energy
  Integrator,    ///< the scheme itself put in most of the energy
  Saturation,    ///< an actuator is at its effort limit
  Slip,          ///< a contact reached its cone of friction
  Mass,          ///< a mass or a length in the wrong unit
  Inertia,       ///< moments of inertia that do not belong to the mass and size of a body
  Axis,          ///< a joint that turns the wrong way
  Range,         ///< a joint begins outside its range
  Effort,        ///< motors without effort
  Gravity,       ///< gravity pulls away from the ground
  Loop,          ///< an equality constraint does not hold at the start
  Drag,          ///< dry friction or damping of a joint holds it against its motor
  Control,       ///< a controller's torque is not finite
  Chatter,       ///< a controller's torque changes its sign from step to step
  Uncontrolled,  ///< a robot fell that no controller holds
  Fall           ///< a robot fell, for no other reason that was seen
};
std::string to_string(Cause cause);

/// One thing that went wrong, or that would.
struct Finding {
  Cause cause = Cause::Slip;
  double t = 0;          ///< when it was first seen [s]
  double value = 0;      ///< the measured number
  double limit = 0;      ///< what it should not exceed
  std::string unit;      ///< of both
  std::string evidence;  ///< what was seen, in words and numbers
  std::string advice;    ///< what to try
};

/// What is to be kept of a run so that it can be explained: shown every step, it keeps the first of each kind.
class Witness : public Observer {
 public:
  explicit Witness(const Scene& scene);
  ~Witness() override;
  Witness(Witness&&) noexcept;
  Witness& operator=(Witness&&) noexcept;

  /// After each step. Allocates only when it sees something for the first time.
  void observe(Simulation& simulation, const StepReport& report) override;
  /// Where the reference of the pd controllers is from now on (nq); before the step that uses it.
  void see_target(const VecX& q_ref, double t);
  /// Controls of the actuators of MJCF files, of all members in their order, likewise.
  void see_controls(const VecX& controls, double t);
  /// Time between the calls of a controller that is added to those of the scene [s].
  void see_period(double period);
  /// The likely first cause first; empty where nothing was seen that explains trouble.
  std::vector<Finding> explain() const;
  /// The same as text.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
