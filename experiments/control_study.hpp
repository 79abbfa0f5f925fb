// Robots that follow a motion: how well, at which cost, and up to which step.
#pragma once

#include <functional>
#include <optional>

#include "experiment.hpp"
#include "tribo/reference.hpp"
#include "tribo/scene.hpp"

namespace tribo::experiments {

/// What is followed, and what the feet are to do meanwhile.
struct Task {
  int member = 0;
  std::shared_ptr<const Reference> reference;
  std::optional<Trot> trot;  ///< which feet are to stand; without it every closed contact is
};

/// One run. Errors are taken every millisecond: within a step the joints move along its velocity.
struct Followed {
  double dt = 0;            ///< [s]
  bool stable = true;       ///< see unstable_because
  std::string why;          ///< it is not
  double mae = 0;           ///< mean absolute joint error [rad]
  double sum_squares = 0;   ///< of all joint errors [rad^2]
  VecX mae_joint;           ///< of each joint
  double torque_rms = 0;    ///< over joints and steps [N m]
  double torque_max = 0;    ///< [N m]
  double limit_excess = 0;  ///< largest |tau| - effort limit, negative where within [N m]
  double slip = 0;          ///< sum of dt |c_T| over closed contacts that are to stand, all feet [m]
  double drift = 0;         ///< sum over the stances of a foot of its path in the world, worst foot [m]
  double height = 0;        ///< of the base at the end [m]
  double tilt = 0;          ///< largest [rad]
  Audit audit;
};

/// Not finite; or a joint error above 1 rad, a joint speed above 100 rad/s, a base tilted by more than 1 rad.
struct Instability {
  double error = 1, speed = 100, tilt = 1;
};

Followed follow_task(const Scene& scene, const Task& task);

/// Processor time of a step, the least of several runs [us]. Audit of the laws alone.
double cost_of_step(Scene scene, int runs);

/// A way to control; apply changes a fresh copy of the scene.
struct Way {
  std::string label, key;
  std::function<void(Scene&)> apply;
};

/// Steps doubled from 1 ms until unstable, then bisected; at most 100 ms. runs: every doubled step, in order.
struct LargestStep {
  double dt = 0;  ///< 0: none is stable [s]
  std::vector<Followed> runs;
  Followed at_largest;
};
LargestStep largest_step(const Scene& scene, const Way& way, const Task& task, bool quick);

struct Case {
  Way way;
  const Scene* scene;
};
/// A row for each: largest stable step, error and cost at it, and, of robots with feet, slip and steps not solved; bars
/// of the error over the step. Measures KEY_largest_step, KEY_mae, KEY_cost, KEY_slip and KEY_mae_US of every step.
void tabulate(const std::string& title, const std::vector<Case>& cases, const Task& task, bool quick,
              const Progress& progress, Result& result);

/// The pd controller of the scene.
PdOptions pd_of(const Scene& scene);
/// No limits of torque; gains as they are in the scene.
Way pd_way(const std::string& label, const std::string& key, bool implicit);
Way inverse_way(const std::string& label, const std::string& key, TargetLaw law);

/// A controller with the options of the scene's pd controller, changed.
ControllerSpec pd_spec(const PdOptions& options);
ControllerSpec constraint_spec(const VelocityConstraintOptions& options);
ControllerSpec inverse_spec(const InverseDynamicsOptions& options);

/// Gains by hand: a natural frequency w that every joint would have alone at the start, critically damped:
/// kp = w^2 / G_kk, kd = 2 w / G_kk.
void set_hand_gains(const Scene& scene, double frequency, PdOptions& pd);

/// The scene with another effort limit at every motor; infinity for none.
void set_effort_limits(Scene& scene, double limit);

/// Share of the steps that were not solved.
double failed_share(const Audit& audit);
/// The largest of the residuals of the laws of contact, relative.
double worst_law(const Audit& audit);

/// "64 ms", "64ms"
std::string in_ms(double dt);
std::string ms_key(double dt);

}  // namespace tribo::experiments
