// One way to advance the state by dt, and what it says of the step it took.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/contact.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/features.hpp"
#include "tribo/model.hpp"
#include "tribo/options.hpp"
#include "tribo/state.hpp"

namespace tribo {

struct Workspace;  // src/stepping/workspace.hpp: dynamics, contacts, buffers
struct Outcome;    // tribo/step.hpp: what a step found
class Scheme;      // tribo/step.hpp: one way to cross a step

enum class StepStatus {
  Ok,
  Unconverged,  ///< the contact solve did not reach its tolerance; the step was taken with what it had
  Infeasible,   ///< no contact forces satisfy the laws (opposed walls, conflicting rows)
  Wedged,       ///< the overlap cannot be undone: recovery holds it bounded
  NotFinite,    ///< the step was not taken
  Stopped       ///< the solve failed and the policy is to stop: the step was not taken
};

/// Work done in a step, line by line [J]. Kinetic, potential and elastic are values, not changes. Where contacts store
/// elastic energy, the line of contacts (and of constraints) is what they took out of the whole.
struct EnergyLines {
  double kinetic = 0, potential = 0;
  double elastic = 0;  ///< in the springs of compliant contacts and joint limits; a value, not a change
  double actuators = 0, damping = 0, contacts = 0, constraints = 0, external = 0, recovery = 0;
  double integrator = 0;  ///< what the scheme itself added, from its own formula

  double work() const { return actuators + damping + contacts + constraints + external + recovery + integrator; }
};

/// How far each law of rigid contact was from holding, relative to the step's own scales: the same for every stepper,
/// see (judge.1) to (judge.3) in docs/theory/step.md. NaN: not judged.
struct LawResiduals {
  static constexpr double not_judged = std::numeric_limits<double>::quiet_NaN();
  double signorini = not_judged;
  double coulomb = not_judged;
  double dissipation = not_judged;

  bool judged() const { return signorini == signorini; }
  /// Keeps the worst of each law.
  void add(const LawResiduals& other) {
    if (!other.judged()) return;
    if (!judged()) *this = {0, 0, 0};
    signorini = std::max(signorini, other.signorini);
    coulomb = std::max(coulomb, other.coulomb);
    dissipation = std::max(dissipation, other.dissipation);
  }
};

struct StepReport {
  StepStatus status = StepStatus::Ok;
  double t = 0;       ///< at the end of the step [s]
  int contacts = 0;   ///< in the list
  int closed = 0;     ///< with force
  SolveReport solve;  ///< the worst island's
  int islands = 0;
  LawResiduals laws;
  double penetration = 0;    ///< deepest at the start of the step [m], >= 0
  int made = 0, broken = 0;  ///< contacts that began or ceased to carry force within the step
  int slipped = 0;           ///< contacts that began to slip
  int unsolved = 0;          ///< controllers whose tick found no answer: they went on with their last torque
  int gave_way = 0;          ///< velocity targets that were missed by more than 1e-4 rad/s or m/s
  int worst_target = -1;     ///< velocity coordinate of the one that was missed most; -1: there are no targets
  double target_miss = 0;    ///< velocity at the end of the step less that target [rad/s] or [m/s]
  int substeps = 1;          ///< that the step was divided into
  int unresolved = 0;        ///< trees that turned too fast for dt: energy that the scheme had added was taken off
  int sleeping = 0;          ///< bodies that sleep: at rest, and not solved (RigidOptions::sleep)
  EnergyLines energy;        ///< AuditLevel::Full only
};

enum class AuditLevel { Off, Laws, Full };

/// What a stepper does where its own iteration does not converge.
enum class FailurePolicy {
  Report,   ///< takes the step and says Unconverged
  Substep,  ///< halves the step, down to 1/64; Unconverged where that does not help
  Stop      ///< leaves the state and says Stopped
};

/// How contact problems are solved, by the steppers that solve them: [contact] of a scene.
struct ContactOptions {
  std::string model = "ncp";  ///< contact model
  std::string solver = "newton";
  Options solver_options;  ///< its own; empty: its defaults
  Tolerance tolerance;
  int max_iterations = 10000;
  bool warm_start = true;
  /// Time constant of the removal of overlap [s]; 0: none; negative: sqrt(r/g)/2 of the smaller shape.
  double recovery_time = -1;
  /// Contacts are listed from this gap on, beside those that close within the step [m]; negative: 2 % of the radius of the
  /// smaller shape.
  double margin = -1;
};
/// Its fields, but for solver_options.
const OptionTable& contact_options();

/// What every stepper is made from.
struct StepperOptions {
  AuditLevel audit = AuditLevel::Full;
  ContactOptions contact;
  Options own;  ///< of the stepper: RigidOptions, ExponentialOptions, …; empty: its defaults
};
/// Those that every stepper has: audit.
const OptionTable& stepper_options();

/// Advances a state by a scheme. What a step found stays until the next one.
class Stepper {
 public:
  Stepper(const Model& model, std::unique_ptr<Scheme> scheme, const StepperOptions& options);
  ~Stepper();

  /// state -> state at t + dt. work.actuation has been filled by control. Never throws.
  StepReport advance(State& state, Workspace& work, double dt);
  /// Energy in springs at a state [J].
  double elastic(State& state, Workspace& work);
  /// Contacts of the last step; none where it was not taken.
  const std::vector<ContactReport>& contacts() const;
  /// Of the last step, or of its last substep.
  const Outcome& outcome() const;
  const Scheme& scheme() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct StepperEntry {
  std::string name = {};
  std::string summary = {};  ///< one line for `tribo list steppers`
  std::function<std::unique_ptr<Scheme>(const Model&, const StepperOptions&)> make = {};
  MemoryFamily memory = MemoryFamily::Unknown;  ///< which memory of contacts it reads and writes
  std::vector<Feature> uses = {};               ///< models with other features are refused
  OptionTable options = {};                     ///< its own
  bool targets = false;                         ///< solves the velocity targets of the Actuation
  bool implicit_gains = true;                   ///< takes the gains of the Actuation at the end of the step
  bool explicit_contact = false;  ///< takes stiff contact forces as they are at the start: dt must follow them
};

/// In the order in which they were registered, those of the library first.
const std::deque<StepperEntry>& steppers();
const StepperEntry& stepper_entry(const std::string& name);
/// Adds a stepper to the table, for scenes, lists and pages. Before it is used, and not from two threads at once.
/// InvalidInput where the name is taken.
void register_stepper(StepperEntry entry);
/// InvalidInput where the stepper does not use a feature of the model, or an option is out of its bounds.
std::unique_ptr<Stepper> make_stepper(const std::string& name, const Model& model, const StepperOptions& options);
std::string to_string(StepStatus status);

}  // namespace tribo
