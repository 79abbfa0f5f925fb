// A motion to be followed, and the controller that follows it.
#pragma once

#include <memory>
#include <string>

#include "tribo/controller.hpp"

namespace tribo {

/// States, torques and gains at knots dt apart. One column a knot.
struct PlannedMotion {
  MatX states;    ///< (nq + nv) x (n + 1)
  MatX controls;  ///< feed-forward, nu x n, held over a knot [N m] or [N]
  MatX gains;     ///< nu x 2 nv, row by row in a column: (nu 2 nv) x n
  double dt = 0;  ///< [s]
};

/// From an .npz with the arrays states (n + 1, nq + nv), controls (n, nu), gains (n, nu, 2 nv) and dt. Where there is
/// an array `joints` (names as bytes, one a line), it must name those of the robot.
/// InvalidInput names the file, the array and what is wrong with it.
PlannedMotion load_planned_motion(const std::string& path, const Model& model, const Member& member);

struct TrackingOptions {
  int member = 0;
  std::shared_ptr<const PlannedMotion> motion;
  double period = 0;  ///< of the control: the torque is held in between [s]; 0: every step
  double start = 0;   ///< time of the first knot [s]
};
/// u = u_ff + gain (x_ref - x) on every joint of one coordinate. InvalidInput where the motion does not fit the robot.
std::unique_ptr<Controller> make_tracking(const Model& model, const TrackingOptions& options);

}  // namespace tribo
