// Inverse dynamics and its analytic derivatives, in world axes about the origin of each tree.
//
//   tau = M(q) a + h(q, v)                                                                          (dyn.6)
// in the convention of dynamics.hpp: the free joint's linear acceleration is the classical one, in body axes. With the
// motion and force cross products x, x*, the composites I, B, F of a subtree (2B = V x* I - I V x + (I V) x-bar*), and
//   psi_j = V_p x S_j,  psidd_j = A_p x S_j + V_p x psi_j,  sdot_j = V_j x S_j     (p: parent of j)
// [Singh2022, table I]:  for j above or at k,  and k strictly above j,
//   dtau_k/dq_j = S_k . (2B_k psi_j + I_k psidd_j),      S_k . (2B_j psi_j + I_j psidd_j + S_j x* F_j)   (dyn.7)
//   dtau_k/dv_j = S_k . (2B_k S_j + I_k (psi_j + sdot_j)), S_k . (2B_j S_j + I_j (psi_j + sdot_j))       (dyn.8)
// By blocks about one point, with p, L the momenta of V and mc, J those of I, 2B has [0, -2 p x; 0, K], where
//   K x = 2 (mc . v) x - mc (v . x) - v (mc . x) - J (w x x) + w x J x - L x x                        (dyn.10)
// For a free joint psi = 0, psidd = A_0 x S, and psi + sdot is 0 for its linear axes and (2 v x e, w x e) for its
// angular axes e. q is differentiated along the local tangent: body axes for free and spherical joints.
#pragma once

#include <vector>

#include "dynamics/tree_blocks.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {

class InverseDynamics {
 public:
  explicit InverseDynamics(const Model& model);

  /// tau alone; dynamics stands at (q, v).
  void compute(const Dynamics& dynamics, const VecX& v, const VecX& a);
  /// tau and its derivatives.
  void differentiate(const Dynamics& dynamics, const VecX& v, const VecX& a);

  /// The same of one tree, with velocities of its own: dynamics has its poses alone. Writes its blocks and nothing else.
  void differentiate(int tree, const Dynamics& dynamics, const VecX& v, const VecX& a, bool gravity);

  const VecX& tau() const { return tau_; }
  /// Forces that depend on q and v may be added to them.
  TreeBlocks& dq() { return dq_; }
  TreeBlocks& dv() { return dv_; }
  const TreeBlocks& dq() const { return dq_; }
  const TreeBlocks& dv() const { return dv_; }
  const TreeBlocks& M() const { return M_; }
  /// psi_j = V_p x S_j: what turning joint j adds to the velocity of all that it carries.
  const Spatial& psi(int j) const { return psi_[static_cast<std::size_t>(j)]; }
  /// Of the last call for its tree.
  const Spatial& velocity(int body) const { return V_[static_cast<std::size_t>(body)]; }
  /// What stands for the weight in it: -g, or 0.
  const Vec3& base_acceleration() const { return base_; }
  // Of the last call with velocities:
  /// Acceleration of a body less gravity, where that was asked for; it turns by S_j x A + psidd_j + psi_j x V on dq_j, and
  /// changes by S_j x V + rate_j on dv_j.
  const Spatial& acceleration(int body) const { return A_[static_cast<std::size_t>(body)]; }
  const Spatial& psidd(int j) const { return psidd_[static_cast<std::size_t>(j)]; }
  const Spatial& rate(int j) const { return rate_[static_cast<std::size_t>(j)]; }

 private:
  /// 2B of a subtree (dyn.10), by columns of four numbers.
  struct alignas(32) Coriolis {
    double K[12] = {};
    double p[4] = {};
  };
  struct Pass {
    int first, last;   // bodies
    bool derivatives;  // or tau alone
    bool own;          // velocities from v, not from dynamics
    bool gravity;
    bool still;  // no velocities: B, psi and slopes by v are zero
  };
  void forward(const Dynamics& dynamics, const VecX& v, const VecX& a, const Pass& pass);
  void place(const Dynamics& dynamics, int body);
  template <bool Still>
  void couple(const Dynamics& dynamics, int body, const VecX& a);
  void backward(const Dynamics& dynamics, const VecX& a, const Pass& pass);
  void backward_at_rest(const Dynamics& dynamics, const VecX& a, const Pass& pass);

  const Model* model_;
  bool any_carried_ = false;
  std::vector<PaddedInertia> I_, C_;  // by body, then of its subtree; C: of carried weights, mass and mc alone
  std::vector<Coriolis> B_;
  std::vector<Spatial> V_, A_, F_;                    // by body
  std::vector<Spatial> psi_, psidd_, rate_, lifted_;  // by coordinate
  VecX tau_;
  Vec3 base_ = Vec3::Zero();
  TreeBlocks dq_, dv_, M_;
};

}  // namespace tribo
