// The plan of a trot: where the base and the feet of a quadruped are to be.
//   swing k, of the diagonal k mod 2, lasts from S_k = (k+1) period/2 - swing to E_k = (k+1) period/2
//   base: at C_k during swing k, with the centre of mass over the diagonal that stands; between E_(k-1) and S_k, while
//         all four feet stand, from C_(k-1) to C_k along sigma                                               (trot.1)
//   foot: stands from E_k to S_(k+2); in swing  x = x_k + (x_(k+1) - x_k) sigma(s),  z = 64 height s^3 (1-s)^3,
//         s = (t - S_k)/(E_k - S_k): no velocity against the ground at either end                            (trot.2)
//   sigma(s) = 10 s^3 - 15 s^4 + 6 s^5
//   a foot that is off its plan when it lifts, as one that has rolled, comes back to it by (1 - sigma(s))     (trot.7)
// So the plan asks nothing that two point feet cannot give: while only they stand, the base rests above the line
// between them. A base that moved on at constant speed would tip about that line.
//
// A controller that decides every tick has the plan in ticks: S_k and E_k are rounded to them, the base has stopped one
// tick before a foot lifts, and a foot that lands has come down straight in the last tick. A step knows its velocity at
// its end alone: without this the base would be stopped by two feet, and a foot would land while it moves forward.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tribo/dynamics.hpp"
#include "tribo/reference.hpp"

namespace tribo {

/// Throws InvalidInput for what no trot can be.
void check_trot(const Trot& trot);

class Gait {
 public:
  /// lean: from the base to where it is with its centre of mass over the middle of the feet [m]. tick: 0 for none [s].
  Gait(const Trot& trot, const Vec3& lean, double tick);

  struct Motion {
    Vec3 p = Vec3::Zero(), v = Vec3::Zero();  ///< from where it stood, in W [m], [m/s]
  };
  Motion base(double t) const;                ///< (trot.1)
  Motion foot(int diagonal, double t) const;  ///< (trot.2)
  /// Of what a foot was off its plan when it lifted: the share that is left at t (trot.7).
  double deviation(int diagonal, double t) const;
  /// Is t the end of a swing: does the foot land then, in a tick of its own?
  bool lands(int diagonal, double t) const;
  /// Is the foot to stand in the tick, or the moment, that begins at t?
  bool stands(int diagonal, double t) const;

 private:
  double start(int k) const;
  double end(int k) const;
  double rounded(double t) const;
  /// The swing of a diagonal that began last by t; -1 or -2 where none has.
  int last_swing(int diagonal, double t) const;
  double advanced(int k) const;  // x_k
  Vec3 rest(int k) const;        // C_k

  Trot trot_;
  Vec3 lean_;
  double tick_;
  int swings_;
};

/// One leg: the last three joints above a foot.
struct Leg {
  int body = 0;
  Vec3 point = Vec3::Zero();  ///< of the foot, in the body
  double radius = 0;          ///< of the ball about the point; 0 for a point foot [m]
  Vec3 home = Vec3::Zero();   ///< where it stands at first, in W
  std::array<int, 3> iv{}, iq{};
  int diagonal = 0;
};

/// The legs of a quadruped in the pose that dynamics holds. InvalidInput where it is none.
std::vector<Leg> find_legs(const Model& model, const Member& member, const Dynamics& dynamics, const VecX& q,
                           const std::string& owner = "trot");
/// Of the point p_W of the foot's body, by the leg's joints, in W.
Mat3 leg_jacobian(const Dynamics& dynamics, const Leg& leg, const Vec3& p_W);
/// The lean of a Gait, from the pose that dynamics holds.
Vec3 find_lean(const Model& model, const Member& member, const Dynamics& dynamics, const std::vector<Leg>& legs);

}  // namespace tribo
