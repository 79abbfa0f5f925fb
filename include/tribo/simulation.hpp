// The loop: control, one step, diagnosis, record.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tribo/controller.hpp"
#include "tribo/push.hpp"
#include "tribo/stage_times.hpp"
#include "tribo/state.hpp"
#include "tribo/stepper.hpp"

namespace tribo {

struct Linearization;    // tribo/linearization.hpp: the derivative of a step
struct DerivativeCheck;  // tribo/linearization.hpp: beside differences

/// What a run amounted to: worst of each law, energy ledger, solver effort.
struct Audit {
  std::uint64_t steps = 0;
  double time = 0;               ///< simulated [s]
  LawResiduals laws;             ///< worst step
  double penetration = 0;        ///< deepest [m]
  EnergyLines energy;            ///< kinetic, potential, elastic now, work summed since the start [J]
  double energy_start = 0;       ///< kinetic + potential + elastic at the start [J]
  double energy_scale = 0;       ///< largest energy or line of work seen [J]
  double ledger_error = 0;       ///< now - start - work, over energy_scale [-]
  std::uint64_t iterations = 0;  ///< of the contact solver
  double worst_residual = 0;     ///< relative
  std::uint64_t unconverged = 0, infeasible = 0, wedged = 0, escalated = 0;  ///< steps
  int sleeping = 0;              ///< bodies that slept in the last step, see StepReport
  std::uint64_t unresolved = 0;  ///< steps at which a tree turned too fast for dt, see StepReport
  double gained =
      0;  ///< most that the scheme itself added within a second, over the largest kinetic and elastic energy
          ///< in it [-]; by full seconds, and where a run ends by itself
  std::uint64_t unsolved = 0;          ///< steps at which a controller found no answer
  std::uint64_t gave_way = 0;          ///< steps on which a velocity target was missed by more than 1e-4
  double target_miss = 0;              ///< largest, in absolute value [rad/s] or [m/s]
  int worst_target = -1;               ///< its velocity coordinate
  std::uint64_t forgotten = 0;         ///< memories of contacts that another family wrote, see forgotten_memory
  StepStatus status = StepStatus::Ok;  ///< NotFinite, Stopped: the run ended there
};

class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, const std::string& stepper, const StepperOptions& options, double dt);
  ~Simulation();
  Simulation(Simulation&&) noexcept;

  void add_controller(std::unique_ptr<Controller> controller);
  void add_push(const Push& push);

  StepReport step();
  /// Contacts of the last step.
  const std::vector<ContactReport>& contacts() const;
  /// Torque of the actuators in the last step (nv).
  const VecX& torque() const;
  /// Velocity at the end of the last step less the target, of every coordinate that has one (nv) [rad/s] or [m/s].
  const VecX& target_miss() const;
  const Audit& audit() const;

  const Model& model() const;
  const State& state() const;
  /// Restores: InvalidInput where it belongs to another model or has the wrong sizes. What contacts remember is
  /// forgotten where another family of steppers wrote it: forgotten_memory says so, and Audit::forgotten counts it.
  void set_state(const State& state);
  /// State::move_kinematic of the present state.
  void move_kinematic(int k, const Placement& to, double time);
  double dt() const;
  /// The derivative of the step that begins now, under what the controllers decide now. Nothing of the run changes;
  /// controllers are asked once, and what they remember is put back.
  void linearize(Linearization& out);
  /// The same beside central differences.
  DerivativeCheck check_derivatives();
  /// How the end of that step moves on one side of where it is: along dx (2 nv) and du (nu, or empty), not back. At a kink
  /// the two sides differ, and `A dx + B du` is one of them.
  VecX one_sided(const VecX& dx, const VecX& du);
  /// How the end of that step moves with parameters, a column each (2 nv x n): LinearizationRequest::parameters. As
  /// linearize has them, or by differences of steps of changed models. InvalidInput for other names.
  MatX parameter_slopes(const std::vector<std::string>& names, bool by_differences = false);
  /// Body poses at the present state.
  Placement body_pose(int body);
  /// Of all bodies: position and quaternion xyzw (bodies x 7); velocity of the origin and angular velocity (bodies x 6),
  /// in W [m], [m/s], [rad/s].
  void write_bodies(double* pose, double* velocity);

  /// Times the stages of every step from now on, from zero; or no longer.
  void time_stages(bool on = true);
  /// Zero where they were never timed.
  const StageTimes& stage_times() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a stepper will not take over of a state, in words: the memory of contacts that another family wrote. "" where
/// it takes all.
std::string forgotten_memory(const State& state, const std::string& stepper);

}  // namespace tribo
