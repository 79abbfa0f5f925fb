// tribo check FILE: everything that is wrong with a scene or a robot file, at once.
#include <cstdio>
#include <optional>

#include "base/problems.hpp"
#include "common.hpp"
#include "diagnosis/advice.hpp"
#include "scene/model_checks.hpp"

namespace tribo::app {
namespace {

struct Options {
  SceneOptions scene;
  bool json = false;
};

/// The scene where it could be made; what was wrong is collected either way.
std::optional<Scene> load(const Options& options, std::vector<Problem>& problems) {
  Collecting collecting;
  std::optional<Scene> scene;
  const bool made = attempt([&] { scene = find_scene(options.scene); });
  problems = collecting.problems();
  if (!made) return std::nullopt;
  return scene;
}

void add_warnings(const Scene& scene, std::vector<Problem>& problems) {
  auto warn = [&](const std::string& place, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) problems.push_back({false, place + line});
  };
  warn("", scene.warnings);
  warn(scene.source + ": ", find_doubts(*scene.model));
  warn(scene.source + ": ", dt_advice(scene));
}

int check(const Options& options) {
  std::vector<Problem> problems;
  const std::optional<Scene> scene = load(options, problems);
  if (scene && problems.empty()) add_warnings(*scene, problems);
  int errors = 0;
  for (const Problem& p : problems) errors += p.error;
  const int warnings = static_cast<int>(problems.size()) - errors;
  if (options.json) {
    Json list = Json::array();
    for (const Problem& p : problems) list.push_back({{"severity", p.error ? "error" : "warning"}, {"text", p.text}});
    print_json({{"file", options.scene.scene}, {"errors", errors}, {"warnings", warnings}, {"problems", list}});
  } else {
    for (const Problem& p : problems) std::printf("%s: %s\n", p.error ? "error" : "warning", p.text.c_str());
    if (scene && errors == 0)
      std::printf("%s: %d bodies, %d coordinates, %zu collision shapes, %g kg\n", options.scene.scene.c_str(),
                  static_cast<int>(scene->model->bodies.size()), scene->model->nv, scene->model->geometries.size(),
                  scene->model->mass());
    std::printf("%s: %d errors, %d warnings\n", options.scene.scene.c_str(), errors, warnings);
  }
  return errors > 0 ? bad_input : done;
}

}  // namespace

void add_check(CommandLine& command, Action& action) {
  auto o = std::make_shared<Options>();
  o->scene.add(command);
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo check scenes/solo.toml\n"
      "  tribo check robot.urdf --package ~/ros/src --json\n\n"
      "Exit codes: 0 no errors; 2 errors. 'tribo run' refuses what is an error here.");
  command.callback([o, &action] { action = [o] { return check(*o); }; });
}

}  // namespace tribo::app
