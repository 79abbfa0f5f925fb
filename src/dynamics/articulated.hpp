// Accelerations from forces by articulated-body inertias: linear in the bodies, no mass matrix [Featherstone2008, ch.
// 7].
//
// In world axes about the origin of the tree nothing is transformed between bodies. A joint of several degrees is
// taken one after the other, as if massless bodies lay between. For degree k of body i, from the leaves to the roots:
//   U_k = I_i S_k,  D_k = S_k . U_k + armature_k + extra_k,  I_i <- I_i - U_k U_k^T / D_k        (aba.1)
//   u_k = tau_k + S_k . f_i,  f_i <- f_i - U_k u_k / D_k                                         (aba.2)
// what remains of I_i and f_i is added to the parent's, and from the roots to the leaves
//   x_k = (u_k - U_k . a_i) / D_k,  a_i <- a_i + S_k x_k,  beginning with a of the parent        (aba.3)
// so that (M + diag(extra)) x = tau + J^T f. The response of some bodies to a force on one of them needs (aba.2) along
// the path of that one and (aba.3) along the paths of those alone [Kokkevis2004].
#pragma once

#include <span>
#include <vector>

#include "tribo/dynamics.hpp"

namespace tribo {

class ArticulatedBody {
 public:
  explicit ArticulatedBody(const Model& model);

  /// (aba.1) at the poses of a Dynamics after compute_motion, which must stay while the factor is used.
  void factor(const Dynamics& motion, const VecX& extra);

  /// A force in W on the point p_W of a body, for the next solve; nothing for body -1.
  void load(int body, const Vec3& p_W, const Vec3& f_W);
  /// x with (M + diag(extra)) x = tau + loads (nv); the loads are used up. Fills acceleration() of every body.
  void solve(const VecX& tau, VecX& x);

  /// The bodies whose response will be asked for: fixes the paths of (aba.3).
  void watch(std::span<const int> bodies);
  /// Response of the watched bodies to a force in W on a point of each of two bodies (-1: none), and to a torque on
  /// one degree of freedom (-1: none).
  struct Load {
    int body = -1;
    Vec3 p_W = Vec3::Zero(), f_W = Vec3::Zero();
  };
  void respond(const Load& first, const Load& second, int dof, double torque, int other = -1, double other_torque = 0);

  /// The same to all loads on watched bodies and degrees since the last call, which are used up; along all their paths.
  void respond();
  void load(int body, const Spatial& f);
  void load(int dof, double torque) { tau_[dof] += torque; }
  /// The response of each watched body to a force on itself, and of its degrees to a torque (aba.5), (aba.6).
  void find_responses();
  const Eigen::Matrix<double, 6, 6>& response(int body) const { return response_[static_cast<std::size_t>(body)]; }
  double response_of(int dof) const { return response_of_[dof]; }
  bool same_tree(int a, int b) const;

  /// Diagonal of (M + diag(extra))^-1 after factor, in one pass from the roots: the response of a body to a force on it
  ///   L_k = 1 - S_k U_k^T / D_k,  Omega <- L_k Omega L_k^T + S_k S_k^T / D_k, beginning with that of the parent    (aba.5)
  ///   (M^-1)_kk = (1 + U_k . Omega U_k / D_k) / D_k, with Omega before degree k                                  (aba.6)
  void inverse_diagonal(VecX& diagonal) const;

  /// Of a point of a body after solve or respond, without the bias [m/s^2].
  Vec3 point_acceleration(int body, const Vec3& p_W) const;
  const Spatial& acceleration(int body) const { return a_[static_cast<std::size_t>(body)]; }
  /// Acceleration of one degree of freedom, of a watched body or after solve.
  double acceleration_of(int dof) const { return x_[dof]; }
  /// Rate of kinetic and potential energy at the accelerations of the last solve, from the bodies' own motion:
  ///   v . h + sum (I_i V_i) . a_i + sum armature v x                                            (aba.4) [W]
  double energy_rate(const VecX& v) const;
  /// Joint degrees passed by so far in (aba.1) to (aba.3): a count of work that no clock disturbs.
  std::uint64_t operations() const { return operations_; }

 private:
  using Mat6 = Eigen::Matrix<double, 6, 6>;
  struct Inertia6 {  // symmetric, in blocks: (lin, lin), (lin, ang), (ang, ang)
    Mat3 A, B, C;
    Spatial operator*(const Spatial& s) const { return {A * s.lin + B * s.ang, B.transpose() * s.lin + C * s.ang}; }
  };

  void pull(int body, Spatial& f);
  void push(int body);
  void respond_diagonal(int body, const Mat6& parent, Mat6& W, VecX& diagonal) const;

  const Model* model_;
  const Dynamics* motion_ = nullptr;
  std::vector<Inertia6> I_;
  std::vector<Spatial> U_, f_, a_;
  VecX D_inverse_, u_, x_, tau_;
  std::vector<int> path_, dof_body_;
  std::vector<char> watched_;
  std::vector<Mat6> response_;  // of the watched bodies, by body
  VecX response_of_;            // (nv)
  std::uint64_t operations_ = 0;
};

}  // namespace tribo
