// Robots from URDF files, read by Pinocchio and taken over joint by joint, so that q and v are Pinocchio's.
#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <pinocchio/parsers/srdf.hpp>
#include <pinocchio/parsers/urdf.hpp>
#include <set>

#include "model/coal_shapes.hpp"
#include "model/names.hpp"
#include "model/robots.hpp"

namespace tribo {
namespace {

namespace pin = pinocchio;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::uintmax_t largest_file = 20'000'000;  // [bytes]

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Placement placement(const pin::SE3& M) { return {M.rotation(), M.translation()}; }

// Where a robot is being added: Pinocchio's joint i is body first + i - 1 of the builder.
struct Loading {
  const RobotOptions& options;
  const RobotFiles& files;
  ModelBuilder& builder;
  pin::Model model;
  int member = 0;
  int first = 0;

  std::string owner() const { return "robot '" + builder.model().members[at(member)].name + "'"; }
  int body(pin::JointIndex joint) const { return joint == 0 ? -1 : first + static_cast<int>(joint) - 1; }
  /// A placement on a joint, or on the world, where a fixed base puts it.
  Placement on(pin::JointIndex joint, const pin::SE3& M) const {
    return joint == 0 && !options.floating ? options.base * placement(M) : placement(M);
  }
};

void read_file(Loading& load) {
  const std::string& path = load.files.urdf;
  if (std::filesystem::file_size(path) > largest_file)
    throw InvalidInput("robot file '" + path + "' is larger than 20 MB");
  const ::urdf::ModelInterfaceSharedPtr tree = ::urdf::parseURDFFile(path);
  if (!tree) throw InvalidInput("robot file '" + path + "' is not a URDF");
  const bool free_mimic = load.files.record != nullptr && load.files.record->free_mimic;
  for (const auto& [name, joint] : tree->joints_)
    if (joint->mimic && joint->type != ::urdf::Joint::FIXED && !free_mimic)
      throw InvalidInput("robot file '" + path + "': joint '" + name + "' mimics joint '" + joint->mimic->joint_name +
                         "', and mimic joints are not supported");
  try {
    if (load.options.floating)
      pin::urdf::buildModel(tree, pin::JointModelFreeFlyer(), load.model);
    else
      pin::urdf::buildModel(tree, load.model);
  } catch (const std::exception& error) {
    throw InvalidInput("robot file '" + path + "': " + error.what());
  }
  if (load.model.njoints < 2)
    throw InvalidInput("robot file '" + path + "' has no moving joint; make its base floating");
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

// A joint that moves nothing has no inertia to solve for.
void check_masses(const Loading& load) {
  const pin::Model& model = load.model;
  std::vector<double> mass(at(model.njoints));
  for (int i = model.njoints - 1; i > 0; --i) {
    const pin::JointIndex j = at(i);
    mass[j] += model.inertias[j].mass();
    mass[model.parents[j]] += mass[j];
    const int iv = load.builder.model().bodies[at(load.body(j))].iv;
    if (!(mass[j] > 0) && !(load.builder.joint_properties().armature[iv] > 0))
      throw InvalidInput("robot file '" + load.files.urdf + "': joint '" + model.names[j] +
                         "' moves bodies of no mass at all; give the link a mass or make the joint fixed");
  }
}

void add_frames(Loading& load) {
  std::set<std::string> taken;
  for (const Frame& frame : load.builder.model().frames) taken.insert(frame.name);
  const std::string prefix = load.builder.model().members[at(load.member)].name + "/";
  for (const pin::Frame& frame : load.model.frames) {
    if (frame.name == "universe") continue;
    std::string name = frame.name;
    if (taken.count(name)) name = prefix + frame.name;
    if (taken.count(name)) name = prefix + "joint/" + frame.name;
    if (!taken.insert(name).second) continue;
    load.builder.add_frame({name, load.body(frame.parentJoint), load.on(frame.parentJoint, frame.placement)});
  }
}

void add_poses(Loading& load) {
  pin::Model& model = load.model;
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
  for (const auto& [name, q] : model.referenceConfigurations)
    if (q.size() == model.nq && q.allFinite()) poses[name] = q;
  poses["neutral"] = neutral;
  if (record == nullptr) {
    poses["default"] = neutral;
    return;
  }
  if (!record->angles.empty()) {
    VecX q = neutral;
    for (const auto& [name, angle] : record->angles) {
      if (!model.existJointName(name)) throw InvalidInput(load.owner() + ": its pose names no joint '" + name + "'");
      q[model.idx_qs[model.getJointId(name)]] = angle;
    }
    poses[record->pose] = q;
  }
  const auto found = poses.find(record->pose);
  if (found == poses.end()) {
    std::vector<std::string> known;
    for (const auto& [name, q] : poses) known.push_back(name);
    throw InvalidInput(load.owner() + ": " + unknown_name("pose", record->pose, known));
  }
  poses["default"] = VecX(found->second);
}

void add_shape(Loading& load, Geometry geometry, bool foot) {
  geometry.material = load.options.material;
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

// Stands in for meshes that are not wanted: reading them takes most of the time of loading a robot.
class NoMeshes final : public coal::MeshLoader {
 public:
  coal::BVHModelPtr_t load(const std::string&, const coal::Vec3s&) override {
    return std::make_shared<coal::BVHModel<coal::OBBRSS>>();
  }
};

void add_file_shapes(Loading& load, bool balls_only) {
  pin::GeometryModel shapes;
  const coal::MeshLoaderPtr loader =
      balls_only ? coal::MeshLoaderPtr(new NoMeshes) : coal::MeshLoaderPtr(new coal::CachedMeshLoader);
  try {
    pin::urdf::buildGeom(load.model, load.files.urdf, pin::COLLISION, shapes, load.files.packages, loader);
  } catch (const std::exception& error) {
    std::string tried;
    for (const std::string& folder : load.files.packages) tried += "\n  " + folder;
    throw InvalidInput("robot file '" + load.files.urdf + "': " + error.what() +
                       "\nPackages were looked for in:" + tried);
  }
  const std::string prefix = load.builder.model().members[at(load.member)].name + "/";
  int balls = 0;
  for (const pin::GeometryObject& object : shapes.geometryObjects) {
    const bool ball = object.geometry->getNodeType() == coal::GEOM_SPHERE;
    if (balls_only && !ball) continue;
    balls += ball;
    Geometry geometry;
    geometry.name = prefix + object.name;
    geometry.body = load.body(object.parentJoint);
    geometry.X_BG = load.on(object.parentJoint, object.placement);
    convert_shape(*object.geometry, geometry);
    add_shape(load, std::move(geometry), balls_only);
  }
  if (balls_only && balls == 0)
    throw InvalidInput(load.owner() + ": contact = \"feet\" needs feet = [frames], since '" + load.files.urdf +
                       "' has no balls among its collision shapes");
}

void add_contact(Loading& load) {
  const RobotRecord* record = load.files.record;
  std::string contact = load.options.contact;
  const bool named_feet = !load.options.feet.empty();
  if (contact == "default") contact = named_feet ? "feet" : record != nullptr ? record->contact : "collision";
  if (contact == "none") return;
  if (contact == "collision") return add_file_shapes(load, false);
  if (contact != "feet")
    throw InvalidInput(load.owner() + ": " +
                       unknown_name("contact", contact, {"default", "feet", "collision", "none"}));
  std::vector<Foot> feet;
  for (const std::string& frame : load.options.feet) feet.push_back({frame});
  if (!named_feet && record != nullptr) feet = record->feet;
  if (feet.empty())
    add_file_shapes(load, true);
  else
    add_point_feet(load, feet);
}

}  // namespace

int add_urdf(ModelBuilder& builder, const RobotOptions& options) {
  const RobotFiles files = find_robot(options.model);
  Loading load{options, files, builder, {}};
  read_file(load);
  if (!files.srdf.empty()) {
    pin::srdf::loadReferenceConfigurations(load.model, files.srdf, false);
    if (options.rotor_inertia) pin::srdf::loadRotorParameters(load.model, files.srdf, false);
  }
  std::string name = options.name;
  if (name.empty()) name = files.record != nullptr ? files.record->entry.name : load.model.name;
  load.member = builder.begin_member(name, true, files.urdf, options.self_collision);
  load.first = builder.member(load.member).first_body;
  add_bodies(load);
  check_masses(load);
  add_frames(load);
  add_poses(load);
  add_contact(load);
  return load.member;
}

}  // namespace tribo
