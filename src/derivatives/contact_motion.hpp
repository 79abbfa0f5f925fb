// How the point, the axes and the gap of a contact move with q.
//
// A body of the chain that turns by dq_j moves its points by S_j.lin + S_j.ang x r. With x_a, x_b the points (of a core of
// radius r) that are fixed to the two bodies, n and gap those of collision:
//   plane and core of b:    dgap = n . dx_b,  dp = dx_b - n (n . dx_b) / 2,  dn = 0                            (motion.1)
// while b is above the plane its own point counts, not that midway: dp = dx_b.
//   two cores:              dn = (1 - n n^T) (dx_b - dx_a) / |x_b - x_a|,  dgap = n . (dx_b - dx_a)            (motion.2)
// Other pairs: central differences of the collision query along the six motions of b against a; a rigid motion of both
// takes the contact along. The axes turn by n x dn: a turn about n changes no force and no velocity.
// Pairs that meet within the step do so where their velocities take them: contact_meeting.cpp.
#pragma once

#include <vector>

#include "collision/ahead.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// Velocities at which contacts are looked at: those of all bodies, and whether kinematic bodies add theirs.
struct BodyVelocities {
  const VecX* v = nullptr;
  std::vector<Spatial> V, psi;  ///< about the origin of the tree; psi_j = V_p x S_j, by coordinate
  bool given = true;
};

class ContactMotion {
 public:
  explicit ContactMotion(const Model& model);

  /// False where the pair has no derivative: its query finds other features beside.
  bool compute(const Start& start, const Contact& contact, double margin);
  /// Of a contact that was listed where the two meet within dt, moving by these velocities and the fall over a time of what
  /// is a tree by itself. False where it was not, or has no derivative.
  bool meet(const Start& start, const Contact& contact, const BodyVelocities& at, double dt, double fall);
  /// Adds how what a kinematic body gives a contact whose motion stands (carried.1) moves with the body that it carries. False
  /// where it was not given with these velocities.
  bool carry(const Start& start, const Contact& contact, const BodyVelocities& at, double dt, double fall);
  /// Is the contact that of the start? Above a plane b's own point touches, with arm_b from p.
  static bool stands(const Contact& contact);

  const std::vector<int>& dofs() const { return dofs_; }   ///< velocity coordinates that move it
  int place(int dof) const { return place_[at(dof)]; }     ///< of one of them in dofs
  Vec3 point(int i) const { return p_.col(i); }            ///< dp (above a plane: of b's own point) by dofs()[i], in W
  Vec3 turn(int i) const { return turn_.col(i); }          ///< of the axes, in W [rad]
  const double* points() const { return p_.data(); }       ///< all of them, side by side
  const double* turnings() const { return turn_.data(); }  ///< of axes
  bool turns() const { return turns_; }                    ///< do the axes turn with any of them?
  double gap(int i) const { return gap_[i]; }
  bool meets() const { return meets_; }  ///< by velocities too: `rate`; point() is then that of b

  /// By a coordinate, or by its velocity, where the two meet within the step: their own points, that between them, the axes.
  struct Way {
    Vec3 on_a, on_b, middle, turn;
    double gap;
    Vec3 given = Vec3::Zero();  ///< of Contact::v_given, beside what the middle makes
  };
  const Way& way(int i) const { return ways_[at(i)]; }    ///< by q
  const Way& rate(int i) const { return rates_[at(i)]; }  ///< by v

 private:
  struct Meeting;
  /// What moves where the pair is at the time of their meeting: the contact there, and the two bodies (b, a), by their origins
  /// and turns, at the start, their velocities, and then.
  struct Part {
    Vec3 p = Vec3::Zero(), n = Vec3::Zero();
    double gap = 0, later = 0;  ///< by how much later they touch
    struct Body {
      Vec3 o = Vec3::Zero(), r = Vec3::Zero(), u = Vec3::Zero(), w = Vec3::Zero(), o_t = Vec3::Zero(),
           r_t = Vec3::Zero();
    } sides[2];
  };
  struct Slope {  // of p, n and gap by a motion of b against a: three translations, three turns about the origin of b
    Eigen::Matrix<double, 3, 6> p, n;
    Eigen::Matrix<double, 1, 6> gap;
  };

  void list(const Contact& contact);
  void clear();
  Meeting approach(const Start& start, const Contact& contact, const BodyVelocities& at, double dt, double fall) const;
  bool meet_at(Meeting& m, double t);
  bool follow_touch(Meeting& m);
  bool follow_rounds(Meeting& m);
  void list_parts(const Start& start, const Meeting& m, const BodyVelocities& at);
  template <class F>
  void each_part(F f);
  void plane_and_core(const Start& start, const Contact& contact, double radius);
  void two_cores(const Start& start, const Contact& contact, double radius_a, double radius_b);
  bool any_pair(const Start& start, const Contact& contact, double margin);
  bool slopes(const PlacedSolid& a, const PlacedSolid& b, const Contact& contact, double margin, Slope& slope);
  bool beside(const PlacedSolid& a, const PlacedSolid& b, double reach, unsigned ring, const Touch& middle,
              Slope& slope);
  PlacedSolid placed(const Start& start, int geometry) const;
  PlacedSolid placed_a(const Start& start, const Contact& contact) const;
  bool paved(const Contact& contact) const;
  const Solid& solid_a(const Contact& contact) const;
  unsigned ring(const Contact& contact) const;

  const Model& model_;
  std::vector<Solid> solids_;
  Solid plane_;
  Scratch scratch_;
  Touches touches_;
  std::vector<int> dofs_, place_;
  MatX p_, turn_;  // (3 x nv)
  VecX gap_;
  std::vector<Way> ways_, rates_;
  std::vector<Part> by_q_, by_v_;
  std::vector<Round> rounds_;
  bool turns_ = false, meets_ = false;
};

}  // namespace tribo
