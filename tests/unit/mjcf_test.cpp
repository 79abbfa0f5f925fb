// MJCF files of our own against MuJoCo itself: it compiles the file, and its kinematics, mass matrix, bias forces,
// contact filter and actuator forces are the independent computation.
#ifdef TRIBO_MJCF
#include <doctest/doctest.h>

#include "mujoco_pair.hpp"
#include "scratch_folder.hpp"
#include "tribo/robot_file.hpp"

using namespace mujoco_pair;

namespace {

const char* const files[] = {"quadruped.xml", "arm.xml", "objects.xml", "linkage.xml"};
std::string data(const std::string& name) { return std::string(TRIBO_DATA) + "/mjcf/" + name; }

// Height of the two triangles of a cell, at (x, y) of the geometry's frame; as tribo/shape.hpp states it.
double height(const HeightField& f, double x, double y) {
  const double u = x / f.spacing_x + 0.5 * (f.nx - 1), w = y / f.spacing_y + 0.5 * (f.ny - 1);
  const int i = std::clamp(static_cast<int>(u), 0, f.nx - 2), j = std::clamp(static_cast<int>(w), 0, f.ny - 2);
  auto z = [&](int a, int b) { return f.heights[at(b * f.nx + a)]; };
  const double s = u - i, t = w - j;
  if (s + t <= 1) return z(i, j) + s * (z(i + 1, j) - z(i, j)) + t * (z(i, j + 1) - z(i, j));
  return z(i + 1, j + 1) + (1 - s) * (z(i, j + 1) - z(i + 1, j + 1)) + (1 - t) * (z(i + 1, j) - z(i + 1, j + 1));
}

}  // namespace

TEST_CASE("mjcf: mass matrix, bias forces, springs and poses are MuJoCo's at random configurations") {
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    for (int trial = 0; trial < 20; ++trial) {
      pair.randomize();
      CHECK(pair.mass_matrix_error() < 1e-9);
      CHECK(pair.bias_error() < 1e-9);
      CHECK(pair.passive_error() < 1e-9);
      CHECK(pair.pose_error() < 1e-9);
    }
  }
}

TEST_CASE("mjcf: collision shapes have the sizes, places and hulls of MuJoCo") {
  int seen = 0;
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    const mjModel* m = pair.m.get();
    for (int trial = 0; trial < 3; ++trial) {
      pair.randomize();
      for (int g = 0; g < m->ngeom; ++g) {
        if (mj_id2name(m, mjOBJ_GEOM, g) == nullptr) continue;
        const Geometry* geometry = pair.geometry(g);
        REQUIRE(geometry != nullptr);
        INFO(geometry->name);
        ++seen;
        CHECK(pair.shape_error(g) < (geometry->hull ? 1e-7 : 1e-9));  // meshes are in single precision
        if (geometry->hull) {                                         // and the hull has no other corner
          const std::vector<Vec3> vertices = pair.mesh_vertices(g);
          for (const Vec3& p : geometry->hull->vertices)
            CHECK(std::any_of(vertices.begin(), vertices.end(), [&](const Vec3& y) { return (p - y).norm() < 1e-12; }));
        }
        if (geometry->kind != ShapeKind::HeightField) continue;
        // Independent: MuJoCo's rays, straight down the geom's z.
        const Placement X = pair.pose(geometry->body, geometry->X_BG);
        const Mat3 R = mat3(pair.d->geom_xmat + 9 * g);
        for (int k = 0; k < 200; ++k) {
          const Vec3 p{pair.draw(1.99), pair.draw(1.49), 3}, start = vec3(pair.d->geom_xpos + 3 * g) + R * p;
          const Vec3 down = -R.col(2);
          const double distance = mj_rayHfield(m, pair.d.get(), g, start.data(), down.data(), nullptr);
          const Vec3 here = X.inverse() * (start + distance * down);
          CHECK(std::abs(here.z() - height(*geometry->terrain, here.x(), here.y())) < 1e-9);
        }
      }
    }
  }
  CHECK(seen == 3 * 24);
}

TEST_CASE("mjcf: the same pairs of geoms may touch") {
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    for (const std::string& difference : pair.filter_differences()) FAIL_CHECK(difference);
  }
}

TEST_CASE("mjcf: friction of two geoms is the larger, or that of the higher priority, or that of their pair") {
  Pair pair(data("quadruped.xml"));
  const Model& model = *pair.model;
  auto surface = [&](const char* a, const char* b) {
    auto index = [&](const char* name) {
      for (std::size_t g = 0; g < model.geometries.size(); ++g)
        if (model.geometries[g].name == std::string("r/") + name) return static_cast<int>(g);
      FAIL("no geometry");
      return -1;
    };
    return model.surface(model.surface_index(index(a), index(b)));
  };
  const SurfacePair foot = surface("floor", "front_foot");  // the foot has priority, and condim 6
  CHECK(foot.mu_static == 1.2);
  CHECK(foot.torsional == 0.03);
  CHECK(foot.rolling == 0.002);
  const SurfacePair given = surface("front_foot", "hind_foot");  // condim 4 of the pair
  CHECK(given.mu_static == 0.3);
  CHECK(given.torsional == 0.01);
  CHECK(given.rolling == 0);
}

TEST_CASE("mjcf: equality constraints are off by as much as MuJoCo says") {
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    const mjModel* m = pair.m.get();
    const Model& model = *pair.model;
    REQUIRE(model.equalities.size() == at(static_cast<int>(m->neq)));
    for (int trial = 0; trial < 5; ++trial) {
      pair.randomize();
      const double* efc = pair.d->efc_pos;
      for (int e = 0; e < m->neq; ++e) {
        const Equality& x = model.equalities[at(e)];
        if (x.kind == EqualityKind::Joint) {
          const double z = x.body_b >= 0 ? pair.q[model.bodies[at(x.body_b)].iq] - x.center : 0;
          double target = 0;
          for (int k = 4; k >= 0; --k) target = target * z + x.polynomial[at(k)];
          CHECK(std::abs(pair.q[model.bodies[at(x.body_a)].iq] - target) ==
                doctest::Approx(std::abs(*efc)).epsilon(1e-9));
          efc += 1;
        } else if (x.kind == EqualityKind::Connect) {
          const Vec3 gap = pair.pose(x.body_a, {}) * x.point_a - pair.pose(x.body_b, {}) * x.point_b;
          CHECK(gap.norm() == doctest::Approx(vec3(efc).norm()).epsilon(1e-9));
          efc += 3;
        } else {
          // MuJoCo compares at the anchor, and gives the vector part of the quaternion between the two.
          const Placement a = pair.pose(x.body_a, x.X_AB), b = pair.pose(x.body_b, {});
          const double angle = Eigen::AngleAxisd(Mat3(a.R.transpose() * b.R)).angle();
          CHECK(vec3(efc + 3).norm() == doctest::Approx(std::abs(std::sin(angle / 2))).epsilon(1e-9));
          Vec3 anchor = vec3(m->eq_data + mjNEQDATA * e);
          const int b2 = m->eq_obj2id[e];
          const Vec3 anchor_W = mat3(pair.d->xmat + 9 * b2) * anchor + vec3(pair.d->xpos + 3 * b2);
          CHECK((a * (b.inverse() * anchor_W) - anchor_W).norm() == doctest::Approx(vec3(efc).norm()).epsilon(1e-9));
          efc += 6;
        }
      }
    }
  }
}

TEST_CASE("mjcf: actuators give the forces of MuJoCo") {
  for (const char* file : {"quadruped.xml", "arm.xml"}) {
    INFO(std::string(file));
    Pair pair(data(file));
    REQUIRE(pair.model->members[0].actuators.size() == at(static_cast<int>(pair.m->nu)));
    for (int trial = 0; trial < 20; ++trial) {
      pair.randomize();
      CHECK(pair.actuator_error() < 1e-9);
    }
  }
}

TEST_CASE("mjcf: joint properties, keyframes, gravity and step") {
  Pair pair(data("quadruped.xml"));
  const Model& model = *pair.model;
  const mjModel* m = pair.m.get();
  CHECK(model.gravity == Vec3(0.2, 0, -9.7));
  CHECK(pair.notes.timestep == 0.004);
  for (int k = 0; k < m->nv; ++k) {
    CHECK(model.joints.damping[k] == m->dof_damping[k]);
    CHECK(model.joints.friction[k] == m->dof_frictionloss[k]);
    CHECK(model.joints.armature[k] == m->dof_armature[k]);
  }
  const Body& knee = model.bodies[at(model.body("r/front_knee"))];
  CHECK(model.joints.lower[knee.iv] == doctest::Approx(-60 * M_PI / 180));
  CHECK(model.joints.upper[knee.iv] == doctest::Approx(70 * M_PI / 180));
  CHECK(model.joints.stiffness[knee.iv] == 3);
  CHECK(model.joints.rest[knee.iq] == doctest::Approx(10 * M_PI / 180));
  CHECK(model.joints.effort_limit[knee.iv] == 18);
  CHECK(model.joints.effort_limit[model.bodies[at(model.body("r/front_hip"))].iv] == 24);
  const VecX& q = model.members[0].poses.at("stand");
  CHECK(q[6] == 1);
  CHECK(q[8] == 0.5);
  CHECK(model.members[0].controls.at("stand")[3] == -0.2);
}

TEST_CASE("mjcf: a file is moved as a whole") {
  using Eigen::AngleAxisd;
  const Placement X{AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix(), Vec3(1, 2, 3)};
  Pair still(data("arm.xml")), moved(data("arm.xml"), X);
  still.randomize();
  moved.randomize();
  const int frame = still.model->frame("wrist");
  auto pose = [&](const Pair& p) {
    const Frame& f = p.model->frames[at(frame)];
    return p.pose(f.body, f.X_BF);
  };
  const Placement expected = X * pose(still), got = pose(moved);
  CHECK((expected.p - got.p).norm() < 1e-12);
  CHECK((expected.R - got.R).norm() < 1e-12);
}

TEST_CASE("mjcf: what does not map is named, and refused on demand") {
  ScratchFolder folder;
  const std::string path = folder.write("soft.xml", R"(<mujoco model="soft">
  <option impratio="5" integrator="RK4"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" solref="0.01 1"/>
    <body name="link" gravcomp="-0.5"><joint name="hinge" solreflimit="0.1 1" range="-1 1" limited="true"/>
      <geom name="ball" size="0.1" margin="0.01"/><site name="s"/></body>
    <body name="other" pos="1 0 0"><joint name="turn" type="ball"/><geom size="0.1"/><site name="t"/></body>
    <geom name="drum" type="cylinder" size="0.05 0.1" pos="0.5 0 0.3"/><site name="side" pos="0.5 0 0.4"/>
  </worldbody>
  <tendon><spatial name="cord" stiffness="3"><site site="s"/><geom geom="drum" sidesite="side"/><site site="t"/></spatial>
    <fixed name="pair"><joint joint="hinge" coef="1"/></fixed></tendon>
  <actuator><muscle name="biceps" joint="hinge" lengthrange="0 1"/><motor name="winch" tendon="cord"/><motor name="reel" tendon="pair" armature="0.1"/>
    <motor name="curve" joint="hinge" damping="0 0.1"/></actuator>
  <sensor><jointlimitfrc name="angle" joint="hinge"/></sensor>
</mujoco>)");
  auto load = [](const std::string& file, bool refuse) {
    ModelBuilder builder;
    RobotOptions options;
    options.model = file;
    options.refuse_unsupported = refuse;
    RobotNotes notes;
    add_robot(builder, options, &notes);
    return notes.warnings;
  };
  std::string all;
  for (const std::string& line : load(path, false)) all += line + "\n";
  for (const char* name : {"RK4", "geom 'floor'", "gravcomp", "joint 'hinge'", "geom 'ball'", "tendon 'cord'", "muscle",
                           "'biceps'", "'winch'", "'curve'", "armature of a tendon", "sensor 'angle'"}) {
    INFO(all);
    CHECK(all.find(name) != std::string::npos);
  }
  CHECK(all.find("impratio") == std::string::npos);  // not needed: told in the log
  CHECK(refusal([&] { load(path, true); }).find("tendon 'cord'") != std::string::npos);
  CHECK(load(data("linkage.xml"), true).empty());
}

namespace {

// A link with a picture, a hull and a small mass that its <inertial> says; %P: what the picture is.
std::string with_picture(const std::string& assets, const std::string& picture) {
  return R"(<mujoco model="m"><asset>)" + assets +
         R"(<mesh name="block" vertex="0 0 0 .1 0 0 0 .2 0 0 0 .3 .1 .2 .3"/></asset><worldbody>
    <body name="link"><joint name="hinge" axis="0 1 0"/><inertial pos="0 0 .1" mass="1" diaginertia=".1 .2 .2"/>)" +
         picture + R"(<geom type="mesh" mesh="block"/><geom size=".02"/><site name="tip" pos="0 0 1"/></body>
    <site name="top" pos="0 0 2"/></worldbody>
  <tendon><spatial name="cord"><site site="tip"/><site site="top"/></spatial></tendon></mujoco>)";
}

std::uint64_t hash_of(const std::string& path) {
  ModelBuilder builder;
  RobotOptions options;
  options.name = "r";
  options.model = path;
  RobotNotes notes;
  add_robot(builder, options, &notes);
  CHECK(notes.warnings.empty());
  return builder.build().hash();
}

}  // namespace

TEST_CASE("mjcf: what only pictures show is not opened, and the model is the same without") {
  ScratchFolder folder;
  // No such files: whoever opens one refuses.
  const std::string assets =
      R"(<mesh file="shell.obj"/><mesh name="cap" file="cap.stl" material="paint"/><skin file="skin.skn"/>
    <texture name="wood" type="2d" file="wood.png"/><material name="paint" texture="wood"/>)";
  const std::string pictures = R"(<geom type="mesh" mesh="shell" contype="0" conaffinity="0" material="paint"/>
    <geom type="box" mesh="cap" contype="0" conaffinity="0"/>)";
  const std::string path = folder.write("robot.xml", with_picture(assets, pictures));
  CHECK_THROWS_AS(Pair{path}, std::runtime_error);  // MuJoCo does
  const std::string balls =
      R"(<geom size="1" contype="0" conaffinity="0"/><geom size="1" contype="0" conaffinity="0"/>)";
  CHECK(hash_of(path) == hash_of(folder.write("balls.xml", with_picture("", balls))));
  // One that meets something is no picture.
  const std::string solid = R"(<geom type="mesh" mesh="shell" contype="0"/>)";
  const std::string refused = folder.write("solid.xml", with_picture(R"(<mesh file="shell.obj"/>)", solid));
  CHECK(refusal([&] { hash_of(refused); }).find("shell.obj") != std::string::npos);
}

TEST_CASE(
    "mjcf: a mesh that meets nothing is read where it gives a mass or is named, and from models that are attached") {
  ScratchFolder folder;
  const std::string mesh = R"(<mesh name="block" vertex="0 0 0 .1 0 0 0 .2 0 0 0 .3 .1 .2 .3"/>)";
  const std::string silent = R"(type="mesh" mesh="block" contype="0" conaffinity="0"/>)";
  const std::string link = R"(<body name="link"><joint/><geom )" + silent + "</body>";
  folder.write("link.xml", "<mujoco model='l'><asset>" + mesh + "</asset><worldbody>" + link + "</worldbody></mujoco>");
  const std::string path = folder.write("named.xml", "<mujoco><asset>" + mesh +
                                                         R"(<model name="l" file="link.xml"/></asset>
  <worldbody>)" + link + R"(<body name="paired" pos="2 0 0"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <geom name="first" )" + silent + R"(</body>
    <body name="seen" pos="3 0 0"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom name="eye" )" +
                                                         silent + R"(</body>
    <geom name="floor" type="plane" size="5 5 5"/>
    <replicate count="2" offset="0 1 0"><body pos="4 0 0"><joint/><geom )" +
                                                         silent + R"(</body></replicate>
    <frame pos="6 0 0"><attach model="l" body="link" prefix="l_"/></frame></worldbody>
  <contact><pair geom1="first" geom2="floor"/></contact><sensor><framepos objtype="geom" objname="eye"/></sensor></mujoco>)");
  Pair pair(path);
  pair.randomize();
  CHECK(pair.model->nv == 6);
  CHECK(pair.mass_matrix_error() < 1e-9);
  CHECK(pair.bias_error() < 1e-9);
  const Geometry* first = pair.geometry(mj_name2id(pair.m.get(), mjOBJ_GEOM, "first"));
  REQUIRE(first != nullptr);
  REQUIRE(first->hull != nullptr);
  CHECK(first->hull->vertices.size() == 5);
  REQUIRE(pair.model->members[0].file->sensors.size() == 1);
  const auto& eye = pair.model->members[0].file->sensors[0].frame;
  const Vec3 expected = vec3(pair.d->geom_xpos + 3 * mj_name2id(pair.m.get(), mjOBJ_GEOM, "eye"));
  CHECK((pair.pose(eye.body, eye.X_BF).p - expected).norm() < 1e-9);
}
#endif
