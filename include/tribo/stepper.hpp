// One way to advance the state by dt, and what it says of the step it took.
#pragma once

#include <algorithm>
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
#include "tribo/state.hpp"

namespace tribo {

struct Workspace;  // src/stepping/workspace.hpp: dynamics, contacts, buffers
struct Outcome;    // src/stepping/step.hpp: what a step found
class Scheme;      // src/stepping/step.hpp: one way to cross a step

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
  EnergyLines energy;        ///< AuditLevel::Full only
};

enum class AuditLevel { Off, Laws, Full };

/// Where the anchor of a compliant contact is set at first touch.
enum class AnchorRule {
  Surface,        ///< on the surface; the step is split at the crossing time of each new contact
  Detected,       ///< where the overlap is first seen, depth included [Hammoud2022]
  SurfaceUnsplit  ///< on the surface, however deep the point already is: creates energy
};

/// How the anchor of a slipping contact moves.
enum class SlipAnchor {
  Drawn,       ///< as spring and damper together draw it: friction has one limit for small steps
  Set,         ///< each step to where the spring alone gives the friction; the damper acts beside it
  SetUndamped  ///< the same, without the damper
};

enum class ExponentialMethod {
  Auto,    ///< Modal where damping is proportional to stiffness, else Full
  Modal,   ///< closed form in the modes of K^1/2 G K^1/2
  Full,    ///< scaling and squaring of the augmented matrix
  Reduced  ///< one Pade approximant of fixed order, no scaling
};

/// What implicit Euler does where Newton's method does not converge.
enum class FailurePolicy {
  Report,   ///< takes the step and says Unconverged
  Substep,  ///< halves the step, down to 1/64; Unconverged where that does not help
  Stop      ///< leaves the state and says Stopped
};

/// Of the compliant steppers: explicit-euler, runge-kutta, implicit-euler, exponential.
struct CompliantOptions {
  AnchorRule anchor = AnchorRule::Surface;
  SlipAnchor slip = SlipAnchor::Drawn;
  bool bilateral = false;        ///< contacts pull as they push, without a friction cone
  double accuracy = 0;           ///< largest error of q or v by a step, from two half steps; 0: fixed steps
  double limit_stiffness = 1e3;  ///< of joint limits [N m/rad] or [N/m], > 0
  double limit_damping = 1;      ///< [N m s/rad] or [N s/m], >= 0
  ExponentialMethod method = ExponentialMethod::Auto;
  int order = 3;                   ///< of ExponentialMethod::Reduced: 1, 2, 3, 5 or 7
  bool project_only = false;       ///< exponential: forces outside the cone are cut, and nothing is solved again
  bool midpoint = false;           ///< exponential: M, J and the bias are those of the middle of the step: order 2
  bool events = false;             ///< exponential: a substep ends where a contact slips, sticks again or lets go
  int max_newton = 30;             ///< iterations of implicit Euler a step
  int max_halvings = 20;           ///< of its line search
  double regularisation = 1e-10;   ///< first tried where its matrix is singular; up to 1e-3, relative
  double newton_tolerance = 1e-6;  ///< largest error of a velocity [m/s] or [rad/s]
  FailurePolicy failure = FailurePolicy::Substep;
};

/// How the macroscopic stepper takes a singular system.
enum class SingularSolve {
  Pivoting,    ///< elimination without regularisation: unknowns without a pivot are 0
  MinimumNorm  ///< the shortest of all solutions
};

/// Of the steppers momentum, relaxed, macroscopic and microscopic. Times dt and over the model's own inertias, so that
/// the defaults hold for masses from grams to tons.
struct MomentumOptions {
  double relaxation = 1e-2;   ///< sqrt(lambda) over the mean diagonal of A [-], > 0
  double compensation = 0.1;  ///< k dt: share of a displacement that a step undoes [-], 0 to 1
  double soft_spring = 0.1;   ///< of `relaxed`: frequency of its spring-dampers times dt [-], >= 0
  double ramp = std::numeric_limits<double>::quiet_NaN();  ///< k_w [s/m], > 0; inf: none; NaN: the stepper's own
  bool friction_in_program = true;  ///< sliding friction acts while the normals are solved; false: it is set afterwards
  SingularSolve singular = SingularSolve::Pivoting;
};

/// The rigid stepper's rule for what nothing acts on. Trees of several bodies fly with order two in either.
enum class SmoothScheme {
  Euler,    ///< single free bodies fall by semi-implicit Euler, as the bodies that something acts on
  Midpoint  ///< of second order for single free bodies too
};

/// The rigid stepper's law of restitution, where several contacts share an impact.
enum class ImpactLaw {
  Newton,     ///< every contact leaves with e times the speed that it came with
  Poisson,    ///< the impulse that stops the contacts, then e times it
  Sequential  ///< one pair after the other, in the order in which they meet, each by Newton's law
};

struct StepperOptions {
  std::string contact_model = "ncp";
  std::string solver = "newton";
  Tolerance tolerance;
  int max_iterations = 10000;
  bool warm_start = true;
  double recovery_time = 0.05;  ///< time constant of the removal of overlap [s]; 0: none
  double margin = 1e-3;         ///< contacts are listed from this gap on, beside those that close within the step [m]
  /// Compliance of velocity targets over the diagonal of G: what they give way by where contacts or limits of torque
  /// oppose them. See (rigid.10). 0: they do not, and a step may have no solution.
  double target_compliance = 1e-6;
  int facets = 4;                              ///< of the friction pyramid of lemke: 4, 8 or 16
  LineSearch line_search = LineSearch::Exact;  ///< of the primal Newton methods
  double compliance_ratio = 1e-3;              ///< R over the diagonal of G in primal-newton-mujoco [-]
  SmoothScheme smooth = SmoothScheme::Euler;
  ImpactLaw impact = ImpactLaw::Newton;
  AuditLevel audit = AuditLevel::Full;
  CompliantOptions compliant;
  MomentumOptions momentum;
  /// Rigid stepper: called with each contact problem and its guess (n) [N] before the solve; it may set R. For studies.
  std::function<void(ContactProblem& problem, const double* f)> on_problem;
  /// Rigid stepper: a solver that is in no table, instead of the named one; it gets a dense G. For studies.
  std::function<std::unique_ptr<ContactSolver>()> make_solver;
};

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
  std::string name;
  std::string summary;
  std::unique_ptr<Scheme> (*make)(const Model&, const StepperOptions&);
  MemoryFamily memory;        ///< which memory of contacts it reads and writes
  std::vector<Feature> uses;  ///< models with other features are refused
  bool targets = false;       ///< solves the velocity targets of the Actuation
};

const std::vector<StepperEntry>& steppers();
const StepperEntry& stepper_entry(const std::string& name);
/// InvalidInput where the stepper does not use a feature of the model.
std::unique_ptr<Stepper> make_stepper(const std::string& name, const Model& model, const StepperOptions& options);
std::string to_string(StepStatus status);

}  // namespace tribo
