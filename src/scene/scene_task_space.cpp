// The controller of task-space inverse dynamics.
#include <cmath>

#include "base/names.hpp"
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
  TaskSpaceOptions options;
  options.member = spec.member;
  options.period = section.number("period", 0, Bound::NonNegative);
  options.q_ref = scene.start.q.segment(member.iq, member.nq);
  options.com = read_gain(section.inner("com"), options.com);
  options.posture = read_gain(section.inner("posture"), options.posture);
  options.com_amplitude = section.vec3("amplitude", options.com_amplitude);
  options.com_rate = section.number("rate", options.com_rate);
  options.contact_kp = section.number("contact_kp", options.contact_kp, Bound::NonNegative);
  options.force_weight = section.number("force_weight", options.force_weight, Bound::Positive);
  options.mu = section.number("mu", options.mu, Bound::NonNegative);
  options.least_force = section.number("least_force", options.least_force, Bound::NonNegative);
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
  spec.make = [options](const Model& m) { return make_task_space(m, options); };
}

}  // namespace tribo
