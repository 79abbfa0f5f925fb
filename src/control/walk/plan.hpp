// Which feet stand, where the others land, and how they get there.
//   phase of a leg = (t - start)/period + (0 or 1/2 by its diagonal);  it swings for the first 1 - duty of a phase  (walk.1)
//   foothold  p = com + v rest + Rz(yaw + turning (rest + stand/2)) home + v_ref stand/2 + k (v - v_ref)           (walk.2)
//             rest: time until it lands; stand: for which it then stands [Raibert1986]; its height is the ground's
//   swing     along sigma(s) from where it left to the foothold; its height by two quintics with the apex at `height`
//             over all that lies between                                                                           (walk.3)
#pragma once

#include "control/walk/ground.hpp"
#include "control/walk/walker.hpp"

namespace tribo::walk {

struct GaitPlan {
  double start = 0, period = 0, duty = 0;  ///< [s], [s], [-]

  struct Leg {
    bool stands = true;
    double since = 0;  ///< it lifted or landed [s]
    double rest = 0;   ///< until it lands or lifts [s]
  };
  Leg leg(int diagonal, double t) const;  ///< (walk.1)
  double swing() const { return (1 - duty) * period; }
  double stand() const { return duty * period; }
};

struct FootMotion {
  Vec3 p = Vec3::Zero(), v = Vec3::Zero(), a = Vec3::Zero();
};
/// Of the centre of a foot on its way for a share s of the time T; top: of its centre, at the apex. (walk.3)
FootMotion swing_motion(const Vec3& from, const Vec3& to, double top, double s, double T);

/// What the footholds follow from.
struct FootholdRule {
  double gain = 0;   ///< k of (walk.2) [s]
  double reach = 0;  ///< farthest from below the hip [m]
};
/// The sole of a leg that lands after `rest`; z is that of the centre of mass. (walk.2)
Vec3 foothold(const Walker& walker, const GaitPlan& gait, const FootholdRule& rule, const Instant& now,
              const Vec3& v_ref, double turning, double rest, std::size_t leg);

}  // namespace tribo::walk
