#include "readers/mjcf.hpp"

#include "readers/mjcf_parts.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace mjcf {

void Unsupported::add(const std::string& what, const std::string& where) { found_[what].push_back(where); }

std::vector<std::string> Unsupported::lines() const {
  constexpr std::size_t most = 4;
  std::vector<std::string> lines;
  for (const auto& [what, places] : found_) {
    std::string line = what;
    for (std::size_t i = 0; i < places.size() && i < most; ++i)
      if (!places[i].empty()) line += (i ? ", " : ": ") + places[i];
    if (places.size() > most) line += " and " + std::to_string(places.size() - most) + " more";
    lines.push_back(line);
  }
  return lines;
}

std::string Loading::name(mjtObj type, int id) const {
  const char* text = id >= 0 ? mj_id2name(&m, type, id) : nullptr;
  return text != nullptr ? text : "";
}

std::string Loading::key_name(int k) const {
  const std::string own = name(mjOBJ_KEY, k);
  return own.empty() ? "key" + std::to_string(k) : own;
}

std::string Loading::label(mjtObj type, int id) const {
  const std::string own = name(type, id);
  const std::string kind = mju_type2Str(type);
  return own.empty() ? kind + " " + std::to_string(id) : kind + " '" + own + "'";
}

bool Loading::enabled(mjtDisableBit bit) const {
  const int off = m.opt.disableflags;
  const bool row = bit & (mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT);
  return !(off & bit) && !(row && (off & mjDSBL_CONSTRAINT));
}

}  // namespace mjcf

int add_mjcf(ModelBuilder& builder, const RobotOptions& options, RobotNotes& notes, const MjcfUse& use) {
  const std::string& path = options.model;
  const std::vector<mjcf::KeyClaim> keys = mjcf::inspect(path, allowed_roots(path, options.packages));
  const mjcf::ModelPtr m = mjcf::compile(path, notes.warnings);
  mjcf::check_keys(keys, *m);
  if (m->nplugin > 0) throw InvalidInput("robot file '" + path + "': uses plugins of MuJoCo, which are not read");
  mjcf::Loading load{*m, options, builder, path};
  load.softness = use.softness;
  load.runge_kutta = use.runge_kutta;
  std::string name = options.name;
  if (name.empty()) name = m->names[0] != '\0' ? m->names : "robot";
  load.member = builder.begin_member(name, true, path, true);
  for (int k = 0; k < m->nkey; ++k)
    if (load.key_name(k) == options.keyframe) load.key = k;
  try {
    mjcf::add_bodies(load);
    mjcf::add_frames(load);
    mjcf::add_geometries(load);
    mjcf::add_tendons(load);
    mjcf::add_equalities(load);
    mjcf::add_actuators(load);
    mjcf::add_sensors(load);
    mjcf::add_poses(load);
    mjcf::find_unsupported(load);
    builder.member(load.member).file = std::make_shared<const RobotFile>(load.extra);
  } catch (const InvalidInput& error) {
    throw InvalidInput("robot file '" + path + "': " + error.what());
  }
  const std::vector<std::string> lines = load.unsupported.lines();
  if (!lines.empty() && options.refuse_unsupported) {
    std::string all;
    for (const std::string& line : lines) all += "\n  " + line;
    throw InvalidInput("robot file '" + path + "' uses what is not supported:" + all);
  }
  for (const std::string& line : mjcf::not_needed(*m)) notes.log.push_back("robot file '" + path + "': " + line);
  for (const std::string& line : lines) notes.warnings.push_back("robot file '" + path + "': not supported: " + line);
  notes.gravity = load.enabled(mjDSBL_GRAVITY) ? mjcf::vec3(m->opt.gravity) : Vec3(Vec3::Zero());
  notes.timestep = m->opt.timestep;
  notes.whole_world = true;
  return load.member;
}

}  // namespace tribo
