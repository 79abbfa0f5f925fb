// Torques that hold the joints of a fixed base against gravity, wherever they are asked to be:
//   tau = h(q_ref, 0)                                                                                         (ff.2)
// Which feet carry a floating base is not known to a controller of joints: there the pose of the scene stays, (ff.1).
#pragma once

#include <memory>
#include <vector>

#include "tribo/model.hpp"

namespace tribo {

class GravityHold {
 public:
  /// q_ref: of the coordinates that no reference gives (nq of the member).
  GravityHold(std::shared_ptr<const Model> model, int member, const VecX& q_ref);
  /// joints: angles and lengths (nv of the member). Returns torques (nv of the member) [N m] or [N]; computed where the
  /// joints are others than the last time.
  const VecX& torque(const VecX& joints);

 private:
  struct alignas(32) Link {  // vectors of four numbers each, the last one 0
    double R[12];            ///< axes of the body, by columns
    double p[4], axis[4];    ///< its place, and the axis of a joint of one coordinate
    double weight[4];        ///< of it and of all beyond it
    double moment[4];        ///< of those about the origin
  };
  void place(int i, double sine, double cosine);
  void place_four(int first);
  void carry_all();

  std::shared_ptr<const Model> model_;
  const Member& member_;
  VecX q_;  // nq of the member
  VecX joints_, torque_;
  std::vector<Link> links_;
};

}  // namespace tribo
