// Robots of a scene: from a file, or linked together in the scene itself, and how they stand at the start.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/names.hpp"
#include "base/problems.hpp"
#include "dynamics/clearance.hpp"
#include "readers/mjcf.hpp"
#include "readers/robots.hpp"
#include "scene/scene_parts.hpp"
#include "tribo/robot_file.hpp"

namespace tribo {
namespace {

std::string joint_name(const Body& body, const Member& member) {
  const std::string prefix = member.name + "/";
  return body.name.compare(0, prefix.size(), prefix) == 0 ? body.name.substr(prefix.size()) : body.name;
}

// How a robot is to stand, as the section says it.
struct Stand {
  bool placed = false;  ///< by its file, which is a world of its own
  bool has_position = false, has_rpy = false, has_drop = false;
  Placement X;
  double drop = 0;
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();
};

Stand read_stand(Section& section, bool floating, bool ground) {
  Stand stand;
  stand.has_position = section.has("position");
  stand.has_rpy = section.has("rpy");
  stand.has_drop = section.has("drop");
  stand.X = read_placement(section);
  stand.drop = section.number("drop", 0);
  stand.v = section.vec3("velocity", Vec3::Zero());
  stand.w = section.vec3("angular_velocity", Vec3::Zero());
  for (const char* key : {"pose", "joints", "joint_velocity", "damping", "friction", "armature", "effort_limit",
                          "effort_scale", "masses"})
    section.has(key);
  if (!floating)
    for (const char* key : {"drop", "velocity", "angular_velocity"})
      if (section.has(key)) section.fail(key, std::string(key) + " needs base = \"floating\"");
  if (stand.has_drop && !ground) section.fail("drop", "drop is a height above the ground, and there is none");
  return stand;
}

// The pose that the section gives, or the default of the robot.
VecX start_pose(Section& section, const Model& model, const Member& member) {
  const auto found = member.poses.find("default");
  const VecX fallback =
      found != member.poses.end() ? found->second : VecX(model.neutral().segment(member.iq, member.nq));
  return read_pose(section, model, member, fallback);
}

// Height of a shape above the ground.
double above_ground(const SceneDraft& draft, double height) { return height - draft.X_WG.R.col(2).dot(draft.X_WG.p); }

// How far up a fixed base has to go for nothing of the robot to begin in the ground. Shapes that are fixed to the world
// never touch it: those that reach a little below are the foot of an arm, whose mesh is rounded.
double height_of_base(Section& section, const SceneDraft& draft, RobotOptions options, const UrdfFile& file) {
  constexpr double mounted = 5e-3, touching = 1e-6;  // [m]
  const RobotRecord* record = find_robot(options.model).record;
  RobotNotes notes;
  const double hangs = record != nullptr ? record->height : 0;
  options.base.p.z() += hangs;
  options.material = 0;
  options.link_materials.clear();
  ModelBuilder alone;
  const int member = add_urdf(alone, options, file, notes);
  const Model model = alone.build();
  const VecX q = start_pose(section, model, model.members[at(member)]);
  const Lowest low = lowest_points(model, q, member, draft.X_WG.R.col(2));
  const double moving = above_ground(draft, low.moving), fixed = above_ground(draft, low.fixed);
  const double gap = fixed < -mounted ? std::min(moving, fixed) : moving;
  return hangs + (gap < -touching ? -gap / draft.X_WG.R(2, 2) : 0);
}

// Does `pose` have numbers for the base too?
bool says_base(Section& section, const Member& member) {
  const TomlValue* pose = section.value("pose");
  return pose != nullptr && static_cast<int>(pose->items.size()) == member.nq;
}

// The base stands at `position`, or where the numbers of `pose` put it; with `drop`, or with neither, its height is such
// that the lowest contact shape is that far above the ground.
void stand_up(Section& section, const Stand& stand, const SceneDraft& draft, int member_index, const Model& model,
              State& state) {
  const Member& member = model.members[at(member_index)];
  state.q.segment(member.iq, member.nq) = start_pose(section, model, member);
  const TomlValue* pose = section.value("pose");
  if (member.file && pose != nullptr && pose->kind == TomlValue::Kind::Text)
    if (const auto v = member.file->velocities.find(pose->text); v != member.file->velocities.end())
      state.v.segment(member.iv, member.nv) = v->second;
  by_joint(section, "joint_velocity", model, member, Bound::Any,
           [&](const Body& body, double value) { state.v[body.iv] = value; });
  if (!floats(model, member)) return;
  const Body& base = model.bodies[at(member.first_body)];
  Placement X{Quat(Eigen::Vector4d(state.q.segment<4>(base.iq + 3))).toRotationMatrix(), state.q.segment<3>(base.iq)};
  const bool placed = stand.placed || stand.has_position || says_base(section, member);
  if (stand.has_rpy && !stand.placed) X.R = stand.X.R;
  if (stand.has_position && !stand.placed) X.p = stand.X.p;
  place_free_body(base, X, stand.v, stand.w, state);
  if (!draft.ground || (placed && !stand.has_drop)) return;
  const double gap = above_ground(draft, lowest_points(model, state.q, member_index, draft.X_WG.R.col(2)).moving);
  if (!std::isfinite(gap)) {
    if (stand.has_drop) section.fail("drop", "the robot has no contact shapes to put on the ground");
    return;
  }
  state.q[base.iq + 2] += (stand.drop - gap) / draft.X_WG.R(2, 2);
}

JointKind joint_kind(const std::string& name) {
  return name == "free"         ? JointKind::Free
         : name == "spherical"  ? JointKind::Spherical
         : name == "continuous" ? JointKind::Continuous
         : name == "prismatic"  ? JointKind::Prismatic
                                : JointKind::Revolute;
}

// Links of a robot that is made in the scene. Each hangs on the one before it unless it names its parent.
class Linker {
 public:
  Linker(SceneDraft& draft, const std::string& robot, const Placement& base, int material)
      : draft_(draft), robot_(robot), base_(base), material_(material) {}

  /// At the start.
  VecX q() const { return Eigen::Map<const VecX>(q_.data(), static_cast<Eigen::Index>(q_.size())); }
  VecX v() const { return Eigen::Map<const VecX>(v_.data(), static_cast<Eigen::Index>(v_.size())); }

  void add(Section& section) {
    const std::string name = section.text("name", "link" + std::to_string(++number_));
    const std::string parent_name = section.text("parent", last_);
    const std::string joint =
        section.choice("joint", "revolute", {"revolute", "continuous", "prismatic", "spherical", "free"});
    Body body;
    body.joint = joint_kind(joint);
    body.axis = section.vec3("axis", Vec3::UnitY());
    if (!(body.axis.norm() > 1e-9)) section.fail("axis", "axis must not be zero");
    body.axis.normalize();
    body.X_PJ = read_placement(section);
    const ShapeSpec shape = read_shape(section, "box", draft_);
    const double mass = section.number("mass", Bound::Positive);
    const Vec3 com = section.vec3("com", Vec3::Zero());
    body.inertia = shape.inertia(mass);
    body.inertia.com += com;
    const double angle = section.number("angle", 0), speed = section.number("speed", 0);
    const double damping = section.number("damping", 0, Bound::NonNegative);
    const double armature = section.number("armature", 0, Bound::NonNegative);
    const double friction = section.number("friction", 0, Bound::NonNegative);
    const double effort = section.number("effort_limit", 0, Bound::NonNegative);
    const double stiffness = section.number("stiffness", 0, Bound::NonNegative), rest = section.number("rest", 0);
    const std::vector<double> range = section.numbers("range", "two numbers");
    if (!range.empty() && (range.size() != 2 || range[0] > range[1]))
      section.fail("range", "range must be [lower, upper]");
    const bool collide = section.flag("collide", true);
    const int material = section.has("material") ? draft_.material(section) : material_;
    const int count = section.integer("count", 1, 1, 100'000);
    const Vec3 offset = section.vec3("offset", Vec3::Zero());
    section.finish();
    int parent = find(section, parent_name);
    for (int k = 0; k < count; ++k) {
      Body copy = body;
      last_ = count > 1 ? name + std::to_string(k + 1) : name;
      copy.name = robot_ + "/" + last_;
      copy.parent = parent;
      if (k > 0) copy.X_PJ = {Mat3::Identity(), offset};
      if (parent < 0) copy.X_PJ = base_ * copy.X_PJ;
      if (links_.count(last_)) section.fail("name", "two links are called '" + last_ + "'");
      parent = section.at("name", [&] { return draft_.builder.add_body(copy); });
      links_[last_] = parent;
      const Body& added = draft_.builder.model().bodies[at(parent)];
      JointProperties& joints = draft_.builder.joint_properties();
      const int nv = nv_of(added.joint);
      joints.damping.segment(added.iv, nv).setConstant(damping);
      joints.armature.segment(added.iv, nv).setConstant(armature);
      joints.friction.segment(added.iv, nv).setConstant(friction);
      joints.stiffness.segment(added.iv, nv).setConstant(stiffness);
      if (added.joint == JointKind::Revolute || added.joint == JointKind::Prismatic) joints.rest[added.iq] = rest;
      if (added.joint == JointKind::Continuous) joints.rest.segment<2>(added.iq) << std::cos(rest), std::sin(rest);
      joints.effort_limit.segment(added.iv, nv).setConstant(effort);
      if (!range.empty()) {
        joints.lower[added.iv] = range[0];
        joints.upper[added.iv] = range[1];
      }
      draft_.builder.add_frame({copy.name, parent, {}});
      if (collide) {
        Geometry like;
        like.name = copy.name;
        like.material = material;
        like.body = parent;
        like.X_BG.p = com;
        shape.add_to(draft_.builder, like);
      }
      start(added.joint, angle, speed);
    }
  }

 private:
  int find(Section& section, const std::string& name) const {
    if (name.empty() || name == "world") return -1;
    if (const auto found = links_.find(name); found != links_.end()) return found->second;
    std::vector<std::string> known{"world"};
    for (const auto& [link, body] : links_) known.push_back(link);
    section.fail("parent", unknown_name("link", name, known));
  }

  void start(JointKind kind, double angle, double speed) {
    const std::size_t nv = at(nv_of(kind));
    q_.resize(q_.size() + at(nq_of(kind)), 0.0);
    v_.resize(v_.size() + nv, nv == 1 ? speed : 0.0);
    if (kind == JointKind::Free || kind == JointKind::Spherical) q_.back() = 1;
    if (kind == JointKind::Revolute || kind == JointKind::Prismatic) q_.back() = angle;
    if (kind != JointKind::Continuous) return;
    q_.back() = std::sin(angle);
    q_[q_.size() - 2] = std::cos(angle);
  }

  SceneDraft& draft_;
  std::string robot_;
  Placement base_;
  int material_;
  std::string last_;
  std::map<std::string, int> links_;  ///< bodies by name
  std::vector<double> q_, v_;
  int number_ = 0;
};

void read_linked_robot(Section& section, SceneDraft& draft) {
  for (const char* key : {"model", "base", "contact", "feet", "drop", "rotor_inertia", "inertia", "materials"})
    if (section.has(key)) section.fail(key, std::string(key) + " means nothing to a robot that is made of links");
  const std::string name = section.text("name", "chain");
  const Placement base = read_placement(section);
  const int material = draft.material(section);
  const bool self_collision = section.flag("self_collision", false);
  std::vector<Section> links = section.tables("link");
  for (const char* key : {"pose", "joints", "joint_velocity", "transmission"}) section.has(key);
  section.finish();
  const int member =
      section.at("name", [&] { return draft.builder.begin_member(name, true, "links", self_collision); });
  Linker linker(draft, name, base, material);
  for (Section& link : links) linker.add(link);
  const VecX q = linker.q(), v = linker.v();
  read_transmission(section, draft, member);
  draft.placings.push_back([=](const Model& model, State& state) mutable {
    const Member& robot = model.members[at(member)];
    state.v.segment(robot.iv, robot.nv) = v;
    state.q.segment(robot.iq, robot.nq) = read_pose(section, model, robot, q);
    by_joint(section, "joint_velocity", model, robot, Bound::Any,
             [&](const Body& body, double value) { state.v[body.iv] = value; });
  });
}

bool floats_by_default(const std::string& model) {
  for (const RobotEntry& entry : robots())
    if (entry.name == model) return entry.floating;
  return true;
}

// Gravity and step of a file that is a world of its own; two such files must agree on gravity.
void take_world(const Section& section, const RobotNotes& notes, SceneDraft& draft) {
  if (draft.gravity && *draft.gravity != notes.gravity)
    section.fail("model",
                 "has another gravity than the file before it: give 'gravity' in the scene, and the same in both");
  draft.gravity = notes.gravity;
  draft.timestep = std::min(draft.timestep.value_or(notes.timestep), notes.timestep);
  if (!draft.ground) return;
  for (const Geometry& g : draft.builder.model().geometries)
    if (g.kind == ShapeKind::HalfSpace && g.name != "ground")
      draft.warnings.push_back(section.file() + ": the scene has a ground and '" + g.name +
                               "' is another one; write [ground] none = true to keep that of the file");
}

// {link, or shape = material}, of a URDF.
std::vector<LinkMaterial> read_link_materials(Section& section, const SceneDraft& draft) {
  std::vector<LinkMaterial> out;
  const TomlValue* table = section.value("materials");
  if (table == nullptr) return out;
  if (table->kind != TomlValue::Kind::Table)
    section.fail("materials", "materials must be a table {link = \"material\"}");
  for (std::size_t i = 0; i < table->keys.size(); ++i) {
    const TomlValue& name = table->items[i];
    if (name.kind != TomlValue::Kind::Text)
      section.fail(name, "materials." + table->keys[i] + " must be the name of a material");
    out.push_back({table->keys[i], draft.material(section, name)});
  }
  return out;
}

// For all meshes of a URDF, or {link, or shape = …}.
std::vector<LinkParts> read_link_parts(Section& section) {
  std::vector<LinkParts> out;
  const TomlValue* given = section.value("parts");
  if (given == nullptr) return out;
  if (given->kind != TomlValue::Kind::Table) return {{"*", read_parts(section, *given)}};
  for (std::size_t i = 0; i < given->keys.size(); ++i)
    out.push_back({given->keys[i], read_parts(section, given->items[i])});
  return out;
}

int add_world(SceneDraft& draft, const RobotOptions& options, [[maybe_unused]] bool softness, RobotNotes& notes) {
#ifdef TRIBO_MJCF
  MjcfUse use{.runge_kutta = draft.runge_kutta};
  if (softness) use.softness = draft.springs ? FileSoftness::Springs : FileSoftness::Compliance;
  return add_mjcf(draft.builder, options, notes, use);
#else
  return add_robot(draft.builder, options, &notes);  // which says that this build reads no MJCF
#endif
}

void read_robot(Section& section, SceneDraft& draft) {
  if (section.has("link")) return read_linked_robot(section, draft);
  RobotOptions options;
  options.model = beside(section, section.text("model"));
  options.name = section.text("name", "");
  const bool floating = floats_by_default(options.model);
  options.floating = section.choice("base", floating ? "floating" : "fixed", {"floating", "fixed"}) == "floating";
  options.floating_if_it_can = !section.has("base");
  options.contact = section.choice("contact", "default", {"default", "feet", "collision", "none"});
  options.feet = read_feet(section);
  options.material = draft.material(section);
  options.link_materials = read_link_materials(section, draft);
  options.mesh_parts = read_link_parts(section);
  options.triangle_meshes = section.choice("fixed_meshes", "hulls", {"hulls", "triangles"}) == "triangles";
  options.self_collision = section.flag("self_collision", false);
  options.rotor_inertia = section.flag("rotor_inertia", false);
  options.inertia_from_shapes = section.choice("inertia", "file", {"file", "shapes"}) == "shapes";
  for (const std::string& folder : section.texts("packages")) options.packages.push_back(beside(section, folder));
  options.refuse_unsupported = section.choice("unsupported", "warn", {"warn", "refuse"}) == "refuse";
  const bool mjcf = section.at("model", [&] { return is_file(options.model) && is_mjcf(options.model); });
  std::shared_ptr<const UrdfFile> file;
  if (!mjcf) {
    file = section.at("model", [&] { return read_urdf(options); });
    options.floating = floats(*file);
  }
  Stand stand = read_stand(section, options.floating, draft.ground);
  if (const TomlValue* pose = section.value("pose"); pose != nullptr && pose->kind == TomlValue::Kind::Text)
    options.keyframe = pose->text;
  stand.placed = mjcf;
  if (stand.placed)
    for (const char* key : {"base", "contact", "feet", "rotor_inertia", "inertia", "materials", "parts"})
      if (section.has(key))
        section.fail(key, std::string(key) + " means nothing to an MJCF file, which says it itself");
  const bool softness = section.choice("softness", "material", {"material", "file"}) == "file";
  if (softness && !stand.placed) section.fail("softness", "softness = \"file\" is for MJCF files");
  section.has("transmission");
  section.finish();
  if (!options.floating || stand.placed) options.base = stand.X;
  RobotNotes notes;
  const int member = section.at("model", [&] {
    if (stand.placed) return add_world(draft, options, softness, notes);
    if (!options.floating && !stand.has_position && draft.ground)
      options.base.p.z() += height_of_base(section, draft, options, *file);
    return add_urdf(draft.builder, options, *file, notes);
  });
  for (const std::string& text : notes.warnings) draft.warnings.push_back(text);
  for (const std::string& text : notes.log) draft.log.push_back(text);
  if (notes.whole_world) take_world(section, notes, draft);
  read_joint_properties(section, draft, member);
  read_effort_limits(section, draft, member);
  read_masses(section, draft, member);
  read_transmission(section, draft, member);
  draft.placings.push_back([&draft, section, stand, member](const Model& model, State& state) mutable {
    stand_up(section, stand, draft, member, model, state);
  });
}

}  // namespace

void place_free_body(const Body& body, const Placement& X_WB, const Vec3& v_W, const Vec3& w_W, State& state) {
  const Quat quaternion(X_WB.R);
  state.q.segment<3>(body.iq) = X_WB.p;
  state.q.segment<4>(body.iq + 3) = quaternion.coeffs();
  state.v.segment<3>(body.iv) = X_WB.R.transpose() * v_W;
  state.v.segment<3>(body.iv + 3) = X_WB.R.transpose() * w_W;
}

VecX read_pose(Section& section, const Model& model, const Member& member, const VecX& fallback) {
  VecX q = fallback;
  const TomlValue* pose = section.value("pose");
  if (pose != nullptr && pose->kind == TomlValue::Kind::Text) {
    const auto found = member.poses.find(pose->text);
    std::vector<std::string> known;
    for (const auto& [name, value] : member.poses) known.push_back(name);
    if (found == member.poses.end()) section.fail("pose", unknown_name("pose", pose->text, known));
    q = found->second;
  } else if (pose != nullptr) {
    const std::vector<double> x = section.numbers("pose", "numbers, or a name");
    const int base = floats(model, member) ? 7 : 0, n = static_cast<int>(x.size());
    if (n != member.nq && n != member.nq - base)
      section.fail("pose", "pose has " + std::to_string(n) + " numbers, '" + member.name + "' has " +
                               std::to_string(member.nq - base) + " joint coordinates" +
                               (base ? " (or " + std::to_string(member.nq) + " with the base)" : ""));
    q.tail(n) = Eigen::Map<const VecX>(x.data(), n);
  }
  by_joint(section, "joints", model, member, Bound::Any, [&](const Body& body, double value) {
    const int i = body.iq - member.iq;
    if (body.joint == JointKind::Continuous)
      q.segment<2>(i) << std::cos(value), std::sin(value);
    else
      q[i] = value;
  });
  for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
    const Body& body = model.bodies[at(b)];
    const int n = body.joint == JointKind::Continuous ? 2 : nv_of(body.joint) >= 3 ? 4 : 0;
    if (n == 0) continue;
    auto unit = q.segment(body.iq - member.iq + nq_of(body.joint) - n, n);
    if (!(std::abs(unit.norm() - 1) < 1e-3))
      section.fail("pose", "pose: the " + std::string(n == 4 ? "quaternion" : "(cos, sin)") + " of '" + body.name +
                               "' has length " + shown(unit.norm()) + ", must be 1");
    unit.normalize();
  }
  return q;
}

void by_joint(Section& section, const std::string& key, const Model& model, const Member& member, Bound bound,
              const std::function<void(const Body&, double)>& set) {
  const TomlValue* table = section.value(key);
  if (table == nullptr) return;
  if (table->kind != TomlValue::Kind::Table) section.fail(key, key + " must be a table {joint = number}");
  for (std::size_t i = 0; i < table->keys.size(); ++i) {
    const double value = section.number_of(table->items[i], key + "." + table->keys[i], bound);
    bool used = false;
    std::vector<std::string> known;
    for (int b = member.first_body; b < member.first_body + member.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (nv_of(body.joint) != 1) continue;
      known.push_back(joint_name(body, member));
      if (!matches_name(table->keys[i].c_str(), known.back().c_str())) continue;
      used = true;
      set(body, value);
    }
    if (!used) section.fail(table->items[i], unknown_name("joint", table->keys[i], known));
  }
}

bool read_robots(Section& root, SceneDraft& draft) {
  bool whole = true;
  std::vector<Section> sections;
  whole &= attempt([&] { sections = root.tables("robot"); });
  for (Section& section : sections) whole &= attempt([&] { read_robot(section, draft); });
  return whole;
}

}  // namespace tribo
