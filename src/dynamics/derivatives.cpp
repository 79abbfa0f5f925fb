#include "dynamics/derivatives.hpp"

#include "linalg/clones.hpp"

namespace tribo {
namespace {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

[[gnu::always_inline]] inline Vec6 vector(const Spatial& s) {
  Vec6 x;
  x << s.lin, s.ang;
  return x;
}

[[gnu::always_inline]] inline Vec6 cross_motion(const Vec6& V, const Vec6& S) {
  const Vec3 v = V.head<3>(), w = V.tail<3>(), lin = S.head<3>(), ang = S.tail<3>();
  Vec6 x;
  x << w.cross(lin) + v.cross(ang), w.cross(ang);
  return x;
}

[[gnu::always_inline]] inline Vec6 cross_force(const Vec6& V, const Vec6& F) {
  const Vec3 v = V.head<3>(), w = V.tail<3>(), f = F.head<3>(), n = F.tail<3>();
  Vec6 x;
  x << w.cross(f), w.cross(n) + v.cross(f);
  return x;
}

// 2B = V x* I - I V x + (I V) x-bar*, with V x* I = -(I V x)^T; by blocks, V x = [w, v; 0, w].
[[gnu::always_inline]] inline Mat6 doubled_coriolis(const Mat6& I, const Vec6& V) {
  const Vec6 P = I * V;
  const Mat3 v = skew(V.head<3>()), w = skew(V.tail<3>());
  Mat6 IX;
  IX.leftCols<3>() = I.leftCols<3>() * w;
  IX.rightCols<3>() = I.leftCols<3>() * v + I.rightCols<3>() * w;
  Mat6 B = -IX - IX.transpose();
  const Mat3 f = skew(P.head<3>());
  B.topRightCorner<3, 3>() -= f;
  B.bottomLeftCorner<3, 3>() -= f;
  B.bottomRightCorner<3, 3>() -= skew(P.tail<3>());
  return B;
}

}  // namespace

InverseDynamics::InverseDynamics(const Model& model) : model_(&model), dq_(model), dv_(model), M_(model) {
  const std::size_t nb = model.bodies.size(), nv = at(model.nv);
  I_.resize(nb);
  B_.resize(nb);
  for (auto* x : {&V_, &A_, &F_}) x->resize(nb);
  for (auto* x : {&S_, &psidd_, &rate_}) x->resize(nv);
  psi_.resize(nv);
  for (const Body& body : model.bodies) any_carried_ |= body.carried > 0;
  if (any_carried_) {
    C_.resize(nb);
    lifted_.resize(nv);
  }
  tau_.setZero(model.nv);
}

TRIBO_CLONES void InverseDynamics::forward(const Dynamics& dynamics, const VecX& v, const VecX& a, const Pass& pass) {
  Vec6 A0 = Vec6::Zero();
  if (pass.gravity) A0.head<3>() = -model_->gravity;
  base_ = A0.head<3>();
  for (std::size_t i = at(pass.first); i < at(pass.last); ++i) {
    const Body& body = model_->bodies[i];
    const Placement& X = dynamics.X_WB(static_cast<int>(i));
    const Vec6 Vp = body.parent < 0 ? Vec6(Vec6::Zero()) : V_[at(body.parent)];
    const Vec6 Ap = body.parent < 0 ? A0 : A_[at(body.parent)];
    if (!pass.own) V_[i] = vector(dynamics.body_velocity(static_cast<int>(i)));
    const bool free = body.joint == JointKind::Free;
    Vec6 Sv = Vec6::Zero();
    A_[i] = Ap;
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      S_[at(k)] = vector(dynamics.axis(k));
      Sv += S_[at(k)] * v[k];
      A_[i] += S_[at(k)] * a[k];
    }
    if (pass.own) V_[i] = Vp + Sv;
    if (free)
      A_[i].head<3>() -= V_[i].tail<3>().cross(V_[i].head<3>());
    else
      A_[i] += cross_motion(V_[i], Sv);
    const double m = body.inertia.mass;
    const Vec3 c = X.R * body.inertia.com + (X.p - dynamics.origin(body.tree));
    const Mat3 cx = skew(c);
    Mat6& I = I_[i];
    I.topLeftCorner<3, 3>() = m * Mat3::Identity();
    I.topRightCorner<3, 3>() = -m * cx;
    I.bottomLeftCorner<3, 3>() = m * cx;
    I.bottomRightCorner<3, 3>() = X.R * body.inertia.about_com * X.R.transpose() - m * cx * cx;
    F_[i] = I * A_[i];
    if (!pass.still) F_[i] += cross_force(V_[i], I * V_[i]);
    if (any_carried_) carry(static_cast<int>(i), dynamics, A0);
    if (!pass.derivatives) continue;
    if (pass.still) {
      for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) psidd_[at(k)] = cross_motion(Ap, S_[at(k)]);
      continue;
    }
    B_[i] = doubled_coriolis(I, V_[i]);
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      const Vec6& S = S_[at(k)];
      const Vec6 psi = cross_motion(Vp, S);
      psi_[at(k)] = {psi.head<3>(), psi.tail<3>()};
      psidd_[at(k)] = cross_motion(Ap, S) + cross_motion(Vp, psi);
      rate_[at(k)] = psi + cross_motion(V_[i], S);
      if (!free) continue;
      if (k < body.iv + 3)
        rate_[at(k)].setZero();
      else
        rate_[at(k)].head<3>() += V_[i].head<3>().cross(S.tail<3>());
    }
  }
}

// A carried weight is an inertia C that gravity alone accelerates, the other way: F -= C A_0. Its turning with the joints is
// that of (dyn.7) at rest.
void InverseDynamics::carry(int i, const Dynamics& dynamics, const Vec6& A0) {
  const Body& body = model_->bodies[at(i)];
  const Placement& X = dynamics.X_WB(i);
  const Mat3 cx = skew(X.R * body.carried_at + (X.p - dynamics.origin(body.tree)));
  Mat6& C = C_[at(i)];
  C.setZero();
  C.topLeftCorner<3, 3>() = body.carried * Mat3::Identity();
  C.topRightCorner<3, 3>() = -body.carried * cx;
  C.bottomLeftCorner<3, 3>() = body.carried * cx;
  F_[at(i)] -= C * A0;
  for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) lifted_[at(k)] = cross_motion(A0, S_[at(k)]);
}

void InverseDynamics::compute(const Dynamics& dynamics, const VecX& v, const VecX& a) {
  forward(dynamics, v, a, {0, static_cast<int>(model_->bodies.size()), false, false, true, false});
  for (int i = static_cast<int>(model_->bodies.size()) - 1; i >= 0; --i) {
    const Body& body = model_->bodies[at(i)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
      tau_[k] = S_[at(k)].dot(F_[at(i)]) + model_->joints.armature[k] * a[k];  // (dyn.6)
    if (body.parent >= 0) F_[at(body.parent)] += F_[at(i)];
  }
}

void InverseDynamics::differentiate(const Dynamics& dynamics, const VecX& v, const VecX& a) {
  dq_.set_zero();
  dv_.set_zero();
  const Pass pass{0, static_cast<int>(model_->bodies.size()), true, false, true, false};
  forward(dynamics, v, a, pass);
  backward(a, pass);
}

void InverseDynamics::differentiate(int t, const Dynamics& dynamics, const VecX& v, const VecX& a, bool gravity) {
  const Tree& tree = model_->trees[at(t)];
  for (TreeBlocks* x : {&dq_, &dv_, &M_}) x->tree(t).setZero();
  const bool still = v.segment(tree.iv, tree.nv).isZero(0);
  const Pass pass{tree.first_body, tree.first_body + tree.bodies, true, true, gravity, still};
  forward(dynamics, v, a, pass);
  if (still)
    backward_at_rest(a, pass);
  else
    backward(a, pass);
}

// (dyn.7) where nothing moves: psi, B and the slopes by v are zero.
TRIBO_CLONES void InverseDynamics::backward_at_rest(const VecX& a, const Pass& pass) {
  for (int i = pass.last - 1; i >= pass.first; --i) {
    const Body& body = model_->bodies[at(i)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      const Vec6& S = S_[at(k)];
      tau_[k] = S.dot(F_[at(i)]) + model_->joints.armature[k] * a[k];
      const Vec6 IS = I_[at(i)] * S;
      Vec6 by_q = I_[at(i)] * psidd_[at(k)] + cross_force(S, F_[at(i)]), CS = Vec6::Zero();
      if (any_carried_) {
        by_q -= C_[at(i)] * lifted_[at(k)];
        CS = C_[at(i)].transpose() * S;
      }
      for (int j : body.chain) {
        const Vec6& Sj = S_[at(j)];
        dq_(k, j) = IS.dot(psidd_[at(j)]);
        if (any_carried_) dq_(k, j) -= CS.dot(lifted_[at(j)]);
        M_(k, j) = M_(j, k) = IS.dot(Sj);
        if (j < body.iv) dq_(j, k) = Sj.dot(by_q);
      }
      M_(k, k) += model_->joints.armature[k];
    }
    if (body.parent < 0) continue;
    F_[at(body.parent)] += F_[at(i)];
    I_[at(body.parent)] += I_[at(i)];
    if (any_carried_) C_[at(body.parent)] += C_[at(i)];
  }
}

TRIBO_CLONES void InverseDynamics::backward(const VecX& a, const Pass& pass) {
  for (int i = pass.last - 1; i >= pass.first; --i) {
    const Body& body = model_->bodies[at(i)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k) {
      const Vec6& S = S_[at(k)];
      tau_[k] = S.dot(F_[at(i)]) + model_->joints.armature[k] * a[k];
      const Vec6 IS = I_[at(i)] * S, BS = B_[at(i)].transpose() * S;
      const Vec6 psi = vector(psi_[at(k)]);
      const Vec6 by_v = B_[at(i)] * S + I_[at(i)] * rate_[at(k)];
      Vec6 by_q = B_[at(i)] * psi + I_[at(i)] * psidd_[at(k)] + cross_force(S, F_[at(i)]);
      Vec6 CS = Vec6::Zero();
      if (any_carried_) {
        by_q -= C_[at(i)] * lifted_[at(k)];
        CS = C_[at(i)].transpose() * S;
      }
      for (int j : body.chain) {
        const Vec6& Sj = S_[at(j)];
        const double* p = psi_[at(j)].lin.data();
        const double* w = psi_[at(j)].ang.data();
        dq_(k, j) = BS[0] * p[0] + BS[1] * p[1] + BS[2] * p[2] + BS[3] * w[0] + BS[4] * w[1] + BS[5] * w[2] +
                    IS.dot(psidd_[at(j)]);  // (dyn.7)
        if (any_carried_) dq_(k, j) -= CS.dot(lifted_[at(j)]);
        dv_(k, j) = BS.dot(Sj) + IS.dot(rate_[at(j)]);  // (dyn.8)
        M_(k, j) = M_(j, k) = IS.dot(Sj);
        if (j >= body.iv) continue;
        dq_(j, k) = Sj.dot(by_q);
        dv_(j, k) = Sj.dot(by_v);
      }
      M_(k, k) += model_->joints.armature[k];
    }
    if (body.parent < 0) continue;
    F_[at(body.parent)] += F_[at(i)];
    I_[at(body.parent)] += I_[at(i)];
    B_[at(body.parent)] += B_[at(i)];
    if (any_carried_) C_[at(body.parent)] += C_[at(i)];
  }
}

}  // namespace tribo
