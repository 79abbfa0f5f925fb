// The keys of the walking controller.
#include "scene/read_options.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/walk.hpp"

namespace tribo {

void read_walk(Section& section, const Scene& scene, ControllerSpec& spec) {
  auto options = plain_keys<WalkOptions>(section, spec.name);
  options.member = spec.member;
  options.q_stand = scene.start.q;
  if (section.has("velocity")) options.commands.push_back({0, section.vec3("velocity", Vec3::Zero())});
  for (Section command : section.tables("command")) {
    WalkCommand c;
    c.t = command.number("t", Bound::NonNegative);
    if (!command.has("velocity")) command.fail("", "needs 'velocity', three numbers: forward, to the left, turning");
    c.velocity = command.vec3("velocity", Vec3::Zero());
    command.finish();
    options.commands.push_back(c);
  }
  spec.make = [options](const Model& m) { return make_walk(m, options); };
}

}  // namespace tribo
