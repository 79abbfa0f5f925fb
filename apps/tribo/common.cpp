#include "common.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/mjcf.hpp"
#include "model/names.hpp"

namespace tribo::app {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t stop_signal = 0;

void on_signal(int signal) { stop_signal = signal; }

std::vector<fs::path> scene_folders() {
  std::vector<fs::path> folders;
  if (const char* mine = std::getenv("TRIBO_SCENES")) folders.emplace_back(mine);
  folders.emplace_back(TRIBO_SCENES_DIR);
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "share" / "tribo" / "scenes");
  return folders;
}

/// The description that a scene file begins with.
std::string summary_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find('"'), last = line.rfind('"');
    if (line.rfind("description", 0) == 0 && last > first) return line.substr(first + 1, last - first - 1);
    if (line.rfind("[", 0) == 0) break;
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Stiff enough to stand; the gains are taken implicitly.
const std::vector<Override> default_gains = {
    {"controller.name", "pd"}, {"controller.kp", "200"}, {"controller.kd", "5"}};

/// An MJCF file as it is: its own ground, gravity and step, and its own motors.
Scene world_scene(const std::string& file, const SceneOptions& options) {
  const std::string text = "[robot]\nmodel = " + quoted(file) + "\n[ground]\nnone = true\n";
  const Scene bare = parse_scene(text, file, options.overrides());
  if (bare.model->members[0].actuators.empty() || !options.controller.empty()) return bare;
  std::vector<Override> overrides{{"controller.name", "actuators"}};
  for (const Override& o : options.overrides()) overrides.push_back(o);
  return parse_scene(text, file, overrides);
}

/// The robot on the ground, its joints held where they are, with gravity fed forward where its base or feet allow it.
Scene robot_scene(const std::string& robot, const SceneOptions& options) {
  if (fs::path(robot).has_extension() && is_mjcf(robot)) return world_scene(robot, options);
  const std::string text = "[robot]\nmodel = " + quoted(robot) + "\n";
  if (options.controller == "none") return parse_scene(text, robot, options.overrides());
  const Scene bare = parse_scene(text, robot, options.overrides());
  std::vector<Override> overrides = default_gains;
  for (const Member& member : bare.model->members) {
    const bool floating = bare.model->bodies[static_cast<std::size_t>(member.first_body)].joint == JointKind::Free;
    if (member.robot && (!floating || member.feet.size() >= 3))
      overrides.push_back({"controller.feedforward", "gravity"});
  }
  for (const Override& o : options.overrides()) overrides.push_back(o);
  return parse_scene(text, robot, overrides);
}

/// --controller: none takes away those of the scene; pd stands in where the scene has none.
Scene file_scene(const std::string& path, const SceneOptions& options) {
  Scene scene = load_scene(path, options.overrides());
  if (options.controller == "none") scene.controllers.clear();
  if (options.controller != "pd" || !scene.controllers.empty()) return scene;
  std::vector<Override> overrides = default_gains;
  for (const Override& o : options.overrides()) overrides.push_back(o);
  return load_scene(path, overrides);
}

}  // namespace

std::vector<SceneEntry> known_scenes() {
  std::vector<SceneEntry> scenes;
  for (const fs::path& folder : scene_folders()) {
    std::error_code error;
    for (const auto& item : fs::directory_iterator(folder, error)) {
      if (item.path().extension() != ".toml") continue;
      const std::string name = item.path().stem().string();
      const bool hidden = std::any_of(scenes.begin(), scenes.end(), [&](const auto& s) { return s.name == name; });
      if (!hidden) scenes.push_back({name, item.path().string(), summary_of(item.path())});
    }
  }
  std::sort(scenes.begin(), scenes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return scenes;
}

void SceneOptions::add(CLI::App& command) {
  command
      .add_option("SCENE", scene, "a scene file, the name of a scene, or a robot: see 'tribo list scenes', 'robots'")
      ->required();
  command.add_option("--stepper", stepper, "how the state is advanced: see 'tribo list steppers'");
  command.add_option("--contact-model", contact_model, "law of contact: see 'tribo list contact-models'");
  command.add_option("--solver", solver, "contact solver: see 'tribo list solvers'");
  command.add_option("--controller", controller, "'none', or a controller: see 'tribo list controllers'");
  command.add_option("--dt", dt, "time step [s]");
  command.add_option("--duration", duration, "simulated time [s]");
  command.add_option("--set", set, "a value of the scene file, as path.key=value; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
  command.add_option("--package", packages, "a folder for the packages and meshes of a robot file; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("DIR");
  command.add_option("--unsupported", unsupported,
                     "what an MJCF file has and Tribo has not: 'warn' (the default) or 'refuse'");
}

std::vector<Override> SceneOptions::overrides() const {
  std::vector<Override> list;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw InvalidInput("--set '" + text + "': must have the form path.key=value");
    }
    list.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  const std::pair<const char*, const std::string*> named[] = {
      {"stepper.name", &stepper},  {"contact.model", &contact_model},
      {"contact.solver", &solver}, {"controller.name", &controller},
      {"stepper.dt", &dt},         {"stepper.duration", &duration}};
  if (!unsupported.empty()) list.push_back({"robot.unsupported", unsupported});
  if (!packages.empty()) {
    std::string folders;
    for (const std::string& folder : packages) folders += (folders.empty() ? "[" : ", ") + quoted(folder);
    list.push_back({"robot.packages", folders + "]"});
  }
  for (const auto& [path, value] : named) {
    if (!value->empty() && *value != "none") list.push_back({path, *value});
  }
  return list;
}

Scene find_scene(const SceneOptions& options) {
  const std::string& name = options.scene;
  const std::string& c = options.controller;
  std::vector<std::string> kinds = {"none"};
  for (const ControllerEntry& entry : controllers()) kinds.push_back(entry.name);
  if (!c.empty() && std::find(kinds.begin(), kinds.end(), c) == kinds.end())
    throw InvalidInput(unknown_name("controller", c, kinds));
  std::error_code error;
  if (fs::is_directory(name, error)) throw InvalidInput(name + ": is a folder, not a scene file");
  const std::string extension = fs::path(name).extension().string();
  if (extension == ".urdf" || extension == ".xml" || extension == ".mjcf") {
    if (!fs::exists(name, error)) throw InvalidInput(name + ": no such file");
    return robot_scene(name, options);
  }
  if (extension == ".toml" || name.find('/') != std::string::npos || fs::exists(name, error)) {
    if (!fs::exists(name, error)) throw InvalidInput(name + ": no such scene file");
    return file_scene(name, options);
  }
  std::vector<std::string> known;
  for (const SceneEntry& scene : known_scenes()) {
    if (scene.name == name) return file_scene(scene.path, options);
    known.push_back(scene.name);
  }
  for (const RobotEntry& robot : robots()) {
    if (robot.name == name) return robot_scene(name, options);
    known.push_back(robot.name);
  }
  throw InvalidInput(unknown_name("scene or robot", name, known));
}

void prepare_out(const std::string& out) {
  std::error_code error;
  fs::create_directories(out, error);
  if (!fs::is_directory(out)) {
    throw InvalidInput("--out " + out + ": cannot be made (" +
                       (error ? error.message() : "something else has that name") + ")");
  }
}

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void print_json(const Json& json) { std::fputs(dumped(json).c_str(), stdout); }

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int signal_received() { return stop_signal; }

Progress::Progress(double total, const char* unit)
    : total_(total), unit_(unit), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && next_ > 0) std::fputs("\r\033[K", stderr);
}

void Progress::show(double value) {
  if (!terminal_) return;
  using namespace std::chrono;
  const std::int64_t now = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  if (now < next_) return;
  next_ = now + 100;
  constexpr int width = 30;
  const double part = total_ > 0 ? std::clamp(value / total_, 0.0, 1.0) : 1.0;
  const int full = static_cast<int>(part * width);
  std::fprintf(stderr, "\r[%s%s] %3.0f %%  %.2f of %.2f %s ", std::string(static_cast<std::size_t>(full), '#').c_str(),
               std::string(static_cast<std::size_t>(width - full), '.').c_str(), 100 * part, value, total_, unit_);
  std::fflush(stderr);
}

}  // namespace tribo::app
