// Dry friction of joints without rows, wherever what it does is known before the step is solved.
//
//   a joint at rest is held: an infinite damping in (rigid.1),  f = -damping v'/dt,  right if |f| <= friction    (dry.1)
//   one that moves is rubbed:  f = -friction sign(v),  right if v' does not turn                                 (dry.2)
// Where a guess was wrong the joint gets a row of the problem, the step is solved again, and the row stays for some
// steps. So a robot at rest has no such rows at all, and one that moves hardly any.
// A joint that its row holds is stopped: what a solve leaves of its velocity v' is rounding, if with the momentum p of the
// joint and the energy T of its tree
//   |p v'| <= 1e-9 2 T + friction dt v_rounding                                                          (dry.3)
// Behind light links a heavy one may have a momentum beside which it is not: that joint moves on.
#pragma once

#include <vector>

#include "tribo/step.hpp"

namespace tribo {

class JointFriction {
 public:
  explicit JointFriction(const Model& model);

  /// The guesses of a step, from its velocities and from what the last steps had for rows.
  void begin(const State& state);
  /// Is it along the axes of W, where coordinate k is not? BodyRows has its rows.
  bool along_world(int k) const { return along_world_[at(k)]; }
  /// Has joint k friction that needs a row?
  bool needs_row(int k) const { return guess_[at(k)] == Guess::Row; }
  /// Gives a joint a row: its drive or its limit is one, or its guess was wrong.
  void make_row(int k);
  /// What a guess adds to the torque of joint k, and to the damping times dt.
  double torque(int k) const { return guess_[at(k)] == Guess::Rubbed ? -direction_[at(k)] * friction_[k] : 0; }
  double damping(int k) const { return held(k) ? infinite : 0; }
  /// Does it act on joint k without a row?
  bool guessed(int k) const { return held(k) || guess_[at(k)] == Guess::Rubbed; }
  bool held(int k) const { return guess_[at(k)] == Guess::Held; }
  bool any_held() const { return held_ > 0; }

  /// True where a guess was wrong, or all are given up since the solve failed: the step must be solved again. Sets the
  /// velocity of held joints to zero.
  bool wrong(double dt, bool failed, VecX& v_end);
  /// Does the force of the row of joint k hold it?
  bool holds(int k, double force, double smallest, const VecX& v_end) const;
  /// Largest torque of joint k.
  double bound(int k) const { return friction_[k]; }
  /// Of the joints that are rubbed [J].
  double work(double dt, const VecX& v, const VecX& v_end) const;
  /// Steps for which the row of joint k stays.
  double patience(int k) const { return patience_[at(k)]; }

  /// Names the row of joint k from step to step.
  static std::uint64_t id(int k);

 private:
  enum class Guess : char { None, Row, Held, Rubbed };
  static constexpr double infinite = 1e30;  ///< against any inertia, and far from overflow [kg m^2]

  const VecX& friction_;
  std::vector<int> joints_;  ///< that have friction
  std::vector<char> always_row_, along_world_;
  std::vector<Guess> guess_;
  std::vector<double> direction_, patience_;
  int held_ = 0, rounds_ = 0;
};

}  // namespace tribo
