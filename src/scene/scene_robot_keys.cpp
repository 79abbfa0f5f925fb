// Numbers of a robot's file that the scene gives another value: of joints, of motors, of masses.
#include <limits>

#include "base/names.hpp"
#include "scene/scene_parts.hpp"

namespace tribo {
namespace {

// set(body, number) for every joint with one coordinate, by one number or a table by joint.
void set_joints(Section& section, const std::string& key, const Model& model, const Member& member, Bound bound,
                const std::function<void(const Body&, double)>& set) {
  const TomlValue* given = section.value(key);
  if (given == nullptr) return;
  if (!given->is_number()) return by_joint(section, key, model, member, bound, set);
  const double value = section.number(key, bound);
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
    if (nv_of(model.bodies[at(b)].joint) == 1) set(model.bodies[at(b)], value);
}

}  // namespace

void read_joint_properties(Section& section, SceneDraft& draft, int member_index) {
  JointProperties& joints = draft.builder.joint_properties();
  const Model& model = draft.builder.model();
  for (const auto& [key, x] : {std::pair{"damping", &joints.damping}, std::pair{"friction", &joints.friction},
                               std::pair{"armature", &joints.armature}})
    set_joints(section, key, model, model.members[at(member_index)], Bound::NonNegative,
               [x = x](const Body& body, double value) { (*x)[body.iv] = value; });
}

void read_effort_limits(Section& section, SceneDraft& draft, int member_index) {
  const Model& model = draft.builder.model();
  const Member& member = model.members[at(member_index)];
  VecX& limit = draft.builder.joint_properties().effort_limit;
  const TomlValue* given = section.value("effort_limit");
  if (given != nullptr && given->kind == TomlValue::Kind::Text) {
    section.choice("effort_limit", "none", {"none"});
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b)
      if (const Body& body = model.bodies[at(b)]; nv_of(body.joint) == 1)
        limit[body.iv] = std::numeric_limits<double>::infinity();
  } else {
    set_joints(section, "effort_limit", model, member, Bound::NonNegative,
               [&](const Body& body, double value) { limit[body.iv] = value; });
  }
  set_joints(section, "effort_scale", model, member, Bound::Positive,
             [&](const Body& body, double factor) { limit[body.iv] *= factor; });
}

void read_masses(Section& section, SceneDraft& draft, int member_index) {
  const TomlValue* table = section.value("masses");
  if (table == nullptr) return;
  if (table->kind != TomlValue::Kind::Table) section.fail("masses", "masses must be a table {link = kg}");
  for (std::size_t i = 0; i < table->keys.size(); ++i) {
    const std::string& link = table->keys[i];
    const double mass = section.number_of(table->items[i], "masses." + link, Bound::Positive);
    draft.changings.push_back([=](const Model& model, ModelChanges& changes) {
      const Member& member = model.members[at(member_index)];
      section.at("masses", [&] {
        const int body = model.place(member.name + "/" + link).body;
        if (body < 0) throw InvalidInput("'" + link + "' is fixed to the world: its mass does not matter");
        if (changes.mass.count(body) != 0)
          throw InvalidInput("'" + link + "' moves with '" + model.bodies[at(body)].name +
                             "', whose mass is given too");
        changes.mass[body] = mass;
      });
    });
  }
}

}  // namespace tribo
