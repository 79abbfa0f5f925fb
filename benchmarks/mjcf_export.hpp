// A scene as an MJCF text, so that MuJoCo steps the world that Tribo steps.
//
// Bodies, inertias, joints (damping, armature, dry friction), shapes, friction coefficients, gravity and the PD
// controllers (as position servos with the same gains, feed-forward and limits of force) are carried over. Not carried
// over: joint ranges, restitution, compliance. InvalidInput where the scene has something that has no equal in MJCF.
#pragma once

#include <string>

#include "tribo/scene.hpp"

namespace tribo::bench {

struct MjcfOptions {
  double dt = 1e-3;                  ///< [s]
  std::string cone = "pyramidal";    ///< MuJoCo's default; or "elliptic"
  std::string integrator = "Euler";  ///< MuJoCo's default; or "implicitfast", "discrete"
  bool sleep = false;                ///< trees at rest are not stepped
  /// Contacts as firm as MuJoCo's limit of two steps for their time constant allows, and nearly rigid (solimp).
  bool firm = false;
  /// kd as damping of the joint, which MuJoCo's Euler takes implicitly, and not as part of the servo's force, which it
  /// takes explicitly. The same physics within the limits of force.
  bool kd_in_joint = false;
  /// MuJoCo has no point without size: a ball of this radius, whose lowest point at the start is the point [m].
  double point_radius = 0.005;
};

/// Body and joint of body i are named "b<i>" and "j<i>", its servo "a<i>".
std::string to_mjcf(const Scene& scene, const MjcfOptions& options);

}  // namespace tribo::bench
