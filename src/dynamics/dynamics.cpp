#include "tribo/dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/clones.hpp"

namespace tribo {
namespace {

Mat3 rotation(const VecX& q, int i) { return Quat(q[i + 3], q[i], q[i + 1], q[i + 2]).toRotationMatrix(); }

}  // namespace

Dynamics::Dynamics(const Model& model) : model_(&model) {
  const std::size_t nb = model.bodies.size();
  X_WB_.resize(nb);
  frames_.resize(nb);
  I_.resize(nb);
  subtree_.resize(nb);
  for (std::vector<double>* x : {&angle_, &sine_, &cosine_}) x->resize(nb + 3);  // they are read by four
  aligned_.resize(nb);
  straight_.resize(nb);
  origin_.resize(model.trees.size());
  potential_.resize(model.trees.size());
  motion_ = make_motion();
  S_.resize(at(model.nv) + 1);
  gravity_force_.setZero(model.nv);
  dis_.setOnes(model.nv);
  for (std::size_t i = 0; i < nb; ++i) {
    const Body& body = model.bodies[i];
    aligned_[i] = -1;
    for (int a = 0; a < 3; ++a)
      if (body.axis == Vec3::Unit(a)) aligned_[i] = a;
    straight_[i] = body.X_PJ.R == Mat3::Identity();
  }
  lay_out_rows();
}

// Passes go by four: rows of M are padded with zeros, but for the six of a free base, which follow each other, and chains have
// an index more, that of an axis of zeros.
void Dynamics::lay_out_rows() {
  const std::size_t nv = at(model_->nv);
  row_.resize(nv);
  depth_.resize(nv);
  chain_.resize(nv);
  std::size_t entries = 0;
  for (const Body& body : model_->bodies) {
    const int n = nv_of(body.joint), before = static_cast<int>(body.chain.size()) - n;
    for (int k = 0; k < n; ++k) {
      row_[at(body.iv + k)] = entries;
      depth_[at(body.iv + k)] = before + k;
      chain_[at(body.iv + k)] = chains_.size();
      const std::size_t row = at(before + k + 1);
      entries += body.joint == JointKind::Free ? row : (row + 3) / 4 * 4;
    }
    chains_.insert(chains_.end(), body.chain.begin(), body.chain.end());
    chains_.push_back(model_->nv);
  }
  M_.assign(entries + 3, 0.0);
  L_.assign(entries + 3, 0.0);
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
    const Body& root = model_->bodies[at(tree.first_body)];
    origin_[at(t)] = root.joint == JointKind::Free ? Vec3(root.X_PJ * Vec3(q.segment<3>(root.iq))) : root.X_PJ.p;
    place(tree, q);
    weigh(tree);
    bias(t, v, motion_);
    if (mass_matrix) sum_masses(tree);
  }
}

void Dynamics::bias(int t, const VecX& v, TreeMotion& motion) const {
  const Tree& tree = model_->trees[at(t)];
  move_bodies(tree, v, motion);
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

void Dynamics::factor(const VecX& extra) {
  for (int t = 0; t < static_cast<int>(model_->trees.size()); ++t) factor(t, extra);
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
      const int j = chain(k)[a];
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
