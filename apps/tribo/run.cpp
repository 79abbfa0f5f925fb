// tribo run SCENE: simulate, audit, record.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/folder_lock.hpp"
#include "base/legible.hpp"
#include "base/names.hpp"
#include "common.hpp"
#include "diagnosis/advice.hpp"
#include "fate.hpp"
#include "tribo/explain.hpp"
#include "tribo/recorder.hpp"
#include "tribo/run_warning.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;
using WallClock = std::chrono::steady_clock;

struct RunOptions {
  SceneOptions scene;
  std::string out, save_state, load_state;
  bool json = false, strict = false, no_record = false, explain = false;
  bool verbose = false;
};

/// How a run ended.
struct RunEnd {
  std::string status = "done";
  int code = done;
  double wall = 0;                        ///< of the stepping [s]
  std::string recording, summary, state;  ///< files written
};

bool broke_policy(const StepReport& report) {
  return report.status == StepStatus::Unconverged || report.status == StepStatus::Infeasible;
}

/// Steps until the time is up, the numbers break, or somebody asks to stop.
RunEnd step_through(Simulation& simulation, Run& run, const RunWarning& warning, double duration, bool strict) {
  RunEnd outcome;
  const double start = simulation.state().t;
  Progress progress(duration);
  const auto began = WallClock::now();
  RunWarning::Kind told = RunWarning::Kind::None;
  while (run.step()) {
    const StepReport& report = run.last();
    if (warning.kind() != told) {
      told = warning.kind();
      std::fprintf(stderr, "tribo: warning: %s\n", warning.text().c_str());
    }
    if (ended(report) || (strict && broke_policy(report))) {
      outcome.status = to_string(report.status);
      outcome.code = failed;
      break;
    }
    if (const int signal = signal_received()) {
      outcome.status = "interrupted";
      outcome.code = 128 + signal;
      break;
    }
    progress.show(simulation.state().t - start);
  }
  outcome.wall = std::chrono::duration<double>(WallClock::now() - began).count();
  return outcome;
}

Json energy_json(const Audit& a) {
  const EnergyLines& e = a.energy;
  return {{"kinetic", e.kinetic},    {"potential", e.potential},     {"elastic", e.elastic},
          {"start", a.energy_start}, {"actuators", e.actuators},     {"damping", e.damping},
          {"contacts", e.contacts},  {"constraints", e.constraints}, {"external", e.external},
          {"recovery", e.recovery},  {"integrator", e.integrator},   {"scale", a.energy_scale},
          {"error", a.ledger_error}};
}

Json contacts_json(const Simulation& simulation) {
  int closed = 0;
  double normal_force = 0;
  for (const ContactReport& c : simulation.contacts()) {
    closed += c.f.z() > 0;
    normal_force += c.f.z();
  }
  return {{"listed", simulation.contacts().size()}, {"closed", closed}, {"normal_force", normal_force}};
}

Json files_json(const RunEnd& outcome) {
  Json files = Json::object();
  if (!outcome.recording.empty()) files["recording"] = outcome.recording;
  if (!outcome.summary.empty()) files["summary"] = outcome.summary;
  if (!outcome.state.empty()) files["state"] = outcome.state;
  return files;
}

std::string joint_of(const Model& model, int coordinate) {
  for (const Body& body : model.bodies)
    if (coordinate >= body.iv && coordinate < body.iv + nv_of(body.joint)) return body.name;
  return "";
}

Json summary_json(const Scene& scene, const Simulation& simulation, const Fate& fate, const RunWarning& warning,
                  const RunEnd& outcome) {
  const Audit& a = simulation.audit();
  const double simulated = simulation.state().t - scene.start.t;
  Json json;
  json["status"] = outcome.status;
  json["scene"] = scene.name;
  json["source"] = scene.source;
  json["robots"] = Json::array();
  for (const Member& member : scene.model->members) {
    if (member.robot) json["robots"].push_back(member.name);
  }
  json["model"] = hex(scene.model->hash());
  json["stepper"] = scene.stepper;
  json["contact_model"] = scene.stepper_options.contact.model;
  json["solver"] = scene.stepper_options.contact.solver;
  json["dt"] = simulation.dt();
  json["simulated_time"] = simulated;
  json["end_time"] = simulation.state().t;
  json["steps"] = a.steps;
  json["wall_time"] = outcome.wall;
  json["real_time_factor"] = outcome.wall > 0 ? simulated / outcome.wall : 0;
  json["contacts"] = contacts_json(simulation);
  fate.add_to(json);
  const AuditLevel level = scene.stepper_options.audit;
  json["audit"] = {
      {"level", level == AuditLevel::Full   ? "full"
                : level == AuditLevel::Laws ? "laws"
                                            : "off"},
      {"signorini", judged(a.laws.signorini)},
      {"coulomb", judged(a.laws.coulomb)},
      {"dissipation", judged(a.laws.dissipation)},
      {"penetration", a.penetration},
      {"energy", energy_json(a)},
      {"solver_iterations", a.iterations},
      {"mean_iterations", a.steps ? static_cast<double>(a.iterations) / static_cast<double>(a.steps) : 0.0},
      {"worst_residual", a.worst_residual},
      {"unconverged", a.unconverged},
      {"infeasible", a.infeasible},
      {"wedged", a.wedged},
      {"escalated", a.escalated}};
  if (a.gained > 0.01) json["audit"]["gained"] = a.gained;
  if (const std::string text = warning.text(); !text.empty()) json["audit"]["warning"] = text;
  if (a.sleeping > 0) json["audit"]["sleeping"] = a.sleeping;
  if (a.unresolved > 0) json["audit"]["unresolved"] = a.unresolved;
  if (a.unsolved > 0) json["audit"]["control_unsolved"] = a.unsolved;
  if (a.forgotten > 0) json["audit"]["forgotten_memories"] = a.forgotten;
  if (a.worst_target >= 0)
    json["audit"]["targets"] = {
        {"gave_way", a.gave_way}, {"largest_miss", a.target_miss}, {"joint", joint_of(*scene.model, a.worst_target)}};
  json["state_hash"] = hex(hash(simulation.state()));
  json["files"] = files_json(outcome);
  return json;
}

std::string number(const Json& x) { return x.is_number() ? shown(x.get<double>()) : "not finite"; }

/// "first A, second B" of the named fields.
std::string fields(const Json& from, std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) {
    const Json& x = from[name];
    const bool whole = x.is_number_integer();
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + (whole ? x.dump() : number(x));
  }
  return text;
}

void print_summary(const Json& j) {
  const auto line = [](const char* label, const std::string& text) { std::printf("%-14s %s\n", label, text.c_str()); };
  const Json &audit = j["audit"], &energy = audit["energy"];
  std::string robots;
  for (const Json& r : j["robots"]) robots += (robots.empty() ? "" : ", ") + r.get<std::string>();
  line("scene", j["scene"].get<std::string>() + (robots.empty() ? "" : ", robots " + robots));
  const std::string stepper = j["stepper"], model = j["contact_model"], solver = j["solver"];
  const bool solves = stepper_entry(stepper).memory == MemoryFamily::Rigid;  // the others have a law of their own
  line("method", stepper + (solves ? ", " + model + ", " + solver : "") + ", dt " + number(j["dt"]) + " s");
  line("simulated", number(j["simulated_time"]) + " s in " + j["steps"].dump() + " steps");
  line("wall time", number(j["wall_time"]) + " s, " + number(j["real_time_factor"]) + " x real time");
  line("contacts", j["contacts"]["closed"].dump() + " closed at the end, normal forces sum to " +
                       number(j["contacts"]["normal_force"]) + " N");
  line("contact laws",
       audit["signorini"].is_number()
           ? "residuals: " + fields(audit, {"signorini", "coulomb", "dissipation"}) + " (worst step, relative)"
           : "not judged");
  line("overlap", number(audit["penetration"]) + " m at most");
  print_fate(j);
  line("solver", number(audit["mean_iterations"]) + " iterations a step, residual " + number(audit["worst_residual"]) +
                     " at most (relative)");
  line("steps", fields(audit, {"unconverged", "infeasible", "wedged", "escalated"}));
  if (audit.contains("sleeping")) line("sleeping", audit["sleeping"].dump() + " bodies at the end");
  if (audit.contains("unresolved"))
    line("turning", "too fast for dt at " + audit["unresolved"].dump() +
                        " steps: what the scheme added to the energy was taken off");
  if (audit.contains("warning")) line("warning", audit["warning"]);
  if (audit.contains("control_unsolved"))
    line("control", "found no torque at " + audit["control_unsolved"].dump() + " steps, and kept the last one");
  if (audit.contains("forgotten_memories"))
    line("contact memory", "of " + audit["forgotten_memories"].dump() +
                               " contacts and joints was dropped at the start: a stepper of another family wrote it");
  if (audit.contains("targets"))
    line("targets", "joint velocities missed at " + audit["targets"]["gave_way"].dump() + " steps, most at '" +
                        audit["targets"]["joint"].get<std::string>() + "', by " +
                        number(audit["targets"]["largest_miss"]) + " rad/s or m/s");
  if (audit["level"] == "full") {
    line("energy", fields(energy, {"kinetic", "potential", "elastic", "start"}) + " J");
    line("work",
         fields(energy, {"actuators", "damping", "contacts", "constraints", "external", "recovery", "integrator"}) +
             " J");
    line("energy balance", "error " + number(energy["error"]) + " (relative to the largest energy or work)");
    if (audit.contains("gained"))
      line("gain", "the scheme added " + number(100 * audit["gained"].get<double>()) +
                       " % of the energy within a second: take a smaller dt");
  } else {
    line("energy", "not audited: stepper.audit is not \"full\"");
  }
  for (const auto& [what, path] : j["files"].items()) line(what.c_str(), path.get<std::string>());
  if (j["status"] != "done") line("status", j["status"].get<std::string>() + " at t = " + number(j["end_time"]) + " s");
}

Json explanation_json(const Witness& witness) {
  Json list = Json::array();
  for (const Finding& f : witness.explain())
    list.push_back({{"cause", to_string(f.cause)},
                    {"time", f.t},
                    {"value", f.value},
                    {"limit", f.limit},
                    {"unit", f.unit},
                    {"evidence", f.evidence},
                    {"advice", f.advice}});
  return list;
}

/// What cannot be written is refused before the run rather than after it.
void check_output(const std::string& path, const char* option) {
  std::error_code error;
  const fs::path folder = fs::absolute(destination(path).path, error).parent_path();
  if (!fs::is_directory(folder, error)) {
    throw InvalidInput(std::string(option) + " " + path + ": the folder " + folder.string() + " does not exist");
  }
}

std::string summary_path(const RunOptions& options) { return (fs::path(options.out) / "summary.json").string(); }

/// Failures from here on are not the fault of the input.
void write_files(const RunOptions& options, const Scene& scene, const Simulation& simulation, const Fate& fate,
                 const RunWarning& warning, std::optional<Recorder>& recorder, RunEnd& outcome, Json& json) {
  if (recorder) outcome.recording = recorder->finish();
  if (!options.save_state.empty()) {
    save_state(simulation.state(), options.save_state);
    outcome.state = options.save_state;
  }
  if (!options.out.empty()) outcome.summary = summary_path(options);
  json = summary_json(scene, simulation, fate, warning, outcome);
  if (!options.out.empty()) write_file(outcome.summary, dumped(json));
}

int run(const RunOptions& options) {
  Scene scene = find_scene(options.scene);
  print_warnings(scene.warnings, options.verbose);
  for (const std::string& text : scene.log) std::fprintf(stderr, "tribo: %s\n", legible(text).c_str());
  for (const std::string& text : dt_advice(scene)) std::fprintf(stderr, "tribo: warning: %s\n", text.c_str());
  Simulation simulation = make_simulation(scene);
  if (!options.save_state.empty()) check_output(options.save_state, "--save-state");
  if (!options.load_state.empty()) {
    scene.start = load_state(*scene.model, options.load_state);
    const std::string text = forgotten_memory(scene.start, scene.stepper);
    if (!text.empty())
      std::fprintf(stderr, "tribo: warning: %s: %s\n", options.load_state.c_str(), legible(text).c_str());
    simulation.set_state(scene.start);
  }
  Run steps(simulation, scene.duration);
  std::optional<FolderLock> lock;
  std::optional<Recorder> recorder;  // locks the folder too
  if (!options.out.empty()) {
    prepare_out(options.out);
    check_output(summary_path(options), "--out");
    if (options.no_record)
      lock.emplace(options.out);
    else
      recorder.emplace(options.out, scene, RecordingRequest{options.scene.controller, options.scene.overrides()});
  }
  if (recorder && !recorder->rescued().empty())
    std::fprintf(stderr, "tribo: the recording of a run that was killed is in %s\n", recorder->rescued().c_str());
  catch_signals();
  RunEnd outcome;
  Witness witness(scene);
  Fate fate(scene);
  RunWarning warning;
  Json json;
  try {
    if (recorder) steps.watch(*recorder);
    steps.watch(witness).watch(fate).watch(warning);
    outcome = step_through(simulation, steps, warning, scene.duration, options.strict);
    if (fate.thrown() && outcome.code == done) {
      outcome.status = "thrown";
      outcome.code = failed;
    }
    hold_signals();
    write_files(options, scene, simulation, fate, warning, recorder, outcome, json);
    catch_signals();
  } catch (const InvalidInput& error) {
    throw std::runtime_error(error.what());
  }
  if (options.json) {
    if (options.explain || outcome.code == failed) json["explanation"] = explanation_json(witness);
    print_json(json);
  } else {
    print_summary(json);
    if (options.explain && outcome.code != failed) std::printf("%s", witness.text().c_str());
  }
  std::fflush(stdout);
  if (outcome.code != done) {
    std::fprintf(stderr, "tribo: %s at t = %s s\n", outcome.status.c_str(), shown(simulation.state().t).c_str());
    if (outcome.code == failed && !options.json) std::fputs(witness.text().c_str(), stderr);
  }
  return outcome.code;
}

}  // namespace

void add_run(CommandLine& command, Action& action) {
  auto o = std::make_shared<RunOptions>();
  o->scene.add(command);
  command.add_option("--out", o->out, "folder for recording.npz and summary.json; without it nothing is written");
  command.add_flag("--no-record", o->no_record, "write no recording.npz");
  command.add_flag("--strict", o->strict,
                   "stop, with exit code 1, at the first contact solve that misses its tolerance");
  command.add_option("--save-state", o->save_state, "file for the state at the end");
  command.add_option("--load-state", o->load_state, "begin from a saved state, and run for the duration from there");
  command.add_flag("--explain", o->explain,
                   "explain what went wrong, or is about to; a failed run is explained anyway");
  command.add_flag("--verbose", o->verbose, "every warning about a file, not one line for all of them");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo run solo --duration 2 --out out/solo\n"
      "  tribo run scenes/solo.toml --stepper rigid --solver pgs --dt 5e-4 --json\n"
      "  tribo run talos --controller none --set ground.material=ice\n"
      "  tribo run solo --save-state half.state && tribo run solo --load-state half.state\n\n"
      "docs/quickstart.md explains each line of the summary, under 'Summary'.\n"
      "The recording: numpy.load('out/solo/recording.npz')['q']. While the run goes on, and after a kill,\n"
      "out/solo/recording.partial/ holds the same arrays as .npy files; the next run, or 'tribo recover out/solo',\n"
      "packs them.");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace tribo::app
