// The nouns of worlds: what the builder refuses, which pairs meet, how kinematic bodies move, and how scenes say it.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tribo/scene.hpp"

using namespace tribo;

namespace {

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ModelBuilder two_boxes() {
  ModelBuilder builder;
  builder.add_material({"wood", {}});
  builder.add_object("a", ShapeKind::Box, Vec3(0.1, 0.1, 0.1), 1, 0);
  builder.add_object("b", ShapeKind::Box, Vec3(0.1, 0.1, 0.1), 1, 0);
  return builder;
}

const char* box = "[[object]]\nname = \"box\"\nsize = 0.1\nmass = 1\n";

}  // namespace

TEST_CASE("kinematic body: the mean twist of a step takes it from pose to pose") {
  KinematicBody body;
  body.X_WB = {Eigen::AngleAxisd(0.3, Vec3::UnitX()).toRotationMatrix(), Vec3(1, 2, 3)};
  body.motion.velocity = Vec3(0.1, -0.2, 0.3);
  body.motion.amplitude = Vec3(0.5, 0, 0.2);
  body.motion.angular_velocity = Vec3(0, 0.4, 0);
  body.motion.swing = Vec3(0, 0.6, 0);
  body.motion.frequency = 0.7;
  body.motion.phase = 0.2;
  CHECK((body.pose(0).p - Vec3(1, 2, 3)).norm() < 1e-15);
  for (double dt : {1e-3, 0.1, 2.0}) {
    const double t = 1.3;
    const Twist twist = mean_twist(body, t, dt);
    const Placement before = body.pose(t), after = body.pose(t + dt);
    CHECK((before.p + dt * twist.v - after.p).norm() < 1e-13);
    const Vec3 angle = dt * twist.w;
    const Mat3 turned = Eigen::AngleAxisd(angle.norm(), angle.normalized()).toRotationMatrix() * before.R;
    CHECK((turned - after.R).cwiseAbs().maxCoeff() < 1e-13);
  }
}

TEST_CASE("an index of what was not added is refused where it is given, and nothing is added") {
  ModelBuilder builder = two_boxes();
  KinematicBody belt;
  belt.name = "belt";
  REQUIRE(builder.add_kinematic_body(belt) == -2);
  auto geometry = [](int body, int material) {
    Geometry g;
    g.name = "g";
    g.size = Vec3(0.1, 0.1, 0.1);
    g.body = body;
    g.material = material;
    return g;
  };
  auto hinge = [](int parent) {
    Body body;
    body.name = "hinge";
    body.parent = parent;
    body.joint = JointKind::Revolute;
    body.inertia = solid_inertia(ShapeKind::Sphere, Vec3(0.1, 0.1, 0.1), 1);
    return body;
  };
  Equality weld;
  weld.name = "w";
  weld.body_a = 0;
  for (int i : {2, 3, 1000000, -4, -1000000}) {  // two bodies, two geometries, one material, one kinematic body
    CAPTURE(i);
    weld.body_b = i;
    const std::string index = std::to_string(i);
    for (const auto& act : std::vector<std::function<void()>>{
             [&] { builder.add_body(hinge(i)); }, [&] { builder.add_geometry(geometry(i, 0)); },
             [&] { builder.add_geometry(geometry(0, i)); }, [&] { builder.add_ground({}, i); },
             [&] { builder.add_object("c", ShapeKind::Sphere, Vec3(1, 1, 1), 1, i); },
             [&] {
               builder.add_frame({"f", i, {}});
             },
             [&] { builder.exclude(0, i); }, [&] { builder.exclude(i, 0); }, [&] { builder.exclude_geometries(0, i); },
             [&] { builder.set_contact_class(i, 1, 1); },
             [&] {
               builder.add_pair({0, i, {}});
             },
             [&] { builder.add_equality(weld); }, [&] { builder.member(i).feet.clear(); }}) {
      const std::string text = refusal(act);
      CHECK(has(text, index));
      CHECK(has(text, "must be"));
    }
  }
  CHECK(has(refusal([&] { builder.add_body(hinge(-2)); }), "parent = -2"));  // a kinematic body carries no joint
  CHECK(has(refusal([&] { builder.add_ground({}, 1); }), "material = 1, must be from 0 to 0"));
  builder.add_geometry(geometry(-2, 0));
  builder.member(0).feet.push_back(7);
  CHECK(has(refusal([&] { builder.build(); }), "a foot of 'a': geometry = 7, must be from 0 to 2"));
  builder.member(0).feet = {0};
  const Model model = builder.build();  // after one that was refused
  CHECK(model.bodies.size() == 2);
  CHECK(model.trees.size() == 2);
  CHECK(model.geometries.size() == 3);
  CHECK(model.surfaces() == 1);
  CHECK(builder.model().nq == 0);
}

TEST_CASE("pairs that were added meet on their own surface, whatever groups and exclusions say") {
  for (bool added : {false, true}) {
    ModelBuilder builder = two_boxes();
    Geometry shy;
    shy.name = "shy";
    shy.kind = ShapeKind::Sphere;
    shy.size = Vec3(0.1, 0, 0);
    shy.body = 1;
    shy.group = 2;
    shy.collides_with = 2;
    builder.add_geometry(shy);
    builder.exclude(0, 1);
    SurfacePair ice;
    ice.mu_static = ice.mu_dynamic = 0.01;
    if (added) builder.add_pair({0, 2, ice});
    const Model model = builder.build();
    CHECK(!model.may_collide(0, 1));
    CHECK(model.may_collide(0, 2) == added);
    CHECK(model.may_collide(2, 0) == added);
    CHECK(model.surface(model.surface_index(2, 0)).mu_static == (added ? 0.01 : 0.7));
  }
}

TEST_CASE("the builder refuses what makes no sense, by name") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto equality = [](const std::function<void(Equality&)>& change) {
    return refusal([&] {
      ModelBuilder builder = two_boxes();
      Equality e;
      e.name = "tie";
      e.body_a = 0;
      e.body_b = 1;
      change(e);
      builder.add_equality(e);
    });
  };
  CHECK(equality([](Equality&) {}) == "");
  CHECK(has(equality([](Equality& e) { e.body_b = 0; }), "'tie': ties a body to itself"));
  CHECK(has(equality([](Equality& e) { e.body_b = 7; }), "must be from -1 to"));
  CHECK(has(equality([](Equality& e) { e.body_b = kinematic_body(0); }), "must be from -1 to"));
  CHECK(has(equality([&](Equality& e) { e.point_a.x() = nan; }), "not finite"));
  CHECK(has(equality([](Equality& e) { e.kind = EqualityKind::Joint; }), "neither revolute nor prismatic"));
  CHECK(has(equality([](Equality& e) { e.kind = EqualityKind::Weld, e.X_AB.R *= 2; }), "not a rotation"));
  CHECK(has(refusal([] {
              ModelBuilder builder = two_boxes();
              builder.joint_properties().stiffness[0] = 3;
              builder.build();
            }),
            "a free joint has no spring"));
  CHECK(has(refusal([&] {
              ModelBuilder builder = two_boxes();
              KinematicBody body;
              body.name = "lift";
              body.motion.frequency = -1;
              builder.add_kinematic_body(body);
            }),
            "frequency = -1"));
  CHECK(has(refusal([] {
              ModelBuilder builder = two_boxes();
              Geometry land;
              land.name = "land";
              land.kind = ShapeKind::HeightField;
              land.terrain = std::make_shared<HeightField>(HeightField{2, 3, 1, 1, {0, 0, 0}});
              builder.add_geometry(land);
            }),
            "2 x 3 points with 3 heights"));
  SurfacePair surface;
  surface.rolling = -1;
  CHECK(has(refusal([&] {
              ModelBuilder builder;
              builder.add_material({"tyre", surface});
            }),
            "rolling = -1"));
}

TEST_CASE("scenes say terrain, kinematic bodies, equalities, groups and friction lengths") {
  const Scene scene =
      parse_scene(std::string(box) +
                      "group = [1, 3]\ncollides_with = [0]\n"
                      "[[terrain]]\nspacing = [0.1, 0.2]\nheights = [[0, 1, 2], [3, 4, 5]]\n"
                      "[[kinematic]]\nname = \"lift\"\nshape = \"cylinder\"\nradius = 0.2\nlength = 0.1\n"
                      "velocity = [0, 0, 1]\n"
                      "[[equality]]\nkind = \"weld\"\na = \"lift\"\nb = \"box\"\nposition = [0, 0, 1]\n"
                      "[material.default]\ntorsional = 0.01\nrolling = 0.02\n"
                      "[contact]\nmixing = \"maximum\"\n",
                  "test.toml");
  const Model& model = *scene.model;
  REQUIRE(model.kinematic.size() == 1);
  REQUIRE(model.equalities.size() == 1);
  CHECK(model.equalities[0].body_a == kinematic_body(0));
  CHECK(model.equalities[0].X_AB.p.z() == 1);
  CHECK(model.surface(0).torsional == 0.01);
  CHECK(model.surface(0).rolling == 0.02);
  CHECK(model.mixing == MixingRule::Maximum);
  int found = 0;
  for (const Geometry& g : model.geometries) {
    if (g.kind == ShapeKind::HeightField) {
      ++found;
      CHECK(g.terrain->nx == 3);
      CHECK(g.terrain->ny == 2);
      CHECK(g.terrain->heights[4] == 4);
      CHECK(g.terrain->spacing_y == 0.2);
    }
    if (g.kind == ShapeKind::Cylinder) ++found;
    if (g.name == "box") {
      ++found;
      CHECK(g.group == (1u << 1 | 1u << 3));
      CHECK(g.collides_with == 1u);
    }
  }
  CHECK(found == 3);
  auto error = [&](const std::string& text) {
    return refusal([&] { parse_scene(std::string(box) + text, "test.toml"); });
  };
  CHECK(has(error("[[equality]]\na = \"bix\"\nb = \"world\"\n"), "did you mean 'box'"));
  CHECK(has(error("[[terrain]]\nspacing = 0.1\npoints = [1, 5]\n"), "from 2 to 16384"));
  CHECK(has(error("[[terrain]]\nspacing = 0.1\nheights = [[0, 1], [2]]\n"), "every row must be as long"));
  CHECK(has(error("[[kinematic]]\nsize = 1\nvelosity = [0, 0, 1]\n"), "velocity"));
  CHECK(has(error("[[moved]]\nsize = 1\n"), "'moved' is called 'kinematic' now"));
  CHECK(has(error("group = [40]\n"), "from 0 to 31"));
}
