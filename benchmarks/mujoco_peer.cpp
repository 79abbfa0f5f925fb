#include "mujoco_peer.hpp"

#include <mujoco/mujoco.h>

#include <cmath>

namespace tribo::bench {
namespace {

std::string named(const char* prefix, std::size_t i) { return std::string(prefix).append(std::to_string(i)); }
Quat quat_xyzw(const double* q) { return Quat(q[3], q[0], q[1], q[2]); }
void put_wxyz(const Quat& q, double* out) { out[0] = q.w(), out[1] = q.x(), out[2] = q.y(), out[3] = q.z(); }

}  // namespace

struct MujocoPeer::Impl {
  const Model& model;
  std::shared_ptr<const Model> owner;
  mjModel* m = nullptr;
  mjData *d = nullptr, *kept = nullptr;
  std::vector<mjtNum> A, B;    // of mjd_transitionFD
  std::vector<int> qpos, dof;  // first coordinate and velocity of each body's joint

  Impl(const Scene& scene, const MjcfOptions& options) : model(*scene.model), owner(scene.model) {
    char error[1000] = "";
    mjSpec* spec = mj_parseXMLString(to_mjcf(scene, options).c_str(), nullptr, error, sizeof error);
    if (!spec) throw InvalidInput("scene '" + scene.name + "': MuJoCo does not read the export: " + error);
    m = mj_compile(spec, nullptr);
    const std::string why = m ? "" : mjs_getError(spec);
    mj_deleteSpec(spec);
    if (!m) throw InvalidInput("scene '" + scene.name + "': MuJoCo does not compile the export: " + why);
    d = mj_makeData(m);
    kept = mj_makeData(m);
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const int j = mj_name2id(m, mjOBJ_JOINT, named("j", i).c_str());
      qpos.push_back(m->jnt_qposadr[j]);
      dof.push_back(m->jnt_dofadr[j]);
    }
    for (const ControllerSpec& spec_pd : scene.controllers) {
      set_reference(spec_pd.pd.value());
      if (spec_pd.pd->reference) add_moving(*spec_pd.pd);
    }
  }

  struct Moving {
    PdOptions pd;
    JointMotion motion;
    std::vector<int> servo;  // of each body of the member, -1: none
  };
  std::vector<Moving> moving;

  void add_moving(const PdOptions& pd) {
    const Member& member = model.members[at(pd.member)];
    Moving x{pd, JointMotion(pd.reference->nv()), {}};
    for (int i = member.first_body; i < member.first_body + member.bodies; ++i)
      x.servo.push_back(mj_name2id(m, mjOBJ_ACTUATOR, named("a", at(i)).c_str()));
    moving.push_back(x);
  }

  // kp (q_ref - q) + kd (v_ref - v) by the one number that a servo takes.
  void follow_references() {
    for (Moving& x : moving) {
      const Member& member = model.members[at(x.pd.member)];
      x.pd.reference->at(d->time, x.motion);
      for (int b = 0; b < member.bodies; ++b) {
        const int a = x.servo[at(b)], k = model.bodies[at(member.first_body + b)].iv - member.iv;
        if (a >= 0 && x.pd.kp[k] > 0) d->ctrl[a] = x.motion.q[k] + x.pd.kd[k] / x.pd.kp[k] * x.motion.v[k];
      }
    }
  }
  ~Impl() {
    mj_deleteData(kept);
    mj_deleteData(d);
    mj_deleteModel(m);
  }

  void set_reference(const PdOptions& pd) {
    const Member& member = model.members[at(pd.member)];
    for (int i = member.first_body; i < member.first_body + member.bodies; ++i) {
      const int a = mj_name2id(m, mjOBJ_ACTUATOR, named("a", at(i)).c_str());
      if (a >= 0) d->ctrl[a] = scalar(model.bodies[at(i)].joint, pd.q_ref.data() + model.bodies[at(i)].iq - member.iq);
    }
  }

  static double scalar(JointKind kind, const double* q) {
    return kind == JointKind::Continuous ? std::atan2(q[1], q[0]) : q[0];
  }

  void put_q(const VecX& q) {
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const Body& b = model.bodies[i];
      const double* x = q.data() + b.iq;
      mjtNum* out = d->qpos + qpos[i];
      if (b.joint == JointKind::Free) {
        const Vec3 p = b.X_PJ * Vec3(x[0], x[1], x[2]);
        for (int k = 0; k < 3; ++k) out[k] = p[k];
        put_wxyz(Quat(b.X_PJ.R) * quat_xyzw(x + 3), out + 3);
      } else if (b.joint == JointKind::Spherical) {
        put_wxyz(quat_xyzw(x), out);
      } else {
        out[0] = scalar(b.joint, x);
      }
    }
  }

  // Velocities differ in one thing: MuJoCo has the linear velocity of a free joint in world axes.
  Mat3 free_axes(std::size_t i) const {
    const mjtNum* q = d->qpos + qpos[i] + 3;
    return Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
  }

  void put_v(const VecX& v) {
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const Body& b = model.bodies[i];
      mjtNum* out = d->qvel + dof[i];
      for (int k = 0; k < nv_of(b.joint); ++k) out[k] = v[b.iv + k];
      if (b.joint == JointKind::Free) Eigen::Map<Vec3>(out, 3) = free_axes(i) * v.segment<3>(b.iv);
    }
  }
};

MujocoPeer::MujocoPeer(const Scene& scene, const MjcfOptions& options) : impl_(std::make_unique<Impl>(scene, options)) {
  set_state(scene.start);
}
MujocoPeer::~MujocoPeer() = default;

void MujocoPeer::differentiate(bool centred) {
  const mjModel* m = impl_->m;
  const auto n = static_cast<std::size_t>(2 * m->nv + m->na);
  impl_->A.resize(n * n);
  impl_->B.resize(n * static_cast<std::size_t>(m->nu));
  mjd_transitionFD(m, impl_->d, 1e-6, centred, impl_->A.data(), impl_->B.data(), nullptr, nullptr);
}

void MujocoPeer::step() {
  impl_->follow_references();
  mj_step(impl_->m, impl_->d);
}

void MujocoPeer::set_state(const State& state) {
  impl_->put_q(state.q);
  impl_->put_v(state.v);
  mju_zero(impl_->d->qacc_warmstart, impl_->m->nv);
  mj_forward(impl_->m, impl_->d);
}

void MujocoPeer::get_state(State& state) const {
  for (std::size_t i = 0; i < impl_->model.bodies.size(); ++i) {
    const Body& b = impl_->model.bodies[i];
    const mjtNum *q = impl_->d->qpos + impl_->qpos[i], *v = impl_->d->qvel + impl_->dof[i];
    double* x = state.q.data() + b.iq;
    for (int k = 0; k < nv_of(b.joint); ++k) state.v[b.iv + k] = v[k];
    if (b.joint == JointKind::Free) {
      const Placement X_JW = b.X_PJ.inverse();
      Eigen::Map<Vec3>(x).noalias() = X_JW * Vec3(q[0], q[1], q[2]);
      Eigen::Map<Eigen::Vector4d>(x + 3) = (Quat(X_JW.R) * Quat(q[3], q[4], q[5], q[6])).normalized().coeffs();
      state.v.segment<3>(b.iv) = impl_->free_axes(i).transpose() * Vec3(v[0], v[1], v[2]);
    } else if (b.joint == JointKind::Spherical) {
      Eigen::Map<Eigen::Vector4d>(x, 4) = Quat(q[0], q[1], q[2], q[3]).normalized().coeffs();
    } else if (b.joint == JointKind::Continuous) {
      x[0] = std::cos(q[0]), x[1] = std::sin(q[0]);
    } else {
      x[0] = q[0];
    }
  }
}

void MujocoPeer::keep() { mj_copyData(impl_->kept, impl_->m, impl_->d); }
void MujocoPeer::restore() { mj_copyData(impl_->d, impl_->m, impl_->kept); }

double MujocoPeer::mass() const { return mj_getTotalmass(impl_->m); }

MatX MujocoPeer::mass_matrix() const {
  const int n = impl_->m->nv;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(n, n);
  mj_fullM(impl_->m, impl_->d, M.data());
  MatX T = MatX::Zero(n, n);  // v of MuJoCo = T v of Tribo
  for (std::size_t i = 0; i < impl_->model.bodies.size(); ++i) {
    const Body& b = impl_->model.bodies[i];
    for (int k = 0; k < nv_of(b.joint); ++k) T(impl_->dof[i] + k, b.iv + k) = 1;
    if (b.joint == JointKind::Free) T.block<3, 3>(impl_->dof[i], b.iv) = impl_->free_axes(i);
  }
  return T.transpose() * M * T;
}

Vec3 MujocoPeer::center_of_mass() const {
  mj_kinematics(impl_->m, impl_->d);
  mj_comPos(impl_->m, impl_->d);
  return Eigen::Map<const Vec3>(impl_->d->subtree_com);
}

int MujocoPeer::contacts() const { return impl_->d->ncon; }

double MujocoPeer::overlap() const {
  double deepest = 0;
  for (int k = 0; k < impl_->d->ncon; ++k) deepest = std::max(deepest, -impl_->d->contact[k].dist);
  return deepest;
}

std::string MujocoPeer::warnings() const {
  std::string all;
  for (int w = 0; w < mjNWARNING; ++w) {
    const mjWarningStat& warning = impl_->d->warning[w];
    if (warning.number == 0) continue;
    if (!all.empty()) all.append("; ");
    all.append(mju_warningText(w, static_cast<std::size_t>(warning.lastinfo)));
  }
  return all;
}

std::string MujocoPeer::version() { return mj_versionString(); }

}  // namespace tribo::bench
