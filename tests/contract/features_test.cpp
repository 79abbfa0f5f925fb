// Every stepper uses or refuses every feature, by name; docs/features.md says which.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "tribo/stepper.hpp"

using namespace tribo;

namespace {

// A pendulum and a box over the ground, without any feature but what `add` gives it.
Model model_with(const std::function<void(ModelBuilder&)>& add, SurfacePair surface = {}) {
  ModelBuilder builder;
  builder.add_material({"surface", surface});
  builder.add_ground({}, 0);
  builder.begin_member("arm", true, "test");
  for (int i = 0; i < 2; ++i) {
    Body body;
    body.name = "arm/" + std::to_string(i);
    body.parent = i - 1;
    body.joint = JointKind::Revolute;
    body.axis = Vec3::UnitY();
    body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 1);
    builder.add_body(body);
  }
  builder.add_object("box", ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 1, 0);
  add(builder);
  return builder.build();
}

Model with_surface(double SurfacePair::*field) {
  SurfacePair surface;
  surface.*field = 0.01;
  return model_with([](ModelBuilder&) {}, surface);
}

Model with_equality(EqualityKind kind) {
  return model_with([&](ModelBuilder& b) {
    Equality e;
    e.name = "tie";
    e.kind = kind;
    e.body_a = 1;
    e.body_b = 0;
    b.add_equality(e);
  });
}

Model with_shape(ShapeKind kind) {
  return model_with([&](ModelBuilder& b) {
    Geometry g;
    g.name = "shape";
    g.kind = kind;
    g.size = Vec3(0.1, 0.2, 0.3);
    if (kind == ShapeKind::HeightField)
      g.terrain = std::make_shared<HeightField>(HeightField{2, 2, 1, 1, {0, 0, 0, 0}});
    b.add_geometry(g);
  });
}

std::map<Feature, Model> models() {
  using enum Feature;
  auto joint = [](VecX JointProperties::*field, double value) {
    return model_with([=](ModelBuilder& b) { (b.joint_properties().*field)[1] = value; });
  };
  std::map<Feature, Model> all;
  all.emplace(JointLimits, joint(&JointProperties::upper, 1));
  all.emplace(JointDamping, joint(&JointProperties::damping, 1));
  all.emplace(JointFriction, joint(&JointProperties::friction, 1));
  all.emplace(JointStiffness, joint(&JointProperties::stiffness, 1));
  all.emplace(Connect, with_equality(EqualityKind::Connect));
  all.emplace(Weld, with_equality(EqualityKind::Weld));
  all.emplace(JointEquality, with_equality(EqualityKind::Joint));
  all.emplace(KinematicBodies, model_with([](ModelBuilder& b) { b.add_kinematic_body({"lift", {}, {}}); }));
  all.emplace(Restitution, with_surface(&SurfacePair::restitution));
  all.emplace(NormalCompliance, with_surface(&SurfacePair::compliance));
  all.emplace(TorsionalFriction, with_surface(&SurfacePair::torsional));
  all.emplace(RollingFriction, with_surface(&SurfacePair::rolling));
  all.emplace(Cylinders, with_shape(ShapeKind::Cylinder));
  all.emplace(Ellipsoids, with_shape(ShapeKind::Ellipsoid));
  all.emplace(Terrain, with_shape(ShapeKind::HeightField));
  all.emplace(Tendons, model_with([](ModelBuilder& b) {
                Tendon t;
                t.name = "cord";
                t.joints = {{0, 1}, {1, -1}};
                t.damping = 1;
                b.add_tendon(t);
              }));
  all.emplace(BallLimits, model_with([](ModelBuilder& b) {
                b.begin_member("ball", true, "test");
                Body body;
                body.name = "ball/0";
                body.joint = JointKind::Spherical;
                body.inertia = solid_inertia(ShapeKind::Box, Vec3(0.1, 0.2, 0.3), 1);
                const int index = b.add_body(body);
                b.joint_properties().upper[b.model().bodies[at(index)].iv] = 1;
              }));
  all.emplace(FreeFriction, model_with([](ModelBuilder& b) { b.joint_properties().friction[2] = 1; }));
  return all;
}

std::string refusal(const std::string& stepper, const Model& model) {
  try {
    make_stepper(stepper, model, {});
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each stepper takes each feature or refuses it by name") {
  const auto all = models();
  REQUIRE(all.size() == features().size());
  const Model plain = model_with([](ModelBuilder&) {});
  for (const StepperEntry& stepper : steppers()) {
    CAPTURE(stepper.name);
    CHECK(refusal(stepper.name, plain) == "");
    for (const FeatureEntry& entry : features()) {
      CAPTURE(entry.name);
      const Model& model = all.at(entry.feature);
      CHECK(entry.found(plain) == "");
      CHECK(entry.found(model) != "");
      for (const FeatureEntry& other : features())  // nothing but the one feature decides
        if (other.feature != entry.feature) CHECK(other.found(model) == "");
      const bool used = std::find(stepper.uses.begin(), stepper.uses.end(), entry.feature) != stepper.uses.end();
      const std::string message = refusal(stepper.name, model);
      CHECK((message == "") == used);
      if (used) continue;
      CHECK(message.find(entry.name) != std::string::npos);
      CHECK(message.find("'" + stepper.name + "'") != std::string::npos);
    }
  }
}

TEST_CASE("docs/features.md is what `tribo list features --page` prints") {
  std::ifstream file(TRIBO_SCENES "/../docs/features.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == feature_page());
}
