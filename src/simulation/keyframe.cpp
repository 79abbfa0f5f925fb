// What a keyframe of a robot's file says beside coordinates, velocities and controls.
#include <algorithm>

#include "control/live_controls.hpp"
#include "simulation/controller_memory.hpp"
#include "tribo/commands.hpp"
#include "tribo/robot_file.hpp"

namespace tribo {
namespace {

// Stands there from now on.
void stand(State& state, const MocapPlace& place) {
  const KinematicCommand command{place.body, state.t - 1, state.t, place.X_WB, place.X_WB};
  const auto at = std::lower_bound(state.kinematic.begin(), state.kinematic.end(), place.body,
                                   [](const KinematicCommand& c, int body) { return c.body < body; });
  if (at != state.kinematic.end() && at->body == place.body)
    *at = command;
  else
    state.kinematic.insert(at, command);
}

}  // namespace

void begin_at(const Scene& scene, const std::string& pose, State& state) {
  const Model& model = *scene.model;
  for (const Member& member : model.members) {
    if (!member.file) continue;
    const auto places = member.file->mocap.find(pose);
    if (places == member.file->mocap.end()) continue;
    for (const MocapPlace& place : places->second) stand(state, place);
  }
  std::size_t offset = 0;
  for (const ControllerSpec& spec : scene.controllers) {
    const std::unique_ptr<Controller> made = spec.pd ? make_pd(model, *spec.pd) : spec.make(model);
    const Member& member = model.members[at(spec.member)];
    if (const auto* live = dynamic_cast<const LiveControls*>(made.get());
        live != nullptr && member.controls.count(pose)) {
      const auto found = member.file->activations.find(pose);
      const VecX zero = VecX::Zero(live->controls().size());
      live->remember(found == member.file->activations.end() ? zero : found->second,
                     std::span(state.control).subspan(offset, at(made->memory())));
    }
    offset += memory_in_state(model, *made);
  }
}

}  // namespace tribo
