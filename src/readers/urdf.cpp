// Robots from URDF files, read by Pinocchio and taken over joint by joint, so that q and v are Pinocchio's.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <pinocchio/parsers/urdf.hpp>
#include <set>

#include "base/limits.hpp"
#include "base/names.hpp"
#include "base/problems.hpp"
#include "readers/foot_shapes.hpp"
#include "readers/mesh_file.hpp"
#include "readers/mesh_hulls.hpp"
#include "readers/mesh_triangles.hpp"
#include "readers/mesh_up.hpp"
#include "readers/robots.hpp"
#include "readers/srdf.hpp"
#include "readers/urdf_inertia.hpp"
#include "readers/urdf_inspect.hpp"
#include "readers/urdf_tree.hpp"
#include "readers/xml_file.hpp"

namespace tribo {

namespace pin = pinocchio;

struct UrdfFile {
  RobotFiles files;
  MeshSearch search;
  ::urdf::ModelInterfaceSharedPtr tree;
  pin::Model model;
  Srdf srdf;
  std::vector<std::string> warnings, log;
  bool floating = true;
  bool y_up = false;  ///< meshes that say so are turned
};

namespace {

Placement placement(const pin::SE3& M) { return {M.rotation(), M.translation()}; }

// Where a robot is being added: Pinocchio's joint i is body first + i - 1 of the builder.
struct Loading {
  const RobotOptions& options;
  const UrdfFile& file;
  ModelBuilder& builder;
  RobotNotes& notes;
  const RobotFiles& files = file.files;
  const pin::Model& model = file.model;
  MeshHulls meshes{};
  int member = 0;
  int first = 0;

  std::string owner() const { return "robot '" + builder.model().members[at(member)].name + "'"; }
  int body(pin::JointIndex joint) const { return joint == 0 ? -1 : first + static_cast<int>(joint) - 1; }
  /// A placement on a joint, or on the world, where a fixed base puts it.
  Placement on(pin::JointIndex joint, const pin::SE3& M) const {
    return joint == 0 && !file.floating ? options.base * placement(M) : placement(M);
  }
};

// What touches: shapes of the file, feet, or both.
struct Touching {
  bool shapes = false, feet = false;
};

Touching touching(const RobotOptions& options, const RobotFiles& files) {
  const std::string& asked = options.contact;
  const RobotRecord* record = files.record;
  const std::vector<std::string> known{"default", "feet", "collision", "none"};
  if (std::find(known.begin(), known.end(), asked) == known.end())
    throw InvalidInput("robot file '" + files.urdf + "': " + unknown_name("contact", asked, known));
  const bool walks = !options.feet.empty() || (record != nullptr && record->walks);
  const bool shapes = record == nullptr || record->shapes;
  return {(asked == "default" && shapes) || asked == "collision", asked == "feet" || (asked == "default" && walks)};
}

// A base without mass cannot float, and one called "world" is not meant to.
bool can_float(const RobotOptions& options, const UrdfFindings& found, UrdfFile& file) {
  if (!options.floating) return false;
  const bool heavy = found.root_mass > 0;
  if (heavy && !(options.floating_if_it_can && found.root == "world")) return true;
  const std::string root = "its root link '" + found.root + "' has no mass";
  if (!options.floating_if_it_can)
    throw InvalidInput("robot file '" + file.files.urdf + "': " + root +
                       " and cannot float: give it an <inertial>, or write base = \"fixed\"");
  file.log.push_back("robot file '" + file.files.urdf + "': base fixed, since " +
                     (heavy ? "its root link is called 'world'" : root));
  return false;
}

void read_tree(const RobotOptions& options, UrdfFile& file) {
  const std::string& path = file.files.urdf;
  const auto document = read_xml(path);
  file.search = mesh_search(path, options.packages, file.files.packages);
  std::vector<std::string> kept;
  if (options.inertia_from_shapes) take_inertias_from_shapes(*document, path, file.search, kept);
  const UrdfFindings found = inspect_urdf(*document, path, file.search, touching(options, file.files).shapes);
  file.warnings = found.warnings;
  file.warnings.insert(file.warnings.end(), kept.begin(), kept.end());
  note_all(found.errors);
  file.floating = can_float(options, found, file);
  file.tree = urdf_tree(*document);
  if (!file.tree) throw InvalidInput("robot file '" + path + "' is not a URDF");
  check_complete(*document, *file.tree, path);
  if (touching(options, file.files).shapes) file.y_up = stands_on_y(*file.tree, file.search, MeshesOf::Collision);
  try {
    if (file.floating)
      pin::urdf::buildModel(file.tree, pin::JointModelFreeFlyer(), file.model);
    else
      pin::urdf::buildModel(file.tree, file.model);
  } catch (const std::exception& error) {
    throw InvalidInput("robot file '" + path + "': " + error.what());
  }
}

struct KindAndAxis {
  JointKind kind;
  Vec3 axis = Vec3::UnitZ();
};

KindAndAxis kind_of(const Loading& load, pin::JointIndex i) {
  const auto& joint = load.model.joints[i];
  const std::string type = joint.shortname();
  auto unaligned = [&](auto* model) { return model->axis; };
  auto aligned = [&](const std::string& prefix) {
    return type.size() == prefix.size() + 1 && type.compare(0, prefix.size(), prefix) == 0 && type.back() >= 'X';
  };
  const Vec3 axis = Vec3::Unit(std::clamp(type.back() - 'X', 0, 2));
  if (aligned("JointModelR")) return {JointKind::Revolute, axis};
  if (aligned("JointModelRUB")) return {JointKind::Continuous, axis};
  if (aligned("JointModelP")) return {JointKind::Prismatic, axis};
  const auto& variant = joint.toVariant();
  if (auto* m = boost::get<pin::JointModelRevoluteUnaligned>(&variant)) return {JointKind::Revolute, unaligned(m)};
  if (auto* m = boost::get<pin::JointModelRevoluteUnboundedUnaligned>(&variant))
    return {JointKind::Continuous, unaligned(m)};
  if (auto* m = boost::get<pin::JointModelPrismaticUnaligned>(&variant)) return {JointKind::Prismatic, unaligned(m)};
  if (type == "JointModelSpherical") return {JointKind::Spherical};
  if (type == "JointModelFreeFlyer" && load.model.parents[i] == 0) return {JointKind::Free};
  throw InvalidInput("robot file '" + load.files.urdf + "': joint '" + load.model.names[i] + "' is of type " +
                     type.substr(std::string("JointModel").size()) +
                     ", which is not supported; known: revolute, continuous, prismatic, spherical, floating base");
}

void add_bodies(Loading& load) {
  const pin::Model& model = load.model;
  const std::string prefix = load.builder.model().members[at(load.member)].name + "/";
  for (pin::JointIndex i = 1; i < static_cast<pin::JointIndex>(model.njoints); ++i) {
    Body body;
    const KindAndAxis found = kind_of(load, i);
    body.name = prefix + model.names[i];
    body.parent = load.body(model.parents[i]);
    body.joint = found.kind;
    body.axis = found.axis;
    body.X_PJ = load.on(model.parents[i], model.jointPlacements[i]);
    body.inertia = {model.inertias[i].mass(), model.inertias[i].lever(), model.inertias[i].inertia().matrix()};
    const int index = load.builder.add_body(std::move(body));
    const Body& added = load.builder.model().bodies[at(index)];
    JointProperties& joints = load.builder.joint_properties();
    const int nv = nv_of(found.kind), from = model.idx_vs[i];
    joints.damping.segment(added.iv, nv) = model.damping.segment(from, nv);
    joints.friction.segment(added.iv, nv) = model.upperDryFrictionLimit.segment(from, nv);
    joints.armature.segment(added.iv, nv) = model.armature.segment(from, nv);
    const auto rotor = load.file.srdf.armature.find(model.names[i]);
    if (load.options.rotor_inertia && rotor != load.file.srdf.armature.end() && nv == 1)
      joints.armature[added.iv] += rotor->second;
    if (found.kind == JointKind::Free) continue;
    auto limit = [](double x) { return x < std::numeric_limits<double>::max() ? x : inf; };
    for (int k = 0; k < nv; ++k) {
      joints.effort_limit[added.iv + k] = limit(model.upperEffortLimit[from + k]);
      joints.velocity_limit[added.iv + k] = limit(model.upperVelocityLimit[from + k]);
    }
    if (found.kind != JointKind::Revolute && found.kind != JointKind::Prismatic) continue;
    const double lower = model.lowerPositionLimit[model.idx_qs[i]], upper = model.upperPositionLimit[model.idx_qs[i]];
    if (lower == 0 && upper == 0) continue;  // how URDF files leave the range open
    if (lower > upper)
      throw InvalidInput("robot file '" + load.files.urdf + "': joint '" + model.names[i] + "' has lower limit " +
                         shown(lower) + " above its upper limit " + shown(upper));
    joints.lower[added.iv] = -limit(-lower);
    joints.upper[added.iv] = limit(upper);
  }
}

// A joint that mimics another: q = multiplier q_other + offset. Chains of them end at a joint that moves on its own.
void add_mimics(Loading& load) {
  const pin::Model& model = load.model;
  for (const auto& [name, joint] : load.file.tree->joints_) {
    if (!joint->mimic || joint->type == ::urdf::Joint::FIXED) continue;
    const std::string& other = joint->mimic->joint_name;
    Equality row;
    row.name = load.builder.model().members[at(load.member)].name + "/" + name;
    row.kind = EqualityKind::Joint;
    row.body_a = load.body(model.getJointId(name));
    row.polynomial = {joint->mimic->offset, joint->mimic->multiplier};
    if (load.file.tree->joints_.at(other)->type == ::urdf::Joint::FIXED) {
      row.polynomial[1] = 0;  // it stands at zero
    } else {
      row.body_b = load.body(model.getJointId(other));
    }
    for (int body : {row.body_a, row.body_b})
      if (body >= 0 && load.builder.model().bodies[at(body)].joint == JointKind::Continuous)
        throw InvalidInput("robot file '" + load.files.urdf + "': joint '" + name + "' mimics joint '" + other +
                           "', and one of them is continuous: it has no angle that could be followed");
    load.builder.add_equality(row);
  }
}

void add_frames(Loading& load) {
  std::set<std::string> taken;
  for (const Frame& frame : load.builder.model().frames) taken.insert(frame.name);
  const std::string prefix = load.builder.model().members[at(load.member)].name + "/";
  for (const pin::Frame& frame : load.model.frames) {
    if (frame.name == "universe") continue;
    std::string name = prefix + frame.name;
    if (taken.count(name)) name = prefix + "joint/" + frame.name;
    if (!taken.insert(name).second) continue;
    load.builder.add_frame({name, load.body(frame.parentJoint), load.on(frame.parentJoint, frame.placement)});
  }
}

// A pose of the SRDF file. Joints that the robot does not have, as the one of a base that is fixed here, are left out.
VecX pose_of(const Loading& load, const std::vector<Srdf::JointValue>& joints, VecX q) {
  const pin::Model& model = load.model;
  for (const auto& [name, values] : joints) {
    if (!model.existJointName(name)) continue;
    const pin::JointIndex i = model.getJointId(name);
    const int iq = model.idx_qs[i], nq = model.nqs[i];
    if (static_cast<int>(values.size()) == nq)
      q.segment(iq, nq) = Eigen::Map<const VecX>(values.data(), nq);
    else if (nq == 2 && values.size() == 1)  // a continuous joint
      q.segment<2>(iq) << std::cos(values[0]), std::sin(values[0]);
  }
  return q;
}

// Joints that mimic others are put where these say; along chains of them, a link in each round.
VecX with_mimics(const Loading& load, VecX q) {
  const Model& model = load.builder.model();
  const auto place = [&](int body) { return model.bodies[at(body)].iq - model.members[at(load.member)].iq; };
  for (std::size_t round = 0; round < model.equalities.size(); ++round)
    for (const Equality& e : model.equalities)
      if (e.kind == EqualityKind::Joint && e.body_a >= load.first)
        q[place(e.body_a)] = e.polynomial[0] + (e.body_b >= 0 ? e.polynomial[1] * q[place(e.body_b)] : 0);
  return q;
}

void add_poses(Loading& load) {
  const pin::Model& model = load.model;
  const RobotRecord* record = load.files.record;
  std::map<std::string, VecX>& poses = load.builder.member(load.member).poses;
  VecX neutral = VecX::Zero(model.nq);
  for (int b = load.first; b < load.first + model.njoints - 1; ++b) {
    const Body& body = load.builder.model().bodies[at(b)];
    const int iq = body.iq - load.builder.member(load.member).iq;
    if (body.joint == JointKind::Free) neutral[iq + 6] = 1;
    if (body.joint == JointKind::Spherical) neutral[iq + 3] = 1;
    if (body.joint == JointKind::Continuous) neutral[iq] = 1;
  }
  for (const auto& [name, values] : load.file.srdf.poses) {
    const VecX q = pose_of(load, values, neutral);
    if (q.allFinite()) poses[name] = q;
  }
  poses["neutral"] = neutral;
  if (record == nullptr) {
    poses["default"] = with_mimics(load, neutral);
    return;
  }
  if (!record->angles.empty()) {
    const auto said = poses.find(record->pose);
    VecX q = said != poses.end() ? said->second : neutral;
    for (const auto& [name, angle] : record->angles) {
      if (!model.existJointName(name)) throw InvalidInput(load.owner() + ": its pose names no joint '" + name + "'");
      q[model.idx_qs[model.getJointId(name)]] = angle;
    }
    poses[record->pose] = q;
  }
  const auto found = poses.find(record->pose);
  if (found == poses.end()) {
    std::vector<std::string> known;
    known.reserve(poses.size());
    for (const auto& [name, q] : poses) known.push_back(name);
    throw InvalidInput(load.owner() + ": " + unknown_name("pose", record->pose, known));
  }
  poses["default"] = VecX(found->second);
}

// The shape "link_0", its part "link_0.1", the foot "frame" or "frame.0": its own name, or that of its link.
bool is_of(const std::string& shape, const std::string& link) {
  for (std::string name = shape; !matches_name(link.c_str(), name.c_str());) {
    const std::size_t end = name.find_last_not_of("0123456789");
    if (end == std::string::npos || end + 1 >= name.size() || (name[end] != '_' && name[end] != '.')) return false;
    name.resize(end);
  }
  return true;
}

MeshParts parts_of(const Loading& load, const std::string& geometry) {
  const std::string shape = geometry.substr(load.builder.model().members[at(load.member)].name.size() + 1);
  MeshParts parts;
  for (const LinkParts& given : load.options.mesh_parts)
    if (is_of(shape, given.link)) parts = given.parts;
  return parts;
}

int material_of(const Loading& load, const std::string& geometry) {
  const std::string shape = geometry.substr(load.builder.model().members[at(load.member)].name.size() + 1);
  int material = load.options.material;
  for (const LinkMaterial& given : load.options.link_materials)
    if (is_of(shape, given.link)) material = given.material;
  return material;
}

void check_link_materials(const Loading& load) {
  const Model& model = load.builder.model();
  const std::size_t prefix = model.members[at(load.member)].name.size() + 1;
  for (const LinkMaterial& given : load.options.link_materials) {
    std::vector<std::string> known;
    bool used = false;
    for (const Geometry& geometry : model.geometries) {
      if (geometry.member != load.member) continue;
      known.push_back(geometry.name.substr(prefix));
      used = used || is_of(known.back(), given.link);
    }
    if (!used) throw InvalidInput(load.owner() + ": materials: " + unknown_name("link or shape", given.link, known));
  }
}

void add_shape(Loading& load, Geometry geometry, bool foot) {
  geometry.material = material_of(load, geometry.name);
  geometry.member = load.member;
  const int index = load.builder.add_geometry(std::move(geometry));
  if (foot) load.builder.member(load.member).feet.push_back(index);
}

void add_point_feet(Loading& load, const std::vector<Foot>& feet) {
  for (const Foot& foot : feet) {
    const pin::Model& model = load.model;
    if (!model.existFrame(foot.frame)) {
      std::vector<std::string> known;
      for (const pin::Frame& frame : model.frames) known.push_back(frame.name);
      throw InvalidInput(load.owner() + ": " + unknown_name("frame of a foot", foot.frame, known));
    }
    const pin::Frame& frame = model.frames[model.getFrameId(foot.frame)];
    for (std::size_t k = 0; k < foot.points.size(); ++k) {
      Geometry geometry;
      geometry.name = load.builder.model().members[at(load.member)].name + "/" + foot.frame;
      if (foot.points.size() > 1) geometry.name.append(".").append(std::to_string(k));
      geometry.kind = foot.radius > 0 ? ShapeKind::Sphere : ShapeKind::Point;
      geometry.size.x() = foot.radius;
      geometry.body = load.body(frame.parentJoint);
      geometry.X_BG = load.on(frame.parentJoint, frame.placement) * Placement{Mat3::Identity(), foot.points[k]};
      add_shape(load, std::move(geometry), true);
    }
  }
}

// The point feet that were added.
std::vector<Geometry> feet_of(Loading& load) {
  std::vector<Geometry> feet;
  for (int foot : load.builder.member(load.member).feet) feet.push_back(load.builder.model().geometries[at(foot)]);
  return feet;
}

// A mesh of what never moves, triangle by triangle where that is asked for; else its hulls.
void set_mesh(Loading& load, const ::urdf::Mesh& mesh, Geometry& geometry,
              std::vector<std::shared_ptr<const Hull>>& hulls) {
  const Vec3 scale(mesh.scale.x, mesh.scale.y, mesh.scale.z);
  try {
    const std::string path = find_mesh(mesh.filename, load.file.search);
    if (load.file.y_up && says_y_up(path)) geometry.X_BG.R = geometry.X_BG.R * upright();
    if (load.options.triangle_meshes && geometry.body == -1) {
      geometry.kind = ShapeKind::Mesh;
      geometry.mesh = mesh_triangles(path, scale);
      load.notes.log.push_back(load.owner() + ": '" + geometry.name + "' " + mesh_summary(*geometry.mesh));
      return;
    }
    const MeshHulls made = mesh_hulls(path, scale, parts_of(load, geometry.name));
    hulls = made.hulls;
    load.meshes.add(made);
  } catch (const InvalidInput& error) {
    throw InvalidInput("geometry '" + geometry.name + "': " + error.what());
  }
  geometry.kind = ShapeKind::Convex;
}

// The shape of a <collision>; of a mesh, its hulls.
void set_shape(Loading& load, const ::urdf::Geometry& shape, Geometry& geometry,
               std::vector<std::shared_ptr<const Hull>>& hulls) {
  if (const auto* sphere = dynamic_cast<const ::urdf::Sphere*>(&shape)) {
    geometry.kind = ShapeKind::Sphere;
    geometry.size = Vec3(sphere->radius, 0, 0);
  } else if (const auto* box = dynamic_cast<const ::urdf::Box*>(&shape)) {
    geometry.kind = ShapeKind::Box;
    geometry.size = 0.5 * Vec3(box->dim.x, box->dim.y, box->dim.z);
  } else if (const auto* cylinder = dynamic_cast<const ::urdf::Cylinder*>(&shape)) {
    geometry.kind = ShapeKind::Cylinder;
    geometry.size = Vec3(cylinder->radius, 0, 0.5 * cylinder->length);
  } else if (const auto* capsule = dynamic_cast<const ::urdf::Capsule*>(&shape)) {
    geometry.kind = ShapeKind::Capsule;
    geometry.size = Vec3(capsule->radius, 0, 0.5 * capsule->length);
  } else if (const auto* mesh = dynamic_cast<const ::urdf::Mesh*>(&shape)) {
    set_mesh(load, *mesh, geometry, hulls);
  } else {
    throw InvalidInput("geometry '" + geometry.name + "': its shape is none of sphere, box, cylinder, capsule, mesh");
  }
}

Placement placement(const ::urdf::Pose& pose) {
  const ::urdf::Rotation& q = pose.rotation;
  return {Quat(q.w, q.x, q.y, q.z).toRotationMatrix(), Vec3(pose.position.x, pose.position.y, pose.position.z)};
}

// Shapes of the file: all of them, or the balls where these are the feet and nothing else is to touch.
void add_file_shapes(Loading& load, const Touching& touch, bool ball_feet) {
  const std::string prefix = load.builder.model().members[at(load.member)].name + "/";
  const std::vector<Geometry> points = feet_of(load);
  int balls = 0;
  for (const pin::Frame& frame : load.model.frames) {  // in the order of the tree
    if (frame.type != pin::BODY) continue;
    const auto link = load.file.tree->links_.find(frame.name);
    if (link == load.file.tree->links_.end()) continue;
    int number = 0;
    for (const ::urdf::CollisionSharedPtr& collision : link->second->collision_array) {
      const bool ball = dynamic_cast<const ::urdf::Sphere*>(collision->geometry.get()) != nullptr;
      balls += ball;
      Geometry geometry;
      geometry.name = prefix + frame.name + "_" + std::to_string(number++);
      if (!touch.shapes && !ball) continue;
      geometry.body = load.body(frame.parentJoint);
      geometry.X_BG = load.on(frame.parentJoint, frame.placement) * placement(collision->origin);
      std::vector<std::shared_ptr<const Hull>> hulls;
      set_shape(load, *collision->geometry, geometry, hulls);
      const std::string name = geometry.name;
      for (std::size_t k = 0; k < std::max<std::size_t>(1, hulls.size()); ++k) {
        Geometry part = geometry;
        if (!hulls.empty()) part.hull = hulls[k];
        if (hulls.size() > 1) part.name = name + "." + std::to_string(k);
        if (clear_feet(part, points)) add_shape(load, std::move(part), ball && ball_feet);
      }
    }
  }
  if (ball_feet && balls == 0)
    throw InvalidInput(load.owner() + ": contact = \"feet\" needs feet = [frames], since '" + load.files.urdf +
                       "' has no balls among its collision shapes");
  if (load.meshes.meshes > 0) load.notes.log.push_back(load.owner() + ": " + load.meshes.summary());
}

void add_contact(Loading& load) {
  const Touching touch = touching(load.options, load.files);
  std::vector<Foot> feet = load.options.feet;
  if (feet.empty() && load.files.record != nullptr) feet = load.files.record->feet;
  if (touch.feet) add_point_feet(load, feet);
  const bool ball_feet = touch.feet && feet.empty();
  if (touch.shapes || ball_feet) add_file_shapes(load, touch, ball_feet);
  check_link_materials(load);
  if (load.options.contact != "default") return;
  const std::vector<Geometry>& shapes = load.builder.model().geometries;
  const bool any = std::any_of(shapes.begin(), shapes.end(), [&](auto& g) { return g.member == load.member; });
  if (!any)
    load.notes.warnings.push_back(load.owner() + " has no collision shapes: nothing of it touches anything");
  else if (!touch.shapes)
    load.notes.warnings.push_back(load.owner() + " touches with its feet alone: its file has no other shapes of use");
}

}  // namespace

std::shared_ptr<const UrdfFile> read_urdf(const RobotOptions& options) {
  auto file = std::make_shared<UrdfFile>();
  file->files = find_robot(options.model);
  read_tree(options, *file);
  if (!file->files.srdf.empty()) file->srdf = read_srdf(file->files.srdf);
  return file;
}

bool floats(const UrdfFile& file) { return file.floating; }

int add_urdf(ModelBuilder& builder, const RobotOptions& options, const UrdfFile& file, RobotNotes& notes) {
  Loading load{options, file, builder, notes};
  notes.warnings.insert(notes.warnings.end(), file.warnings.begin(), file.warnings.end());
  notes.log.insert(notes.log.end(), file.log.begin(), file.log.end());
  std::string name = options.name;
  if (name.empty()) name = file.files.record != nullptr ? file.files.record->entry.name : file.model.name;
  load.member = builder.begin_member(name, true, file.files.urdf, options.self_collision);
  load.first = builder.member(load.member).first_body;
  add_bodies(load);
  add_mimics(load);
  add_frames(load);
  add_poses(load);
  add_contact(load);
  return load.member;
}

}  // namespace tribo
