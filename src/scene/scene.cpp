// A scene file, from its text to a model, a state and what runs them.
#include "tribo/scene.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/problems.hpp"
#include "scene/model_checks.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/compliant.hpp"
#include "tribo/rigid.hpp"

namespace tribo {
namespace {

constexpr std::uint64_t largest_file = 1'000'000;  // [bytes]

void read_mixing(Section& section, SceneDraft& draft) {
  const std::string mixing = section.choice("mixing", "minimum", {"minimum", "average", "geometric_mean", "maximum"});
  draft.builder.set_mixing(mixing == "minimum"   ? MixingRule::Minimum
                           : mixing == "average" ? MixingRule::Average
                           : mixing == "maximum" ? MixingRule::Maximum
                                                 : MixingRule::GeometricMean);
}

void read_contact(Section& root, SceneDraft& draft, ContactOptions& contact) {
  Section section = root.inner("contact");
  Options common = contact;
  read_options(section, contact_options(), common);
  contact = common.as<ContactOptions>();
  const ContactModel model = section.at("model", [&] { return contact_model_from(contact.model); });
  if (!section.has("solver")) contact.solver = default_contact_solver(model).name;
  const SolverEntry& entry =
      section.at("solver", [&]() -> const SolverEntry& { return contact_solver_entry(contact.solver); });
  read_options(section, entry.options, contact.solver_options);
  read_mixing(section, draft);
  section.finish([&](const std::string& key) { return hint_of(key, "solver", entry.name, contact_solvers()); });
  SolverOptions solver;
  solver.model = model;
  section.at("solver", [&] { make_contact_solver(contact.solver, solver); });
}

void read_stepper(Section& root, SceneDraft& draft, Scene& scene) {
  Section section = root.inner("stepper");
  scene.stepper = section.text("name", scene.stepper);
  const StepperEntry& entry = section.at("name", [&]() -> const StepperEntry& { return stepper_entry(scene.stepper); });
  draft.springs = entry.memory == MemoryFamily::Compliant || entry.name == "microscopic";
  scene.dt = section.number("dt", scene.dt, Bound::Positive);
  scene.duration = section.number("duration", scene.duration, Bound::Positive);
  Options common = scene.stepper_options;
  read_options(section, stepper_options(), common);
  scene.stepper_options = common.as<StepperOptions>();
  Options& own = scene.stepper_options.own;
  read_options(section, entry.options, own);
  const RigidOptions* rigid = own.find<RigidOptions>();
  draft.runge_kutta = entry.name == "runge-kutta" || (rigid != nullptr && rigid->smooth == SmoothScheme::RungeKutta);
  std::string law;
  if (const CompliantOptions* compliant = own.find<CompliantOptions>()) law = compliant->law;
  if (!law.empty()) {
    const LawEntry& chosen = section.at("law", [&]() -> const LawEntry& { return contact_law_entry(law); });
    read_options(section, chosen.options, own.as<CompliantOptions>().law_options);
  }
  section.finish([&](const std::string& key) {
    const std::string hint = hint_of(key, "stepper", entry.name, steppers());
    return hint.empty() ? hint_of(key, "law", law, contact_laws()) : hint;
  });
}

void read_record(Section& root, RecordOptions& record) {
  Section section = root.inner("record");
  record.period = section.number("period", record.period, Bound::NonNegative);
  record.contacts = section.flag("contacts", record.contacts);
  section.finish();
}

void warn(Scene& scene, const std::vector<std::string>& faults, const std::string& of_more) {
  constexpr std::size_t most = 5;
  for (std::size_t k = 0; k < std::min(most, faults.size()); ++k)
    scene.warnings.push_back(scene.source + ": " + faults[k]);
  if (faults.size() > most)
    scene.warnings.push_back(scene.source + ": and " + std::to_string(faults.size() - most) + of_more);
}

Model built(SceneDraft& draft) {
  Model model = draft.builder.build();
  if (draft.changings.empty()) return model;
  ModelChanges changes;
  for (const Changing& changing : draft.changings) changing(model, changes);
  return changed(model, changes);
}

void warn_of_start(Scene& scene) {
  warn(scene, find_beyond_ranges(*scene.model, scene.start), " more joints start beyond their ranges");
  warn(scene, find_overlaps(*scene.model, scene.start), " more pairs overlap at the start");
  for (const OpenLoop& loop : find_open_loops(*scene.model, scene.start))
    scene.warnings.push_back(scene.source + ": " + loop.text);
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
  bool whole = attempt([&] { read_contact(root, draft, scene.stepper_options.contact); });
  whole &= attempt([&] { read_stepper(root, draft, scene); });
  whole &= attempt([&] { read_record(root, scene.record); });
  whole &= attempt([&] { read_materials(root, draft); });
  whole &= attempt([&] { read_ground(root, draft); });
  whole &= attempt([&] { read_walls(root, draft); });
  whole &= attempt([&] { read_terrain(root, draft); });
  whole &= attempt([&] { read_kinematic(root, draft); });
  whole &= read_robots(root, draft);
  whole &= read_objects(root, draft);
  whole &= attempt([&] { read_equalities(root, draft); });
  // Sections that need the model are named before, so that a misspelt one is told with its nearest.
  root.has("controller");
  root.has("push");
  root.finish();
  if (!whole) throw InvalidInput("");                            // all is told already
  if (draft.builder.model().members.empty() && !draft.timestep)  // a robot file may be a world in which nothing moves
    root.fail(tree, "nothing in it can move: the scene has neither a robot nor an object");
  draft.builder.set_gravity(root.has("gravity") ? gravity : draft.gravity.value_or(gravity));
  if (draft.timestep && !root.inner("stepper").has("dt")) scene.dt = *draft.timestep;
  scene.warnings = draft.warnings;
  scene.log = draft.log;
  scene.model = std::make_shared<const Model>(root.at("", [&] { return built(draft); }));
  root.at("stepper", [&] { make_stepper(scene.stepper, *scene.model, scene.stepper_options); });
  scene.start = State::neutral(*scene.model);
  for (const Placing& placing : draft.placings) whole &= attempt([&] { placing(*scene.model, scene.start); });
  if (!whole) throw InvalidInput("");
  root.at("", [&] { note_all(find_errors(*scene.model, scene.start)); });
  root.at("", [&] { warn_of_start(scene); });
  attempt([&] { read_controllers(root, scene); });
  attempt([&] { read_pushes(root, scene); });
  return scene;
}

void Scene::set_stepper(const std::string& name) {
  stepper_entry(name);
  if (name != stepper) stepper_options.own = {};
  stepper = name;
}

void Scene::set_solver(const std::string& name) {
  contact_solver_entry(name);
  ContactOptions& contact = stepper_options.contact;
  if (name != contact.solver) contact.solver_options = {};
  contact.solver = name;
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
