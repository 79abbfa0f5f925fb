// One way to advance the state by dt, and what it says of the step it took.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/contact.hpp"
#include "tribo/contact_solver.hpp"
#include "tribo/model.hpp"
#include "tribo/state.hpp"

namespace tribo {

struct Workspace;  // src/stepping/workspace.hpp: dynamics, contacts, buffers

enum class StepStatus {
  Ok,
  Unconverged,   ///< the contact solve did not reach its tolerance; the step was taken with what it had
  Infeasible,    ///< no contact forces satisfy the laws (opposed walls, conflicting rows)
  Wedged,        ///< the overlap cannot be undone: recovery holds it bounded
  NotFinite      ///< the step was not taken
};

/// Work done in a step, line by line [J]. Kinetic and potential are values, not changes.
struct EnergyLines {
  double kinetic = 0, potential = 0;
  double actuators = 0, damping = 0, contacts = 0, constraints = 0, external = 0, recovery = 0;
  double integrator = 0;  ///< what the scheme itself added, from its own formula

  double work() const { return actuators + damping + contacts + constraints + external + recovery + integrator; }
};

/// How far each law of contact was from holding, relative to the step's own scales.
struct LawResiduals {
  double signorini = 0;    ///< |min(f_N / F, c_N / a)|
  double coulomb = 0;      ///< (|f_T| - mu f_N)_+ / F
  double dissipation = 0;  ///< |f_T . c_T + mu f_N |c_T|| / (F a)
};

struct StepReport {
  StepStatus status = StepStatus::Ok;
  double t = 0;                 ///< at the end of the step [s]
  int contacts = 0;             ///< in the list
  int closed = 0;               ///< with force
  SolveReport solve;            ///< the worst island's
  int islands = 0;
  LawResiduals laws;
  double penetration = 0;       ///< deepest at the start of the step [m], >= 0
  EnergyLines energy;           ///< AuditLevel::Full only
};

enum class AuditLevel { Off, Laws, Full };

struct StepperOptions {
  std::string contact_model = "ncp";
  std::string solver = "newton";
  Tolerance tolerance;
  int max_iterations = 10000;
  bool warm_start = true;
  double recovery_time = 0.05;   ///< time constant of the removal of overlap [s]; 0: none
  double margin = 1e-3;          ///< contacts are listed from this gap on, beside those that close within the step [m]
  AuditLevel audit = AuditLevel::Full;
};

class Stepper {
 public:
  virtual ~Stepper() = default;
  /// state -> state at t + dt. work.actuation has been filled by control. Never throws.
  virtual StepReport advance(const Model& model, State& state, Workspace& work, double dt) = 0;
};

struct StepperEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Stepper> (*make)(const Model&, const StepperOptions&);
};

const std::vector<StepperEntry>& steppers();
std::unique_ptr<Stepper> make_stepper(const std::string& name, const Model& model, const StepperOptions& options);
std::string to_string(StepStatus status);

}  // namespace tribo
