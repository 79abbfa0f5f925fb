#include "control/gravity_hold.hpp"

#include <limits>
#include <utility>

#include "control/joints.hpp"

namespace tribo {

GravityHold::GravityHold(std::shared_ptr<const Model> model, int member, const VecX& q_ref)
    : model_(std::move(model)),
      member_(model_->members[at(member)]),
      dynamics_(*model_),
      q_(model_->neutral()),
      still_(VecX::Zero(model_->nv)) {
  q_.segment(member_.iq, member_.nq) = q_ref;
  joints_.setConstant(member_.nv, std::numeric_limits<double>::quiet_NaN());  // nothing computed yet
  torque_.setZero(member_.nv);
}

const VecX& GravityHold::torque(const VecX& joints) {
  if (joints == joints_) return torque_;
  joints_ = joints;
  set_joints(*model_, member_, joints, q_);
  dynamics_.compute_motion(q_, still_);
  torque_ = dynamics_.h().segment(member_.iv, member_.nv);  // (ff.2)
  return torque_;
}

}  // namespace tribo
