// What of a robot touches the ground, and that nothing of it begins or sinks in it.
#include <doctest/doctest.h>

#include <cmath>

#include "dynamics/clearance.hpp"
#include "readers/foot_shapes.hpp"
#include "scene/find_scene.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

Lowest lowest(const Scene& scene, const VecX& q) { return lowest_points(*scene.model, q, 0, Vec3::UnitZ()); }

Scene robot(const std::string& name, const std::string& rest = "") {
  return parse_scene("[robot]\nmodel = \"" + name + "\"\n" + rest, "x.toml");
}

Geometry box(const Vec3& half, const Vec3& p) {
  Geometry g;
  g.name = "box";
  g.body = 3;
  g.kind = ShapeKind::Box;
  g.size = half;
  g.X_BG.p = p;
  return g;
}

Geometry point(const Vec3& p) {
  Geometry g;
  g.body = 3;
  g.kind = ShapeKind::Point;
  g.X_BG.p = p;
  return g;
}

std::vector<std::string> overlaps(const Scene& scene) {
  std::vector<std::string> found;
  for (const std::string& text : scene.warnings)
    if (text.find("overlap") != std::string::npos) found.push_back(text);
  return found;
}

double extreme(const Geometry& g, const Vec3& up) { return lowest_point(g, g.X_BG, up); }

}  // namespace

TEST_CASE("every robot by name begins clear of the ground and does not sink into it without a controller") {
  for (const RobotEntry& entry : robots()) {
    INFO(entry.name);
    const Scene scene = find_scene({entry.name, "none", {}});
    const Lowest start = lowest(scene, scene.start.q);
    REQUIRE(std::isfinite(start.moving));
    CHECK(start.moving > -1e-6);
    CHECK(start.fixed > -5e-3);  // the base of an arm, which never touches the ground
    Simulation simulation = make_simulation(scene);
    double deepest = 0;
    for (int k = 0; k < 200; ++k) {
      simulation.step();
      if (k % 20 == 19) deepest = std::min(deepest, lowest(scene, simulation.state().q).moving);
    }
    CHECK(simulation.state().t == doctest::Approx(0.2));
    CHECK(deepest > -1e-3);
  }
}

TEST_CASE("contact: all shapes by default, and feet alone where asked for; both stand on the feet") {
  for (const char* name : {"solo12", "solo8", "bolt", "talos", "romeo", "icub", "go2", "g1", "anymal_c"}) {
    INFO(std::string(name));
    const Scene all = robot(name), feet = robot(name, "contact = \"feet\"\n");
    const std::size_t n = feet.model->members[0].feet.size();
    CHECK(n > 0);
    CHECK(feet.model->geometries.size() == n + 1);  // and the ground
    CHECK(all.model->members[0].feet.size() == n);
    CHECK(all.model->geometries.size() > 2 * n);
    CHECK(all.start.q == feet.start.q);
  }
  CHECK(robot("solo12", "contact = \"none\"\n").model->geometries.size() == 1);
}

TEST_CASE("contact: feet that the scene names stand beside the shapes of the file") {
  const Scene scene = robot("talos", "feet = [\"left_sole_link\", \"right_sole_link\"]\n");
  CHECK(scene.model->members[0].feet.size() == 2);
  CHECK(scene.model->geometries.size() > 40);
}

TEST_CASE("contact: a shape is cut as far as the ground would meet it before the foot") {
  // A leg of 2 cm by 2 cm from z = 0 to -0.2 that ends 1 cm beyond its foot. Ground tilted by 60 degrees meets the edge
  // of a cut, 1 cm sqrt(2) from the axis, together with the foot where the cut is tan(60 degrees) times that above it.
  const std::vector<Geometry> foot{point({0, 0, -0.19})};
  Geometry leg = box({0.01, 0.01, 0.1}, {0, 0, -0.1});  // its joint is at the origin
  REQUIRE(clear_feet(leg, foot));
  const double level = -0.19 + 0.01 * std::sqrt(2.0) * std::tan(M_PI / 3);
  CHECK(leg.kind == ShapeKind::Convex);
  CHECK(extreme(leg, Vec3::UnitZ()) > level - 1e-9);
  CHECK(extreme(leg, Vec3::UnitZ()) < level + 0.2 / 32);  // the grid of cuts
  CHECK(extreme(leg, -Vec3::UnitZ()) == doctest::Approx(0).epsilon(1e-12));
  CHECK(extreme(leg, Vec3::UnitX()) == doctest::Approx(-0.01).epsilon(1e-12));
}

TEST_CASE("contact: shapes that the foot shields are kept as they are, and what lies about the foot is left out") {
  const std::vector<Geometry> foot{point({0, 0, -0.19})};
  Geometry above = box({0.01, 0.01, 0.05}, {0, 0, -0.05}), about = box({0.02, 0.02, 0.02}, {0, 0, -0.185});
  CHECK(clear_feet(above, foot));
  CHECK(above.kind == ShapeKind::Box);
  CHECK_FALSE(clear_feet(about, foot));
  about.body = 4;  // another body: not the foot's
  CHECK(clear_feet(about, foot));
  Geometry ball = about;
  ball.body = 3;
  ball.kind = ShapeKind::Sphere;
  CHECK_FALSE(clear_feet(ball, foot));
  // A sole at the corners of the shape stands in for it, one that is set back does not.
  for (double inset : {0.0, 0.01}) {
    std::vector<Geometry> sole;
    for (double x : {-0.1, 0.1})
      for (double y : {-0.05, 0.05}) sole.push_back(point({x * (1 - 10 * inset), y * (1 - 10 * inset), 0}));
    Geometry shape = box({0.1, 0.05, 0.04}, {0, 0, 0.04});
    CHECK(clear_feet(shape, sole));
    CHECK((shape.kind == ShapeKind::Box) == (inset == 0));
  }
}

TEST_CASE("contact: a fixed base is lifted out of the ground, unless the scene places it") {
  for (const char* name : {"allegro", "allegro_left", "finger_edu"}) {
    INFO(std::string(name));
    const Scene scene = robot(name);
    CHECK(std::abs(lowest(scene, scene.start.q).moving) < 1e-9);  // it begins on the ground
    CHECK(overlaps(scene).empty());
  }
  const Scene high = robot("allegro", "[ground]\nheight = 0.5\n");
  CHECK(std::abs(lowest(high, high.start.q).moving - 0.5) < 1e-9);
  const Scene placed = robot("allegro", "position = [0, 0, 0]\n");
  CHECK(lowest(placed, placed.start.q).moving < -0.05);
  REQUIRE(overlaps(placed).size() == 6);  // the deepest five, and how many more
  const std::string deepest = "'ground' and 'allegro/link_15.0_tip_0' overlap at the start by";
  CHECK(overlaps(placed)[0].find(deepest) != std::string::npos);
  // An arm stands where its file says.
  const Scene arm = robot("ur10");
  CHECK(arm.model->frames[at(arm.model->frame("base_link"))].X_BF.p == Vec3(Vec3::Zero()));
}

TEST_CASE("robot: links and shapes have materials of their own") {
  const std::string surfaces = "[material.ice]\nmu = 0.1\n[material.rubber]\nmu = 1.0\n";
  auto material_of = [](const Scene& scene, const std::string& geometry) {
    for (const Geometry& g : scene.model->geometries)
      if (g.name == geometry) return scene.model->materials[at(g.material)].name;
    return std::string("no such geometry");
  };
  const std::string feet = "\"*foot\" = \"rubber\"";
  const Scene go2 = robot("go2", "materials = { " + feet + ", FR_foot = \"ice\", base = \"ice\" }\n" + surfaces);
  int rubber = 0, ice = 0, rest = 0;
  for (const Geometry& g : go2.model->geometries) {
    const std::string& name = go2.model->materials[at(g.material)].name;
    (name == "rubber" ? rubber : name == "ice" ? ice : rest) += 1;
    if (g.name.find("FL_foot") != std::string::npos) CHECK(name == "rubber");
    if (g.name.find("FR_foot") != std::string::npos) CHECK(name == "ice");
  }
  CHECK(rubber >= 3);
  CHECK(ice >= 2);
  CHECK(rest > 0);
  CHECK_THROWS_WITH(robot("go2", "materials = { FL_fot = \"ice\" }\n" + surfaces), doctest::Contains("FL_foot"));
  CHECK_THROWS_WITH(robot("go2", "materials = { FL_foot = \"icy\" }\n" + surfaces), doctest::Contains("ice"));
  CHECK_THROWS_WITH(robot("go2", "materials = { FL_foot = 1 }\n" + surfaces), doctest::Contains("materials.FL_foot"));
  const Scene links = parse_scene("[robot]\n[[robot.link]]\nname = \"a\"\nmass = 1\nsize = 0.1\nmaterial = \"ice\"\n" +
                                      std::string("[[robot.link]]\nname = \"b\"\nmass = 1\nsize = 0.1\n") + surfaces,
                                  "x.toml");
  CHECK(material_of(links, "chain/a") == "ice");
  CHECK(material_of(links, "chain/b") == "default");
}
