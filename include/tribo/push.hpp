// Pushes: forces and torques from outside, over a time.
#pragma once

#include <optional>
#include <string>

#include "tribo/model.hpp"

namespace tribo {

/// A force on a point of a body and a torque, over a time; both linear in time from start to end.
struct Push {
  int body = 0;
  Vec3 point = Vec3::Zero();       ///< in the frame of the body [m]
  Vec3 force = Vec3::Zero();       ///< in W, at start [N]
  Vec3 force_end = Vec3::Zero();   ///< in W, at start + duration [N]
  Vec3 torque = Vec3::Zero();      ///< in W, at start [N m]
  Vec3 torque_end = Vec3::Zero();  ///< in W, at start + duration [N m]
  double start = 0;                ///< [s]
  double duration = 0;             ///< [s]
};

/// A push as it is asked for, in a scene or in Python.
struct PushRequest {
  std::string where;  ///< robot, object, body or frame, see Model::place
  std::optional<Vec3> point =
      std::nullopt;  ///< in the frame of what is named [m]; none: its centre of mass, the origin of a frame
  std::optional<Vec3> force = std::nullopt;       ///< in W, at start [N]; none: 0
  std::optional<Vec3> force_end = std::nullopt;   ///< at start + duration [N]; none: as at start
  std::optional<Vec3> torque = std::nullopt;      ///< in W, at start [N m]; none: 0
  std::optional<Vec3> torque_end = std::nullopt;  ///< at start + duration [N m]; none: as at start
  double start = 0;                               ///< [s]
  double duration = 0;                            ///< [s], > 0
};

/// InvalidInput where the name is unknown or does not move by forces, and where there is neither force nor torque.
Push make_push(const Model& model, const PushRequest& request);

}  // namespace tribo
