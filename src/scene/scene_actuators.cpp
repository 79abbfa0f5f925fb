// Controls of the motors that a robot file describes.
#include <algorithm>

#include "base/names.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/robot_file.hpp"

namespace tribo {
namespace {

ActuatorOptions read_options(Section& section, const Model& model, int member_index) {
  const Member& member = model.members[static_cast<std::size_t>(member_index)];
  const auto n = static_cast<Eigen::Index>(member.actuators.size());
  ActuatorOptions options{member_index, VecX::Zero(n), {}};
  if (section.has("pose")) {
    const std::string pose = section.text("pose");
    std::vector<std::string> known;
    for (const auto& [name, control] : member.controls) known.push_back(name);
    const auto found = member.controls.find(pose);
    if (found == member.controls.end()) section.fail("pose", unknown_name("keyframe", pose, known));
    options.control = found->second;
    if (const auto& file = member.file)
      if (const auto act = file->activations.find(pose); act != file->activations.end())
        options.activation = act->second;
  }
  const TomlValue* given = section.value("control");
  if (given == nullptr) return options;
  if (given->kind != TomlValue::Kind::Table) {
    const std::vector<double> x = section.numbers("control", "numbers, or a table {actuator = number}");
    if (static_cast<Eigen::Index>(x.size()) != n)
      section.fail("control", "control has " + std::to_string(x.size()) + " numbers, '" + member.name + "' has " +
                                  std::to_string(n) + " actuators");
    options.control = Eigen::Map<const VecX>(x.data(), n);
    return options;
  }
  std::vector<std::string> known;
  for (const Actuator& actuator : member.actuators) known.push_back(actuator.name);
  for (std::size_t i = 0; i < given->keys.size(); ++i) {
    const auto found = std::find(known.begin(), known.end(), given->keys[i]);
    if (found == known.end()) section.fail(given->items[i], unknown_name("actuator", given->keys[i], known));
    options.control[found - known.begin()] = section.number_of(given->items[i], "control." + given->keys[i]);
  }
  return options;
}

}  // namespace

void read_actuators(Section& section, const Scene& scene, ControllerSpec& spec) {
  const ActuatorOptions options = read_options(section, *scene.model, spec.member);
  spec.make = [options](const Model& model) { return make_actuators(model, options); };
}

}  // namespace tribo
