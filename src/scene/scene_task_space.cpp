// The controller of task-space inverse dynamics.
#include <cmath>
#include <filesystem>

#include "base/names.hpp"
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/task_space.hpp"

namespace tribo {
namespace {

TaskGain read_gain(Section section, TaskGain gain) {
  gain.weight = section.number("weight", gain.weight, Bound::NonNegative);
  gain.kp = section.number("kp", gain.kp, Bound::NonNegative);
  if (section.has("kd")) gain.kd = section.number("kd", Bound::NonNegative);
  section.finish();
  return gain;
}

}  // namespace

void read_task_space(Section& section, const Scene& scene, ControllerSpec& spec) {
  const Model& model = *scene.model;
  const Member& member = model.members[at(spec.member)];
  auto options = plain_keys<TaskSpaceOptions>(section, spec.name);
  options.member = spec.member;
  options.q_ref = scene.start.q.segment(member.iq, member.nq);
  options.com = read_gain(section.inner("com"), options.com);
  options.posture = read_gain(section.inner("posture"), options.posture);
  options.com_amplitude = section.vec3("amplitude", options.com_amplitude);
  for (Section frame : section.tables("frame")) {
    FrameTask task;
    const std::string name = frame.text("name");
    task.frame = frame.at("name", [&] { return model.frame(name); });
    if (model.frames[at(task.frame)].body < 0) frame.fail("name", "frame '" + name + "' is fixed to the world");
    task.position = frame.flag("position", true);
    task.rotation = frame.flag("rotation", true);
    task.gain.weight = frame.number("weight", 1, Bound::NonNegative);
    task.gain.kp = frame.number("kp", task.gain.kp, Bound::NonNegative);
    if (frame.has("kd")) task.gain.kd = frame.number("kd", Bound::NonNegative);
    frame.finish();
    options.frames.push_back(task);
  }
  if (section.has("motion")) {
    if (section.has("amplitude")) section.fail("amplitude", "takes one of 'amplitude' and 'motion'");
    namespace fs = std::filesystem;
    const std::string path = (fs::path(section.file()).parent_path() / section.text("motion")).string();
    options.course = section.at("motion", [&] {
      return std::make_shared<const TaskCourse>(load_task_course(path, model, member, options.frames));
    });
  }
  spec.make = [options](const Model& m) { return make_task_space(m, options); };
}

}  // namespace tribo
