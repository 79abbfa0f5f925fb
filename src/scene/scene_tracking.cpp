// The controller that follows a motion from a file.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/names.hpp"
#include "scene/knots.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/tracking.hpp"

namespace tribo {
namespace {

// The last dimensions as rows of one column each.
MatX columns(const NpzReader& file, const std::string& name, const std::vector<std::uint64_t>& row,
             const std::string& meaning) {
  const NpyArray array = file.read(name);
  bool fits = array.shape.size() == row.size() + 1;
  for (std::size_t i = 0; fits && i < row.size(); ++i) fits = array.shape[i + 1] == row[i];
  if (!fits) {
    std::string wanted = "(n";
    for (std::uint64_t n : row) wanted.append(", ").append(std::to_string(n));
    throw InvalidInput(array.owner + " has shape " + array.shape_text() + ", must be " + wanted + "): " + meaning);
  }
  const std::vector<double> numbers = array.finite_numbers();
  Eigen::Index rows = 1;
  for (std::uint64_t n : row) rows *= static_cast<Eigen::Index>(n);
  return Eigen::Map<const MatX>(numbers.data(), rows, static_cast<Eigen::Index>(array.shape[0]));
}

// The file may say whose joints it means.
void check_joints(const NpzReader& file, const Model& model, const Member& member) {
  if (!file.has("joints")) return;
  const NpyArray array = file.read("joints");
  const std::string given(array.bytes.begin(), array.bytes.end());
  std::string wanted;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    if (nv_of(body.joint) != 1) continue;
    if (!wanted.empty()) wanted.push_back('\n');
    wanted.append(body.name, body.name.find('/') + 1);
  }
  if (given == wanted) return;
  const std::size_t end = std::min(given.find('\n'), given.size());
  throw InvalidInput(array.owner + " does not name the joints of '" + member.name +
                     "' in their order: it begins with '" + given.substr(0, std::min(end, std::size_t{60})) +
                     "', the robot with '" + wanted.substr(0, wanted.find('\n')) + "'");
}

}  // namespace

PlannedMotion load_planned_motion(const std::string& path, const Model& model, const Member& member) {
  const NpzReader file(path, std::uint64_t{1} << 28);
  for (const char* name : {"states", "controls", "gains", "dt"})
    if (!file.has(name))
      throw InvalidInput(path + ": has no array '" + name + "'; a motion has states, controls, gains and dt");
  check_joints(file, model, member);
  std::uint64_t nu = 0;
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
    nu += nv_of(model.bodies[at(b)].joint) == 1;
  const auto nq = static_cast<std::uint64_t>(member.nq), nv = static_cast<std::uint64_t>(member.nv);
  const std::string of = " of '" + member.name + "'";
  PlannedMotion motion;
  motion.states = columns(file, "states", {nq + nv}, "nq + nv" + of);
  motion.controls = columns(file, "controls", {nu}, "the joints" + of);
  motion.gains = columns(file, "gains", {nu, 2 * nv}, "the joints times 2 nv" + of);
  motion.dt = time_between_knots(file);
  const Eigen::Index n = motion.controls.cols();
  if (motion.states.cols() != n + 1 || motion.gains.cols() != n)
    throw InvalidInput(path + ": " + std::to_string(motion.states.cols()) + " states, " + std::to_string(n) +
                       " controls and " + std::to_string(motion.gains.cols()) +
                       " gains; there must be as many gains as controls, and one state more");
  return motion;
}

void read_tracking(Section& section, const Scene& scene, ControllerSpec& spec) {
  namespace fs = std::filesystem;
  const Model& model = *scene.model;
  const std::string given = section.text("motion");
  // Beside the scene file, as long as the path is relative.
  const std::string path = (fs::path(section.file()).parent_path() / given).string();
  auto options = plain_keys<TrackingOptions>(section, spec.name);
  options.member = spec.member;
  options.motion = section.at("motion", [&] {
    return std::make_shared<const PlannedMotion>(load_planned_motion(path, model, model.members[at(spec.member)]));
  });
  spec.make = [options](const Model& m) { return make_tracking(m, options); };
}

}  // namespace tribo
