// Motors that drive their joints through gears. A rotor that turns r times as fast as its joint adds, seen at the
// joint,
//   armature r^2 I,   damping r^2 d,   dry friction r f                                               (gear.1)
// exactly as long as the gear is stiff, and the part of the rotor's spin that its link carries is left out.
#include "scene/scene_parts.hpp"

namespace tribo {

void read_transmission(Section& robot, SceneDraft& draft, int member_index) {
  if (!robot.has("transmission")) return;
  Section section = robot.inner("transmission");
  JointProperties& joints = draft.builder.joint_properties();
  const Model& model = draft.builder.model();
  const Member& member = model.members[static_cast<std::size_t>(member_index)];
  const VecX ratio = per_joint(section, "ratio", model, member, Bound::Positive, 1);
  const VecX inertia = per_joint(section, "rotor_inertia", model, member, Bound::NonNegative, 0);
  const VecX viscous = per_joint(section, "viscous", model, member, Bound::NonNegative, 0);
  const VecX dry = per_joint(section, "dry", model, member, Bound::NonNegative, 0);
  section.finish();
  for (int j = 0; j < member.nv; ++j) {  // (gear.1)
    joints.armature[member.iv + j] += ratio[j] * ratio[j] * inertia[j];
    joints.damping[member.iv + j] += ratio[j] * ratio[j] * viscous[j];
    joints.friction[member.iv + j] += ratio[j] * dry[j];
  }
}

}  // namespace tribo
