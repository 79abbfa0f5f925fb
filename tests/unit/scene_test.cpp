// Scene files: what they say is what the model and the state hold, and what is wrong is told with its line.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "tribo/dynamics.hpp"
#include "tribo/model_changes.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

std::string refusal(const std::string& text, const std::vector<Override>& overrides = {}) {
  try {
    parse_scene(text, "bad.toml", overrides);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

const std::string cube = "[[object]]\nname = \"cube\"\nsize = 0.2\nmass = 1.0\nposition = [1.0, 2.0, 3.0]\n";
const std::string chain =
    "[robot]\nname = \"arm\"\n[[robot.link]]\nname = \"a\"\nsize = 0.1\nmass = 1.0\neffort_limit = 10.0\n"
    "[[robot.link]]\nname = \"b\"\nsize = 0.1\nmass = 2.0\nposition = [0.0, 0.0, -1.0]\n";

}  // namespace

TEST_CASE("scene: an object is where it is said to be, and moves as it is said to") {
  const Scene scene = parse_scene(
      "[[object]]\nshape = \"capsule\"\nradius = 0.1\nlength = 0.5\nmass = 2\n"
      "position = [1, 2, 3]\nrpy = [0, 0, 1.5707963267948966]\nvelocity = [4, 5, 6]\n"
      "angular_velocity = [1, 0, 0]\n",
      "x.toml");
  CHECK(scene.model->members[0].name == "object1");
  CHECK(scene.model->geometries.size() == 2);  // and the ground
  const Geometry& g = scene.model->geometries[1];
  CHECK(g.size == Vec3(0.1, 0, 0.25));
  Dynamics dynamics(*scene.model);
  dynamics.compute(scene.start.q, scene.start.v);
  CHECK((dynamics.X_WB(0).p - Vec3(1, 2, 3)).norm() == 0);
  // A quarter turn about z sends x to y.
  CHECK((dynamics.X_WB(0).R.col(0) - Vec3::UnitY()).norm() < 1e-15);
  CHECK((dynamics.body_velocity(0).lin - Vec3(4, 5, 6)).norm() < 1e-14);
  CHECK((dynamics.body_velocity(0).ang - Vec3(1, 0, 0)).norm() < 1e-15);
}

TEST_CASE("scene: Solo's feet stand on the ground, or as high above it as asked") {
  for (const double drop : {0.0, 0.05}) {
    for (const std::string ground : {"", "[ground]\nheight = 0.3\nnormal = [0.1, 0.0, 1.0]\n"}) {
      const Scene scene =
          parse_scene("[robot]\nmodel = \"solo12\"\ndrop = " + std::to_string(drop) + "\n" + ground, "x.toml");
      const Model& model = *scene.model;
      Dynamics dynamics(model);
      dynamics.compute(scene.start.q, scene.start.v);
      double low = 1e9;
      const Geometry& plane = model.geometries[0];
      for (int foot : model.members[0].feet) {
        const Geometry& g = model.geometries[at(foot)];
        low = std::min(low, plane.X_BG.R.col(2).dot(dynamics.X_WB(g.body) * g.X_BG.p - plane.X_BG.p));
      }
      CHECK(low == doctest::Approx(drop).epsilon(1e-12));
    }
  }
}

TEST_CASE("scene: a pose with the base is taken as it is") {
  const std::string base = "0.3, -0.2, 0.7, 0, 0, 0.6, 0.8",
                    joints = ", 0, 0.8, -1.6, 0, 0.8, -1.6, 0, -0.8, 1.6, 0, -0.8, 1.6";
  const std::string robot = "[robot]\nmodel = \"solo12\"\npose = [" + base + joints + "]\n";
  const Scene scene = parse_scene(robot, "pose.toml");
  const double wanted[] = {0.3, -0.2, 0.7, 0, 0, 0.6, 0.8, 0, 0.8, -1.6};
  for (int i = 0; i < 10; ++i) CHECK(scene.start.q[i] == doctest::Approx(wanted[i]).epsilon(1e-14));
  CHECK(parse_scene(robot + "drop = 0.1\n", "pose.toml").start.q[2] < 0.5);
  CHECK(parse_scene("[robot]\nmodel = \"solo12\"\npose = [" + joints.substr(2) + "]\n", "pose.toml").start.q[2] < 0.5);
}

TEST_CASE("scene: a controller 'none' is no controller") {
  const Scene scene = parse_scene("[robot]\nmodel = \"solo12\"\n[controller]\nname = \"none\"\n", "none.toml");
  CHECK(scene.controllers.empty());
  CHECK_THROWS_WITH(parse_scene("[robot]\nmodel = \"solo12\"\n[controller]\nname = \"none\"\nkp = 1\n", "none.toml"),
                    doctest::Contains("kp"));
}

TEST_CASE("scene: a grid of objects is reproducible, and jitter follows its seed") {
  const std::string text = cube + "grid = [2, 3, 4]\nspacing = [0.3, 0.4, 0.5]\n";
  const Scene plain = parse_scene(text, "x.toml");
  REQUIRE(plain.model->members.size() == 24);
  CHECK((plain.start.q.segment<3>(7 * 23) - Vec3(1.3, 2.8, 4.5)).norm() < 1e-14);
  const Scene a = parse_scene(text + "jitter = 0.01\nseed = 1\n", "x.toml");
  const Scene b = parse_scene(text + "jitter = 0.01\nseed = 1\n", "x.toml");
  const Scene c = parse_scene(text + "jitter = 0.01\nseed = 2\n", "x.toml");
  CHECK(hash(a.start) == hash(b.start));
  CHECK(hash(a.start) != hash(c.start));
  CHECK((a.start.q - plain.start.q).lpNorm<Eigen::Infinity>() <= 0.01);
}

TEST_CASE("scene: materials, their pairs, and the default") {
  const Scene scene = parse_scene(
      cube +
          "material = \"ice\"\n[material.default]\nmu = 0.5\nstiffness = 7e4\n[material.ice]\nmu_static = 0.2\n"
          "mu_dynamic = 0.1\n[material.rubber]\nmu = 1.0\n[[material_pair]]\nmaterials = [\"ice\", \"rubber\"]\nmu = "
          "0.3\n",
      "x.toml");
  const Model& model = *scene.model;
  auto index = [&](const std::string& name) {
    for (std::size_t i = 0; i < model.materials.size(); ++i)
      if (model.materials[i].name == name) return static_cast<int>(i);
    return -1;
  };
  CHECK(model.surface(index("default"), index("ice")).mu_static == 0.2);  // the smaller of the two
  CHECK(model.surface(index("default"), index("ice")).mu_dynamic == 0.1);
  CHECK(model.surface(index("rubber"), index("ice")).mu_static == 0.3);
  CHECK(model.surface(index("rubber"), index("rubber")).stiffness == 7e4);
  CHECK(model.geometries[1].material == index("ice"));
}

TEST_CASE("scene: links hang on each other, with copies") {
  const Scene scene = parse_scene(
      "[robot]\nposition = [0, 0, 2]\n[[robot.link]]\nname = \"l\"\nsize = [0.02, 0.03, 0.5]\n"
      "mass = 0.3\ncom = [0, 0, -0.25]\ncount = 3\noffset = [0, 0, -0.5]\ndamping = 1e-4\nangle = 0.5\n",
      "x.toml");
  const Model& model = *scene.model;
  REQUIRE(model.nv == 3);
  CHECK(model.bodies[2].parent == 1);
  CHECK(model.joints.damping == VecX::Constant(3, 1e-4));
  Dynamics dynamics(model);
  dynamics.compute(scene.start.q, scene.start.v);
  // Each joint turns by 0.5 rad about y: the third link begins at the sum of two rods.
  const Vec3 tip = Vec3(0, 0, 2) - 0.5 * Vec3(std::sin(0.5) + std::sin(1.0), 0, std::cos(0.5) + std::cos(1.0));
  CHECK((dynamics.X_WB(2).p - tip).norm() < 1e-14);
  CHECK_FALSE(model.may_collide(1, 3));
}

TEST_CASE("scene: gravity fed forward balances a standing robot") {
  const Scene scene =
      parse_scene("[robot]\nmodel = \"talos\"\n[controller]\nkp = 10\nfeedforward = \"gravity\"\n", "x.toml");
  const VecX& tau = scene.controllers.at(0).pd->tau_ff;
  CHECK(tau.head(6).norm() == 0);
  // Independent: h - tau must be the work of forces at the feet alone, so that it vanishes on motions that keep them.
  const Model& model = *scene.model;
  Dynamics dynamics(model);
  dynamics.compute(scene.start.q, VecX::Zero(model.nv));
  MatX J = MatX::Zero(3 * 8, model.nv);
  for (int f = 0; f < 8; ++f) {
    const Geometry& g = model.geometries[at(model.members[0].feet[at(f)])];
    for (int k = 0; k < 3; ++k) {
      VecX row = VecX::Zero(model.nv);
      dynamics.add_force(g.body, dynamics.X_WB(g.body) * g.X_BG.p, Vec3::Unit(k), row);
      J.row(3 * f + k) = row;
    }
  }
  const VecX rest = dynamics.h() - tau;
  const Eigen::FullPivLU<MatX> lu(J);
  CHECK((lu.kernel().transpose() * rest).norm() < 1e-8 * rest.norm());
}

TEST_CASE("scene: gains by name, the later pattern wins") {
  const Scene scene = parse_scene(
      "[robot]\nmodel = \"solo12\"\n[controller]\nkp = {\"*\" = 1.0, \"*_KFE\" = 3.0}\nkd = 0.5\n", "x.toml");
  const PdOptions& pd = scene.controllers.at(0).pd.value();
  const Body& knee = scene.model->bodies[at(scene.model->body("solo12/HR_KFE"))];
  CHECK(pd.kp.head(6).norm() == 0);
  CHECK(pd.kp[knee.iv] == 3);
  CHECK(pd.kp[knee.iv - 1] == 1);
  CHECK(pd.kd.tail(12) == VecX::Constant(12, 0.5));
}

TEST_CASE("scene: what the file says of its joints can be corrected, for all or by name") {
  const std::string hand = "[robot]\nmodel = \"allegro\"\n";
  auto friction = [](const Scene& scene, const char* joint) {
    return scene.model->joints.friction[scene.model->bodies[at(scene.model->body(std::string("allegro/") + joint))].iv];
  };
  CHECK(friction(parse_scene(hand, "x.toml"), "joint_1.0") == 5);  // as in the URDF
  CHECK(parse_scene(hand + "friction = 0.0\n", "x.toml").model->joints.friction.norm() == 0);
  const Scene one = parse_scene(hand + "friction = {\"joint_1.0\" = 0.25}\n", "x.toml");
  CHECK(friction(one, "joint_1.0") == 0.25);
  CHECK(friction(one, "joint_0.0") == 10);
}

TEST_CASE("scene: effort limits are lifted, set and scaled, for all or by name") {
  const std::string ur5 = "[robot]\nmodel = \"ur5\"\n";
  const Model file = *parse_scene(ur5, "x.toml").model;
  const auto limits = [&](const std::string& keys) {
    return parse_scene(ur5 + keys, "x.toml").model->joints.effort_limit;
  };
  CHECK(limits("effort_scale = 1.5\n") == VecX(1.5 * file.joints.effort_limit));
  CHECK(limits("effort_limit = 12\n") == VecX::Constant(6, 12));
  CHECK(limits("effort_limit = \"none\"\n").array().isInf().all());
  VecX some = file.joints.effort_limit;
  some[2] = 7;
  some[0] *= 2;
  CHECK(limits("effort_limit = {elbow_joint = 7}\neffort_scale = {shoulder_pan_joint = 2}\n") == some);
  CHECK(refusal(ur5 + "effort_limit = \"off\"\n").find("none") != std::string::npos);
  CHECK(refusal(ur5 + "effort_scale = -1\n").find("effort_scale") != std::string::npos);
}

TEST_CASE("scene: masses by link, with the moments of inertia, and with the hash of a change at run time") {
  const std::string text = "[robot]\nmodel = \"ur5\"\n";
  const Model file = *parse_scene(text, "x.toml").model;
  const Scene scene = parse_scene(text + "masses = {forearm_link = 5, wrist_3_link = 1.5}\n", "x.toml");
  const Model& model = *scene.model;
  const int arm = file.place("forearm_link").body, hand = file.place("wrist_3_link").body;
  const double factor = 5 / file.bodies[at(arm)].inertia.mass;
  CHECK(model.bodies[at(arm)].inertia.mass == 5);
  CHECK(model.bodies[at(arm)].inertia.com == file.bodies[at(arm)].inertia.com);
  CHECK((model.bodies[at(arm)].inertia.about_com - factor * file.bodies[at(arm)].inertia.about_com).norm() < 1e-15);
  CHECK(model.mass() == doctest::Approx(file.mass() + 5 + 1.5 - file.bodies[at(arm)].inertia.mass -
                                        file.bodies[at(hand)].inertia.mass));
  ModelChanges changes;
  changes.mass = {{arm, 5}, {hand, 1.5}};
  CHECK(model.hash() == changed(file, changes).hash());
  CHECK(refusal(text + "masses = {forearm = 5}\n").find("forearm") != std::string::npos);
  CHECK(refusal(text + "masses = {forearm_link = 0}\n").find("masses.forearm_link") != std::string::npos);
  CHECK(refusal(text + "masses = 3\n").find("must be a table") != std::string::npos);
}

TEST_CASE("scene: soles of four points and balls at frames that the scene names") {
  const Scene scene = parse_scene(
      "[robot]\nmodel = \"solo12\"\ncontact = \"feet\"\n[robot.feet]\nframes = [\"FL_FOOT\", \"HR_FOOT\"]\n"
      "points = [[0.02, 0.01, 0], [0.02, -0.01, 0], [-0.02, 0.01, 0], [-0.02, -0.01, 0]]\nradius = 0.005\n",
      "x.toml");
  const Model& model = *scene.model;
  REQUIRE(model.members[0].feet.size() == 8);
  const Frame& frame = model.frames[at(model.frame("HR_FOOT"))];
  const Geometry& last = model.geometries[at(model.members[0].feet[7])];
  CHECK(last.name == "solo12/HR_FOOT.3");
  CHECK(last.body == frame.body);
  CHECK(last.size.x() == 0.005);
  CHECK((last.X_BG.p - (frame.X_BF * Vec3(-0.02, -0.01, 0))).norm() < 1e-15);
  CHECK(refusal("[robot]\nmodel = \"solo12\"\n[robot.feet]\nframes = [\"FL_FOOT\"]\npoints = [[1, 2]]\n")
            .find("must have three numbers") != std::string::npos);
  CHECK(refusal("[robot]\nmodel = \"solo12\"\n[robot.feet]\nframes = [\"FL_FOT\"]\n").find("FL_FOOT") !=
        std::string::npos);
}

TEST_CASE("scene: a hull turns about its centre of mass, a wall does not move") {
  // A tetrahedron's centre of mass is the mean of its corners.
  const Scene scene = parse_scene(
      "[[object]]\nshape = \"hull\"\nmass = 1\nvertices = [[0,0,0],[4,0,0],[0,4,0],[0,0,4]]\nposition = [1, 1, 5]\n"
      "[[wall]]\nsize = [1, 2, 3]\nposition = [0, 0, -1]\n",
      "x.toml");
  const Model& model = *scene.model;
  CHECK(model.bodies[0].inertia.com.norm() < 1e-14);
  double nearest = 1e9;
  for (const Vec3& v : model.geometries[2].hull->vertices) nearest = std::min(nearest, (v - Vec3(-1, -1, -1)).norm());
  CHECK(nearest < 1e-14);
  CHECK(model.geometries[1].body == -1);
  CHECK(model.geometries[1].size == Vec3(0.5, 1, 1.5));
  CHECK(model.may_collide(1, 2));
}

TEST_CASE("scene: overrides") {
  const Scene scene = parse_scene(cube, "x.toml",
                                  {{"object.0.mass", "2.5"},
                                   {"stepper.dt", "2e-3"},
                                   {"contact.solver", "pgs"},
                                   {"object.0.position.2", "7"},
                                   {"material.default.mu", "0.25"}});
  CHECK(scene.model->mass() == 2.5);
  CHECK(scene.dt == 2e-3);
  CHECK(scene.stepper_options.contact.solver == "pgs");
  CHECK(scene.start.q[2] == 7);
  CHECK(scene.model->surface(0, 0).mu_static == 0.25);
}

TEST_CASE("scene: depth is bounded; dots and brackets in texts and comments do not count") {
  const std::string box = "[[object]]\nsize = 0.1\nmass = 1\n";
  std::string dots, open;
  for (int k = 0; k < 40; ++k) dots += ".a", open += "[{";
  const std::string both = dots + open;
  for (const std::string& text :
       {"# " + both, "description = \"" + both + "\"", "description = '" + both + "'",
        "description = \"\"\"\n" + dots + "\n\"" + open + "\"\"\"\"\"",
        "description = '''" + dots + "\n''" + open + "'''''", "description = \"\\\"" + both + "\\\\\" # \"" + open})
    CHECK_NOTHROW(parse_scene(text + "\n" + box, "scene"));
  // Sixteen levels are read as far as to be unknown keys, the seventeenth is not.
  const std::string most = "a" + dots.substr(0, 30);
  for (const std::string& key : {most, most + ".a"}) {
    std::string told;
    try {
      parse_scene(box + key + " = 1\n", "scene");
    } catch (const InvalidInput& error) {
      told = error.what();
    }
    CHECK(told.find(key == most ? "key 'a'" : "scene:4: nested deeper than 16 levels") != std::string::npos);
    CHECK_THROWS_AS(parse_scene(box, "scene", {{key, "1"}}), InvalidInput);
    CHECK_THROWS_AS(parse_scene(box, "scene", {{"object.0.size", "{" + key + " = 1}"}}), InvalidInput);
  }
  std::string endless = "a";
  for (int k = 0; k < 100000; ++k) endless += ".a";
  CHECK_THROWS_AS(parse_scene(box, "scene", {{endless, "1"}}), InvalidInput);
}

TEST_CASE("scene: letters beyond ASCII stand in quotes and comments, and nowhere else") {
  const std::string told = "characters beyond ASCII stand in quotes and comments only";
  const std::string right = "\xEF\xBB\xBF# \"é\"\ndescription = \"café \\\" μ \\\\\" # it's é\"\n";
  CHECK(refusal(right + cube) == "accepted");
  CHECK(refusal(cube, {{"description", "é"}}) == "accepted");
  for (const std::string x : {"é", "\u00a0", "μ", "\u2003", "あ", "\ufeff"}) {
    CHECK(refusal(cube + x + " = 1\n").find("bad.toml:6: " + told) != std::string::npos);
    CHECK(refusal("# a\"\n" + cube + "mass = " + x).find("bad.toml:7: " + told) != std::string::npos);
    CHECK(refusal("description = \"\"\"a\\  \n " + x + "\"\"\"\n" + cube).find("bad.toml:2: " + told) !=
          std::string::npos);
    // In a bare value quotes and brackets are letters.
    for (const char* bare :
         {"[0, 0, -3\"", "0[\"n", "0{'", "[[1], 0[\"", "0.\"", "[1, 0.'", "{a = 0.\"", "1 [\"", "true{\""})
      CHECK(refusal(std::string("gravity = ") + bare + x + "\"]\n" + cube).find("bad.toml:1: " + told) !=
            std::string::npos);
    // Where keys and values begin they are not.
    for (const std::string& line :
         {"a.\"" + x + "\" = 1\n", "a = {\"" + x + "\" = [1], '" + x + "' = 2}\n", "[a.'" + x + "']\n",
          "[[\"" + x + "\"]]\n", "a = [[\"" + x + "\"],\n  # b\n  ['" + x + "', {b.\"" + x + "\" = 1}]]\n"})
      CHECK_MESSAGE(refusal(cube + line).find(told) == std::string::npos, line);
  }
}

TEST_CASE("scene: every mistake is told with its place and what would be right") {
  struct Row {
    std::string text, part;
  };
  const std::vector<Row> rows = {
      {"[[object]]\nmass = 1\nsize = 1\npositon = [0, 0, 1]\n",
       "bad.toml:4: unknown key 'positon' in [[object]]; did you mean 'position'? Known: "},
      {"[[objekt]]\nmass = 1\n", "bad.toml:1: unknown section or key 'objekt'; did you mean 'object'?"},
      {"gravty = [0, 0, 0]\n" + cube, "did you mean 'gravity'?"},
      {cube + "[contact]\nsolvr = \"pgs\"\n", "bad.toml:7: unknown key 'solvr' in [contact]; did you mean 'solver'?"},
      {"[[object]\n", "bad.toml:1: "},
      {"", "neither a robot nor an object"},
      {"[[object]]\nsize = 0.1\n", "bad.toml:1: [[object]] needs 'mass'"},
      {"[[object]]\nmass = 1.0\n", "needs 'size'"},
      {"[[object]]\nsize = 0.1\nmass = -1.0\n", "bad.toml:3: [[object]] mass = -1, must be > 0"},
      {"[[object]]\nsize = 0.1\nmass = \"heavy\"\n", "mass must be a number, is the text 'heavy'"},
      {"[[object]]\nsize = 0.1\nmass = inf\n", "mass = inf, must be finite"},
      {"[[object]]\nsize = 0.1\nmass = nan\n", "must be finite"},
      {"[[object]]\nsize = [0.1, 0.1]\nmass = 1\n", "bad.toml:2: [[object]] size must have three numbers, has 2"},
      {"[[object]]\nsize = [0.1, 0.1, -0.1]\nmass = 1\n", "size must be > 0 m on every axis"},
      {"[[object]]\nshape = \"bix\"\nsize = 1\nmass = 1\n", "unknown shape 'bix'; did you mean 'box'?"},
      {"[[object]]\nshape = \"sphere\"\nsize = 1\nradius = 1\nmass = 1\n", "size means nothing to a sphere"},
      {"[[object]]\nshape = \"hull\"\nmass = 1\nvertices = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]\n",
       "bad.toml:4: [[object]] hull: no convex hull"},
      {cube + cube, "two robots or objects are called 'cube'"},
      {cube + "material = \"ise\"\n[material.ice]\nmu = 0\n",
       "bad.toml:6: [[object]] unknown material 'ise'; did you mean 'ice'?"},
      {cube + "[material.default]\nmu = 0.3\nmu_static = 0.4\n", "both 'mu' and 'mu_static'"},
      {cube + "[material.default]\nmu_static = 0.3\nmu_dynamic = 0.4\n",
       "mu_dynamic = 0.4, must be >= 0 and at most mu_static = 0.3"},
      {cube + "[material.default]\nrestitution = 1.5\n", "restitution = 1.5, must be from 0 to 1"},
      {cube + "grid = [2, 2]\nspacing = 1\n", "grid must have three whole numbers"},
      {cube + "grid = [2, 2, 2]\n", "grid needs 'spacing'"},
      {cube + "grid = [1000, 1000, 1000]\nspacing = 1\n", "at most 100000 objects"},
      {cube + "jitter = 0.1\n", "jitter belongs to a grid"},
      {"[robot]\nmodel = \"solo13\"\n", "bad.toml:2: [robot] unknown robot 'solo13'; did you mean 'solo12'?"},
      {"[robot]\nmodel = \"none/such.urdf\"\n", "does not exist"},
      {"[robot]\nmodel = \"solo12\"\npose = \"standng\"\n",
       "bad.toml:3: [robot] unknown pose 'standng'; did you mean 'standing'?"},
      {"[robot]\nmodel = \"solo12\"\npose = [1, 2]\n",
       "pose has 2 numbers, 'solo12' has 12 joint coordinates (or 19 with the base)"},
      {"[robot]\nmodel = \"solo12\"\npose = [0,0,0, 0,0,0,2, 0,0,0,0,0,0,0,0,0,0,0,0]\n", "has length 2, must be 1"},
      {"[robot]\nmodel = \"solo12\"\njoints = {FL_KFF = 1.0}\n", "unknown joint 'FL_KFF'; did you mean 'FL_KFE'?"},
      {"[robot]\nmodel = \"solo12\"\nbase = \"flying\"\n", "unknown base 'flying'"},
      {"[robot]\nmodel = \"ur10\"\ndrop = 0.1\n", "drop needs base = \"floating\""},
      {"[robot]\nmodel = \"solo12\"\ndrop = 0.1\n[ground]\nnone = true\n",
       "drop is a height above the ground, and there is none"},
      {"[robot]\nmodel = \"solo12\"\nfeet = [\"FL_FOT\"]\n", "did you mean 'FL_FOOT'?"},
      {"[robot]\nname = \"x\"\n", "bad.toml:1: [robot] needs 'model'"},
      {chain + "parent = \"c\"\n", "unknown link 'c'"},
      {chain + "axis = [0, 0, 0]\n", "axis must not be zero"},
      {chain + "[controller]\nkp = {c = 1.0}\n", "bad.toml:14: [controller] unknown joint 'c'"},
      {chain + "[controller]\nkp = -1\n", "kp = -1, must be >= 0"},
      {chain + "[controller]\nname = \"pdd\"\n", "unknown name 'pdd'; did you mean 'pd'?"},
      {chain + "[controller]\nrobot = \"arn\"\n", "unknown robot 'arn'; did you mean 'arm'?"},
      {cube + "[controller]\nkp = 1\n", "there is no robot to control"},
      {"[robot]\nmodel = \"solo12\"\ncontact = \"none\"\n[controller]\nfeedforward = \"gravity\"\n",
       "needs at least three contact points"},
      {cube + "[contact]\nmodel = \"npc\"\n", "bad.toml:7: [contact] "},
      {cube + "[contact]\nsolver = \"newtn\"\n", "unknown solver 'newtn'; did you mean 'newton'?"},
      {cube + "[contact]\nmax_iterations = 1.5\n", "max_iterations must be a whole number"},
      {cube + "[contact]\nwarm_start = 1\n", "warm_start must be true or false, is the number 1"},
      {cube + "[stepper]\nname = \"rigit\"\n", "unknown stepper 'rigit'; did you mean 'rigid'?"},
      {cube + "[stepper]\ndt = 0.0\n", "dt = 0, must be > 0"},
      {cube + "[stepper]\naudit = \"ful\"\n", "unknown audit 'ful'; did you mean 'full'?"},
      {cube + "[[push]]\nbody = \"cub\"\nforce = [1, 0, 0]\nduration = 1\n",
       "unknown robot, object, body or frame 'cub'; did you mean 'cube'?"},
      {cube + "[[push]]\nbody = \"cube\"\nduration = 1\n", "needs 'force'"},
      {cube + "[[push]]\nbody = \"cube\"\nforce = [1, 0, 0]\nduration = 0\n", "duration = 0, must be > 0"},
      {cube + "[ground]\nnormal = [0, 0, 0]\n", "normal must not be zero"},
      {cube + "ground = 3\n[stepper]\ndt = 1979-05-27\n", "dates and times mean nothing here"},
      {"object = 3\n", "must be a table, is the number 3"},
      {std::string(1'000'001, ' '), "a scene has at most 1 MB"},
  };
  for (const Row& row : rows) {
    const std::string told = refusal(row.text);
    INFO(row.text.substr(0, 200));
    INFO(told);
    CHECK(told.find(row.part) != std::string::npos);
  }
  CHECK(refusal(cube, {{"object.1.mass", "1"}}).find("must be an index from 0 to 0") != std::string::npos);
  CHECK(refusal(cube, {{"contact.solvr", "pgs"}}).find("bad.toml with settings: unknown key 'solvr'") !=
        std::string::npos);
  CHECK(refusal(std::string(3000, '[') + "\n").find("bad.toml:1: ") != std::string::npos);
}

TEST_CASE("scene: every scene of the repository loads") {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(TRIBO_SCENES)) {
    if (file.path().extension() != ".toml") continue;
    INFO(file.path().string());
    CHECK_NOTHROW(load_scene(file.path().string()));
    ++count;
  }
  CHECK(count >= 12);
}
