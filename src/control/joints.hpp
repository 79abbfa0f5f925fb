// What the controllers of joints share: which joints they drive, their limits, and the checks of what they are given.
#pragma once

#include <string>
#include <vector>

#include "tribo/actuation.hpp"
#include "tribo/controller.hpp"
#include "tribo/reference.hpp"

namespace tribo {

/// A joint with one coordinate that a controller drives.
struct DrivenJoint {
  int body = 0;
  int iv = 0;  ///< in the model
  int j = 0;   ///< in the member
};

/// Every joint of the member with one coordinate and a motor; or those that wanted (nv of the member) marks by anything
/// but 0. InvalidInput names a joint that is marked and has no motor.
std::vector<DrivenJoint> driven_joints(const Model& model, const Member& member, const VecX& wanted,
                                       const std::string& owner);

/// InvalidInput where x is not of size n, or not finite.
void check_entries(const VecX& x, int n, const std::string& owner, const std::string& field);
/// InvalidInput where the reference belongs to a robot of another size.
void check_reference(const Reference& reference, const Member& member, const std::string& owner);
/// InvalidInput names the joint whose lower limit is above its upper, or is not a number.
void check_limits(const EffortLimits& limits, const Model& model, const Member& member, const std::string& owner);
void check_period(double period, const std::string& owner);
/// Narrows the limits of the actuation to these.
void narrow(const EffortLimits& limits, const DrivenJoint& joint, Actuation& actuation);

/// Angles and lengths of the joints with one coordinate (nv of the member) into q (nq of the model).
void set_joints(const Model& model, const Member& member, const VecX& joints, VecX& q);

/// Velocity that is asked of a joint at the end of the step: (target.1), (target.2). now and next: the reference at t
/// and at t + dt.
double target_velocity(const TargetOptions& options, const Body& body, const DrivenJoint& joint, const JointMotion& now,
                       const JointMotion& next, const VecX& q, double dt);

}  // namespace tribo
