#include "tribo/model.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "base/legible.hpp"
#include "base/limits.hpp"
#include "base/names.hpp"

namespace tribo {
namespace {

constexpr int most_points = 16384;  // of a height field along one axis

double mix(MixingRule rule, double a, double b) {
  switch (rule) {
    case MixingRule::Minimum:
      return std::min(a, b);
    case MixingRule::Average:
      return 0.5 * (a + b);
    case MixingRule::GeometricMean:
      return std::sqrt(a * b);
    case MixingRule::Maximum:
      return std::max(a, b);
  }
  return a;
}

// Springs and dampers in series; compliances add, each with its relaxation time. Friction and restitution follow the rule.
SurfacePair mixed(MixingRule rule, const SurfacePair& a, const SurfacePair& b) {
  SurfacePair pair;
  pair.mu_static = mix(rule, a.mu_static, b.mu_static);
  pair.mu_dynamic = mix(rule, a.mu_dynamic, b.mu_dynamic);
  pair.restitution = mix(rule, a.restitution, b.restitution);
  pair.torsional = mix(rule, a.torsional, b.torsional);
  pair.rolling = mix(rule, a.rolling, b.rolling);
  pair.restitution_speed = std::max(a.restitution_speed, b.restitution_speed);
  pair.compliance = 0.5 * (a.compliance + b.compliance);
  if (pair.compliance > 0)
    pair.relaxation_time =
        0.5 * (a.compliance * a.relaxation_time + b.compliance * b.relaxation_time) / pair.compliance;
  auto series = [](double x, double y) { return x + y > 0 ? 2 * x * y / (x + y) : 0; };
  auto own = [](double tangential, double normal) { return std::isnan(tangential) ? normal : tangential; };
  pair.stiffness = series(a.stiffness, b.stiffness);
  pair.damping = series(a.damping, b.damping);
  pair.stiffness_tangential =
      series(own(a.stiffness_tangential, a.stiffness), own(b.stiffness_tangential, b.stiffness));
  pair.damping_tangential = series(own(a.damping_tangential, a.damping), own(b.damping_tangential, b.damping));
  return pair;
}

void require(bool good, const std::string& owner, const std::string& field, double value, const std::string& bound) {
  if (!good || !std::isfinite(value))
    throw InvalidInput(owner + ": " + field + " = " + shown(value) + ", must be " + bound);
}

void check(const SurfacePair& s, const std::string& owner) {
  require(s.mu_static >= 0, owner, "mu_static", s.mu_static, "finite and >= 0");
  require(s.mu_dynamic >= 0 && s.mu_dynamic <= s.mu_static, owner, "mu_dynamic", s.mu_dynamic,
          ">= 0 and at most mu_static = " + shown(s.mu_static));
  require(s.restitution >= 0 && s.restitution <= 1, owner, "restitution", s.restitution, "from 0 to 1");
  require(s.restitution_speed >= 0, owner, "restitution_speed", s.restitution_speed, "finite and >= 0 m/s");
  require(s.torsional >= 0, owner, "torsional", s.torsional, "finite and >= 0 m");
  require(s.rolling >= 0, owner, "rolling", s.rolling, "finite and >= 0 m");
  require(s.compliance >= 0, owner, "compliance", s.compliance, "finite and >= 0 m/N");
  require(s.relaxation_time >= 0, owner, "relaxation_time", s.relaxation_time, "finite and >= 0 s");
  require(s.relaxation_time == 0 || s.compliance > 0, owner, "relaxation_time", s.relaxation_time,
          "0 without a compliance: a rigid surface has nothing to relax");
  require(s.stiffness > 0, owner, "stiffness", s.stiffness, "finite and > 0 N/m");
  require(s.damping >= 0, owner, "damping", s.damping, "finite and >= 0 N s/m");
  if (!std::isnan(s.stiffness_tangential))
    require(s.stiffness_tangential > 0, owner, "stiffness_tangential", s.stiffness_tangential, "finite and > 0 N/m");
  if (!std::isnan(s.damping_tangential))
    require(s.damping_tangential >= 0, owner, "damping_tangential", s.damping_tangential, "finite and >= 0 N s/m");
}

void check(const Body& body) {
  const Inertia& I = body.inertia;
  const std::string owner = "body '" + body.name + "'";
  require(I.mass >= 0, owner, "mass", I.mass, "finite and >= 0 kg");
  if (!I.com.allFinite() || !I.about_com.allFinite() || !body.X_PJ.p.allFinite() || !body.X_PJ.R.allFinite())
    throw InvalidInput(owner + ": centre of mass, inertia or placement is not finite");
  require(body.carried >= 0, owner, "carried", body.carried, "finite and >= 0 kg");
  if (!body.carried_at.allFinite()) throw InvalidInput(owner + ": carried_at is not finite");
}

void check_terrain(const Geometry& geometry, const std::string& owner) {
  if (!geometry.terrain) throw InvalidInput(owner + ": a height field without heights");
  if (geometry.body >= 0) throw InvalidInput(owner + ": a height field belongs to the world or to a kinematic body");
  const HeightField& field = *geometry.terrain;
  if (field.nx < 2 || field.ny < 2 || field.nx > most_points || field.ny > most_points ||
      field.heights.size() != at(field.nx) * at(field.ny))
    throw InvalidInput(owner + ": a grid of " + std::to_string(field.nx) + " x " + std::to_string(field.ny) +
                       " points with " + std::to_string(field.heights.size()) +
                       " heights; needs from 2 to 16384 points along x and y and a height for each");
  require(field.spacing_x > 0, owner, "spacing along x", field.spacing_x, "finite and > 0 m");
  require(field.spacing_y > 0, owner, "spacing along y", field.spacing_y, "finite and > 0 m");
  for (double z : field.heights)
    if (!std::isfinite(z)) throw InvalidInput(owner + ": a height is not finite");
}

}  // namespace

int nq_of(JointKind kind) {
  switch (kind) {
    case JointKind::Free:
      return 7;
    case JointKind::Spherical:
      return 4;
    case JointKind::Continuous:
      return 2;
    case JointKind::Revolute:
    case JointKind::Prismatic:
      return 1;
  }
  return 0;
}

int nv_of(JointKind kind) {
  switch (kind) {
    case JointKind::Free:
      return 6;
    case JointKind::Spherical:
      return 3;
    case JointKind::Continuous:
    case JointKind::Revolute:
    case JointKind::Prismatic:
      return 1;
  }
  return 0;
}

std::string to_string(MixingRule rule) {
  switch (rule) {
    case MixingRule::Minimum:
      return "minimum";
    case MixingRule::Average:
      return "average";
    case MixingRule::GeometricMean:
      return "geometric_mean";
    case MixingRule::Maximum:
      return "maximum";
  }
  return "";
}

const SurfacePair& Model::surface(int a, int b) const { return surfaces_[at(a) * materials.size() + at(b)]; }

int Model::surface_index(int ga, int gb) const {
  if (!pair_surface_.empty())
    if (const auto own = pair_surface_.find(std::minmax(ga, gb)); own != pair_surface_.end()) return own->second;
  return geometries[at(ga)].material * static_cast<int>(materials.size()) + geometries[at(gb)].material;
}

std::string Model::surface_name(int index) const {
  const int n = static_cast<int>(materials.size());
  if (index < n * n)
    return "materials '" + materials[at(index / n)].name + "' and '" + materials[at(index % n)].name + "'";
  const CollisionPair& pair = pairs[at(index - n * n)];
  return "pair of '" + geometries[at(pair.geometry_a)].name + "' and '" + geometries[at(pair.geometry_b)].name + "'";
}

bool Model::may_collide(int ga, int gb) const {
  const Geometry& a = geometries[at(ga)];
  const Geometry& b = geometries[at(gb)];
  if (a.body == b.body || (a.body < 0 && b.body < 0)) return false;
  if (pair_surface_.count(std::minmax(ga, gb))) return true;
  if (!(a.group & b.collides_with) || !(b.group & a.collides_with)) return false;
  if (a.member >= 0 && a.member == b.member) {
    if (!self_collision_[at(a.member)]) return false;
    const int parent_a = a.body < 0 ? -2 : bodies[at(a.body)].parent;
    const int parent_b = b.body < 0 ? -2 : bodies[at(b.body)].parent;
    if (parent_a == b.body || parent_b == a.body) return false;
  }
  return !std::binary_search(apart_.begin(), apart_.end(), std::pair(std::min(ga, gb), std::max(ga, gb))) &&
         !std::binary_search(excluded_.begin(), excluded_.end(),
                             std::pair(std::min(a.body, b.body), std::max(a.body, b.body)));
}

VecX Model::neutral() const {
  VecX q = VecX::Zero(nq);
  for (const Body& body : bodies) {
    if (body.joint == JointKind::Free) q[body.iq + 6] = 1;
    if (body.joint == JointKind::Spherical) q[body.iq + 3] = 1;
    if (body.joint == JointKind::Continuous) q[body.iq] = 1;
  }
  return q;
}

double Model::mass() const {
  double sum = 0;
  for (const Tree& tree : trees) sum += tree.mass;
  return sum;
}

int ModelBuilder::add_material(Material material) {
  check_name("material", material.name);
  check(material.surface, "material '" + material.name + "'");
  for (const Material& known : model_.materials)
    if (known.name == material.name) throw InvalidInput("material '" + material.name + "' is given twice");
  model_.materials.push_back(std::move(material));
  return static_cast<int>(model_.materials.size()) - 1;
}

void ModelBuilder::set_pair(const std::string& a, const std::string& b, SurfacePair pair) {
  check(pair, "material pair '" + a + "', '" + b + "'");
  pairs_[std::minmax(a, b)] = pair;
}

void ModelBuilder::set_gravity(const Vec3& gravity) {
  if (!gravity.allFinite()) throw InvalidInput("gravity is not finite");
  model_.gravity = gravity;
}

int ModelBuilder::begin_member(std::string name, bool robot, std::string source, bool self_collision) {
  check_name(robot ? "robot" : "object", name);
  for (const Member& known : model_.members)
    if (known.name == name) throw InvalidInput("two robots or objects are called '" + name + "'");
  Member member;
  member.name = std::move(name);
  member.robot = robot;
  member.source = std::move(source);
  member.first_body = static_cast<int>(model_.bodies.size());
  member.iq = model_.nq;
  member.iv = model_.nv;
  model_.members.push_back(std::move(member));
  member_self_collision_.push_back(self_collision);
  return static_cast<int>(model_.members.size()) - 1;
}

int ModelBuilder::add_body(Body body) {
  check_name("body", body.name);
  check(body);
  const int index = static_cast<int>(model_.bodies.size());
  if (body.parent < -1 || body.parent >= index)
    throw InvalidInput("body '" + body.name + "': parent = " + std::to_string(body.parent) +
                       ", must be -1 for the world or a body that was added before it, below " + std::to_string(index));
  if (model_.members.empty()) throw InvalidInput("body '" + body.name + "': begin a member first");
  const int nq = nq_of(body.joint), nv = nv_of(body.joint);
  body.iq = model_.nq;
  body.iv = model_.nv;
  model_.nq += nq;
  model_.nv += nv;
  Member& member = model_.members.back();
  ++member.bodies;
  member.nq += nq;
  member.nv += nv;
  JointProperties& p = model_.joints;
  auto grow = [&](VecX& x, double value) {
    x.conservativeResize(model_.nv);
    x.tail(nv).setConstant(value);
  };
  for (VecX* x : {&p.damping, &p.armature, &p.friction, &p.stiffness}) grow(*x, 0);
  p.rest.conservativeResize(model_.nq);
  p.rest.tail(nq).setZero();
  if (body.joint == JointKind::Continuous) p.rest[body.iq] = 1;
  if (body.joint == JointKind::Spherical || body.joint == JointKind::Free) p.rest[model_.nq - 1] = 1;
  grow(p.effort_limit, body.joint == JointKind::Free ? 0 : inf);
  grow(p.velocity_limit, inf);
  grow(p.lower, -inf);
  grow(p.upper, inf);
  model_.bodies.push_back(std::move(body));
  return index;
}

int ModelBuilder::add_geometry(Geometry geometry) {
  check_name("geometry", geometry.name);
  const std::string owner = "geometry '" + geometry.name + "'";
  auto positive = [&](double x, const char* what) { require(x > 0, owner, what, x, "finite and > 0 m"); };
  switch (geometry.kind) {
    case ShapeKind::HalfSpace:
      geometry.radius = inf;
      break;
    case ShapeKind::Point:
      geometry.radius = 0;
      break;
    case ShapeKind::Sphere:
      positive(geometry.size.x(), "radius");
      geometry.radius = geometry.size.x();
      break;
    case ShapeKind::Box:
      for (int k = 0; k < 3; ++k) positive(geometry.size[k], "half extent");
      geometry.radius = geometry.size.norm();
      break;
    case ShapeKind::Capsule:
      positive(geometry.size.x(), "radius");
      positive(geometry.size.z(), "half length");
      geometry.radius = geometry.size.x() + geometry.size.z();
      break;
    case ShapeKind::Convex:
      if (!geometry.hull) throw InvalidInput(owner + ": a hull without vertices");
      geometry.radius = geometry.hull->radius;
      break;
    case ShapeKind::Cylinder:
      positive(geometry.size.x(), "radius");
      positive(geometry.size.z(), "half length");
      geometry.radius = std::hypot(geometry.size.x(), geometry.size.z());
      break;
    case ShapeKind::Ellipsoid:
      for (int k = 0; k < 3; ++k) positive(geometry.size[k], "half axis");
      geometry.radius = geometry.size.maxCoeff();
      break;
    case ShapeKind::HeightField:
      check_terrain(geometry, owner);
      geometry.radius = inf;
      break;
    case ShapeKind::Mesh:
      if (!geometry.mesh || !geometry.mesh->tree) throw InvalidInput(owner + ": a mesh without triangles");
      if (geometry.body >= 0)
        throw InvalidInput(owner + ": a mesh of triangles belongs to the world or to a kinematic body");
      geometry.radius = inf;
      break;
  }
  if (!geometry.X_BG.p.allFinite() || !geometry.X_BG.R.allFinite())
    throw InvalidInput(owner + ": placement is not finite");
  check_body(geometry.body, owner);
  check_material(geometry.material, owner);
  const auto& members = model_.members;  // in the order of their bodies
  const auto after = std::upper_bound(members.begin(), members.end(), geometry.body,
                                      [](int body, const auto& member) { return body < member.first_body; });
  if (geometry.body >= 0 && after != members.begin()) geometry.member = static_cast<int>(after - members.begin()) - 1;
  model_.geometries.push_back(std::move(geometry));
  return static_cast<int>(model_.geometries.size()) - 1;
}

void ModelBuilder::add_pair(CollisionPair pair) {
  for (int g : {pair.geometry_a, pair.geometry_b}) check_geometry(g, "pair of geometries");
  const Geometry &a = model_.geometries[at(pair.geometry_a)], &b = model_.geometries[at(pair.geometry_b)];
  const std::string owner = "pair of '" + a.name + "' and '" + b.name + "'";
  if (a.body == b.body || (a.body < 0 && b.body < 0)) throw InvalidInput(owner + ": neither moves against the other");
  check(pair.surface, owner);
  model_.pairs.push_back(pair);
}

int ModelBuilder::add_frame(Frame frame) {
  check_name("frame", frame.name);
  check_body(frame.body, "frame '" + frame.name + "'");
  model_.frames.push_back(std::move(frame));
  return static_cast<int>(model_.frames.size()) - 1;
}

void ModelBuilder::exclude(int a, int b) {
  for (int body : {a, b}) check_body(body, "bodies that do not collide");
  model_.excluded_.push_back(std::minmax(a, b));
}

void ModelBuilder::exclude_geometries(int a, int b) {
  for (int g : {a, b}) check_geometry(g, "geometries that do not collide");
  model_.apart_.push_back(std::minmax(a, b));
}

int ModelBuilder::add_object(const std::string& name, ShapeKind kind, const Vec3& size, double mass, int material) {
  require(mass > 0, "object '" + name + "'", "mass", mass, "finite and > 0 kg");
  check_material(material, "object '" + name + "'");
  const int member = begin_member(name, false, "object");
  Body body;
  body.name = name;
  body.joint = JointKind::Free;
  body.inertia = solid_inertia(kind, size, mass);
  Geometry geometry;
  geometry.name = name;
  geometry.kind = kind;
  geometry.size = size;
  geometry.material = material;
  geometry.body = add_body(std::move(body));
  add_geometry(std::move(geometry));
  return member;
}

int ModelBuilder::add_ground(const Placement& X_WG, int material) {
  Geometry ground;
  ground.name = "ground";
  ground.kind = ShapeKind::HalfSpace;
  ground.X_BG = X_WG;
  ground.material = material;
  return add_geometry(std::move(ground));
}

namespace {

// The degrees of freedom between a body and the world are listed with it: a chain of n takes n^2 / 2 numbers.
constexpr std::size_t longest_chain = 3000;

void check_names(const Model& model) {
  std::set<std::string_view> names;
  for (const Body& body : model.bodies)
    if (!names.insert(body.name).second) throw InvalidInput("two bodies are called '" + body.name + "'");
}

void make_trees(Model& model) {
  model.trees.clear();  // of a build that was refused
  for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
    Body& body = model.bodies[at(i)];
    const int nv = nv_of(body.joint);
    body.chain.clear();
    if (body.parent < 0) {
      Tree tree;
      tree.name = body.name;
      tree.first_body = i;
      tree.iq = body.iq;
      tree.iv = body.iv;
      model.trees.push_back(tree);
    } else {
      body.chain = model.bodies[at(body.parent)].chain;
      if (model.bodies[at(body.parent)].tree != static_cast<int>(model.trees.size()) - 1)
        throw InvalidInput("body '" + body.name + "': the bodies of a tree must be added one after another");
    }
    for (int k = 0; k < nv; ++k) body.chain.push_back(body.iv + k);
    if (body.chain.size() > longest_chain)
      throw InvalidInput("body '" + body.name + "': more than " + std::to_string(longest_chain) +
                         " degrees of freedom lie between it and the world");
    body.tree = static_cast<int>(model.trees.size()) - 1;
    Tree& tree = model.trees.back();
    ++tree.bodies;
    tree.nq += nq_of(body.joint);
    tree.nv += nv;
    tree.mass += body.inertia.mass;
    tree.carried += body.carried;
    const Mat3& I = body.inertia.about_com;
    tree.single = tree.bodies == 1 && body.joint == JointKind::Free && body.inertia.com.isZero(0) &&
                  (I - Mat3(I.diagonal().asDiagonal())).isZero(0) && body.X_PJ.p.isZero(0) &&
                  body.X_PJ.R.isIdentity(0) && body.carried == 0 &&
                  model.joints.armature.segment(tree.iv, tree.nv).isZero(0);
  }
}

}  // namespace

Model ModelBuilder::build() {
  if (model_.materials.empty()) add_material(Material{});
  Model& model = model_;
  check_names(model);
  make_trees(model);
  for (const Tree& tree : model.trees)
    if (!(tree.mass > 0)) throw InvalidInput("'" + tree.name + "' moves but has no mass");
  check_springs();
  model.self_collision_ = member_self_collision_;
  std::sort(model.excluded_.begin(), model.excluded_.end());
  std::sort(model.apart_.begin(), model.apart_.end());
  group_contact_classes();
  for (const Member& member : model.members)
    for (int foot : member.feet) check_geometry(foot, "a foot of '" + member.name + "'");
  model.surfaces_.clear();
  const std::size_t n = model.materials.size();
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const Material &x = model.materials[a], &y = model.materials[b];
      const auto given = pairs_.find(std::minmax(x.name, y.name));
      model.surfaces_.push_back(given != pairs_.end() ? given->second
                                : a == b              ? x.surface
                                                      : mixed(model.mixing, x.surface, y.surface));
    }
  for (const CollisionPair& pair : model.pairs) {
    model.pair_surface_[std::minmax(pair.geometry_a, pair.geometry_b)] = model.surfaces();
    model.surfaces_.push_back(pair.surface);
  }
  for (const auto& [names, pair] : pairs_)
    for (const std::string& name : {names.first, names.second})
      find_name("material", name, n, [&](std::size_t i) -> const std::string& { return model.materials[i].name; });
  model.set_hash();
  return std::exchange(*this, {}).model_;
}

}  // namespace tribo
