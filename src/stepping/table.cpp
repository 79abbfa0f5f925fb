// Every stepper: one line each.
#include "base/table.hpp"
#include "stepping/steppers.hpp"
#include "tribo/step.hpp"

namespace tribo {

namespace {

std::deque<StepperEntry>& table_of_steppers() {
  using enum Feature;
  using enum MemoryFamily;
  const std::vector<Feature> visco_elastic = {
      JointLimits,   JointDamping,    JointFriction,     JointStiffness,  Connect,   Weld,
      JointEquality, KinematicBodies, TorsionalFriction, RollingFriction, Cylinders, Ellipsoids,
      Terrain,       Tendons,         BallLimits,        FreeFriction};
  const std::vector<Feature> impulses = {JointLimits,     JointDamping, JointFriction, JointStiffness, JointEquality,
                                         KinematicBodies, Cylinders,    Ellipsoids,    Terrain};
  static std::deque<StepperEntry> table = {
      {.name = "rigid",
       .summary = "velocities and contact impulses, semi-implicit: lcp, ccp, raisim or ncp by a solver of your choice",
       .make = make_rigid,
       .memory = Rigid,
       .uses = {JointLimits, JointDamping, JointFriction, JointStiffness, Connect, Weld, JointEquality, KinematicBodies,
                Restitution, NormalCompliance, TorsionalFriction, RollingFriction, Cylinders, Ellipsoids, Terrain,
                Tendons, BallLimits, FreeFriction},
       .options = rigid_options(),
       .targets = true},
      {.name = "exponential",
       .summary = "visco-elastic contact, integrated exactly over a step with A and b held",
       .make = make_exponential,
       .memory = Compliant,
       .uses = visco_elastic,
       .options = exponential_options(),
       .targets = true},
      {.name = "explicit-euler",
       .summary = "visco-elastic contact, forces of the start of the step",
       .make = make_explicit_euler,
       .memory = Compliant,
       .uses = visco_elastic,
       .options = explicit_euler_options(),
       .targets = true,
       .explicit_contact = true},
      {.name = "implicit-euler",
       .summary = "visco-elastic contact, forces of the end of the step by Newton's method",
       .make = make_implicit_euler,
       .memory = Compliant,
       .uses = visco_elastic,
       .options = implicit_euler_options(),
       .targets = true},
      {.name = "runge-kutta",
       .summary = "visco-elastic contact, the classic method of order four on the group",
       .make = make_runge_kutta,
       .memory = Compliant,
       .uses = visco_elastic,
       .options = runge_kutta_options(),
       .targets = true,
       .implicit_gains = false,
       .explicit_contact = true},
      {.name = "momentum",
       .summary = "contact impulses relaxed and compensated, with static friction; no mass matrix, Runge-Kutta-Gill",
       .make = make_momentum,
       .memory = Momentum,
       .uses = impulses,
       .options = momentum_options(),
       .targets = true},
      {.name = "relaxed",
       .summary = "contact impulses relaxed, overlap left to soft springs: what 'momentum' improves on",
       .make = make_relaxed,
       .memory = Momentum,
       .uses = impulses,
       .options = relaxed_options(),
       .targets = true},
      {.name = "macroscopic",
       .summary = "completely plastic contact impulses, not relaxed, by pivoting or minimum norm",
       .make = make_macroscopic,
       .memory = Momentum,
       .uses = impulses,
       .options = macroscopic_options(),
       .targets = true},
      {.name = "microscopic",
       .summary = "a spring-damper at every contact point, friction by sliding speed; needs small steps",
       .make = make_microscopic,
       .memory = Momentum,
       .uses = impulses,
       .options = microscopic_options(),
       .targets = true,
       .explicit_contact = true},
  };
  return table;
}

}  // namespace

const std::deque<StepperEntry>& steppers() { return table_of_steppers(); }

const StepperEntry& stepper_entry(const std::string& name) { return find_entry(steppers(), name, "stepper"); }

void register_stepper(StepperEntry entry) { add_entry(table_of_steppers(), std::move(entry), "stepper"); }

const OptionTable& contact_options() {
  static const OptionTable table = [] {
    using Own = ContactOptions;
    FieldTable<Own> t;
    t.add("model", &Own::model, "contact model: see `tribo list contact-models`");
    t.add("solver", &Own::solver, "see `tribo list solvers`; by default the first that solves the model");
    t.add(
        "tolerance", [](Own& o) -> double& { return o.tolerance.rel; }, at_least(0), "",
        "of the relative residual; 0: the absolute one decides");
    t.add(
        "absolute_tolerance", [](Own& o) -> double& { return o.tolerance.abs; }, at_least(0), "N, m/s^2, N m/s^2",
        "of the residual itself: either is enough");
    t.add("max_iterations", &Own::max_iterations, within(1, 100'000'000), "", "of the solver, a problem");
    t.add("warm_start", &Own::warm_start, "a solve begins from the forces of the last step");
    t.add("margin", &Own::margin, at_least(-1), "m",
          "contacts are listed from this gap on; negative: 2 % of the radius of the smaller shape");
    t.add("recovery_time", &Own::recovery_time, at_least(-1), "s",
          "time constant of the removal of overlap; 0: none; negative: sqrt(r/g)/2 of the smaller shape");
    return OptionTable(t);
  }();
  return table;
}

const OptionTable& stepper_options() {
  static const OptionTable table = [] {
    FieldTable<StepperOptions> t;
    t.add("audit", &StepperOptions::audit,
          {{"off", AuditLevel::Off}, {"laws", AuditLevel::Laws}, {"full", AuditLevel::Full}},
          "of every step: nothing, the laws of contact, the laws and the energy");
    return OptionTable(t);
  }();
  return table;
}

std::unique_ptr<Stepper> make_stepper(const std::string& name, const Model& model, const StepperOptions& options) {
  const StepperEntry& entry = stepper_entry(name);
  refuse_unused_features(name, model);
  contact_options().check(options.contact, "contact");
  entry.options.check(options.own, "stepper '" + name + "'");
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
