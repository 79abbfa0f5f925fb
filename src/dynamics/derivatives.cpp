#include "dynamics/derivatives.hpp"

#include <algorithm>

#include "dynamics/pairs.hpp"
#include "linalg/clones.hpp"

namespace tribo {
namespace {

QUAD_INLINE Pair scaled(const Pair& a, double x) { return {a.lin * x, a.ang * x}; }

// (dyn.10): K and p of a body with velocity V and momenta P.
template <class Coriolis>
QUAD_INLINE void put_coriolis(const Inertias& I, const Pair& V, const Pair& P, Coriolis& B) {
  const Quad unit_x{1, 0, 0, 0}, unit_y{0, 1, 0, 0}, unit_z{0, 0, 1, 0};
  const Quad mc{I.mc[0], I.mc[1], I.mc[2], 0}, v = V.lin, w = V.ang, L = P.ang, twice = all(2 * sum(mc * v));
  const Quad wx = each<0>(w), wy = each<1>(w), wz = each<2>(w);
  store(B.K, twice * unit_x - mc * each<0>(v) - v * each<0>(mc) - (I.I.y * wz - I.I.z * wy) + cross(w, I.I.x) -
                 cross(L, unit_x));
  store(B.K + 4, twice * unit_y - mc * each<1>(v) - v * each<1>(mc) - (I.I.z * wx - I.I.x * wz) + cross(w, I.I.y) -
                     cross(L, unit_y));
  store(B.K + 8, twice * unit_z - mc * each<2>(v) - v * each<2>(mc) - (I.I.x * wy - I.I.y * wx) + cross(w, I.I.z) -
                     cross(L, unit_z));
  store(B.p, P.lin);
}

// 2B S
QUAD_INLINE Pair times_coriolis(const Columns& K, const Quad& p, const Pair& S) {
  return {-2 * cross(p, S.ang), times(K, S.ang)};
}

// Four coordinates of a chain from place b on; behind its end the last one again.
struct Four {
  int j[4];
  int count;
};
QUAD_INLINE Four four_of(const int* chain, int b, int depth) {
  const int last = depth - 1;
  return {{chain[b], chain[std::min(b + 1, last)], chain[std::min(b + 2, last)], chain[std::min(b + 3, last)]},
          std::min(4, depth - b)};
}

/// sums of a . x_j
QUAD_INLINE Quad along(const Pair& a, const Spatial* x, const Four& f) {
  return sums(multiplied(a, pair_at(x[f.j[0]])), multiplied(a, pair_at(x[f.j[1]])), multiplied(a, pair_at(x[f.j[2]])),
              multiplied(a, pair_at(x[f.j[3]])));
}
/// sums of a . the turning of x_j + b . y_j
QUAD_INLINE Quad turning(const Quad& a, const Spatial& x, const Pair& b, const Spatial& y) {
  return a * load(x.ang.data()) + multiplied(b, pair_at(y));
}
QUAD_INLINE Quad along(const Quad& a, const Spatial* x, const Pair& b, const Spatial* y, const Four& f) {
  return sums(turning(a, x[f.j[0]], b, y[f.j[0]]), turning(a, x[f.j[1]], b, y[f.j[1]]),
              turning(a, x[f.j[2]], b, y[f.j[2]]), turning(a, x[f.j[3]], b, y[f.j[3]]));
}
QUAD_INLINE void put_row(double* row, const Four& f, const Quad& x) {
  row[f.j[0]] = x[0];
  if (f.count > 1) row[f.j[1]] = x[1];
  if (f.count > 2) row[f.j[2]] = x[2];
  if (f.count > 3) row[f.j[3]] = x[3];
}
/// The first `count` of them.
QUAD_INLINE void put_column(TreeBlocks& M, int k, const Four& f, int count, const Quad& x) {
  if (count > 0) M.row(f.j[0])[k] = x[0];
  if (count > 1) M.row(f.j[1])[k] = x[1];
  if (count > 2) M.row(f.j[2])[k] = x[2];
  if (count > 3) M.row(f.j[3])[k] = x[3];
}

// What coordinates above k meet: I S_k, S_k of 2B, -C S_k, and what S_j . of it are slopes of their forces by q_k and v_k.
struct Force {
  Pair I;
  Quad B;
  Pair carried, by_q, by_v;
};
struct Slopes {
  TreeBlocks &dq, &dv, &M;
};
QUAD_INLINE void put_three(TreeBlocks& M, int row, int k, const Quad& x) {
  M.row(row)[k] = x[0];
  M.row(row + 1)[k] = x[1];
  M.row(row + 2)[k] = x[2];
}

// With a free base, whose axes S are those R of its body: along them psi, psidd and rate are 0, about them 0, A_0 x S and
// (2 v x S, w x S).
template <bool Still>
QUAD_INLINE void couple_base(const Mat3& R, const Spatial& V, const Vec3& A0, const Force& f, int base, int k,
                             const Slopes& out) {
  const bool own = k < base + 6;  // of the base: rows alone
  const double* const r = R.data();
  const Columns turn{Quad{r[0], r[3], r[6], 0}, Quad{r[1], r[4], r[7], 0}, Quad{r[2], r[5], r[8], 0}};
  const Quad lin = times(turn, f.I.lin), ang = times(turn, f.I.ang), lifted = f.I.lin + f.carried.lin;
  store_three(out.M.row(k) + base, lin);
  store_three(out.M.row(k) + base + 3, ang);
  put_three(out.M, base, k, lin);
  put_three(out.M, base + 3, k, ang);
  store_three(out.dq.row(k) + base + 3, times(turn, cross(lifted, given(A0.data()))));
  if (!own) {
    put_three(out.dq, base, k, times(turn, f.by_q.lin));
    put_three(out.dq, base + 3, k, times(turn, f.by_q.ang));
  }
  if (Still) return;
  const Pair v = pair_at(V);
  store_three(out.dv.row(k) + base + 3, times(turn, f.B + 2 * cross(f.I.lin, v.lin) + cross(f.I.ang, v.ang)));
  if (own) return;
  put_three(out.dv, base, k, times(turn, f.by_v.lin));
  put_three(out.dv, base + 3, k, times(turn, f.by_v.ang));
}

}  // namespace

InverseDynamics::InverseDynamics(const Model& model) : model_(&model), dq_(model), dv_(model), M_(model) {
  const std::size_t nb = model.bodies.size(), nv = at(model.nv);
  I_.resize(nb);
  B_.resize(nb);
  for (auto* x : {&V_, &A_, &F_}) x->resize(nb);
  for (auto* x : {&psi_, &psidd_, &rate_}) x->resize(nv);
  for (const Body& body : model.bodies) any_carried_ |= body.carried > 0;
  if (any_carried_) {
    C_.resize(nb);
    lifted_.resize(nv);
  }
  tau_.setZero(model.nv);
}

// The inertia of a body, and what of its weight is carried: an inertia C that gravity alone accelerates, the other way, with
// F -= C A_0. Its turning with the joints is that of (dyn.7) at rest.
TRIBO_CLONES void InverseDynamics::place(const Dynamics& dynamics, int i) {
  const Body& body = model_->bodies[at(i)];
  const Placement& X = dynamics.X_WB(i);
  const double* const axes = X.R.data();
  alignas(32) double R[12];
  store_columns(R, {given(axes), given(axes + 3), given(axes + 6)});
  const Quad r = given(X.p.data()) - given(dynamics.origin(body.tree).data());
  put_inertia(R, r, body.inertia, I_[at(i)]);
  if (!any_carried_) return;
  C_[at(i)] = {};
  store(C_[at(i)].mc, body.carried * (r + times(load_columns(R), body.carried_at.data()) + Quad{0, 0, 0, 1}));
}

TRIBO_CLONES void InverseDynamics::forward(const Dynamics& dynamics, const VecX& v, const VecX& a, const Pass& pass) {
  base_ = pass.gravity ? Vec3(-model_->gravity) : Vec3(Vec3::Zero());
  const Pair A0{given(base_.data()), Quad{}};
  for (std::size_t i = at(pass.first); i < at(pass.last); ++i) {
    const Body& body = model_->bodies[i];
    const bool free = body.joint == JointKind::Free;
    const int n = dofs(body);
    place(dynamics, static_cast<int>(i));
    Pair Vp{}, Ap = A0, Sv{}, Sa{};
    if (body.parent >= 0) Vp = pair_at(V_[at(body.parent)]), Ap = pair_at(A_[at(body.parent)]);
    for (int k = body.iv; k < body.iv + n; ++k) {
      const Pair S = pair_at(dynamics.axis(k));
      add(Sv, scaled(S, v[k]));
      add(Sa, scaled(S, a[k]));
    }
    Pair V = Sv, A = Sa;
    add(V, Vp);
    add(A, Ap);
    if (!pass.own) V = pair_at(dynamics.body_velocity(static_cast<int>(i)));
    if (free)
      A.lin -= cross(V.ang, V.lin);
    else
      add(A, turned_by(V, Sv));
    const Inertias I = inertia_at(I_[i]);
    const Pair P = momentum_of(I, V);
    Pair F = momentum_of(I, A);
    add(F, turned_force(V, P));
    put(V_[i], V);
    put(A_[i], A);
    if (any_carried_) {
      add(F, scaled(momentum_of(inertia_at(C_[i]), A0), -1));
      for (int k = body.iv; k < body.iv + n; ++k) put(lifted_[at(k)], turned_by(A0, pair_at(dynamics.axis(k))));
    }
    put(F_[i], F);
    if (!pass.derivatives) continue;
    if (!pass.still) put_coriolis(I, V, P, B_[i]);
    for (int k = body.iv; k < body.iv + n; ++k) {
      const Pair S = pair_at(dynamics.axis(k)), psi = turned_by(Vp, S);
      Pair psidd = turned_by(Ap, S), rate = turned_by(V, S);
      if (pass.still) {
        put(psidd_[at(k)], psidd);
        continue;
      }
      add(psidd, turned_by(Vp, psi));
      add(rate, psi);
      if (free) rate = k < body.iv + 3 ? Pair{} : Pair{rate.lin + cross(V.lin, S.ang), rate.ang};
      put(psi_[at(k)], psi);
      put(psidd_[at(k)], psidd);
      put(rate_[at(k)], rate);
    }
  }
}

void InverseDynamics::compute(const Dynamics& dynamics, const VecX& v, const VecX& a) {
  forward(dynamics, v, a, {0, static_cast<int>(model_->bodies.size()), false, false, true, false});
  for (int i = static_cast<int>(model_->bodies.size()) - 1; i >= 0; --i) {
    const Body& body = model_->bodies[at(i)];
    const Spatial& F = F_[at(i)];
    for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
      tau_[k] = dynamics.axis(k).lin.dot(F.lin) + dynamics.axis(k).ang.dot(F.ang) +
                model_->joints.armature[k] * a[k];  // (dyn.6)
    if (body.parent < 0) continue;
    F_[at(body.parent)].lin += F.lin;
    F_[at(body.parent)].ang += F.ang;
  }
}

void InverseDynamics::differentiate(const Dynamics& dynamics, const VecX& v, const VecX& a) {
  dq_.set_zero();
  dv_.set_zero();
  const Pass pass{0, static_cast<int>(model_->bodies.size()), true, false, true, false};
  forward(dynamics, v, a, pass);
  backward(dynamics, a, pass);
}

void InverseDynamics::differentiate(int t, const Dynamics& dynamics, const VecX& v, const VecX& a, bool gravity) {
  const Tree& tree = model_->trees[at(t)];
  for (TreeBlocks* x : {&dq_, &dv_}) x->tree(t).setZero();
  const bool still = v.segment(tree.iv, tree.nv).isZero(0);
  const Pass pass{tree.first_body, tree.first_body + tree.bodies, true, true, gravity, still};
  forward(dynamics, v, a, pass);
  if (still)
    backward_at_rest(dynamics, a, pass);
  else
    backward(dynamics, a, pass);
}

// Of the coordinates of one body with those that carry it; then what it has is its parent's too. At rest psi, B and the slopes
// by v are zero.
template <bool Still>
[[gnu::always_inline]] inline void InverseDynamics::couple(const Dynamics& dynamics, int i, const VecX& a) {
  const Spatial *const axes = &dynamics.axis(0), *const psi = psi_.data(), *const psidd = psidd_.data(),
                       *const rate = rate_.data();
  const Body& body = model_->bodies[at(i)];
  const int root = model_->trees[at(body.tree)].first_body, base = model_->bodies[at(root)].iv;
  const bool on_base = model_->bodies[at(root)].joint == JointKind::Free;
  const int depth = static_cast<int>(body.chain.size()), own = depth - dofs(body);
  const Pair F = pair_at(F_[at(i)]);
  const Inertias I = inertia_at(I_[at(i)]), C = any_carried_ ? inertia_at(C_[at(i)]) : Inertias{};
  Columns K{};
  Quad p{};
  if (!Still) K = load_columns(B_[at(i)].K), p = load(B_[at(i)].p);
  for (int k = body.iv; k < body.iv + dofs(body); ++k) {
    const Pair S = pair_at(axes[k]);
    Force f{momentum_of(I, S), Quad{}, {}, momentum_of(I, pair_at(psidd[k])), {}};
    tau_[k] = sum(multiplied(S, F)) + model_->joints.armature[k] * a[k];
    add(f.by_q, turned_force(S, F));
    if (!Still) {
      f.B = 2 * cross(p, S.lin) + sums(K.x * S.ang, K.y * S.ang, K.z * S.ang, Quad{});
      f.by_v = times_coriolis(K, p, S);
      add(f.by_v, momentum_of(I, pair_at(rate[k])));
      add(f.by_q, times_coriolis(K, p, pair_at(psi[k])));
    }
    if (any_carried_) {
      f.carried = scaled(momentum_of(C, S), -1);
      add(f.by_q, scaled(momentum_of(C, pair_at(lifted_[at(k)])), -1));
    }
    if (on_base) couple_base<Still>(dynamics.X_WB(root).R, V_[at(root)], base_, f, base, k, {dq_, dv_, M_});
    for (int b = on_base ? 6 : 0; b < depth; b += 4) {
      const Four four = four_of(body.chain.data(), b, depth);
      Quad q = Still ? along(f.I, psidd, four) : along(f.B, psi, f.I, psidd, four);  // (dyn.7)
      if (any_carried_) q += along(f.carried, lifted_.data(), four);
      put_row(dq_.row(k), four, q);
      const Quad M = along(f.I, axes, four);
      put_row(M_.row(k), four, M);
      put_column(M_, k, four, four.count, M);
      put_column(dq_, k, four, own - b, along(f.by_q, axes, four));
      if (Still) continue;
      put_row(dv_.row(k), four, along(f.B, axes, f.I, rate, four));  // (dyn.8)
      put_column(dv_, k, four, own - b, along(f.by_v, axes, four));
    }
    M_(k, k) += model_->joints.armature[k];
  }
  if (body.parent < 0) return;
  Pair total = pair_at(F_[at(body.parent)]);
  add(total, F);
  put(F_[at(body.parent)], total);
  add(I_[at(body.parent)], I);
  if (any_carried_) add(C_[at(body.parent)], C);
  if (Still) return;
  Coriolis& parent = B_[at(body.parent)];
  store_columns(parent.K, {load(parent.K) + K.x, load(parent.K + 4) + K.y, load(parent.K + 8) + K.z});
  store(parent.p, load(parent.p) + p);
}

TRIBO_CLONES void InverseDynamics::backward_at_rest(const Dynamics& dynamics, const VecX& a, const Pass& pass) {
  for (int i = pass.last - 1; i >= pass.first; --i) couple<true>(dynamics, i, a);
}

TRIBO_CLONES void InverseDynamics::backward(const Dynamics& dynamics, const VecX& a, const Pass& pass) {
  for (int i = pass.last - 1; i >= pass.first; --i) couple<false>(dynamics, i, a);
}

}  // namespace tribo
