#include "scene/find_scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/names.hpp"
#include "dynamics/clearance.hpp"
#include "readers/data_folders.hpp"
#include "readers/mjcf.hpp"
#include "readers/robots.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scene_folders() {
  std::vector<fs::path> folders;
  if (const char* mine = std::getenv("TRIBO_SCENES")) folders.emplace_back(mine);
  if (!data_folders().scenes.empty()) folders.emplace_back(data_folders().scenes);
  if (!source_folders().scenes.empty()) folders.emplace_back(source_folders().scenes);
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

/// Stiff enough to stand; the gains are taken implicitly. A robot on its feet is an inverted pendulum: each joint is given
/// twice the stiffness that would just hold all of it upright, and damping in proportion,
///   kp = max(200, 2 m g h),  kd = 5 + 0.08 (kp - 200)                               (gains.1)
/// with the height h of the centre of mass above the lowest shape.
std::vector<Override> default_gains(const Scene& bare) {
  const Model& model = *bare.model;
  double kp = 200;
  Dynamics dynamics(model);
  dynamics.compute(bare.start.q, VecX::Zero(model.nv));
  const double g = model.gravity.norm();
  for (int m = 0; m < static_cast<int>(model.members.size()) && g > 0; ++m) {
    const Member& member = model.members[at(m)];
    if (!member.robot || !floats(model, member)) continue;
    const Vec3 up = -model.gravity / g;
    const Tree& tree = model.trees[at(model.bodies[at(member.first_body)].tree)];
    const double height = up.dot(dynamics.center_of_mass(model.bodies[at(member.first_body)].tree)) -
                          lowest_points(model, dynamics, m, up).moving;
    if (std::isfinite(height)) kp = std::max(kp, std::round(2 * tree.mass * g * height));  // (gains.1)
  }
  return {{"controller.name", "pd"}, {"controller.kp", shown(kp)}, {"controller.kd", shown(5 + 0.08 * (kp - 200))}};
}

/// What a robot cannot do under a controller of its joints, and what is left free where there is none.
void add_warnings(Scene& scene) {
  const Model& model = *scene.model;
  for (const Member& member : model.members) {
    if (!member.robot) continue;
    const bool motors = (model.joints.effort_limit.segment(member.iv, member.nv).array() > 0).any();
    const bool from_file = !member.source.empty() && fs::path(member.source).has_extension();
    if (scene.controllers.empty() && motors && from_file)
      scene.warnings.push_back(
          "robot '" + member.name +
          "': the scene has no [controller], so that its joints are free; --controller pd holds them");
    const std::size_t feet = member.feet.size();
    if (!scene.controllers.empty() && floats(model, member) && (feet == 1 || feet == 2))
      scene.warnings.push_back("robot '" + member.name + "' stands on " + std::to_string(feet) +
                               (feet == 1 ? " point" : " points") +
                               ": no controller that holds its joints keeps it from falling");
  }
}

/// An MJCF file as it is: its own ground, gravity and step, and its own motors.
Scene world_scene(const std::string& file, const SceneRequest& request) {
  const std::string text = "[robot]\nmodel = " + quoted(file) + "\n[ground]\nnone = true\n";
  Scene bare = parse_scene(text, file, request.overrides);
  if (bare.model->members[0].actuators.empty() || (!request.controller.empty() && request.controller != "actuators"))
    return bare;
  std::vector<Override> overrides{{"controller.name", "actuators"}};
  for (const Override& o : request.overrides) overrides.push_back(o);
  return parse_scene(text, file, overrides);
}

/// The robot on the ground, its joints held where they are, with gravity fed forward where its base or feet allow it.
Scene robot_scene(const std::string& robot, const SceneRequest& request) {
  if (fs::path(robot).has_extension() && is_mjcf(robot)) return world_scene(robot, request);
  const std::string text = "[robot]\nmodel = " + quoted(robot) + "\n";
  const std::string& c = request.controller;
  if (!c.empty() && c != "pd" && c != "pid") return parse_scene(text, robot, request.overrides);  // has no such gains
  Scene bare = parse_scene(text, robot, request.overrides);
  if (bare.model->nv == 0) return bare;  // a table, a wall
  const bool motors = (bare.model->joints.effort_limit.array() > 0).any();
  if (c.empty() && !motors && !fs::path(robot).has_extension()) return bare;  // known to swing: nothing would hold it
  std::vector<Override> overrides = default_gains(bare);
  for (const Member& member : bare.model->members) {
    const bool floating = floats(*bare.model, member);
    if (member.robot && (!floating || member.feet.size() >= 3))
      overrides.push_back({"controller.feedforward", "gravity"});
  }
  for (const Override& o : request.overrides) overrides.push_back(o);
  return parse_scene(text, robot, overrides);
}

/// --controller: none takes away those of the scene; pd stands in where the scene has none.
Scene file_scene(const std::string& path, const SceneRequest& request) {
  Scene scene = load_scene(path, request.overrides);
  if (request.controller == "none") scene.controllers.clear();
  if (request.controller != "pd" || !scene.controllers.empty()) return scene;
  std::vector<Override> overrides = default_gains(scene);
  for (const Override& o : request.overrides) overrides.push_back(o);
  return load_scene(path, overrides);
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

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

namespace {

Scene found(const SceneRequest& request) {
  const std::string& name = request.scene;
  const std::string& c = request.controller;
  std::vector<std::string> kinds = {"none"};
  for (const ControllerEntry& entry : controllers()) kinds.push_back(entry.name);
  if (!c.empty() && std::find(kinds.begin(), kinds.end(), c) == kinds.end())
    throw InvalidInput(unknown_name("controller", c, kinds));
  std::error_code error;
  if (fs::is_directory(name, error)) throw InvalidInput(name + ": is a folder, not a scene file");
  const std::string extension = fs::path(name).extension().string();
  refuse_other_formats(name);
  if (extension == ".urdf" || extension == ".xml" || extension == ".mjcf") {
    if (!fs::exists(name, error)) throw InvalidInput(name + ": no such file");
    return robot_scene(name, request);
  }
  if (extension == ".toml" || name.find('/') != std::string::npos || fs::exists(name, error)) {
    if (!fs::exists(name, error)) throw InvalidInput(name + ": no such scene file");
    return file_scene(name, request);
  }
  std::vector<std::string> known;
  for (const SceneEntry& scene : known_scenes()) {
    if (scene.name == name) return file_scene(scene.path, request);
    known.push_back(scene.name);
  }
  for (const RobotEntry& robot : robots()) {
    if (robot.name == name) return robot_scene(name, request);
    known.push_back(robot.name);
  }
  throw InvalidInput(unknown_name("scene or robot", name, known));
}

}  // namespace

Scene find_scene(const SceneRequest& request) {
  Scene scene = found(request);
  if (request.controller != "none") add_warnings(scene);
  return scene;
}

}  // namespace tribo
