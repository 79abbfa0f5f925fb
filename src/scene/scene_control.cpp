// Controllers and pushes of a scene.
#include <algorithm>

#include "base/names.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

int find_robot_member(Section& section, const Model& model) {
  std::vector<std::string> known;
  int last = -1;
  for (std::size_t m = 0; m < model.members.size(); ++m)
    if (model.members[m].robot) {
      known.push_back(model.members[m].name);
      last = static_cast<int>(m);
    }
  if (known.empty()) section.fail(section.table(), "there is no robot to control");
  if (!section.has("robot")) {
    if (known.size() > 1)
      section.fail(section.table(), "needs 'robot', since there are " + std::to_string(known.size()));
    return last;
  }
  const std::string name = section.text("robot");
  if (std::find(known.begin(), known.end(), name) == known.end())
    section.fail("robot", unknown_name("robot", name, known));
  return model.member(name);
}

struct ControllerKind {
  ControllerEntry entry;
  ControllerReader read;
};

const std::vector<ControllerKind>& controller_kinds() {
  static const std::vector<ControllerKind> table = {
      {{"pd", "joint positions held by springs and dampers, within the effort limits"}, read_pd},
      {{"actuators", "the motors that the robot's MJCF file describes, under constant controls"}, read_actuators},
      {{"tracking", "a motion from a file, by feed-forward and linear feedback"}, read_tracking},
      {{"task-space", "inverse dynamics of centre of mass, frames, posture and contacts, by a quadratic program"},
       read_task_space},
      {{"pid", "the same with an integral"}, read_pid},
      {{"inverse-dynamics",
        "torques that would give the joints the velocities of a reference, contact forces predicted"},
       read_inverse_dynamics},
      {{"velocity-constraint", "joint velocities of a reference as constraints of the step, within the effort limits"},
       read_velocity_constraint},
      {{"trot", "a trot whose stance feet do not slip: joint velocities as constraints of the step, from the feet"},
       read_trot_constraint},
  };
  return table;
}

void read_controller(Section& section, Scene& scene) {
  std::vector<std::string> names;
  for (const ControllerKind& kind : controller_kinds()) names.push_back(kind.entry.name);
  ControllerSpec spec;
  spec.name = section.choice("name", "pd", names);
  spec.member = find_robot_member(section, *scene.model);
  for (const ControllerKind& kind : controller_kinds())
    if (kind.entry.name == spec.name) kind.read(section, scene, spec);
  section.finish();
  section.at("", [&] { spec.make(*scene.model); });
  scene.controllers.push_back(std::move(spec));
}

void read_push(Section& section, Scene& scene) {
  PushRequest push;
  push.where = section.text("body");
  const auto given = [&](const char* key) {
    return section.has(key) ? std::optional<Vec3>(section.vec3(key, Vec3::Zero())) : std::nullopt;
  };
  push.point = given("point");
  push.force = given("force");
  push.force_end = given("force_end");
  push.torque = given("torque");
  push.torque_end = given("torque_end");
  push.start = section.number("start", 0);
  push.duration = section.number("duration", Bound::Positive);
  section.finish();
  scene.pushes.push_back(section.at("body", [&] { return make_push(*scene.model, push); }));
}

}  // namespace

std::vector<ControllerEntry> controllers() {
  std::vector<ControllerEntry> entries;
  for (const ControllerKind& kind : controller_kinds()) entries.push_back(kind.entry);
  return entries;
}

void read_controllers(Section& root, Scene& scene) {
  for (Section section : root.tables("controller")) read_controller(section, scene);
}

void read_pushes(Section& root, Scene& scene) {
  for (Section section : root.tables("push")) read_push(section, scene);
}

}  // namespace tribo
