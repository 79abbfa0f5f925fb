// tribo compare SCENE --with METHOD,METHOD,…: the same scene under several methods, side by side.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.hpp"
#include "base/folder_lock.hpp"
#include "common.hpp"
#include "experiment.hpp"
#include "method.hpp"
#include "plot.hpp"
#include "tribo/recorder.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;
using experiments::Method;
using experiments::Panel;
using experiments::Series;

struct CompareOptions {
  SceneOptions scene;
  std::string with, out;
  bool json = false;
};

/// What one method made of the scene.
struct Result {
  std::string label, status = "done";
  Audit audit;
  VecX q;
  double wall = 0;  ///< [s]
  Series x, y, z;   ///< of the first member's first body [m] over time [s]
};

/// Where a body is, some 400 times over the run.
class Track final : public Observer {
 public:
  Track(Result& result, int body, std::uint64_t every) : result_(result), body_(body), every_(every) {}
  void observe(Simulation& simulation, const StepReport& report) override {
    if (ended(report) || seen_++ % every_ != 0) return;
    const Vec3 p = simulation.body_pose(body_).p;
    for (auto [series, value] : {std::pair{&result_.x, p.x()}, {&result_.y, p.y()}, {&result_.z, p.z()}}) {
      series->x.push_back(report.t);
      series->y.push_back(value);
    }
  }

 private:
  Result& result_;
  int body_;
  std::uint64_t every_, seen_ = 0;
};

/// Each method under a name of its own: one that is listed again is counted.
std::vector<std::string> labels_of(const std::vector<Method>& methods) {
  std::vector<std::string> labels;
  std::map<std::string, int> seen;
  for (const Method& method : methods) {
    const int n = ++seen[method.label()];
    labels.push_back(method.label() + (n > 1 ? " #" + std::to_string(n) : ""));
  }
  return labels;
}

/// The scene as a method takes it. An option of [stepper] that --set gives goes to the steppers that have it, one of
/// those compared at least.
Scene scene_for(const Method& method, const std::vector<Method>& methods, SceneOptions options) {
  const auto takes = [](const Method& m, const std::string& key) {
    return stepper_entry(m.stepper).options.find(key) != nullptr;
  };
  const std::string section = "stepper.";
  std::erase_if(options.set, [&](const std::string& text) {
    if (!text.starts_with(section)) return false;
    const std::string key = text.substr(section.size(), text.find('=') - section.size());
    return !takes(method, key) && std::any_of(methods.begin(), methods.end(), [&](auto& m) { return takes(m, key); });
  });
  if (options.stepper.empty()) options.stepper = method.stepper;
  Scene scene = find_scene(options);
  method.apply(scene);
  return scene;
}

Result run(const Scene& scene, const std::string& label, const std::string& out) {
  Result r;
  r.label = label;
  r.x.label = r.y.label = r.z.label = r.label;
  Simulation simulation = make_simulation(scene);
  std::optional<Recorder> recorder;
  if (!out.empty()) {
    std::string folder = r.label;
    for (char& c : folder) c = c == ':' || c == ' ' || c == '#' ? '-' : c;
    if (const std::size_t twice = folder.find("--"); twice != std::string::npos) folder.erase(twice, 1);
    recorder.emplace((fs::path(out) / folder).string(), scene);
  }
  Run steps(simulation, scene.duration);
  Track track(r, scene.model->members.empty() ? 0 : scene.model->members[0].first_body,
              std::max<std::uint64_t>(1, steps.steps() / 400));
  if (recorder) steps.watch(*recorder);
  steps.watch(track);
  Progress progress(scene.duration);
  while (!signal_received() && steps.step()) progress.show(steps.last().t);
  if (steps.failed()) r.status = to_string(steps.last().status);
  r.wall = steps.wall();
  r.audit = simulation.audit();
  r.q = simulation.state().q;
  if (recorder) recorder->finish();
  return r;
}

Json run_json(const Result& r, const Result& first) {
  const auto steps = static_cast<double>(std::max<std::uint64_t>(1, r.audit.steps));
  const EnergyLines& e = r.audit.energy;
  return {{"method", r.label},
          {"status", r.status},
          {"difference", (r.q - first.q).norm()},
          {"signorini", judged(r.audit.laws.signorini)},
          {"coulomb", judged(r.audit.laws.coulomb)},
          {"dissipation", judged(r.audit.laws.dissipation)},
          {"penetration", r.audit.penetration},
          {"energy", e.kinetic + e.potential},
          {"time_per_step_us", 1e6 * r.wall / steps},
          {"iterations_per_step", static_cast<double>(r.audit.iterations) / steps},
          {"worst_residual", r.audit.worst_residual},
          {"unconverged", r.audit.unconverged}};
}

experiments::Table table_of(const Json& runs, const std::string& scene) {
  experiments::Table table{
      scene + ": |q - q of the first| at the end, worst laws (relative), deepest overlap [m], energy [J]",
      {"method", "difference", "signorini", "coulomb", "dissipation", "overlap", "energy", "us/step", "iterations",
       "unconverged", "status"}};
  const auto law = [](const Json& x) { return x.is_null() ? Json("not judged") : x; };
  for (const Json& r : runs)
    table.rows.push_back({r["method"], r["difference"], law(r["signorini"]), law(r["coulomb"]), law(r["dissipation"]),
                          r["penetration"], r["energy"], r["time_per_step_us"], r["iterations_per_step"],
                          r["unconverged"], r["status"]});
  return table;
}

Json panels_json(const std::vector<Result>& runs, const std::string& body) {
  Json panels = Json::array();
  for (const auto& [axis, series] : {std::pair{"x", &Result::x}, {"y", &Result::y}, {"z", &Result::z}}) {
    Json all = Json::array();
    for (const Result& r : runs) all.push_back({{"label", r.label}, {"x", (r.*series).x}, {"y", (r.*series).y}});
    panels.push_back({{"title", body + ", " + axis},
                      {"x_label", "time [s]"},
                      {"y_label", std::string(axis) + " [m]"},
                      {"log_x", false},
                      {"log_y", false},
                      {"series", all}});
  }
  return panels;
}

int compare(const CompareOptions& options) {
  const std::vector<Method> methods = experiments::parse_methods(options.with);
  std::vector<Scene> scenes;  // all of them before the first run: what is wrong is said at once
  scenes.reserve(methods.size());
  for (const Method& method : methods) scenes.push_back(scene_for(method, methods, options.scene));
  const Scene& scene = scenes[0];
  const std::vector<std::string> labels = labels_of(methods);
  std::optional<FolderLock> lock;
  if (!options.out.empty()) {
    prepare_out(options.out);
    lock.emplace(options.out);
  }
  catch_signals();
  std::vector<Result> runs;
  for (std::size_t k = 0; k < scenes.size(); ++k) runs.push_back(run(scenes[k], labels[k], options.out));
  Json json;
  json["scene"] = scene.name;
  json["command"] = "tribo compare " + options.scene.scene + " --with " + options.with;
  for (const Override& o : options.scene.overrides())
    json["command"] = json["command"].get<std::string>() + " --set " + o.path + "=" + o.value;
  json["dt"] = scene.dt;
  json["duration"] = scene.duration;
  json["machine"] = experiments::machine();
  json["version"] = experiments::version();
  json["runs"] = Json::array();
  for (const Result& r : runs) json["runs"].push_back(run_json(r, runs[0]));
  const std::string table = experiments::as_text(table_of(json["runs"], scene.name));
  if (!options.out.empty()) {
    json["panels"] = panels_json(runs, scene.model->members.empty() ? "body" : scene.model->members[0].name);
    const std::string path = (fs::path(options.out) / "compare.json").string();
    write_file(path, dumped(json));
    draw(path, (fs::path(options.out) / "compare.png").string());
    report(path, (fs::path(options.out) / "compare.html").string());
  }
  if (options.json)
    print_json(json);
  else
    std::printf("%s", table.c_str());
  if (const int signal = signal_received()) return 128 + signal;
  const bool broke = std::any_of(runs.begin(), runs.end(), [](const Result& r) { return r.status != "done"; });
  return broke ? failed : done;
}

}  // namespace

void add_compare(CommandLine& command, Action& action) {
  auto o = std::make_shared<CompareOptions>();
  o->scene.add(command);
  command.add_option("--with", o->with, "methods, separated by commas: STEPPER[:CONTACT_MODEL[:SOLVER]]")->required();
  command.add_option("--out", o->out, "folder for compare.json, compare.png, compare.html and one recording a method");
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo compare cube-slide --with rigid:ncp:newton,rigid:ccp:admm,rigid:lcp:pgs\n"
      "  tribo compare solo --with rigid,rigid:ncp:pgs --duration 2 --out out/compare");
  command.callback([o, &action] { action = [o] { return compare(*o); }; });
}

}  // namespace tribo::app
