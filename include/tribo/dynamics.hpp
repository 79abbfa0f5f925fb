// Kinematics, mass matrix, bias force and their factor, for every tree of the model, in one pass and without
// allocation.
//
// All spatial quantities stand in world axes about the origin O of their tree (the root joint), so that nothing is
// transformed on the way up or down and a robot far from the world's origin loses no digits.
//   V_i = V_p + S_i v_i                                                          (dyn.1)
//   A_i = A_p + V_i x S_i v_i,  A_0 = -gravity                                   (dyn.2)
//   F_i = I_i A_i + V_i x* I_i V_i,  h = S^T sum of F over the subtree           (dyn.3)
//   F_i += m g at its place, where the weight of a mass m is carried             (dyn.9)
//   M_kj = S_j . (Ic_i S_k), Ic_i the inertia of the subtree                     (dyn.4)
//   M = L^T D L, no fill-in beyond the chains [Featherstone2008, sec. 6.5]       (dyn.5)
// The free joint's linear velocity is taken as inertial over the step: in axes frozen at its start, with the classical
// acceleration as its derivative. So a free body keeps its linear momentum exactly. The stepper turns it afterwards.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

/// A spatial vector about O: motion (linear, angular) or force (linear, moment). Kernels read each half as four numbers.
struct alignas(32) Spatial {
  Vec3 lin = Vec3::Zero();
  double after_lin = 0;
  Vec3 ang = Vec3::Zero();
  double after_ang = 0;

  Spatial() = default;
  Spatial(const Vec3& linear, const Vec3& angular) : lin(linear), ang(angular) {}
};

/// Inertia about O in world axes.
struct RigidInertia {
  double m = 0;            ///< [kg]
  Vec3 mc = Vec3::Zero();  ///< mass times centre of mass [kg m]
  Mat3 I = Mat3::Zero();   ///< about O [kg m^2]
  Spatial operator*(const Spatial& s) const { return {m * s.lin + s.ang.cross(mc), I * s.ang + mc.cross(s.lin)}; }
};

/// The same as kernels have it: columns of I and mc of four numbers each, the mass behind mc.
struct alignas(32) PaddedInertia {
  double I[12] = {};
  double mc[4] = {};
};

/// What depends on the velocities, for trees that are not single.
struct TreeMotion {
  std::vector<Spatial> V, A, F;   ///< velocity, acceleration at vdot = 0 less gravity, force that they need; by body
  std::vector<Spatial> momentum;  ///< about O, by tree
  std::vector<double> kinetic;    ///< by tree [J]
  VecX h;                         ///< bias: Coriolis, centrifugal and gravity (nv) [N m] or [N]
};

class Dynamics {
 public:
  explicit Dynamics(const Model& model);

  /// Poses, velocities, M and h at (q, v).
  void compute(const VecX& q, const VecX& v);
  /// Poses, velocities, h and energies without M and gravity_force: linear in the bodies, however long the chains.
  void compute_motion(const VecX& q, const VecX& v);
  /// What depends on v anew, of one tree at the same q. Poses and M stay. Not for single trees: see move().
  void bias(int tree, const VecX& v, TreeMotion& motion) const;
  /// The same for any tree, as if it had been computed with v.
  void move(int tree, const VecX& q, const VecX& v);
  /// Room for bias().
  TreeMotion make_motion() const;
  /// L and D of M + diag(extra), of every tree or of one.
  void factor(const VecX& extra);
  void factor(int tree, const VecX& extra);

  const Placement& X_WB(int body) const { return X_WB_[static_cast<std::size_t>(body)]; }
  const Vec3& origin(int tree) const { return origin_[static_cast<std::size_t>(tree)]; }
  const Spatial& axis(int iv) const { return S_[static_cast<std::size_t>(iv)]; }
  const Spatial& body_velocity(int body) const { return motion_.V[static_cast<std::size_t>(body)]; }
  /// Inertia of one body, not of its subtree; for bodies of trees that are not single.
  RigidInertia body_inertia(int body) const;
  const VecX& h() const { return motion_.h; }  ///< bias: Coriolis, centrifugal and gravity (nv) [N m] or [N]
  const VecX& gravity_force() const { return gravity_force_; }  ///< the part of h that is gravity (nv)
  double kinetic() const;                                       ///< at (q, v) [J]
  double potential() const;                                     ///< [J]
  double kinetic(int tree) const { return motion_.kinetic[static_cast<std::size_t>(tree)]; }
  double potential(int tree) const { return potential_[static_cast<std::size_t>(tree)]; }

  /// Velocity in W of the point p_W of a body.
  Vec3 point_velocity(int body, const Vec3& p_W) const;
  /// Acceleration in W of that point at vdot = 0 (Jdot v): classical, in the sense of the free joint above.
  Vec3 point_bias(int body, const Vec3& p_W) const;
  /// Angular acceleration in W of that body at vdot = 0.
  const Vec3& angular_bias(int body) const { return motion_.A[static_cast<std::size_t>(body)].ang; }
  /// Jacobian of that point in the axes R_WC, along the body's chain: column-major 3 x depth.
  void point_jacobian(int body, const Vec3& p_W, const Mat3& R_WC, double* J) const;
  /// J -> Y = J L^-1 D^-1/2 in place, along the chain of a body; rows x depth, column-major.
  template <int Rows>
  void whiten(int body, double* J) const;
  /// x += L^-1 D^-1/2 w on one tree; each x is (nv), w (Columns nv) with the columns side by side. w is overwritten.
  template <int Columns>
  void unwhiten_add(int tree, double* w, const std::array<double*, Columns>& x) const;
  /// b <- (M + extra)^-1 b on one tree; (nv).
  void solve_in_place(int tree, double* b) const;
  /// y = M x on one tree, without extra; (nv).
  void multiply(int tree, const double* x, double* y) const;
  /// Diagonal entry of M.
  double inertia(int iv) const { return row(iv)[depth_[static_cast<std::size_t>(iv)]]; }
  /// Block of M of a free root joint: the inertia of the whole tree about O, in the axes of its base.
  Eigen::Matrix<double, 6, 6> base_inertia(int tree) const;
  /// Entry of M (without extra) in dense form: for tests and controllers.
  MatX mass_matrix() const;
  /// Generalised force of a world force at a world point of a body, added to tau.
  void add_force(int body, const Vec3& p_W, const Vec3& f_W, VecX& tau) const;
  /// The same of a world torque.
  void add_torque(int body, const Vec3& torque_W, VecX& tau) const;
  /// Momentum about O of a tree at (q, v).
  const Spatial& momentum(int tree) const { return motion_.momentum[static_cast<std::size_t>(tree)]; }
  /// Linear momentum and mass centre of a tree at (q, v).
  Vec3 linear_momentum(int tree) const { return motion_.momentum[static_cast<std::size_t>(tree)].lin; }
  /// Angular momentum about the world's origin.
  Vec3 angular_momentum(int tree) const;
  Vec3 center_of_mass(int tree) const;

 private:
  struct alignas(32) Frame {  // axes of a body in W and its place about O, of four numbers each
    double R[12] = {};
    double r[4] = {};
  };

  void pass(const VecX& q, const VecX& v, bool mass_matrix);
  void lay_out_rows();
  void single(int tree, const VecX& q, const VecX& v);
  void place(const Tree& tree, const VecX& q);
  void weigh(const Tree& tree);
  void move_bodies(const Tree& tree, const VecX& v, TreeMotion& motion) const;
  void gather(const Tree& tree, const VecX& v, TreeMotion& motion) const;
  void sum_masses(const Tree& tree);
  Vec3 carried_at(const Body& body, int i) const;
  void take_carried(const Tree& tree);
  void lift_carried(const Tree& tree, TreeMotion& motion) const;
  double carried_potential(const Tree& tree) const;
  double* row(int k) { return M_.data() + row_[static_cast<std::size_t>(k)]; }
  const double* row(int k) const { return M_.data() + row_[static_cast<std::size_t>(k)]; }
  const int* chain(int k) const { return chains_.data() + chain_[static_cast<std::size_t>(k)]; }
  const double* lrow(int k) const { return L_.data() + row_[static_cast<std::size_t>(k)]; }

  const Model* model_;
  std::vector<Placement> X_WB_;
  std::vector<Vec3> origin_;
  std::vector<Frame> frames_;
  std::vector<Spatial> S_;                     // by coordinate, and one of zeros
  std::vector<double> angle_, sine_, cosine_;  // of revolute joints, by body
  TreeMotion motion_;
  std::vector<PaddedInertia> I_, subtree_;  // of each body, and with all that it carries
  std::vector<int> aligned_;                // 0, 1, 2: the joint axis is that unit vector; -1: it is not
  std::vector<char> straight_;              // the axes of the joint are those of the parent
  std::vector<std::size_t> row_;            // row k of M: entries of chain(k), the diagonal last
  std::vector<int> depth_;                  // length of chain(k), k excluded
  std::vector<std::size_t> chain_;          // where chain(k) begins in chains_
  std::vector<int> chains_;
  std::vector<double> M_, L_;
  VecX gravity_force_, dis_;       // dis: D^-1/2
  std::vector<double> potential_;  // by tree
};

}  // namespace tribo
