// tribo check FILE: everything that is wrong with a scene or a robot file, at once. tribo check FOLDER: of every one in it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/legible.hpp"
#include "base/problems.hpp"
#include "common.hpp"
#include "diagnosis/advice.hpp"
#include "scene/model_checks.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

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

/// What is to be said of a file.
struct Verdict {
  std::string file;
  std::vector<Problem> problems;
  std::optional<Scene> scene;
  int errors = 0, warnings = 0;

  Json json() const {
    Json list = Json::array();
    for (const Problem& p : problems) list.push_back({{"severity", p.error ? "error" : "warning"}, {"text", p.text}});
    return {{"file", file}, {"errors", errors}, {"warnings", warnings}, {"problems", list}};
  }
};

Verdict judge_file(const Options& options) {
  Verdict v;
  v.file = options.scene.scene;
  v.scene = load(options, v.problems);
  if (v.scene && v.problems.empty()) add_warnings(*v.scene, v.problems);
  for (const Problem& p : v.problems) v.errors += p.error;
  v.warnings = static_cast<int>(v.problems.size()) - v.errors;
  return v;
}

int check_file(const Options& options) {
  const Verdict v = judge_file(options);
  if (options.json) {
    print_json(v.json());
  } else {
    for (const Problem& p : v.problems) std::printf("%s: %s\n", p.error ? "error" : "warning", legible(p.text).c_str());
    if (v.scene && v.errors == 0)
      std::printf("%s: %d bodies, %d coordinates, %zu collision shapes, %g kg\n", v.file.c_str(),
                  static_cast<int>(v.scene->model->bodies.size()), v.scene->model->nv,
                  v.scene->model->geometries.size(), v.scene->model->mass());
    std::printf("%s: %d errors, %d warnings\n", v.file.c_str(), v.errors, v.warnings);
  }
  return v.errors > 0 ? bad_input : done;
}

/// Scenes and robot files; of .xml those alone that begin with <mujoco> or <robot>, since it may be anything.
bool concerns(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".toml" || extension == ".urdf" || extension == ".mjcf") return true;
  if (extension != ".xml") return false;
  const std::string head = read_start(path.string(), 4096);
  for (std::size_t i = 0; (i = head.find('<', i)) != std::string::npos;) {
    if (head.compare(i, 4, "<!--") == 0) {
      i = head.find("-->", i);
      continue;
    }
    ++i;
    if (head[i] == '?' || head[i] == '!') continue;
    const std::size_t end = head.find_first_of(" \t\r\n/>", i);
    const std::string name = head.substr(i, end - i);
    return name == "mujoco" || name == "robot";
  }
  return false;
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  const auto skip = fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator item(folder, skip, error), end; item != end; item.increment(error))
    if (item->is_regular_file(error) && concerns(item->path())) files.push_back(item->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string first_line(const std::string& text, std::size_t most) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= most ? line : line.substr(0, most - 1) + "…";
}

/// A line a file: errors, warnings, size, and the first thing that is wrong.
int check_folder(Options options) {
  const std::string folder = options.scene.scene;
  const std::vector<std::string> files = files_below(folder);
  if (files.empty())
    throw InvalidInput(folder + ": a folder without a scene (.toml) or robot file (.urdf, .xml, .mjcf)");
  const auto place_of = [&](const std::string& file) {  // a link stands where it lies
    return legible(fs::path(file).lexically_relative(folder).string());
  };
  std::size_t width = 4;
  for (const std::string& file : files) width = std::max(width, place_of(file).size());
  const int column = static_cast<int>(width);
  Json list = Json::array();
  int bad = 0, doubtful = 0;
  if (!options.json) std::printf("%-*s  errors  warnings  bodies  first\n", column, "file");
  for (const std::string& file : files) {
    options.scene.scene = file;
    const Verdict v = judge_file(options);
    bad += v.errors > 0;
    doubtful += v.errors == 0 && v.warnings > 0;
    if (options.json) {
      list.push_back(v.json());
      continue;
    }
    std::string first = v.problems.empty() ? "" : v.problems[0].text;
    if (const std::size_t place = first.find(file); place != std::string::npos)
      first.replace(place, file.size(), fs::path(file).filename().string());
    const std::string bodies = v.scene ? std::to_string(v.scene->model->bodies.size()) : "-";
    std::printf("%-*s  %6d  %8d  %6s  %s\n", column, place_of(file).c_str(), v.errors, v.warnings, bodies.c_str(),
                legible(first_line(first, 100)).c_str());
    std::fflush(stdout);
  }
  const int all = static_cast<int>(files.size());
  if (options.json)
    print_json(
        {{"folder", folder}, {"files", list}, {"checked", all}, {"with_errors", bad}, {"with_warnings", doubtful}});
  else
    std::printf("%s: %d files, %d with errors, %d with warnings alone\n", folder.c_str(), all, bad, doubtful);
  return bad > 0 ? bad_input : done;
}

int check(const Options& options) {
  std::error_code error;
  return fs::is_directory(options.scene.scene, error) ? check_folder(options) : check_file(options);
}

}  // namespace

void add_check(CommandLine& command, Action& action) {
  auto o = std::make_shared<Options>();
  o->scene.add(command);
  command.add_flag("--json", o->json, "print one JSON object");
  command.footer(
      "Examples:\n"
      "  tribo check scenes/solo.toml\n"
      "  tribo check robot.urdf --package ~/ros/src --json\n"
      "  tribo check robots/          a table of every scene and robot file below the folder\n\n"
      "Exit codes: 0 no errors; 2 errors. 'tribo run' refuses what is an error here.");
  command.callback([o, &action] { action = [o] { return check(*o); }; });
}

}  // namespace tribo::app
