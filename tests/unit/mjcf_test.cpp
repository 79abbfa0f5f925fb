// MJCF files of our own against MuJoCo itself: it compiles the file, and its kinematics, mass matrix, bias forces,
// contact filter and actuator forces are the independent computation.
#ifdef TRIBO_MJCF
#include <doctest/doctest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "dynamics/dynamics.hpp"
#include "scratch_folder.hpp"
#include "tribo/scene.hpp"

using namespace tribo;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
Vec3 vec3(const double* x) { return {x[0], x[1], x[2]}; }
Mat3 mat3(const double* x) { return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x); }

// MuJoCo and Tribo side by side on one file, at one random configuration.
struct Pair {
  std::unique_ptr<mjModel, void (*)(mjModel*)> m{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> d{nullptr, mj_deleteData};
  std::unique_ptr<const Model> model;
  RobotNotes notes;
  std::unique_ptr<Dynamics> dynamics;
  VecX q, v;
  Random random;

  explicit Pair(const std::string& path, const Placement& base = {}) {
    char error[1000] = "";
    m.reset(mj_loadXML(path.c_str(), nullptr, error, sizeof error));
    REQUIRE_MESSAGE(m != nullptr, error);
    d.reset(mj_makeData(m.get()));
    ModelBuilder builder;
    RobotOptions options;
    options.name = "r";
    options.model = path;
    options.base = base;
    add_robot(builder, options, &notes);
    builder.set_gravity(notes.gravity);
    model = std::make_unique<const Model>(builder.build());
    REQUIRE(model->nq == m->nq);
    REQUIRE(model->nv == m->nv);
    dynamics = std::make_unique<Dynamics>(*model);
  }

  double draw(double scale) { return scale * (2 * random.uniform() - 1); }

  // Joints are in the same order; quaternions are xyzw here, and the free joint's linear velocity is in body axes.
  void randomize() {
    for (int i = 0; i < m->nq; ++i) d->qpos[i] = draw(1.5);
    for (int i = 0; i < m->nv; ++i) d->qvel[i] = draw(2);
    mj_normalizeQuat(m.get(), d->qpos);
    q.resize(m->nq);
    v = Eigen::Map<VecX>(d->qvel, m->nv);
    for (int j = 0; j < m->njnt; ++j) {
      const int i = m->jnt_qposadr[j], k = m->jnt_dofadr[j], type = m->jnt_type[j];
      const double* x = d->qpos + i;
      if (type == mjJNT_FREE) {
        q.segment<7>(i) << x[0], x[1], x[2], x[4], x[5], x[6], x[3];
        v.segment<3>(k) = Quat(x[3], x[4], x[5], x[6]).toRotationMatrix().transpose() * vec3(d->qvel + k);
      } else if (type == mjJNT_BALL) {
        q.segment<4>(i) << x[1], x[2], x[3], x[0];
      } else {
        q[i] = x[0];
      }
    }
    mj_fwdPosition(m.get(), d.get());
    mj_fwdVelocity(m.get(), d.get());
    dynamics->compute(q, v);
  }

  // v_mujoco = T v
  MatX velocity_map() const {
    MatX T = MatX::Identity(m->nv, m->nv);
    for (int j = 0; j < m->njnt; ++j) {
      if (m->jnt_type[j] != mjJNT_FREE) continue;
      const double* x = d->qpos + m->jnt_qposadr[j] + 3;
      T.block<3, 3>(m->jnt_dofadr[j], m->jnt_dofadr[j]) = Quat(x[0], x[1], x[2], x[3]).toRotationMatrix();
    }
    return T;
  }

  Placement pose(int body, const Placement& X) const {
    if (body >= 0) return dynamics->X_WB(body) * X;
    const int moved = moved_index(body);
    return moved >= 0 ? model->moved[at(moved)].pose(0) * X : X;
  }

  // Our geometry of a geom, or null.
  const Geometry* geometry(int g) const {
    const std::string name = std::string("r/") + mj_id2name(m.get(), mjOBJ_GEOM, g);
    for (const Geometry& x : model->geometries)
      if (x.name == name) return &x;
    return nullptr;
  }
};

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

TEST_CASE("mjcf: mass matrix and bias forces are MuJoCo's at random configurations") {
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    for (int trial = 0; trial < 20; ++trial) {
      pair.randomize();
      const int nv = static_cast<int>(pair.m->nv);
      const MatX T = pair.velocity_map();
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(nv, nv);
      mj_fullM(pair.m.get(), pair.d.get(), M.data());
      const MatX expected = T.transpose() * M * T;
      CHECK((pair.dynamics->mass_matrix() - expected).norm() < 1e-9 * expected.norm());
      const VecX bias = T.transpose() * Eigen::Map<VecX>(pair.d->qfrc_bias, nv);
      CHECK((pair.dynamics->h() - bias).norm() < 1e-9 * (1 + bias.norm()));
    }
  }
}

TEST_CASE("mjcf: bodies and sites stand where MuJoCo has them") {
  for (const char* file : files) {
    INFO(std::string(file));
    Pair pair(data(file));
    for (int trial = 0; trial < 10; ++trial) {
      pair.randomize();
      auto compare = [&](const char* name, const double* x, const double* R) {
        if (name == nullptr) return;
        INFO(std::string(name));
        const Frame& frame = pair.model->frames[at(pair.model->frame(name))];
        const Placement X = pair.pose(frame.body, frame.X_BF);
        CHECK((X.p - vec3(x)).norm() < 1e-9);
        CHECK((X.R - mat3(R)).norm() < 1e-9);
      };
      const mjModel* m = pair.m.get();
      for (int b = 1; b < m->nbody; ++b)
        compare(mj_id2name(m, mjOBJ_BODY, b), pair.d->xpos + 3 * b, pair.d->xmat + 9 * b);
      for (int s = 0; s < m->nsite; ++s)
        compare(mj_id2name(m, mjOBJ_SITE, s), pair.d->site_xpos + 3 * s, pair.d->site_xmat + 9 * s);
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
        const Placement X = pair.pose(geometry->body, geometry->X_BG);
        const Vec3 size = vec3(m->geom_size + 3 * g);
        CHECK((X.p - vec3(pair.d->geom_xpos + 3 * g)).norm() < 1e-9);
        if (geometry->kind == ShapeKind::HeightField) {
          // Independent: MuJoCo's rays, straight down the geom's z.
          const Mat3 R = mat3(pair.d->geom_xmat + 9 * g);
          for (int k = 0; k < 200; ++k) {
            const Vec3 p(pair.draw(1.99), pair.draw(1.49), 3), start = vec3(pair.d->geom_xpos + 3 * g) + R * p;
            const Vec3 down = -R.col(2);
            const double distance = mj_rayHfield(m, pair.d.get(), g, start.data(), down.data(), nullptr);
            const Vec3 here = X.inverse() * (start + distance * down);
            CHECK(std::abs(here.z() - height(*geometry->terrain, here.x(), here.y())) < 1e-9);
          }
          continue;
        }
        CHECK((X.R - mat3(pair.d->geom_xmat + 9 * g)).norm() < 1e-9);
        switch (m->geom_type[g]) {
          case mjGEOM_PLANE:
            CHECK(geometry->kind == ShapeKind::HalfSpace);
            break;
          case mjGEOM_SPHERE:
            CHECK(geometry->kind == ShapeKind::Sphere);
            CHECK(geometry->size.x() == size[0]);
            break;
          case mjGEOM_BOX:
          case mjGEOM_ELLIPSOID:
            CHECK(geometry->kind == (m->geom_type[g] == mjGEOM_BOX ? ShapeKind::Box : ShapeKind::Ellipsoid));
            CHECK(geometry->size == size);
            break;
          case mjGEOM_CAPSULE:
          case mjGEOM_CYLINDER:
            CHECK(geometry->kind == (m->geom_type[g] == mjGEOM_CAPSULE ? ShapeKind::Capsule : ShapeKind::Cylinder));
            CHECK(geometry->size == Vec3(size[0], 0, size[1]));
            break;
          default: {
            // Every vertex of the mesh lies in the hull, and the hull has no other corner.
            REQUIRE(geometry->kind == ShapeKind::Convex);
            const int mesh = m->geom_dataid[g];
            const float* x = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
            std::vector<Vec3> vertices;
            for (int k = 0; k < m->mesh_vertnum[mesh]; ++k) vertices.emplace_back(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
            for (const auto& face : geometry->hull->faces) {
              const auto& hull = geometry->hull->vertices;
              const Vec3 &a = hull[at(face[0])], &b = hull[at(face[1])], &c = hull[at(face[2])];
              const Vec3 normal = (b - a).cross(c - b).normalized();
              for (const Vec3& p : vertices) CHECK(normal.dot(p - a) < 1e-7);  // the mesh is in single precision
            }
            for (const Vec3& p : geometry->hull->vertices)
              CHECK(
                  std::any_of(vertices.begin(), vertices.end(), [&](const Vec3& y) { return (p - y).norm() < 1e-12; }));
          }
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
    mjModel* m = pair.m.get();
    // Detection at any distance: MuJoCo then lists every pair that its filters let through.
    std::fill_n(m->geom_gap, m->ngeom, 100.0);
    std::fill_n(m->pair_gap, m->npair, 100.0);
    std::fill_n(m->body_margin, m->nbody, 100.0);
    pair.randomize();
    std::set<std::pair<int, int>> listed;
    for (int c = 0; c < pair.d->ncon; ++c)
      listed.insert(std::minmax(pair.d->contact[c].geom[0], pair.d->contact[c].geom[1]));
    for (int a = 0; a < m->ngeom; ++a)
      for (int b = 0; b < a; ++b) {
        if (mj_id2name(m, mjOBJ_GEOM, a) == nullptr || mj_id2name(m, mjOBJ_GEOM, b) == nullptr) continue;
        const auto index = [&](int g) { return static_cast<int>(pair.geometry(g) - pair.model->geometries.data()); };
        INFO(pair.geometry(a)->name, " ", pair.geometry(b)->name);
        const bool ours = pair.model->may_collide(index(a), index(b)), theirs = listed.count({b, a}) > 0;
        // Its box against box gives up at a distance.
        const bool boxes = m->geom_type[a] == mjGEOM_BOX && m->geom_type[b] == mjGEOM_BOX;
        if (boxes)
          CHECK((ours || !theirs));
        else
          CHECK(ours == theirs);
      }
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
    const mjModel* m = pair.m.get();
    const Model& model = *pair.model;
    REQUIRE(model.members[0].actuators.size() == at(static_cast<int>(m->nu)));
    for (int trial = 0; trial < 20; ++trial) {
      pair.randomize();
      ActuatorOptions options{0, VecX(m->nu)};
      for (int u = 0; u < m->nu; ++u) options.control[u] = pair.d->ctrl[u] = pair.draw(3);  // some beyond their range
      mj_fwdActuation(m, pair.d.get());
      State state = State::neutral(model);
      state.q = pair.q;
      state.v = pair.v;
      Actuation a;
      a.resize(model.nv);
      make_actuators(model, options)->control(model, state, *pair.dynamics, {}, a);
      const VecX tau =
          (a.tau + a.kp.cwiseProduct(a.error) - a.kd.cwiseProduct(pair.v)).cwiseMax(a.lower).cwiseMin(a.upper);
      const VecX expected = pair.velocity_map().transpose() * Eigen::Map<VecX>(pair.d->qfrc_actuator, m->nv);
      CHECK((tau - expected).norm() < 1e-9 * (1 + expected.norm()));
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
  <option viscosity="0.1" impratio="5"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" solref="0.01 1"/>
    <body name="link" gravcomp="0.5"><joint name="hinge" solreflimit="0.1 1" range="-1 1" limited="true"/>
      <geom name="ball" size="0.1" margin="0.01"/><site name="s"/></body>
    <body name="other" pos="1 0 0"><joint name="turn" type="ball" range="0 1" limited="true"/><geom size="0.1"/><site name="t"/></body>
  </worldbody>
  <tendon><spatial name="cord" stiffness="3"><site site="s"/><site site="t"/></spatial></tendon>
  <actuator><muscle name="biceps" joint="hinge" lengthrange="0 1"/><general name="slow" joint="hinge" dyntype="filter" dynprm="0.1"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/></sensor>
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
  for (const char* name : {"viscosity", "impratio", "geom 'floor'", "gravcomp", "joint 'hinge'", "geom 'ball'",
                           "joint 'turn'", "tendon 'cord'", "muscle", "'biceps'", "'slow'", "sensor 'angle'"}) {
    INFO(all);
    CHECK(all.find(name) != std::string::npos);
  }
  CHECK(refusal([&] { load(path, true); }).find("tendon 'cord'") != std::string::npos);
  CHECK(load(data("linkage.xml"), true).empty());
}
#endif
