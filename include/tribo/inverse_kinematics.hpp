// Joints for given poses of frames, within the joint ranges.
#pragma once

#include <vector>

#include "tribo/model.hpp"

namespace tribo {

/// Where a frame or body shall be, in W.
struct FrameTarget {
  Place place;
  Placement X_W;
  bool position = true, orientation = true;  ///< which of the two is asked for
};

struct IkOptions {
  std::vector<int>
      joints;  ///< velocity coordinates that may move; empty: those on the way to the frames, but no free joint
  double tolerance = 1e-6;  ///< of the position [m] and of the orientation [rad]
  double length = 0.3;      ///< metres that a radian counts for [m/rad]
  int iterations = 100;     ///< of each start
  int starts = 8;           ///< the pose given, then others at random within the ranges, the same in every call
};

struct IkResult {
  VecX q;                        ///< (nq) of the model, all of it
  bool converged = false;        ///< within the tolerance
  double position_error = 0;     ///< largest [m]
  double orientation_error = 0;  ///< largest [rad]
  int iterations = 0;            ///< of all starts
};

/// The pose that meets the targets, or that comes nearest. See inverse_kinematics.cpp.
IkResult inverse_kinematics(const Model& model, const VecX& q, const std::vector<FrameTarget>& targets,
                            const IkOptions& options = {});

}  // namespace tribo
