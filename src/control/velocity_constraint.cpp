// Inverse dynamics as constraints of the step: the velocity of each driven joint at its end is asked for, and the rigid
// stepper finds the torques together with the contact forces [Shepherd2017, eqs. 2 to 7]:
//   v'_k = target_k   with   tau_k in [lower_k, upper_k]                                        (target.1), (target.2)
// A torque at a limit only pushes against what is left of v'_k - target_k.
#include <cmath>

#include "base/names.hpp"
#include "control/joints.hpp"

namespace tribo {
namespace {

class VelocityConstraint final : public Controller {
 public:
  VelocityConstraint(const Model& model, const VelocityConstraintOptions& options)
      : options_(options), member_(model.members[static_cast<std::size_t>(options.member)]) {
    const std::string owner = "velocity-constraint controller of '" + member_.name + "'";
    if (!options.reference) throw InvalidInput(owner + ": needs a reference");
    check_reference(*options.reference, member_, owner);
    check_limits(options.limits, model, member_, owner);
    if (!(options.target.share >= 0) || options.target.share > 1)
      throw InvalidInput(owner + ": share = " + shown(options.target.share) + ", must be within [0, 1]");
    joints_ = driven_joints(model, member_, options.driven, owner);
    now_ = next_ = JointMotion(member_.nv);
  }

  bool sets_targets() const override { return true; }

  void control(const Model& model, const State& state, const Dynamics&, std::span<double>, Actuation& a) override {
    options_.reference->at(state.t, now_);
    options_.reference->at(state.t + a.dt, next_);
    for (const DrivenJoint& joint : joints_) {
      const Body& body = model.bodies[static_cast<std::size_t>(joint.body)];
      a.target[joint.iv] = target_velocity(options_.target, body, joint, now_, next_, state.q, a.dt);
      narrow(options_.limits, joint, a);
    }
  }

 private:
  VelocityConstraintOptions options_;
  Member member_;
  std::vector<DrivenJoint> joints_;
  JointMotion now_, next_;
};

}  // namespace

std::unique_ptr<Controller> make_velocity_constraint(const Model& model, const VelocityConstraintOptions& options) {
  return std::make_unique<VelocityConstraint>(model, options);
}

}  // namespace tribo
