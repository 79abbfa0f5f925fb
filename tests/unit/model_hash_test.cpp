// The hash of a model covers all that changes the motion: each field of each struct is changed alone, through the builder.
#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "tribo/batch.hpp"
#include "tribo/model.hpp"

using namespace tribo;

namespace {

/// All that a model can be made of, as the builder takes it.
struct Parts {
  SurfacePair rubber, steel, between, own;
  MixingRule mixing = MixingRule::Minimum;
  bool set_between = true;
  Vec3 gravity{0, 0, -9.81};
  Body base, arm, tool;
  Geometry ball, box, hull, terrain, lid;
  Hull corners;
  HeightField heights;
  Frame tip;
  std::vector<int> feet{0};
  Actuator motor;
  Equality tie;
  KinematicBody belt;
  CollisionPair pair;
  std::pair<int, int> excluded{0, 2}, apart{0, 1};
  bool has_excluded = true, has_apart = true, has_pair = true;
  std::pair<std::uint32_t, std::uint32_t> contact_class{2, 1};
  bool has_class = true, robot = true, self_collision = false;
  std::function<void(JointProperties&)> joints = [](JointProperties&) {};
};

Parts parts() {
  Parts p;
  p.steel.mu_static = p.steel.mu_dynamic = 0.3;
  p.between.mu_static = 0.5;
  p.between.mu_dynamic = 0.4;
  p.own.mu_static = p.own.mu_dynamic = 0.9;
  p.base.name = "robot/base";
  p.arm.name = "robot/arm";
  p.tool.name = "robot/tool";
  for (Body* b : {&p.base, &p.arm, &p.tool}) b->inertia = solid_inertia(ShapeKind::Box, {0.1, 0.2, 0.3}, 2);
  p.arm.parent = 0;
  p.tool.parent = 1;
  p.arm.joint = JointKind::Revolute;
  p.tool.joint = JointKind::Prismatic;
  p.ball.name = "ball";
  p.ball.body = 1;
  p.ball.size = Vec3(0.1, 0, 0);
  p.box.name = "box";
  p.box.body = 0;
  p.box.kind = ShapeKind::Box;
  p.box.size = Vec3(0.1, 0.2, 0.3);
  p.hull.name = "hull";
  p.hull.body = 2;
  p.hull.kind = ShapeKind::Convex;
  p.corners = *make_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "hull");
  p.terrain.name = "terrain";
  p.terrain.kind = ShapeKind::HeightField;
  p.heights = {2, 2, 1, 1, {0, 0.1, 0.2, 0.3}};
  p.lid.name = "lid";
  p.lid.kind = ShapeKind::Sphere;
  p.lid.size = Vec3(0.1, 0, 0);
  p.tip = {"robot/tip", 2, {Mat3::Identity(), Vec3(0, 0, 0.1)}};
  p.motor.name = "motor";
  p.motor.ends = {{1, {2}, false}};
  p.motor.gain = {1, 0, 0};
  p.tie.name = "tie";
  p.tie.body_a = 0;
  p.belt.name = "belt";
  p.belt.motion.velocity = Vec3(0.1, 0, 0);
  p.belt.motion.angular_velocity = Vec3(0, 0, 0.1);
  p.belt.motion.swing = Vec3(0, 0, 0.2);
  p.belt.motion.frequency = 1;
  p.pair = {0, 3, p.own};
  return p;
}

Model build(const Parts& p) {
  ModelBuilder b;
  b.add_material({"rubber", p.rubber});
  b.add_material({"steel", p.steel});
  if (p.set_between) b.set_pair("rubber", "steel", p.between);
  b.set_mixing(p.mixing);
  b.set_gravity(p.gravity);
  const int member = b.begin_member("robot", p.robot, "test", p.self_collision);
  for (const Body& body : {p.base, p.arm, p.tool}) b.add_body(body);
  p.joints(b.joint_properties());
  KinematicBody belt = p.belt;
  const int given = b.add_kinematic_body(belt);
  Geometry hull = p.hull, terrain = p.terrain, lid = p.lid;
  hull.hull = std::make_shared<const Hull>(p.corners);
  terrain.terrain = std::make_shared<const HeightField>(p.heights);
  if (lid.body == -1) lid.body = given;
  for (const Geometry& g : {p.ball, p.box, hull, terrain, lid}) b.add_geometry(g);
  b.add_frame(p.tip);
  b.member(member).feet = p.feet;
  b.member(member).actuators = {p.motor};
  b.add_equality(p.tie);
  CollisionPair pair = p.pair;
  pair.surface = p.own;
  if (p.has_pair) b.add_pair(pair);
  if (p.has_excluded) b.exclude(p.excluded.first, p.excluded.second);
  if (p.has_apart) b.exclude_geometries(p.apart.first, p.apart.second);
  if (p.has_class) b.set_contact_class(2, p.contact_class.first, p.contact_class.second);
  return b.build();
}

using Change = std::function<void(Parts&)>;
struct Named {
  const char* what;
  Change change;
};

const double turn = 0.1;
Mat3 turned() { return Eigen::AngleAxisd(turn, Vec3::UnitX()).toRotationMatrix(); }

std::vector<Named> surface_changes(const char* what, SurfacePair Parts::*pair) {
  const auto at = [&](const char*, double SurfacePair::*field, double value) {
    return Named{what, [=](Parts& p) { (p.*pair).*field = value; }};
  };
  return {at("mu_static", &SurfacePair::mu_static, 0.95),
          at("mu_dynamic", &SurfacePair::mu_dynamic, 0.1),
          at("restitution", &SurfacePair::restitution, 0.5),
          at("restitution_speed", &SurfacePair::restitution_speed, 0.5),
          at("compliance", &SurfacePair::compliance, 1e-5),
          Named{what,  // which only a compliant surface has
                [=](Parts& p) {
                  (p.*pair).compliance = 1e-5;
                  (p.*pair).relaxation_time = 0.02;
                }},
          at("torsional", &SurfacePair::torsional, 0.01),
          at("rolling", &SurfacePair::rolling, 0.01),
          at("stiffness", &SurfacePair::stiffness, 2e5),
          at("damping", &SurfacePair::damping, 20),
          at("stiffness_tangential", &SurfacePair::stiffness_tangential, 3e5),
          at("damping_tangential", &SurfacePair::damping_tangential, 30)};
}

std::vector<Named> body_changes() {
  return {{"name", [](Parts& p) { p.arm.name = "robot/elbow"; }},
          {"parent", [](Parts& p) { p.tool.parent = 0; }},
          {"joint", [](Parts& p) { p.arm.joint = JointKind::Prismatic; }},
          {"X_PJ.p", [](Parts& p) { p.arm.X_PJ.p.y() = 0.1; }},
          {"X_PJ.R", [](Parts& p) { p.arm.X_PJ.R = turned(); }},
          {"axis", [](Parts& p) { p.arm.axis = Vec3::UnitX(); }},
          {"mass", [](Parts& p) { p.arm.inertia.mass = 3; }},
          {"com", [](Parts& p) { p.arm.inertia.com.x() = 0.1; }},
          {"about_com", [](Parts& p) { p.arm.inertia.about_com *= 1.1; }}};
}

std::vector<Named> joint_changes() {
  std::vector<Named> all;
  for (auto field : {&JointProperties::damping, &JointProperties::armature, &JointProperties::friction,
                     &JointProperties::effort_limit, &JointProperties::velocity_limit, &JointProperties::upper,
                     &JointProperties::stiffness})
    all.push_back({"joint property", [=](Parts& p) { p.joints = [=](JointProperties& j) { (j.*field)[6] = 0.5; }; }});
  all.push_back({"lower", [](Parts& p) { p.joints = [](JointProperties& j) { j.lower[6] = -0.5; }; }});
  all.push_back({"rest", [](Parts& p) { p.joints = [](JointProperties& j) { j.rest[7] = 0.5; }; }});
  return all;
}

std::vector<Named> geometry_changes() {
  return {{"name", [](Parts& p) { p.ball.name = "other"; }},
          {"body", [](Parts& p) { p.ball.body = 2; }},
          {"body, kinematic or not", [](Parts& p) { p.lid.body = 0; }},
          {"kind", [](Parts& p) { p.box.kind = ShapeKind::Ellipsoid; }},
          {"X_BG.p", [](Parts& p) { p.ball.X_BG.p.x() = 0.1; }},
          {"X_BG.R", [](Parts& p) { p.box.X_BG.R = turned(); }},
          {"size", [](Parts& p) { p.ball.size.x() = 0.2; }},
          {"material", [](Parts& p) { p.ball.material = 1; }},
          {"group", [](Parts& p) { p.box.group = 4; }},
          {"collides_with", [](Parts& p) { p.box.collides_with = 3; }},
          {"collides_with, the highest bit", [](Parts& p) { p.box.collides_with = 0x7fffffffu; }},
          {"hull vertex", [](Parts& p) { p.corners.vertices[1].x() *= 1.1; }},
          {"hull faces", [](Parts& p) { std::swap(p.corners.faces[0], p.corners.faces[1]); }},
          {"terrain spacing_x", [](Parts& p) { p.heights.spacing_x = 2; }},
          {"terrain spacing_y", [](Parts& p) { p.heights.spacing_y = 2; }},
          {"terrain heights", [](Parts& p) { p.heights.heights[3] = 0.4; }},
          {"terrain points",
           [](Parts& p) {
             p.heights.nx = 3;
             p.heights.heights = {0, 0.1, 0.2, 0.3, 0.4, 0.5};
           }},
          {"terrain points the other way", [](Parts& p) {
             p.heights.ny = 3;
             p.heights.heights = {0, 0.1, 0.2, 0.3, 0.4, 0.5};
           }}};
}

std::vector<Named> meeting_changes() {
  return {{"excluded bodies", [](Parts& p) { p.has_excluded = false; }},
          {"other excluded bodies",
           [](Parts& p) {
             p.excluded = {1, 2};
           }},
          {"geometries apart", [](Parts& p) { p.has_apart = false; }},
          {"other geometries apart",
           [](Parts& p) {
             p.apart = {0, 2};
           }},
          {"self-collision", [](Parts& p) { p.self_collision = true; }},
          {"pair", [](Parts& p) { p.has_pair = false; }},
          {"other pair", [](Parts& p) { p.pair.geometry_b = 4; }},
          {"contact class", [](Parts& p) { p.has_class = false; }},
          {"other contact class",
           [](Parts& p) {
             p.contact_class = {2, 2};
           }},
          {"material pair", [](Parts& p) { p.set_between = false; }},
          {"mixing",
           [](Parts& p) {
             p.set_between = false;
             p.mixing = MixingRule::Maximum;
           }},
          {"gravity", [](Parts& p) { p.gravity.x() = 0.1; }}};
}

std::vector<Named> equality_changes() {
  const auto weld = [](Parts& p) { p.tie.kind = EqualityKind::Weld; };
  const auto joint = [](Parts& p) {
    p.tie.kind = EqualityKind::Joint;
    p.tie.body_a = 1;
    p.tie.body_b = 2;
  };
  return {{"kind", weld},
          {"kind, of joints", joint},
          {"body_a", [](Parts& p) { p.tie.body_a = 1; }},
          {"body_b", [](Parts& p) { p.tie.body_b = 2; }},
          {"point_a", [](Parts& p) { p.tie.point_a.x() = 0.1; }},
          {"point_b", [](Parts& p) { p.tie.point_b.x() = 0.1; }},
          {"X_AB.p", [=](Parts& p) { weld(p), p.tie.X_AB.p.x() = 0.1; }},
          {"X_AB.R", [=](Parts& p) { weld(p), p.tie.X_AB.R = turned(); }},
          {"polynomial", [=](Parts& p) { joint(p), p.tie.polynomial[4] = 0.1; }},
          {"center", [=](Parts& p) { joint(p), p.tie.center = 0.1; }}};
}

std::vector<Named> motion_changes() {
  return {{"X_WB.p", [](Parts& p) { p.belt.X_WB.p.x() = 0.1; }},
          {"X_WB.R", [](Parts& p) { p.belt.X_WB.R = turned(); }},
          {"velocity", [](Parts& p) { p.belt.motion.velocity.x() = 0.2; }},
          {"angular_velocity", [](Parts& p) { p.belt.motion.angular_velocity.z() = 0.3; }},
          {"amplitude", [](Parts& p) { p.belt.motion.amplitude.y() = 0.1; }},
          {"swing", [](Parts& p) { p.belt.motion.swing.z() = 0.1; }},
          {"frequency", [](Parts& p) { p.belt.motion.frequency = 2; }},
          {"phase", [](Parts& p) { p.belt.motion.phase = 0.1; }}};
}

std::vector<Named> control_changes() {
  return {{"frame name", [](Parts& p) { p.tip.name = "robot/end"; }},
          {"frame body", [](Parts& p) { p.tip.body = 1; }},
          {"frame X_BF.p", [](Parts& p) { p.tip.X_BF.p.x() = 0.1; }},
          {"frame X_BF.R", [](Parts& p) { p.tip.X_BF.R = turned(); }},
          {"feet", [](Parts& p) { p.feet = {1}; }},
          {"no feet", [](Parts& p) { p.feet = {}; }},
          {"robot or object", [](Parts& p) { p.robot = false; }},
          {"actuator body", [](Parts& p) { p.motor.ends[0].body = 2; }},
          {"actuator gear", [](Parts& p) { p.motor.ends[0].gear[0] = 3; }},
          {"actuator in_parent", [](Parts& p) { p.motor.ends[0].in_parent = true; }},
          {"actuator ends",
           [](Parts& p) {
             p.motor.ends.push_back({2, {1}, false});
           }},
          {"actuator gain", [](Parts& p) { p.motor.gain[2] = 1; }},
          {"actuator bias", [](Parts& p) { p.motor.bias[1] = 1; }},
          {"control_lower", [](Parts& p) { p.motor.control_lower = -1; }},
          {"control_upper", [](Parts& p) { p.motor.control_upper = 1; }},
          {"force_lower", [](Parts& p) { p.motor.force_lower = -1; }},
          {"force_upper", [](Parts& p) { p.motor.force_upper = 1; }}};
}

}  // namespace

TEST_CASE("model: every field that changes the motion changes the hash, each in a way of its own") {
  const std::uint64_t plain = build(parts()).hash();
  CHECK(build(parts()).hash() == plain);
  std::set<std::uint64_t> seen{plain};
  for (const auto& list :
       {body_changes(), joint_changes(), geometry_changes(), meeting_changes(), equality_changes(), motion_changes(),
        control_changes(), surface_changes("rubber", &Parts::rubber), surface_changes("steel", &Parts::steel),
        surface_changes("between", &Parts::between), surface_changes("own", &Parts::own)})
    for (const Named& named : list) {
      CAPTURE(named.what);
      Parts p = parts();
      named.change(p);
      CHECK(seen.insert(build(p).hash()).second);
    }
  CHECK(seen.size() > 120);
}

TEST_CASE("model: factors on mass and friction make another model; factors of one do not") {
  const Model model = build(parts());
  CHECK(model.scaled({}).hash() == model.hash());
  const Model heavy = model.scaled({2, 1}), slick = model.scaled({1, 0.5});
  CHECK(std::set<std::uint64_t>{model.hash(), heavy.hash(), slick.hash(), model.scaled({2, 0.5}).hash()}.size() == 4);
  CHECK(heavy.mass() == 2 * model.mass());
  CHECK(heavy.bodies[1].inertia.about_com == Mat3(2 * model.bodies[1].inertia.about_com));
  CHECK(slick.surface(0, 1).mu_static == 0.5 * model.surface(0, 1).mu_static);
  CHECK(slick.surface(slick.surfaces() - 1).mu_dynamic == 0.5 * model.surface(model.surfaces() - 1).mu_dynamic);
  for (const ModelFactors& bad : {ModelFactors{0, 1}, ModelFactors{-1, 1}, ModelFactors{1, -0.1}})
    CHECK_THROWS_AS(model.scaled(bad), InvalidInput);
}

TEST_CASE("batch: a state of a world with other parameters is refused by name, or adopted where that is asked for") {
  const Scene scene =
      parse_scene("[ground]\n[[object]]\nname = \"box\"\nsize = 0.2\nmass = 1\nposition = [0, 0, 0.1]\n", "box");
  Batch batch(scene, 3, 1);
  batch.set_parameters(1, {1.5, 1, 1});
  batch.set_parameters(2, {1, 1, 2});  // gains are of controllers: the model is the same
  batch.step(5);
  CHECK(batch.state(1).model != batch.state(0).model);
  CHECK(batch.state(2).model == scene.model->hash());
  const auto refused = [&](int world, const State& state) {
    try {
      batch.set_state(world, state);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(2, batch.state(0)) == "");
  CHECK(refused(1, batch.state(1)) == "");
  CHECK(refused(1, batch.state(0)).find("world 1 has the model") != std::string::npos);
  CHECK(refused(1, batch.state(0)).find("parameters make it another") != std::string::npos);
  CHECK(refused(0, batch.state(1)).find("world 0 has the model") != std::string::npos);
  batch.step(7);
  const State from = batch.state(0);
  batch.set_state(1, from, true);
  CHECK(batch.state(1).q == from.q);
  CHECK(batch.state(1).model != from.model);
  CHECK(batch.state(1).memory.contacts.size() == from.memory.contacts.size());
  batch.reset(1);
  CHECK(batch.state(1).q == scene.start.q);
}
