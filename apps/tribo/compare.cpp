// tribo compare SCENE --with METHOD,METHOD,…: the same scene under several methods, side by side.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
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

struct Options {
  SceneOptions scene;
  std::string with, out;
  bool json = false;
};

/// What one method made of the scene.
struct Run {
  std::string label, status = "done";
  Audit audit;
  VecX q;
  double wall = 0;  ///< [s]
  Series x, y, z;   ///< of the first member's first body [m] over time [s]
};

Run run(Scene scene, const Method& method, const std::string& out) {
  method.apply(scene);
  Run r;
  r.label = method.label();
  r.x.label = r.y.label = r.z.label = r.label;
  Simulation simulation = make_simulation(scene);
  std::optional<Recorder> recorder;
  if (!out.empty()) {
    std::string folder = r.label;
    for (char& c : folder) c = c == ':' ? '-' : c;
    recorder.emplace((fs::path(out) / folder).string(), scene);
  }
  const int body = scene.model->members.empty() ? 0 : scene.model->members[0].first_body;
  const auto steps = std::lround(scene.duration / scene.dt);
  const long every = std::max(1L, steps / 400);
  Progress progress(scene.duration);
  for (long k = 0; k < steps && !signal_received(); ++k) {
    const auto began = std::chrono::steady_clock::now();
    const StepReport report = simulation.step();
    r.wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (recorder) recorder->push(simulation, report);
    if (report.status == StepStatus::NotFinite || report.status == StepStatus::Stopped) {
      r.status = to_string(report.status);
      break;
    }
    progress.show(report.t);
    if (k % every != 0) continue;
    const Vec3 p = simulation.body_pose(body).p;
    for (auto [series, value] : {std::pair{&r.x, p.x()}, {&r.y, p.y()}, {&r.z, p.z()}}) {
      series->x.push_back(report.t);
      series->y.push_back(value);
    }
  }
  r.audit = simulation.audit();
  r.q = simulation.state().q;
  if (recorder) recorder->finish();
  return r;
}

Json run_json(const Run& r, const Run& first) {
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

Json panels_json(const std::vector<Run>& runs, const std::string& body) {
  Json panels = Json::array();
  for (const auto& [axis, series] : {std::pair{"x", &Run::x}, {"y", &Run::y}, {"z", &Run::z}}) {
    Json all = Json::array();
    for (const Run& r : runs) all.push_back({{"label", r.label}, {"x", (r.*series).x}, {"y", (r.*series).y}});
    panels.push_back({{"title", body + ", " + axis},
                      {"x_label", "time [s]"},
                      {"y_label", std::string(axis) + " [m]"},
                      {"log_x", false},
                      {"log_y", false},
                      {"series", all}});
  }
  return panels;
}

int compare(const Options& options) {
  const std::vector<Method> methods = experiments::parse_methods(options.with);
  const Scene scene = find_scene(options.scene);
  std::optional<FolderLock> lock;
  if (!options.out.empty()) {
    prepare_out(options.out);
    lock.emplace(options.out);
  }
  catch_signals();
  std::vector<Run> runs;
  for (const Method& method : methods) runs.push_back(run(scene, method, options.out));
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
  for (const Run& r : runs) json["runs"].push_back(run_json(r, runs[0]));
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
  const bool broke = std::any_of(runs.begin(), runs.end(), [](const Run& r) { return r.status != "done"; });
  return broke ? failed : done;
}

}  // namespace

void add_compare(CommandLine& command, Action& action) {
  auto o = std::make_shared<Options>();
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
