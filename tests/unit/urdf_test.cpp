// Robots of the registry: sizes, poses, feet, refusals; hulls.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "readers/mesh_file.hpp"
#include "readers/robots.hpp"
#include "scratch_folder.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

Model load(const std::string& name, const std::string& contact = "default") {
  ModelBuilder builder;
  RobotOptions options;
  options.model = name;
  options.contact = contact;
  for (const RobotEntry& robot : robots())
    if (robot.name == name) options.floating = robot.floating;
  add_robot(builder, options);
  return builder.build();
}

std::string refused(const std::string& urdf, RobotOptions options = {}) {
  const std::string path = (std::filesystem::temp_directory_path() / "tribo_refused.urdf").string();
  std::ofstream(path) << urdf;
  options.model = path;
  ModelBuilder builder;
  try {
    add_robot(builder, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string link_named(const std::string& name) {
  return "<link name='" + name +
         "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>";
}

}  // namespace

TEST_CASE("robots: sizes and masses as Pinocchio states them") {
  struct Row {
    const char* name;
    int nq, nv;
    double mass;
    std::size_t feet;
  };
  // nq, nv and masses were read off Pinocchio 4.1's own loader (masses to the digits given).
  for (const Row& row : {Row{"solo12", 19, 18, 2.5, 4}, Row{"talos", 39, 38, 90.3, 8}, Row{"ur10", 6, 6, 28.7, 0}}) {
    INFO(std::string(row.name));
    const Model model = load(row.name);
    CHECK(model.nq == row.nq);
    CHECK(model.nv == row.nv);
    CHECK(model.members[0].feet.size() == row.feet);
    CHECK(model.mass() == doctest::Approx(row.mass).epsilon(0.01));
  }
}

TEST_CASE("robots: the Allegro hand is four trees on a palm that does not move") {
  const Model model = load("allegro");
  CHECK(model.nv == 16);
  CHECK(model.trees.size() == 4);
  CHECK(model.geometries.size() == 21);  // 17 boxes and 4 balls in the file
  int fixed = 0;
  for (std::size_t a = 0; a < model.geometries.size(); ++a) {
    fixed += model.geometries[a].body < 0;
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(model.may_collide(static_cast<int>(a), static_cast<int>(b)));
  }
  CHECK(fixed == 1);
}

TEST_CASE("robots: a fixed base moves every tree and the shapes of the world") {
  const Placement X{Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix(), Vec3(0.3, -0.2, 1.1)};
  ModelBuilder there, here;
  RobotOptions options;
  options.model = "allegro";
  options.floating = false;
  add_robot(here, options);
  options.base = X;
  add_robot(there, options);
  const Model a = here.build(), b = there.build();
  Dynamics da(a), db(b);
  VecX q(16);
  for (int k = 0; k < 16; ++k) q[k] = 0.1 * k - 0.4;
  da.compute(q, VecX::Zero(16));
  db.compute(q, VecX::Zero(16));
  for (std::size_t g = 0; g < a.geometries.size(); ++g) {
    auto pose = [&](const Dynamics& d, const Geometry& x) { return x.body < 0 ? x.X_BG : d.X_WB(x.body) * x.X_BG; };
    const Placement expected = X * pose(da, a.geometries[g]), got = pose(db, b.geometries[g]);
    CHECK((expected.p - got.p).norm() < 1e-14);
    CHECK((expected.R - got.R).norm() < 1e-14);
  }
}

TEST_CASE("robots: poses of the SRDF, and feet level in the standing pose") {
  for (const char* name : {"solo12", "talos"}) {
    INFO(std::string(name));
    const Model model = load(name);
    const Member& robot = model.members[0];
    REQUIRE(robot.poses.count("default"));
    Dynamics dynamics(model);
    dynamics.compute(robot.poses.at("default"), VecX::Zero(model.nv));
    double low = 1e9, high = -1e9;
    for (int foot : robot.feet) {
      const Geometry& g = model.geometries[static_cast<std::size_t>(foot)];
      const double z = (dynamics.X_WB(g.body) * g.X_BG.p).z();
      low = std::min(low, z);
      high = std::max(high, z);
    }
    CHECK(high - low < 2e-3);  // Talos's SRDF rounds its angles to 1e-6 rad and tilts the ankles by 1.7 mrad
  }
  const Model solo = load("solo12");
  const VecX& q = solo.members[0].poses.at("standing");
  CHECK(q[2] == 0.235);
  CHECK(q[solo.bodies[static_cast<std::size_t>(solo.body("solo12/FL_KFE"))].iq] == -1.6);
}

TEST_CASE("robots: two of one kind stand side by side with their own names") {
  ModelBuilder builder;
  for (const char* name : {"left", "right"}) {
    RobotOptions options;
    options.model = "solo12";
    options.name = name;
    add_robot(builder, options);
  }
  const Model model = builder.build();
  CHECK(model.nv == 36);
  CHECK(model.frames[static_cast<std::size_t>(model.frame("left/FL_FOOT"))].body < 13);
  CHECK(model.frames[static_cast<std::size_t>(model.frame("right/FL_FOOT"))].body >= 13);
  std::set<std::string> names;
  for (const Frame& frame : model.frames) CHECK(names.insert(frame.name).second);
}

TEST_CASE("robots: rotor inertias come from the package only when asked for") {
  for (bool wanted : {false, true}) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = "talos";
    options.rotor_inertia = wanted;
    add_robot(builder, options);
    const Model model = builder.build();
    const Body& knee = model.bodies[static_cast<std::size_t>(model.body("talos/leg_left_4_joint"))];
    CHECK(model.joints.armature[knee.iv] == doctest::Approx(wanted ? 1e-5 * 100 * 100 : 0.0));
  }
}

TEST_CASE("robots: no shape of a file is lost, capsules of files without a version neither") {
  const ScratchFolder folder;
  const auto with = [&](const std::string& version) {
    return folder.write("shapes.urdf", "<robot name='r'" + version +
                                           "><link name='a'><inertial><mass value='2'/><inertia ixx='1' iyy='1' "
                                           "izz='1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><cylinder "
                                           "radius='.1' length='.4'/></geometry></collision><collision><origin "
                                           "xyz='0 0 .3'/><geometry><capsule radius='.05' length='.2'/></geometry>"
                                           "</collision></link></robot>");
  };
  for (const char* version : {"", " version='1.0'", " version='1.1'"}) {
    CAPTURE(std::string(version));
    ModelBuilder builder;
    RobotOptions options;
    options.model = with(version);
    options.inertia_from_shapes = true;
    add_robot(builder, options);
    const Model model = builder.build();
    REQUIRE(model.geometries.size() == 2);
    CHECK(model.geometries[0].kind == ShapeKind::Cylinder);
    CHECK(model.geometries[1].kind == ShapeKind::Capsule);
    CHECK((model.geometries[1].size - Vec3(0.05, 0, 0.1)).norm() < 1e-15);
    // One density: the height of the mass centre is that of the volumes.
    const double can = M_PI * 0.01 * 0.4, pill = M_PI * 0.0025 * (0.2 + 4.0 / 3 * 0.05);
    CHECK(model.bodies[0].inertia.com.z() == doctest::Approx(0.3 * pill / (can + pill)).epsilon(1e-12));
  }
}

TEST_CASE("robots: what cannot be loaded is refused by name") {
  auto joint = [](const std::string& type, const std::string& inside = "") {
    return "<robot name='r'>" + link_named("a") + link_named("b") + "<joint name='j' type='" + type +
           "'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' "
           "velocity='1'/>" +
           inside + "</joint></robot>";
  };
  CHECK(refused(joint("revolute")) == "");
  CHECK(has(refused(joint("planar")), "joint 'j': a planar joint is not supported"));
  CHECK(has(refused(joint("revolute", "<mimic joint='k'/>")), "joint 'j' mimics an unknown joint 'k'"));
  CHECK(has(refused("<robot"), "is not XML"));
  CHECK(has(refused("<robot name='r'>" + link_named("a") +
                    "<link name='b'/><joint name='j' type='continuous'>"
                    "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"),
            "joint 'j' moves bodies of no mass"));
  RobotOptions options;
  options.feet = {Foot{"bb"}};
  CHECK(has(refused(joint("revolute"), options), "unknown frame of a foot 'bb'; did you mean 'b'?"));
  options.feet.clear();
  options.contact = "feets";
  CHECK(has(refused(joint("revolute"), options), "did you mean 'feet'?"));
  ModelBuilder builder;
  options = {};
  options.model = "solo13";
  CHECK_THROWS_WITH_AS(add_robot(builder, options), doctest::Contains("did you mean 'solo12'?"), InvalidInput);
  options.model = "no/such/file.urdf";
  CHECK_THROWS_WITH_AS(add_robot(builder, options), doctest::Contains("does not exist"), InvalidInput);
}

TEST_CASE("robots: a root without mass, or called world, is fixed unless the scene says otherwise") {
  const ScratchFolder folder;
  auto scene = [&](const std::string& root, bool heavy, const std::string& keys) {
    const std::string body =
        "<inertial><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>"
        "</inertial>";
    const std::string path = folder.write(
        root + ".urdf", "<robot name=\"arm\"><link name=\"" + root + "\"/><link name=\"plate\">" + (heavy ? body : "") +
                            "</link><link name=\"arm\">" + body +
                            "</link><joint name=\"bolt\" type=\"fixed\"><parent link=\"" + root +
                            "\"/><child link=\"plate\"/></joint><joint name=\"turn\" type=\"continuous\"><parent "
                            "link=\"plate\"/><child link=\"arm\"/><axis xyz=\"0 1 0\"/></joint></robot>");
    return parse_scene("[robot]\nmodel = \"" + path + "\"\n" + keys, "root.toml");
  };
  CHECK(scene("base", false, "").model->nv == 1);
  CHECK(scene("base", true, "").model->nv == 7);  // what is fixed to the root is part of it
  CHECK(scene("world", true, "").model->nv == 1);
  CHECK(scene("world", true, "base = \"floating\"\n").model->nv == 7);
  CHECK_THROWS_WITH(scene("base", false, "base = \"floating\"\n"), doctest::Contains("root link 'base' has no mass"));
}

TEST_CASE("robots: a mimic joint is a row, q = multiplier q_other + offset") {
  ScratchFolder folder;
  auto joint = [](const std::string& name, const std::string& child, const std::string& inside) {
    return "<joint name='" + name + "' type='revolute'><parent link='a'/><child link='" + child +
           "'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/>" + inside + "</joint>";
  };
  RobotOptions options;
  options.model = folder.write(
      "r.urdf", "<robot name='r'>" + link_named("a") + link_named("b") + link_named("c") + joint("lead", "b", "") +
                    joint("follow", "c", "<mimic joint='lead' multiplier='-2' offset='0.3'/>") + "</robot>");
  ModelBuilder builder;
  add_robot(builder, options);
  const Model model = builder.build();
  REQUIRE(model.equalities.size() == 1);
  const Equality& row = model.equalities[0];
  CHECK(row.kind == EqualityKind::Joint);
  CHECK(row.body_a == model.body("r/follow"));
  CHECK(row.body_b == model.body("r/lead"));
  CHECK(row.polynomial == std::array<double, 5>{0.3, -2, 0, 0, 0});
  const VecX& start = model.members[0].poses.at("default");  // where it holds
  CHECK(start[model.bodies[at(row.body_a)].iq] == 0.3 - 2 * start[model.bodies[at(row.body_b)].iq]);
}

TEST_CASE("meshes: packages are found in folders given, in the environment and above the file; all tries are told") {
  ScratchFolder folder;
  auto put = [&](const std::string& path) {
    std::filesystem::create_directories(folder.path / std::filesystem::path(path).parent_path());
    return folder.write(path, "v 0 0 0\n");
  };
  const std::string robot = put("ws/robot_description/urdf/r.urdf");
  const std::string beside = put("ws/robot_description/meshes/beside.obj"), given = put("given/p/m.obj"),
                    ros = put("ros/p/ros.obj"), ament = put("install/share/p/ament.obj");
  ::setenv("ROS_PACKAGE_PATH", (folder.file("nowhere") + ":" + folder.file("ros")).c_str(), 1);
  ::setenv("AMENT_PREFIX_PATH", folder.file("install").c_str(), 1);
  const MeshSearch search = mesh_search(robot, {folder.file("given")}, {});
  CHECK(find_mesh("package://p/m.obj", search) == given);
  CHECK(find_mesh("package://p/ros.obj", search) == ros);
  CHECK(find_mesh("package://p/ament.obj", search) == ament);
  CHECK(find_mesh("package://robot_description/meshes/beside.obj", search) == beside);
  CHECK(find_mesh("package://other_name/meshes/beside.obj", search) == beside);
  CHECK(find_mesh("../meshes/beside.obj", search) == beside);
  const std::string why = refusal([&] { find_mesh("package://p/none.obj", search); });
  for (const char* tried : {"given/p/none.obj", "nowhere/p/none.obj", "ros/p/none.obj", "install/share/p/none.obj",
                            "ws/robot_description/urdf/p/none.obj", "ws/p/none.obj"})
    CHECK(has(why, folder.file(tried)));
  CHECK(has(refusal([&] { find_mesh("package://p/../../../etc/passwd", search); }), "climbs out"));
  CHECK(has(refusal([&] { find_mesh("file:///etc/passwd", search); }), "outside of"));
  ::unsetenv("ROS_PACKAGE_PATH");
  ::unsetenv("AMENT_PREFIX_PATH");
}

TEST_CASE("meshes: STL in both forms and OBJ give their corners") {
  ScratchFolder folder;
  const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 2, 0};
  std::string binary(84, ' ');
  const std::uint32_t one = 1;
  std::memcpy(binary.data() + 80, &one, 4);
  binary += std::string(12, '\0') + std::string(reinterpret_cast<const char*>(corners), 36) + std::string(2, '\0');
  const std::string ascii =
      "solid s\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n\tvertex 1 0.0 0\n  vertex 0 +2e0 0\nendloop\n";
  const std::string obj = "# a line\nv 0 0 0\nvn 9 9 9\nv 1 0 0\r\nv 0 2 0\nf 1 2 3\n";
  for (const auto& [bytes, extension] : {std::pair{binary, ".stl"}, std::pair{ascii, ".stl"}, std::pair{obj, ".obj"}}) {
    const std::vector<Vec3> points = parse_mesh(bytes, extension, "m")[0];
    REQUIRE(points.size() == 3);
    CHECK(points[1] == Vec3(1, 0, 0));
    CHECK(points[2] == Vec3(0, 2, 0));
  }
}

TEST_CASE("hull: a box with points inside and on its faces has 8 vertices and 6 faces, seen from outside") {
  std::vector<Vec3> points;
  for (int x = -2; x <= 2; ++x)
    for (int y = -2; y <= 2; ++y)
      for (int z = -2; z <= 2; ++z) points.emplace_back(0.1 * x, 0.2 * y + 1, 0.3 * z);
  const auto hull = make_hull(points, "box");
  CHECK(hull->vertices.size() == 8);
  CHECK(hull->faces.size() == 6);
  for (const std::vector<int>& face : hull->faces) {
    REQUIRE(face.size() == 4);
    auto at = [&](int k) { return hull->vertices[static_cast<std::size_t>(face[static_cast<std::size_t>(k)])]; };
    const Vec3 normal = (at(1) - at(0)).cross(at(2) - at(1));
    CHECK(normal.dot(at(0) - Vec3(0, 1, 0)) > 0);
  }
  // Independent: the inertia of a solid box.
  const Inertia exact = solid_inertia(ShapeKind::Box, Vec3(0.2, 0.4, 0.6), 3), got = hull_inertia(*hull, 3);
  CHECK((exact.about_com - got.about_com).norm() < 1e-12);
  CHECK((got.com - Vec3(0, 1, 0)).norm() < 1e-12);
  CHECK_THROWS_AS(make_hull({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 0)}, "flat"), InvalidInput);
  CHECK_THROWS_WITH_AS(make_hull({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 2e30)}, "far"),
                       doctest::Contains("far: a point of the hull is 2e+30 m away"), InvalidInput);
}

TEST_CASE("hull: Euler's formula holds for the hulls of a robot's meshes") {
  const Model model = load("ur10", "collision");
  int hulls = 0;
  for (const Geometry& g : model.geometries) {
    if (g.kind != ShapeKind::Convex) continue;
    ++hulls;
    std::size_t edges = 0;
    for (const auto& face : g.hull->faces) edges += face.size();
    CHECK(g.hull->vertices.size() + g.hull->faces.size() == edges / 2 + 2);
  }
  CHECK(hulls == 7);
}

TEST_SUITE("long") {
  TEST_CASE("robots: every entry of the registry loads, as it is and with the shapes of its file") {
    for (const RobotEntry& robot : robots()) {
      CAPTURE(robot.name);
      CHECK_NOTHROW(load(robot.name));
      CHECK_NOTHROW(load(robot.name, "collision"));
    }
  }
}
