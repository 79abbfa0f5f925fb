// The motion of a rigid step before its contacts and rows act.
//
//   (M + dt (D + kd) + dt^2 (kp + k)) (v_f - v)
//       = dt (tau + kp (e - dt v) + kd (v_ref - v) - D v - k (s + dt v) + f_ext - b)                       (rigid.1)
// with k the stiffness of joint springs and s their deflection. The bias b is that of the velocity it leads to itself,
//   b = h(q, v - dt/2 M^-1 (b - h(q, 0)))                    by fixed point, up to two passes              (rigid.12)
// For a single body it is the gyroscopic moment of (gyroscope.1), which does no work, and its weight.
#pragma once

#include <vector>

#include "stepping/rigid/flight.hpp"
#include "stepping/rigid/rows.hpp"
#include "tribo/step.hpp"

namespace tribo {

class FreeMotion {
 public:
  explicit FreeMotion(const Model& model);

  /// Factors what stands beside M with it, and finds v_f. Trees that fly for certain keep v. first: else the bias stands, so
  /// that it does not depend on which drives and joints have become rows since.
  void solve(const Start& start, const StepRows& rows, Flight& flight, bool first);
  const VecX& velocity() const { return v_free_; }
  /// What (rigid.1) adds to the diagonal of M (nv).
  const VecX& extra() const { return extra_; }
  /// The same when the bias was found (nv).
  const VecX& extra_of_bias() const { return extra_of_bias_; }

  /// Factors M again without the friction that holds joints: they may move to make room.
  void release_joints(const Start& start, const StepRows& rows);
  /// v_m . (dt b + M dv) of a tree, with its springs (rigid.8) [J].
  double work(const Start& start, const VecX& v_end, int tree);
  /// What the first pass of (rigid.12) changed of the kinetic energy of a tree; 0: it had none.
  double turned(int tree) const { return turned_[at(tree)]; }
  /// Passes of (rigid.12) that the bias of a tree took.
  int passes(int tree) const { return passes_[at(tree)]; }
  /// Energy in joint springs [J].
  double spring_energy(const VecX& q);

 private:
  static double implicit(const Start& start, const StepRows& rows, int k);
  void move(const Start& start, const StepRows& rows, int tree);
  void find_bias(const Start& start, const StepRows& rows, Flight& flight, int tree);
  void turn_on_the_way(const Start& start, const StepRows& rows, Flight& flight, int tree);

  const Model& model_;
  bool springs_;
  VecX v_free_, extra_, extra_of_bias_, deflection_, force_, bias_, middle_, change_, rate_;
  TreeMotion motion_;
  std::vector<double> turned_;  // by tree
  std::vector<int> passes_;
  std::vector<char> known_;  // the bias of a tree
};

}  // namespace tribo
