// Torques that hold the joints of a fixed base against gravity, wherever they are asked to be:
//   tau = h(q_ref, 0)                                                                                         (ff.2)
// Which feet carry a floating base is not known to a controller of joints: there the pose of the scene stays, (ff.1).
#pragma once

#include <memory>

#include "tribo/dynamics.hpp"

namespace tribo {

class GravityHold {
 public:
  /// q_ref: of the coordinates that no reference gives (nq of the member).
  GravityHold(std::shared_ptr<const Model> model, int member, const VecX& q_ref);
  /// joints: angles and lengths (nv of the member). Returns torques (nv of the member) [N m] or [N]; computed where the
  /// joints are others than the last time.
  const VecX& torque(const VecX& joints);

 private:
  std::shared_ptr<const Model> model_;
  const Member& member_;
  Dynamics dynamics_;
  VecX q_, still_, joints_, torque_;
};

}  // namespace tribo
