#include "tribo/dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/chain.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

Spatial cross_motion(const Spatial& V, const Spatial& S) {
  return {V.ang.cross(S.lin) + V.lin.cross(S.ang), V.ang.cross(S.ang)};
}

// R times a rotation by angle about a unit vector of the frame.
void rotate_about(int axis, double c, double s, const Mat3& R, Mat3& out) {
  const int x = (axis + 1) % 3, y = (axis + 2) % 3;
  out.col(axis) = R.col(axis);
  out.col(x) = c * R.col(x) + s * R.col(y);
  out.col(y) = c * R.col(y) - s * R.col(x);
}

// nv_of, seen by the compiler.
int dofs(const Body& body) { return body.joint == JointKind::Free ? 6 : body.joint == JointKind::Spherical ? 3 : 1; }

bool floats(const Model& model, const Tree& tree) { return model.bodies[at(tree.first_body)].joint == JointKind::Free; }

Mat3 rotation(const VecX& q, int i) { return Quat(q[i + 3], q[i], q[i + 1], q[i + 2]).toRotationMatrix(); }

}  // namespace

Dynamics::Dynamics(const Model& model) : model_(&model) {
  const std::size_t nb = model.bodies.size();
  X_WB_.resize(nb);
  r_.resize(nb);
  I_.resize(nb);
  subtree_.resize(nb);
  aligned_.resize(nb);
  origin_.resize(model.trees.size());
  potential_.resize(model.trees.size());
  motion_ = make_motion();
  S_.resize(at(model.nv));
  row_.resize(at(model.nv));
  depth_.resize(at(model.nv));
  chain_.resize(at(model.nv));
  gravity_force_.setZero(model.nv);
  dis_.setOnes(model.nv);
  std::size_t entries = 0;
  for (std::size_t i = 0; i < nb; ++i) {
    const Body& body = model.bodies[i];
    aligned_[i] = -1;
    for (int a = 0; a < 3; ++a)
      if (body.axis == Vec3::Unit(a)) aligned_[i] = a;
    const int n = nv_of(body.joint);
    const int depth = static_cast<int>(body.chain.size()) - n;
    for (int k = 0; k < n; ++k) {
      row_[at(body.iv + k)] = entries;
      depth_[at(body.iv + k)] = depth + k;
      chain_[at(body.iv + k)] = body.chain.data();
      entries += at(depth + k + 1);
    }
  }
  M_.assign(entries, 0.0);
  L_.assign(entries, 0.0);
}

TreeMotion Dynamics::make_motion() const {
  const std::size_t nb = model_->bodies.size(), nt = model_->trees.size();
  TreeMotion m;
  for (std::vector<Spatial>* x : {&m.V, &m.A, &m.F}) x->resize(nb);
  m.momentum.resize(nt);
  m.kinetic.resize(nt);
  m.h.setZero(model_->nv);
  return m;
}

void Dynamics::compute(const VecX& q, const VecX& v) { pass(q, v, true); }

void Dynamics::compute_motion(const VecX& q, const VecX& v) { pass(q, v, false); }

void Dynamics::pass(const VecX& q, const VecX& v, bool mass_matrix) {
  const int nt = static_cast<int>(model_->trees.size());
  for (int t = 0; t < nt; ++t) {
    const Tree& tree = model_->trees[at(t)];
    if (tree.single) {
      single(t, q, v);
      continue;
    }
    forward(tree, q, v);
    gather(tree, v, motion_);
    if (mass_matrix) sum_masses(tree);
  }
}

void Dynamics::bias(int t, const VecX& v, TreeMotion& motion) const {
  const Tree& tree = model_->trees[at(t)];
  start_motion(t, motion);
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) move_body(model_->bodies[at(i)], i, v, motion);
  gather(tree, v, motion);
}

void Dynamics::move(int t, const VecX& q, const VecX& v) {
  if (model_->trees[at(t)].single)
    single(t, q, v);
  else
    bias(t, v, motion_);
}

double Dynamics::kinetic() const {
  double sum = 0;
  for (double x : motion_.kinetic) sum += x;
  return sum;
}

double Dynamics::potential() const {
  double sum = 0;
  for (double x : potential_) sum += x;
  return sum;
}

// A free body with principal axes: M is constant, only the pose and the gyroscopic moment change.
TRIBO_CLONES void Dynamics::single(int t, const VecX& q, const VecX& v) {
  const Tree& tree = model_->trees[at(t)];
  const std::size_t i = at(tree.first_body);
  const Body& body = model_->bodies[i];
  const double m = body.inertia.mass;
  const Vec3 I = body.inertia.about_com.diagonal();
  Placement& X = X_WB_[i];
  X.p = q.segment<3>(body.iq);
  X.R = rotation(q, body.iq + 3);
  origin_[at(t)] = X.p;
  const Vec3 lin = v.segment<3>(body.iv), w = v.segment<3>(body.iv + 3);
  const Vec3 Iw = I.cwiseProduct(w);
  const Spatial V{X.R * lin, X.R * w};
  motion_.V[i] = V;
  motion_.A[i] = {-model_->gravity - V.ang.cross(V.lin), Vec3::Zero()};
  const Vec3 weight = -m * (X.R.transpose() * model_->gravity);
  gravity_force_.segment<3>(body.iv) = weight;
  motion_.h.segment<3>(body.iv) = weight;
  motion_.h.segment<3>(body.iv + 3) = w.cross(Iw);
  for (int k = 0; k < 3; ++k) {
    S_[at(body.iv + k)] = {X.R.col(k), Vec3::Zero()};
    S_[at(body.iv + 3 + k)] = {Vec3::Zero(), X.R.col(k)};
    row(body.iv + k)[k] = m;
    row(body.iv + 3 + k)[3 + k] = I[k];
  }
  motion_.kinetic[at(t)] = 0.5 * (m * lin.squaredNorm() + w.dot(Iw));
  potential_[at(t)] = -m * model_->gravity.dot(X.p);
  motion_.momentum[at(t)] = {m * V.lin, X.R * Iw};
}

// Pose of body i and the axes of its joint.
TRIBO_CLONES void Dynamics::place(const Body& body, int i, const VecX& q) {
  const int p = body.parent;
  const Vec3& O = origin_[at(body.tree)];
  const Mat3 Rj = p < 0 ? body.X_PJ.R : Mat3(X_WB_[at(p)].R * body.X_PJ.R);
  Vec3 r = p < 0 ? Vec3(body.X_PJ.p - O) : Vec3(r_[at(p)] + X_WB_[at(p)].R * body.X_PJ.p);
  Mat3& R = X_WB_[at(i)].R;
  switch (body.joint) {
    case JointKind::Free:
      R = Rj * rotation(q, body.iq + 3);
      r.setZero();
      for (int k = 0; k < 3; ++k) {
        S_[at(body.iv + k)] = {R.col(k), Vec3::Zero()};
        S_[at(body.iv + 3 + k)] = {Vec3::Zero(), R.col(k)};
      }
      break;
    case JointKind::Spherical:
      R = Rj * rotation(q, body.iq);
      for (int k = 0; k < 3; ++k) S_[at(body.iv + k)] = {r.cross(R.col(k)), R.col(k)};
      break;
    case JointKind::Prismatic: {
      R = Rj;
      const Vec3 a = Rj * body.axis;
      r += q[body.iq] * a;
      S_[at(body.iv)] = {a, Vec3::Zero()};
      break;
    }
    case JointKind::Revolute:
    case JointKind::Continuous: {
      const bool angle = body.joint == JointKind::Revolute;
      const double c = angle ? std::cos(q[body.iq]) : q[body.iq];
      const double s = angle ? std::sin(q[body.iq]) : q[body.iq + 1];
      const int axis = aligned_[at(i)];
      const Vec3 a = axis >= 0 ? Vec3(Rj.col(axis)) : Vec3(Rj * body.axis);
      if (axis >= 0)
        rotate_about(axis, c, s, Rj, R);
      else
        R = Rj * (c * Mat3::Identity() + s * skew(body.axis) + (1 - c) * body.axis * body.axis.transpose());
      S_[at(body.iv)] = {r.cross(a), a};
      break;
    }
  }
  r_[at(i)] = r;
  X_WB_[at(i)].p = O + r;
}

// Inertia about O in world axes.
TRIBO_CLONES void Dynamics::weigh(const Body& body, int i) {
  const Mat3& R = X_WB_[at(i)].R;
  const double m = body.inertia.mass;
  const Vec3 c = r_[at(i)] + R * body.inertia.com;
  RigidInertia& I = I_[at(i)];
  I.m = m;
  I.mc = m * c;
  I.I.noalias() = R * body.inertia.about_com * R.transpose() - I.mc * c.transpose();
  I.I.diagonal().array() += I.mc.dot(c);
  const Vec3& O = origin_[at(body.tree)];
  potential_[at(body.tree)] -= model_->gravity.dot(m * O + I.mc);
  if (body.carried > 0) potential_[at(body.tree)] += model_->gravity.dot(body.carried * (O + carried_at(body, i)));
}

void Dynamics::forward(const Tree& tree, const VecX& q, const VecX& v) {
  const Body& root = model_->bodies[at(tree.first_body)];
  origin_[at(root.tree)] = root.joint == JointKind::Free ? Vec3(root.X_PJ * Vec3(q.segment<3>(root.iq))) : root.X_PJ.p;
  potential_[at(root.tree)] = 0;
  start_motion(root.tree, motion_);
  for (int i = tree.first_body; i < tree.first_body + tree.bodies; ++i) {
    const Body& body = model_->bodies[at(i)];
    place(body, i, q);
    weigh(body, i);
    move_body(body, i, v, motion_);
  }
}

void Dynamics::start_motion(int t, TreeMotion& motion) const {
  motion.momentum[at(t)] = {};
  motion.kinetic[at(t)] = 0;
}

// Velocity of a body, and the force that its motion needs.
TRIBO_CLONES void Dynamics::move_body(const Body& body, int i, const VecX& v, TreeMotion& motion) const {
  const int n = dofs(body);
  Spatial Sv{S_[at(body.iv)].lin * v[body.iv], S_[at(body.iv)].ang * v[body.iv]};
  for (int k = 1; k < n; ++k) {
    Sv.lin += S_[at(body.iv + k)].lin * v[body.iv + k];
    Sv.ang += S_[at(body.iv + k)].ang * v[body.iv + k];
  }
  Spatial& V = motion.V[at(i)];
  Spatial& A = motion.A[at(i)];
  V = Sv;                                // (dyn.1)
  A = {-model_->gravity, Vec3::Zero()};  // (dyn.2)
  if (body.parent >= 0) {
    V.lin += motion.V[at(body.parent)].lin;
    V.ang += motion.V[at(body.parent)].ang;
    A = motion.A[at(body.parent)];
  }
  if (body.joint == JointKind::Free) {
    A.lin -= V.ang.cross(V.lin);
  } else {
    const Spatial c = cross_motion(V, Sv);
    A.lin += c.lin;
    A.ang += c.ang;
  }
  const RigidInertia& I = I_[at(i)];
  const Spatial P = I * V, IA = I * A;
  motion.kinetic[at(body.tree)] += 0.5 * (P.lin.dot(V.lin) + P.ang.dot(V.ang));
  motion.F[at(i)] = {IA.lin + V.ang.cross(P.lin), IA.ang + V.ang.cross(P.ang) + V.lin.cross(P.lin)};  // (dyn.3)
  if (body.carried > 0) {
    const Vec3 weight = body.carried * model_->gravity;
    motion.F[at(i)].lin += weight;  // (dyn.9)
    motion.F[at(i)].ang += carried_at(body, i).cross(weight);
  }
  Spatial& total = motion.momentum[at(body.tree)];
  total.lin += P.lin;
  total.ang += P.ang;
}

// h: the forces of the bodies, on their joints.
TRIBO_CLONES void Dynamics::gather(const Tree& tree, const VecX& v, TreeMotion& motion) const {
  for (int i = tree.first_body + tree.bodies - 1; i >= tree.first_body; --i) {
    const Body& body = model_->bodies[at(i)];
    const Spatial& F = motion.F[at(i)];
    for (int k = body.iv; k < body.iv + dofs(body); ++k) {
      motion.h[k] = S_[at(k)].lin.dot(F.lin) + S_[at(k)].ang.dot(F.ang);
      motion.kinetic[at(body.tree)] += 0.5 * model_->joints.armature[k] * v[k] * v[k];
    }
    if (body.parent < 0) continue;
    motion.F[at(body.parent)].lin += F.lin;
    motion.F[at(body.parent)].ang += F.ang;
  }
}

// M and the weight on each joint.
TRIBO_CLONES void Dynamics::sum_masses(const Tree& tree) {
  const int first = tree.first_body, last = tree.first_body + tree.bodies - 1;
  const bool free_base = floats(*model_, tree);
  const Mat3& R = X_WB_[at(first)].R;  // axes of a free base, whose origin is O
  std::copy(I_.begin() + first, I_.begin() + last + 1, subtree_.begin() + first);
  for (int i = last; i >= first; --i) {
    const Body& body = model_->bodies[at(i)];
    const RigidInertia& I = subtree_[at(i)];
    const Vec3 g_moment = -I.mc.cross(model_->gravity), g_force = -I.m * model_->gravity;
    for (int k = body.iv; k < body.iv + dofs(body); ++k) {
      const Spatial& S = S_[at(k)];
      gravity_force_[k] = S.lin.dot(g_force) + S.ang.dot(g_moment);
      const Spatial IS = I * S;
      double* r = row(k);
      const int* chain = chain_[at(k)];
      const int depth = depth_[at(k)];
      int b = 0;
      if (free_base && depth >= base_size) {
        for (; b < 3; ++b) r[b] = R.col(b).dot(IS.lin);
        for (; b < base_size; ++b) r[b] = R.col(b - 3).dot(IS.ang);
      }
      for (; b <= depth; ++b) {
        const Spatial& Sj = S_[at(chain[b])];
        r[b] = Sj.lin.dot(IS.lin) + Sj.ang.dot(IS.ang);  // (dyn.4)
      }
      r[depth] += model_->joints.armature[k];
    }
    if (body.parent < 0) continue;
    RigidInertia& Ip = subtree_[at(body.parent)];
    Ip.m += I.m;
    Ip.mc += I.mc;
    Ip.I += I.I;
  }
  if (tree.carried > 0) take_carried(tree);
}

void Dynamics::factor(const VecX& extra) {
  for (int t = 0; t < static_cast<int>(model_->trees.size()); ++t) factor(t, extra);
}

TRIBO_CLONES void Dynamics::factor(int t, const VecX& extra) {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) dis_[k] = 1.0 / std::sqrt(row(k)[depth_[at(k)]] + extra[k]);
    return;
  }
  const std::size_t first = row_[at(tree.iv)];
  const bool free_base = floats(*model_, tree);
  const int last = tree.iv + tree.nv - 1;
  const std::size_t end = row_[at(last)] + at(depth_[at(last)]) + 1;
  std::copy(M_.begin() + static_cast<std::ptrdiff_t>(first), M_.begin() + static_cast<std::ptrdiff_t>(end),
            L_.begin() + static_cast<std::ptrdiff_t>(first));
  for (int k = last; k >= tree.iv; --k) {  // (dyn.5)
    double* rk = L_.data() + row_[at(k)];
    const int d = depth_[at(k)];
    const int* chain = chain_[at(k)];
    rk[d] += extra[k];
    const double inverse = 1.0 / rk[d];
    const int base = free_base && d >= base_size ? base_size : 0;
    if (base) subtract_from_base(rk, inverse, L_.data() + first);
    for (int a = d - 1; a >= base; --a) {
      const double coef = rk[a] * inverse;
      double* ri = L_.data() + row_[at(chain[a])];
      for (int b = 0; b <= a; ++b) ri[b] -= coef * rk[b];
    }
    for (int a = 0; a < d; ++a) rk[a] *= inverse;
    dis_[k] = std::sqrt(inverse);
  }
}

Vec3 Dynamics::point_velocity(int body, const Vec3& p_W) const {
  if (body < 0) return Vec3::Zero();
  const Spatial& V = motion_.V[at(body)];
  return V.lin + V.ang.cross(p_W - origin_[at(model_->bodies[at(body)].tree)]);
}

Vec3 Dynamics::point_bias(int body, const Vec3& p_W) const {
  if (body < 0) return Vec3::Zero();
  const Spatial &V = motion_.V[at(body)], &A = motion_.A[at(body)];
  const Vec3 r = p_W - origin_[at(model_->bodies[at(body)].tree)];
  return A.lin + model_->gravity + A.ang.cross(r) + V.ang.cross(V.lin + V.ang.cross(r));
}

void Dynamics::point_jacobian(int body, const Vec3& p_W, const Mat3& R_WC, double* J) const {
  const Body& b = model_->bodies[at(body)];
  const Vec3 r = p_W - origin_[at(b.tree)];
  for (std::size_t a = 0; a < b.chain.size(); ++a) {
    const Spatial& S = S_[at(b.chain[a])];
    Eigen::Map<Vec3>(J + 3 * a).noalias() = R_WC.transpose() * (S.lin + S.ang.cross(r));
  }
}

template <int Rows>
void Dynamics::whiten(int body, double* J) const {
  using Col = Eigen::Map<Eigen::Matrix<double, Rows, 1>>;
  const Body& b = model_->bodies[at(body)];
  const int depth = static_cast<int>(b.chain.size());
  if (model_->trees[at(b.tree)].single && depth == 6) {
    const double* scale = &dis_[b.iv];
    for (int a = 0; a < 6; ++a)
      for (int r = 0; r < Rows; ++r) J[Rows * a + r] *= scale[a];
    return;
  }
  if (!model_->trees[at(b.tree)].single) {
    for (int a = depth - 1; a > 0; --a) {
      const double* l = lrow(b.chain[at(a)]);
      const Eigen::Matrix<double, Rows, 1> y = Col(J + Rows * a);
      for (int c = 0; c < a; ++c) Col(J + Rows * c) -= l[c] * y;
    }
  }
  for (int a = 0; a < depth; ++a) Col(J + Rows * a) *= dis_[b.chain[at(a)]];
}
template void Dynamics::whiten<1>(int, double*) const;
template void Dynamics::whiten<3>(int, double*) const;

template <int Columns>
void Dynamics::unwhiten_add(int t, double* w, const std::array<double*, Columns>& x) const {
  const Tree& tree = model_->trees[at(t)];
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    double y[Columns];
    for (int c = 0; c < Columns; ++c) y[c] = w[Columns * k + c] * dis_[k];
    if (!tree.single) {
      const double* l = lrow(k);
      const int* chain = chain_[at(k)];
      for (int a = 0; a < depth_[at(k)]; ++a)
        for (int c = 0; c < Columns; ++c) y[c] -= l[a] * w[Columns * chain[a] + c];
    }
    for (int c = 0; c < Columns; ++c) {
      w[Columns * k + c] = y[c];
      x[at(c)][k] += y[c];
    }
  }
}
template void Dynamics::unwhiten_add<1>(int, double*, const std::array<double*, 1>&) const;
template void Dynamics::unwhiten_add<2>(int, double*, const std::array<double*, 2>&) const;

TRIBO_CLONES void Dynamics::solve_in_place(int t, double* b) const {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) b[k] *= dis_[k] * dis_[k];
    return;
  }
  const int base = floats(*model_, tree) ? base_size : 0;
  for (int k = tree.iv + tree.nv - 1; k >= tree.iv; --k)
    subtract_along(lrow(k), chain_[at(k)], depth_[at(k)], base, b[k], b);
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k)
    b[k] = b[k] * dis_[k] * dis_[k] - along(lrow(k), chain_[at(k)], depth_[at(k)], base, b);
}

TRIBO_CLONES void Dynamics::multiply(int t, const double* x, double* y) const {
  const Tree& tree = model_->trees[at(t)];
  if (tree.single) {
    for (int k = tree.iv; k < tree.iv + 6; ++k) y[k] = inertia(k) * x[k];
    return;
  }
  std::fill(y + tree.iv, y + tree.iv + tree.nv, 0.0);
  const int base = floats(*model_, tree) ? base_size : 0;
  for (int k = tree.iv; k < tree.iv + tree.nv; ++k) {
    const double* r = row(k);
    const int* chain = chain_[at(k)];
    const int d = depth_[at(k)];
    subtract_along(r, chain, d, base, -x[k], y);
    y[k] += r[d] * x[k] + along(r, chain, d, base, x);
  }
}

Eigen::Matrix<double, 6, 6> Dynamics::base_inertia(int t) const {
  const int first = model_->trees[at(t)].iv;
  Eigen::Matrix<double, 6, 6> M;
  for (int k = 0; k < 6; ++k)
    for (int j = 0; j <= k; ++j) M(k, j) = M(j, k) = row(first + k)[j];
  return M;
}

MatX Dynamics::mass_matrix() const {
  MatX M = MatX::Zero(model_->nv, model_->nv);
  for (int k = 0; k < model_->nv; ++k)
    for (int a = 0; a <= depth_[at(k)]; ++a) {
      const int j = chain_[at(k)][a];
      M(k, j) = M(j, k) = row(k)[a];
    }
  return M;
}

void Dynamics::add_force(int body, const Vec3& p_W, const Vec3& f_W, VecX& tau) const {
  if (body < 0) return;
  const Body& b = model_->bodies[at(body)];
  const Vec3 moment = (p_W - origin_[at(b.tree)]).cross(f_W);
  for (int k : b.chain) tau[k] += S_[at(k)].lin.dot(f_W) + S_[at(k)].ang.dot(moment);
}

void Dynamics::add_torque(int body, const Vec3& torque_W, VecX& tau) const {
  if (body < 0) return;
  for (int k : model_->bodies[at(body)].chain) tau[k] += S_[at(k)].ang.dot(torque_W);
}

}  // namespace tribo
