// Joint position control: tau = tau_ff + kp e + ki I + kd (v_ref - v),  e = q_ref - q,  I the integral of e,  within
// the effort limits.
//   explicit:  e, I and v_ref at t                                                                     (pd.1)
//   implicit:  at t + dt, by the stepper: e = q_ref(t + dt) - q - dt v',  I' = I + dt e, so kp + dt ki acts on e (pd.2)
// The integral takes up the error at each tick over the time since the last, and stays within what the limits let it
// do: |ki I| <= effort limit.                                                                               (pd.3)
#include <cmath>
#include <optional>

#include "base/names.hpp"
#include "control/gravity_hold.hpp"
#include "control/joints.hpp"

namespace tribo {
namespace {

class Pd final : public Controller {
 public:
  Pd(const Model& model, const PdOptions& options) : options_(options), member_(model.members[at(options.member)]) {
    const std::string owner = "pd controller of '" + member_.name + "'";
    check_entries(options.q_ref, member_.nq, owner, "q_ref");
    check_entries(options.kp, member_.nv, owner, "kp");
    check_entries(options.kd, member_.nv, owner, "kd");
    check_entries(options.tau_ff, member_.nv, owner, "tau_ff");
    if (options.ki.size() != 0) check_entries(options.ki, member_.nv, owner, "ki");
    if (options_.ki.size() == 0) options_.ki.setZero(member_.nv);
    check_limits(options.limits, model, member_, owner);
    check_period(options.period, owner);
    for (const VecX* gain : {&options_.kp, &options_.ki, &options_.kd})
      if (gain->minCoeff() < 0) throw InvalidInput(owner + ": gain " + shown(gain->minCoeff()) + " is negative");
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      const int j = body.iv - member_.iv;
      if (nv_of(body.joint) == 1) {
        joints_.push_back({b, body.iv, j});
        continue;
      }
      for (int k = j; k < j + nv_of(body.joint); ++k)
        if (options.kp[k] != 0 || options.kd[k] != 0 || options_.ki[k] != 0)
          throw InvalidInput(owner + ": '" + body.name + "' has no motor that a gain could belong to");
    }
    if (!options_.reference) options_.reference = make_constant(joint_positions(model, member_, options_.q_ref));
    check_reference(*options_.reference, member_, owner);
    if (options_.weight) hold_.emplace(options_.weight, options_.member, options_.q_ref);
    integral_ = options_.ki.maxCoeff() > 0;
    now_ = next_ = JointMotion(member_.nv);
  }

  double period() const override { return options_.period; }
  int memory() const override { return integral_ ? 1 + static_cast<int>(joints_.size()) : 0; }

  void control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
               Actuation& a) override {
    options_.reference->at(state.t, now_);
    if (options_.implicit) options_.reference->at(state.t + a.dt, next_);
    const VecX& tau_ff = hold_ ? hold_->torque(now_.q) : options_.tau_ff;
    for (std::size_t n = 0; n < joints_.size(); ++n) {
      const DrivenJoint& joint = joints_[n];
      const int k = joint.iv, j = joint.j;
      const Body& body = model.bodies[at(joint.body)];
      const double error = joint_error(body, now_.q[j], state.q);
      narrow(options_.limits, joint, a);
      a.tau[k] += tau_ff[j];
      const double gain = options_.gains == nullptr ? 1 : options_.gains[j], kp = gain * options_.kp[j],
                   kd = gain * options_.kd[j];
      double ki = options_.ki[j];
      if (ki > 0) {
        double& I = memory[1 + n];
        const double most = std::max(std::abs(a.lower[k]), std::abs(a.upper[k])) / ki;
        I = std::clamp(I + (state.t - memory[0]) * error, -most, most);  // (pd.3)
        a.tau[k] += ki * I;
      }
      if (options_.implicit) {  // (pd.2)
        a.kp[k] += kp + a.dt * ki;
        a.kd[k] += kd;
        a.error[k] += error + next_.q[j] - now_.q[j];
        a.v_ref[k] += next_.v[j];
      } else {  // (pd.1)
        a.tau[k] += kp * error + kd * (now_.v[j] - state.v[k]);
      }
    }
    if (integral_) memory[0] = state.t;
  }

 private:
  PdOptions options_;
  Member member_;
  std::vector<DrivenJoint> joints_;
  std::optional<GravityHold> hold_;
  JointMotion now_, next_;
  bool integral_ = false;
};

}  // namespace

std::unique_ptr<Controller> make_pd(const Model& model, const PdOptions& options) {
  return std::make_unique<Pd>(model, options);
}

}  // namespace tribo
