// A scene file, from its text to a model, a state and what runs them.
#include "tribo/scene.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/names.hpp"
#include "base/problems.hpp"
#include "scene/model_checks.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

constexpr std::uint64_t largest_file = 1'000'000;  // [bytes]

void read_contact(Section& root, SceneDraft& draft, StepperOptions& options) {
  Section section = root.inner("contact");
  options.contact_model = section.text("model", options.contact_model);
  const ContactModel model = section.at("model", [&] { return contact_model_from(options.contact_model); });
  // Where only the model is named, the first solver that fits it.
  for (const SolverEntry& entry : contact_solvers()) {
    if (std::find(entry.models.begin(), entry.models.end(), model) == entry.models.end()) continue;
    options.solver = entry.name;
    break;
  }
  options.solver = section.text("solver", options.solver);
  options.tolerance.rel = section.number("tolerance", options.tolerance.rel, Bound::Positive);
  options.tolerance.abs = section.number("absolute_tolerance", options.tolerance.abs, Bound::NonNegative);
  options.max_iterations = section.integer("max_iterations", options.max_iterations, 1, 100'000'000);
  options.warm_start = section.flag("warm_start", options.warm_start);
  options.margin = section.number("margin", options.margin, Bound::NonNegative);
  options.recovery_time = section.number("recovery_time", options.recovery_time, Bound::NonNegative);
  if (section.has("facets") && options.solver != "lemke")
    section.fail("facets", "facets belongs to solver = \"lemke\"");
  options.facets = section.integer("facets", options.facets, 4, 16);
  if (options.facets != 4 && options.facets != 8 && options.facets != 16)
    section.fail("facets", "facets = " + std::to_string(options.facets) + "; must be 4, 8 or 16");
  const bool primal = options.solver.starts_with("primal-newton");
  if (section.has("line_search") && !primal)
    section.fail("line_search", "line_search belongs to the solvers primal-newton-mujoco and primal-newton-sap");
  options.line_search =
      section.choice("line_search", "exact", {"exact", "armijo"}) == "exact" ? LineSearch::Exact : LineSearch::Armijo;
  if (section.has("compliance_ratio") && options.solver != "primal-newton-mujoco")
    section.fail("compliance_ratio", "compliance_ratio belongs to solver = \"primal-newton-mujoco\"");
  options.compliance_ratio = section.number("compliance_ratio", options.compliance_ratio, Bound::Positive);
  const std::string mixing = section.choice("mixing", "minimum", {"minimum", "average", "geometric_mean", "maximum"});
  draft.builder.set_mixing(mixing == "minimum"   ? MixingRule::Minimum
                           : mixing == "average" ? MixingRule::Average
                           : mixing == "maximum" ? MixingRule::Maximum
                                                 : MixingRule::GeometricMean);
  section.finish();
  SolverOptions solver;
  solver.model = model;
  section.at("solver", [&] { make_contact_solver(options.solver, solver); });
}

// Keys of the compliant steppers; another stepper does not know them.
void read_compliant(Section& section, CompliantOptions& options) {
  const std::string anchor = section.choice("anchor", "surface", {"surface", "detected", "surface-unsplit"});
  options.anchor = anchor == "surface"    ? AnchorRule::Surface
                   : anchor == "detected" ? AnchorRule::Detected
                                          : AnchorRule::SurfaceUnsplit;
  const std::string slip = section.choice("slip_anchor", "drawn", {"drawn", "set", "set-undamped"});
  options.slip = slip == "drawn" ? SlipAnchor::Drawn : slip == "set" ? SlipAnchor::Set : SlipAnchor::SetUndamped;
  options.bilateral = section.flag("bilateral", options.bilateral);
  options.accuracy = section.number("accuracy", options.accuracy, Bound::NonNegative);
}

void read_exponential(Section& section, CompliantOptions& options) {
  const std::string method = section.choice("method", "auto", {"auto", "modal", "full", "reduced"});
  options.method = method == "auto"    ? ExponentialMethod::Auto
                   : method == "modal" ? ExponentialMethod::Modal
                   : method == "full"  ? ExponentialMethod::Full
                                       : ExponentialMethod::Reduced;
  if (section.has("order") && options.method != ExponentialMethod::Reduced)
    section.fail("order", "order belongs to method = \"reduced\"");
  options.order = section.integer("order", options.order, 1, 7);
  options.project_only = section.flag("project_only", options.project_only);
  options.midpoint = section.flag("midpoint", options.midpoint);
  options.events = section.flag("events", options.events);
}

void read_implicit(Section& section, CompliantOptions& options) {
  options.max_newton = section.integer("max_newton", options.max_newton, 1, 100'000);
  options.max_halvings = section.integer("max_halvings", options.max_halvings, 0, 1000);
  options.regularisation = section.number("regularisation", options.regularisation, Bound::Positive);
  options.newton_tolerance = section.number("newton_tolerance", options.newton_tolerance, Bound::Positive);
  const std::string failure = section.choice("failure", "substep", {"report", "substep", "stop"});
  options.failure = failure == "report"    ? FailurePolicy::Report
                    : failure == "substep" ? FailurePolicy::Substep
                                           : FailurePolicy::Stop;
}

// Keys of the momentum family; each stepper knows those that it uses.
void read_momentum(Section& section, const std::string& stepper, MomentumOptions& options) {
  if (stepper == "momentum" || stepper == "relaxed")
    options.relaxation = section.number("relaxation", options.relaxation, Bound::Positive);
  if (stepper == "momentum")
    options.compensation = section.number("compensation", options.compensation, Bound::NonNegative);
  if (stepper == "relaxed")
    options.soft_spring = section.number("soft_spring", options.soft_spring, Bound::NonNegative);
  if (section.has("ramp")) options.ramp = section.number("ramp", Bound::Positive);
  if (stepper == "microscopic") return;
  options.friction_in_program = section.flag("friction_in_program", options.friction_in_program);
  if (stepper != "macroscopic") return;
  options.singular = section.choice("singular", "pivoting", {"pivoting", "minimum-norm"}) == "pivoting"
                         ? SingularSolve::Pivoting
                         : SingularSolve::MinimumNorm;
}

void read_limits(Section& section, CompliantOptions& options) {
  options.limit_stiffness = section.number("limit_stiffness", options.limit_stiffness, Bound::Positive);
  options.limit_damping = section.number("limit_damping", options.limit_damping, Bound::NonNegative);
}

void read_stepper(Section& root, Scene& scene) {
  Section section = root.inner("stepper");
  std::vector<std::string> known;
  for (const StepperEntry& entry : steppers()) known.push_back(entry.name);
  scene.stepper = section.text("name", scene.stepper);
  if (std::find(known.begin(), known.end(), scene.stepper) == known.end())
    section.fail("name", unknown_name("stepper", scene.stepper, known));
  scene.dt = section.number("dt", scene.dt, Bound::Positive);
  scene.duration = section.number("duration", scene.duration, Bound::Positive);
  const std::string audit = section.choice("audit", "full", {"off", "laws", "full"});
  scene.stepper_options.audit = audit == "off"    ? AuditLevel::Off
                                : audit == "laws" ? AuditLevel::Laws
                                                  : AuditLevel::Full;
  CompliantOptions& compliant = scene.stepper_options.compliant;
  const std::string& name = scene.stepper;
  if (name == "rigid")
    scene.stepper_options.smooth = section.choice("smooth", "euler", {"euler", "midpoint"}) == "euler"
                                       ? SmoothScheme::Euler
                                       : SmoothScheme::Midpoint;
  if (name == "rigid") {
    const std::string law = section.choice("impact", "newton", {"newton", "poisson", "sequential"});
    scene.stepper_options.impact = law == "newton"    ? ImpactLaw::Newton
                                   : law == "poisson" ? ImpactLaw::Poisson
                                                      : ImpactLaw::Sequential;
  }
  const bool momentum = name == "momentum" || name == "relaxed" || name == "macroscopic" || name == "microscopic";
  if (momentum) read_momentum(section, name, scene.stepper_options.momentum);
  if (name != "rigid" && !momentum) read_compliant(section, compliant);
  if (name == "microscopic" || (name != "rigid" && !momentum)) read_limits(section, compliant);
  if (scene.stepper == "exponential") read_exponential(section, compliant);
  if (scene.stepper == "implicit-euler") read_implicit(section, compliant);
  section.finish();
}

void read_record(Section& root, RecordOptions& record) {
  Section section = root.inner("record");
  record.period = section.number("period", record.period, Bound::NonNegative);
  record.contacts = section.flag("contacts", record.contacts);
  section.finish();
}

void warn_of_overlaps(Scene& scene) {
  constexpr std::size_t most = 5;
  const std::vector<std::string> overlaps = find_overlaps(*scene.model, scene.start);
  for (std::size_t k = 0; k < std::min(most, overlaps.size()); ++k)
    scene.warnings.push_back(scene.source + ": " + overlaps[k]);
  if (overlaps.size() > most)
    scene.warnings.push_back(scene.source + ": and " + std::to_string(overlaps.size() - most) +
                             " more pairs overlap at the start");
}

}  // namespace

Scene parse_scene(const std::string& text, const std::string& name, const std::vector<Override>& overrides) {
  if (text.size() > largest_file)
    throw InvalidInput(name + ": " + std::to_string(text.size()) + " bytes, a scene has at most 1 MB");
  TomlValue tree = parse_toml(text, name);
  for (const Override& o : overrides) apply_override(tree, o.path, o.value);
  Section root(tree, name, "");
  Scene scene;
  scene.name = std::filesystem::path(name).stem().string();
  scene.source = name;
  root.text("description", "");
  SceneDraft draft;
  const Vec3 gravity = root.vec3("gravity", Vec3(0, 0, -9.81));
  // Each part on its own, so that `tribo check` hears of every error and not only of the first.
  bool whole = attempt([&] { read_contact(root, draft, scene.stepper_options); });
  whole &= attempt([&] { read_stepper(root, scene); });
  whole &= attempt([&] { read_record(root, scene.record); });
  whole &= attempt([&] { read_materials(root, draft); });
  whole &= attempt([&] { read_ground(root, draft); });
  whole &= attempt([&] { read_walls(root, draft); });
  whole &= attempt([&] { read_terrain(root, draft); });
  whole &= attempt([&] { read_moved(root, draft); });
  whole &= read_robots(root, draft);
  whole &= read_objects(root, draft);
  whole &= attempt([&] { read_equalities(root, draft); });
  // Sections that need the model are named before, so that a misspelt one is told with its nearest.
  root.has("controller");
  root.has("push");
  root.finish();
  if (!whole) throw InvalidInput("");  // all is told already
  if (draft.builder.model().bodies.empty())
    root.fail(tree, "nothing in it can move: the scene has neither a robot nor an object");
  draft.builder.set_gravity(root.has("gravity") ? gravity : draft.gravity.value_or(gravity));
  if (draft.timestep && !root.inner("stepper").has("dt")) scene.dt = *draft.timestep;
  scene.warnings = draft.warnings;
  scene.log = draft.log;
  scene.model = std::make_shared<const Model>(root.at("", [&] { return draft.builder.build(); }));
  root.at("stepper", [&] { make_stepper(scene.stepper, *scene.model, scene.stepper_options); });
  scene.start = State::neutral(*scene.model);
  for (const Placing& placing : draft.placings) whole &= attempt([&] { placing(*scene.model, scene.start); });
  if (!whole) throw InvalidInput("");
  root.at("", [&] { note_all(find_errors(*scene.model, scene.start)); });
  warn_of_overlaps(scene);
  attempt([&] { read_controllers(root, scene); });
  attempt([&] { read_pushes(root, scene); });
  return scene;
}

Scene load_scene(const std::string& path, const std::vector<Override>& overrides) {
  return parse_scene(read_text(path, largest_file), path, overrides);
}

Simulation make_simulation(const Scene& scene) {
  Simulation simulation(scene.model, scene.stepper, scene.stepper_options, scene.dt);
  for (const ControllerSpec& spec : scene.controllers) simulation.add_controller(spec.make(*scene.model));
  for (const Push& push : scene.pushes) simulation.add_push(push);
  State start = scene.start;
  if (start.control.empty()) start.control = simulation.state().control;  // nothing remembered yet
  simulation.set_state(start);
  return simulation;
}

}  // namespace tribo
