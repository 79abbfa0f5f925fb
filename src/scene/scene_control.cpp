// Controllers and pushes of a scene.
#include <algorithm>
#include <map>

#include "base/table.hpp"
#include "scene/read_options.hpp"
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

// Of those whose keys are more than plain options.
ControllerReader reader_of(const std::string& name) {
  static const std::map<std::string, ControllerReader> readers = {{"pd", read_pd},
                                                                  {"pid", read_pid},
                                                                  {"actuators", read_actuators},
                                                                  {"tracking", read_tracking},
                                                                  {"policy", read_policy},
                                                                  {"task-space", read_task_space},
                                                                  {"inverse-dynamics", read_inverse_dynamics},
                                                                  {"velocity-constraint", read_velocity_constraint},
                                                                  {"trot", read_trot_constraint},
                                                                  {"walk", read_walk}};
  const auto found = readers.find(name);
  return found == readers.end() ? nullptr : found->second;
}

// Of plain options: the table reads and checks them.
void read_plain(Section& section, const ControllerEntry& entry, ControllerSpec& spec) {
  Options options;
  read_options(section, entry.options, options);
  spec.make = [make = entry.make, member = spec.member, options](const Model& m) { return make(m, member, options); };
}

void read_controller(Section& section, Scene& scene) {
  ControllerSpec spec;
  std::vector<std::string> known = names_of(controllers());
  known.push_back("none");
  spec.name = section.choice("name", "pd", known);
  if (spec.name == "none") {
    section.has("robot");
    section.finish();
    return;
  }
  spec.member = find_robot_member(section, *scene.model);
  if (const Member& member = scene.model->members[at(spec.member)]; member.bodies == 0)
    section.fail("name", "nothing of '" + member.name + "' moves, so that there is nothing to control");
  if (const ControllerReader read = reader_of(spec.name))
    read(section, scene, spec);
  else
    read_plain(section, controller_entry(spec.name), spec);
  section.finish([&](const std::string& key) { return hint_of(key, "controller", spec.name, controllers()); });
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

void read_controllers(Section& root, Scene& scene) {
  for (Section section : root.tables("controller")) read_controller(section, scene);
}

void read_pushes(Section& root, Scene& scene) {
  for (Section section : root.tables("push")) read_push(section, scene);
}

}  // namespace tribo
