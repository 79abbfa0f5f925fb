// Every stepper: one line each.
#include "base/names.hpp"
#include "stepping/step.hpp"
#include "stepping/steppers.hpp"

namespace tribo {

namespace {

using enum Feature;
using enum MemoryFamily;
const std::vector<Feature> visco_elastic = {JointLimits, JointDamping, Cylinders, Ellipsoids, Terrain};
const std::vector<Feature> impulses = {JointLimits, JointDamping, JointFriction, Cylinders, Ellipsoids, Terrain};

}  // namespace

const std::vector<StepperEntry>& steppers() {
  static const std::vector<StepperEntry> table = {
      {"rigid",
       "velocities and contact impulses, semi-implicit: lcp, ccp, raisim or ncp by a solver of your choice",
       make_rigid,
       Rigid,
       {JointLimits, JointDamping, JointFriction, JointStiffness, Connect, Weld, JointEquality, KinematicBodies,
        Restitution, NormalCompliance, TorsionalFriction, RollingFriction, Cylinders, Ellipsoids, Terrain},
       true},
      {"exponential", "visco-elastic contact, integrated exactly over a step with A and b held", make_exponential,
       Compliant, visco_elastic},
      {"explicit-euler", "visco-elastic contact, forces of the start of the step", make_explicit_euler, Compliant,
       visco_elastic},
      {"implicit-euler", "visco-elastic contact, forces of the end of the step by Newton's method", make_implicit_euler,
       Compliant, visco_elastic},
      {"runge-kutta", "visco-elastic contact, the classic method of order four on the group", make_runge_kutta,
       Compliant, visco_elastic},
      {"momentum", "contact impulses relaxed and compensated, with static friction; no mass matrix, Runge-Kutta-Gill",
       make_momentum, Momentum, impulses},
      {"relaxed", "contact impulses relaxed, overlap left to soft springs: what 'momentum' improves on", make_relaxed,
       Momentum, impulses},
      {"macroscopic", "completely plastic contact impulses, not relaxed, by pivoting or minimum norm", make_macroscopic,
       Momentum, impulses},
      {"microscopic", "a spring-damper at every contact point, friction by sliding speed; needs small steps",
       make_microscopic, Momentum, visco_elastic},
  };
  return table;
}

const StepperEntry& stepper_entry(const std::string& name) {
  std::vector<std::string> known;
  for (const StepperEntry& entry : steppers()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw InvalidInput(unknown_name("stepper", name, known));
}

std::unique_ptr<Stepper> make_stepper(const std::string& name, const Model& model, const StepperOptions& options) {
  const StepperEntry& entry = stepper_entry(name);
  refuse_unused_features(name, model);
  return std::make_unique<Stepper>(model, entry.make(model, options), options);
}

std::string to_string(StepStatus status) {
  switch (status) {
    case StepStatus::Ok:
      return "ok";
    case StepStatus::Unconverged:
      return "unconverged";
    case StepStatus::Infeasible:
      return "infeasible";
    case StepStatus::Wedged:
      return "wedged";
    case StepStatus::NotFinite:
      return "not finite";
    case StepStatus::Stopped:
      return "stopped";
  }
  return "";
}

}  // namespace tribo
