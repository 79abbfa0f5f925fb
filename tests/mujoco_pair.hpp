// MuJoCo and Tribo side by side on one MJCF file: what the two say of a configuration, compared. MuJoCo is the
// independent computation.
#pragma once

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "dynamics/fluid.hpp"
#include "dynamics/tendons.hpp"
#include "stepping/rigid/springs.hpp"
#include "tribo/controller.hpp"
#include "tribo/dynamics.hpp"
#include "tribo/scene.hpp"

namespace mujoco_pair {

using namespace tribo;

inline Vec3 vec3(const double* x) { return {x[0], x[1], x[2]}; }
inline Mat3 mat3(const double* x) { return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x); }

struct Pair {
  std::unique_ptr<mjModel, void (*)(mjModel*)> m{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> d{nullptr, mj_deleteData};
  std::unique_ptr<const Model> model;
  RobotNotes notes;
  std::unique_ptr<Dynamics> dynamics;
  VecX q, v;
  Random random;

  /// std::runtime_error where MuJoCo does not read the file, InvalidInput where Tribo does not.
  explicit Pair(const std::string& path, const Placement& base = {}, const std::vector<std::string>& packages = {}) {
    char error[1000] = "";
    m.reset(mj_loadXML(path.c_str(), nullptr, error, sizeof error));
    if (m == nullptr) throw std::runtime_error(error);
    d.reset(mj_makeData(m.get()));
    ModelBuilder builder;
    RobotOptions options;
    options.name = "r";
    options.model = path;
    options.base = base;
    options.packages = packages;
    add_robot(builder, options, &notes);
    builder.set_gravity(notes.gravity);
    model = std::make_unique<const Model>(builder.build());
    if (model->nq != m->nq || model->nv != m->nv) throw std::logic_error("another number of coordinates");
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
    const int k = kinematic_index(body);
    return k >= 0 ? model->kinematic[at(k)].pose(0) * X : X;
  }

  std::string geom_name(int g) const {
    if (const char* own = mj_id2name(m.get(), mjOBJ_GEOM, g)) return std::string("r/") + own;
    const char* body = mj_id2name(m.get(), mjOBJ_BODY, m->geom_bodyid[g]);
    return std::string("r/") + (body != nullptr ? body : "") + ".geom" + std::to_string(g);
  }

  // Our geometry of a geom, or null.
  const Geometry* geometry(int g) const {
    const std::string name = geom_name(g);
    for (const Geometry& x : model->geometries)
      if (x.name == name) return &x;
    return nullptr;
  }

  double mass_matrix_error() const {
    const int nv = static_cast<int>(m->nv);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(nv, nv);
    mj_fullM(m.get(), d.get(), M.data());
    for (int j = 0; j < m->njnt; ++j) {  // T^T M T, block by block: files may have thousands of coordinates
      if (m->jnt_type[j] != mjJNT_FREE) continue;
      const double* x = d->qpos + m->jnt_qposadr[j] + 3;
      const Mat3 R = Quat(x[0], x[1], x[2], x[3]).toRotationMatrix();
      const int k = m->jnt_dofadr[j];
      M.middleRows(k, 3) = (R.transpose() * M.middleRows(k, 3)).eval();
      M.middleCols(k, 3) = (M.middleCols(k, 3) * R).eval();
    }
    return (dynamics->mass_matrix() - M).norm() / std::max(M.norm(), 1e-300);
  }

  // Weights that are carried are part of the bias here.
  double bias_error() const {
    const VecX theirs = Eigen::Map<VecX>(d->qfrc_bias, m->nv) - Eigen::Map<VecX>(d->qfrc_gravcomp, m->nv);
    const VecX bias = velocity_map().transpose() * theirs;
    return (dynamics->h() - bias).norm() / (1 + bias.norm());
  }

  // Springs and dampers of joints and tendons, and the fluid.
  double passive_error() const {
    VecX deflection;
    spring_deflection(*model, q, deflection);
    VecX ours = -model->joints.damping.cwiseProduct(v) - model->joints.stiffness.cwiseProduct(deflection);
    for (const Tendon& t : model->tendons) {
      const double d = tendon_deflection(t, tendon_length(*model, t, q, *dynamics));
      const double f = -t.stiffness * d - t.damping * tendon_rate(*model, t, v, *dynamics);
      add_tendon_force(*model, t, f, *dynamics, ours);
    }
    add_fluid_forces(model->medium, *dynamics, ours);
    VecX sum = VecX::Zero(m->nv);
    for (const double* x : {d->qfrc_spring, d->qfrc_damper, d->qfrc_fluid}) sum += Eigen::Map<const VecX>(x, m->nv);
    const VecX theirs = velocity_map().transpose() * sum;
    return (ours - theirs).norm() / (1 + theirs.norm());
  }

  // Bodies and sites that have a name [m] and [rad].
  double pose_error() const {
    double worst = 0;
    auto compare = [&](const char* own, const double* x, const double* R, bool taken) {
      if (own == nullptr) return;
      const std::string name = (taken ? "r/site/" : "r/") + std::string(own);
      const auto frame =
          std::find_if(model->frames.begin(), model->frames.end(), [&](const Frame& f) { return f.name == name; });
      if (frame == model->frames.end()) {
        worst = std::numeric_limits<double>::infinity();
        return;
      }
      const Placement X = pose(frame->body, frame->X_BF);
      worst = std::max({worst, (X.p - vec3(x)).norm(), (X.R - mat3(R)).norm()});
    };
    for (int b = 1; b < m->nbody; ++b)
      compare(mj_id2name(m.get(), mjOBJ_BODY, b), d->xpos + 3 * b, d->xmat + 9 * b, false);
    for (int s = 0; s < m->nsite; ++s) {
      const char* name = mj_id2name(m.get(), mjOBJ_SITE, s);
      const bool taken = name != nullptr && mj_name2id(m.get(), mjOBJ_BODY, name) > 0;
      compare(name, d->site_xpos + 3 * s, d->site_xmat + 9 * s, taken);
    }
    return worst;
  }

  bool touches(int g) const {
    const mjModel& x = *m;
    if (x.opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return false;
    bool paired = false;
    for (int p = 0; p < x.npair; ++p) paired |= x.pair_geom1[p] == g || x.pair_geom2[p] == g;
    return x.geom_contype[g] != 0 || x.geom_conaffinity[g] != 0 || paired;
  }

  // Places, sizes and hulls of the geoms that touch. Infinite where a geom is missing or of another kind.
  double shape_error() const {
    double worst = 0;
    for (int g = 0; g < m->ngeom; ++g)
      if (touches(g)) worst = std::max(worst, shape_error(g));
    return worst;
  }

  double shape_error(int g) const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Geometry* geometry = this->geometry(g);
    if (geometry == nullptr) return inf;
    const Placement X = pose(geometry->body, geometry->X_BG);
    const Mat3 R = mat3(d->geom_xmat + 9 * g);
    const Vec3 size = vec3(m->geom_size + 3 * g), &own = geometry->size;
    double worst = (X.p - vec3(d->geom_xpos + 3 * g)).norm();
    // The grid of a height field is turned by a right angle.
    const bool turned = m->geom_type[g] == mjGEOM_HFIELD;
    const Mat3 quarter = Eigen::AngleAxisd(turned ? M_PI / 2 : 0, Vec3::UnitZ()).toRotationMatrix();
    worst = std::max(worst, (X.R - R * quarter).norm());
    auto same = [&](ShapeKind kind, const Vec3& x) { return geometry->kind == kind ? (own - x).norm() : inf; };
    switch (m->geom_type[g]) {
      case mjGEOM_PLANE:
        return std::max(worst, same(ShapeKind::HalfSpace, own));
      case mjGEOM_SPHERE:
        return std::max(worst, same(ShapeKind::Sphere, {size[0], 0, 0}));
      case mjGEOM_BOX:
        return std::max(worst, same(ShapeKind::Box, size));
      case mjGEOM_ELLIPSOID:
        return std::max(worst, same(ShapeKind::Ellipsoid, size));
      case mjGEOM_CAPSULE:
        return std::max(worst, same(ShapeKind::Capsule, {size[0], 0, size[1]}));
      case mjGEOM_CYLINDER:
        return std::max(worst, same(ShapeKind::Cylinder, {size[0], 0, size[1]}));
      case mjGEOM_HFIELD:
        return std::max(worst, same(ShapeKind::HeightField, own));
      case mjGEOM_MESH:
        return geometry->kind == ShapeKind::Convex ? std::max(worst, hull_error(g, *geometry->hull)) : inf;
      default:
        return inf;
    }
  }

  std::vector<Vec3> mesh_vertices(int g) const {
    const int mesh = m->geom_dataid[g];
    const float* x = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
    std::vector<Vec3> vertices;
    for (int k = 0; k < m->mesh_vertnum[mesh]; ++k) vertices.emplace_back(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    return vertices;
  }

  // Largest difference of the extents of mesh and hull, over directions spread at random [m].
  double hull_error(int g, const Hull& hull) const {
    const std::vector<Vec3> mesh = mesh_vertices(g);
    auto extent = [](const std::vector<Vec3>& points, const Vec3& along) {
      double most = -std::numeric_limits<double>::infinity();
      for (const Vec3& p : points) most = std::max(most, along.dot(p));
      return most;
    };
    double worst = 0;
    Random directions;
    for (int k = 0; k < 500; ++k) {
      const Vec3 along = Vec3::NullaryExpr([&](Eigen::Index) { return directions.uniform() - 0.5; }).normalized();
      worst = std::max(worst, std::abs(extent(mesh, along) - extent(hull.vertices, along)));
    }
    return worst;
  }

  // Geoms that MuJoCo lets touch at any distance, and Tribo does not, or the other way round.
  std::vector<std::string> filter_differences() {
    // Detection at any distance: MuJoCo then lists every pair that its filters let through.
    std::fill_n(m->geom_gap, m->ngeom, 100.0);
    std::fill_n(m->pair_gap, m->npair, 100.0);
    std::fill_n(m->body_margin, m->nbody, 100.0);
    randomize();
    std::set<std::pair<int, int>> listed;
    for (int c = 0; c < d->ncon; ++c) listed.insert(std::minmax(d->contact[c].geom[0], d->contact[c].geom[1]));
    std::vector<std::string> differences;
    for (int a = 0; a < m->ngeom; ++a)
      for (int b = 0; b < a; ++b) {
        const Geometry *ga = geometry(a), *gb = geometry(b);
        const Geometry* first = model->geometries.data();
        const bool ours = ga && gb && model->may_collide(static_cast<int>(ga - first), static_cast<int>(gb - first));
        const bool theirs = listed.count({b, a}) > 0;
        // Its box against box gives up at a distance.
        const bool boxes = m->geom_type[a] == mjGEOM_BOX && m->geom_type[b] == mjGEOM_BOX;
        if (boxes ? theirs && !ours : theirs != ours)
          differences.push_back(geom_name(a) + " " + geom_name(b) + (ours ? " here alone" : " there alone"));
      }
    return differences;
  }

  // Torques of the actuators at random controls, some beyond their range.
  double actuator_error() {
    const Model& x = *model;
    ActuatorOptions options{0, VecX(m->nu), VecX::Zero(m->nu)};
    for (int u = 0; u < m->nu; ++u) options.control[u] = d->ctrl[u] = draw(3);
    for (int i = 0; i < m->nactuator; ++i)
      if (const int k = m->actuator_actadr[i]; k >= 0) options.activation[i] = d->act[k] = draw(2);
    mj_fwdActuation(m.get(), d.get());
    State state = State::neutral(x);
    state.q = q;
    state.v = v;
    Actuation a;
    a.resize(x.nv);
    a.dt = m->opt.timestep;
    const auto controller = make_actuators(x, options);
    std::vector<double> memory(at(controller->memory()));
    controller->control(x, state, *dynamics, memory, a);
    const VecX tau =
        (a.tau + a.kp.cwiseProduct(a.error) - a.kd.cwiseProduct(v)).cwiseMax(a.lower).cwiseMin(a.upper) + a.external;
    VecX theirs = Eigen::Map<VecX>(d->qfrc_actuator, m->nv);
    for (int j = 0; j < m->njnt; ++j)  // a weight that motors carry is part of the bias here
      for (int k = m->jnt_dofadr[j];
           m->jnt_actgravcomp[j] && k < m->jnt_dofadr[j] + (m->jnt_type[j] <= 1 ? 6 - 3 * m->jnt_type[j] : 1); ++k)
        theirs[k] -= d->qfrc_gravcomp[k];
    const VecX expected = velocity_map().transpose() * theirs;
    return (tau - expected).norm() / (1 + expected.norm());
  }
};

}  // namespace mujoco_pair
