// How the point, the axes and the gap of a contact move with q.
//
// A body of the chain that turns by dq_j moves its points by S_j.lin + S_j.ang x r. With x_a, x_b the points (of a core of
// radius r) that are fixed to the two bodies, n and gap those of collision:
//   plane and core of b:    dgap = n . dx_b,  dp = dx_b - n (n . dx_b) / 2,  dn = 0                            (motion.1)
//   two cores:              dn = (1 - n n^T) (dx_b - dx_a) / |x_b - x_a|,  dgap = n . (dx_b - dx_a)            (motion.2)
// Other pairs: central differences of the collision query along the six motions of b against a; a rigid motion of both
// takes the contact along. The axes turn by n x dn: a turn about n changes no force and no velocity.
#pragma once

#include <vector>

#include "collision/narrowphase.hpp"
#include "tribo/step.hpp"

namespace tribo {

class ContactMotion {
 public:
  explicit ContactMotion(const Model& model);

  /// False where the pair has no derivative: its query finds other features beside.
  bool compute(const Start& start, const Contact& contact, double margin);

  const std::vector<int>& dofs() const { return dofs_; }  ///< velocity coordinates that move it
  int place(int dof) const { return place_[at(dof)]; }    ///< of one of them in dofs
  Vec3 point(int i) const { return p_.col(i); }           ///< dp by dofs()[i], in W
  Vec3 turn(int i) const { return turn_.col(i); }         ///< of the axes, in W [rad]
  bool turns() const { return turns_; }                   ///< do the axes turn with any of them?
  double gap(int i) const { return gap_[i]; }

 private:
  struct Slope {  // of p, n and gap by a motion of b against a: three translations, three turns about the origin of b
    Eigen::Matrix<double, 3, 6> p, n;
    Eigen::Matrix<double, 1, 6> gap;
  };

  void list(const Contact& contact);
  void plane_and_core(const Start& start, const Contact& contact, double radius);
  void two_cores(const Start& start, const Contact& contact, double radius_a, double radius_b);
  bool any_pair(const Start& start, const Contact& contact, double margin);
  bool slopes(const PlacedSolid& a, const PlacedSolid& b, const Contact& contact, double margin, Slope& slope);
  PlacedSolid placed(const Start& start, int geometry) const;

  const Model& model_;
  std::vector<Solid> solids_;
  Scratch scratch_;
  Touches touches_;
  std::vector<int> dofs_, place_;
  MatX p_, turn_;  // (3 x nv)
  VecX gap_;
  bool turns_ = false;
};

}  // namespace tribo
