#include "tribo/policy.hpp"

#include <algorithm>
#include <cmath>

#include "base/names.hpp"
#include "control/joints.hpp"

namespace tribo {
namespace {

// (policy.3)
double arc(double p) { return std::max(std::sin(2 * M_PI * p), 0.0); }
double way(double p) {
  p -= std::floor(p);
  return p < 0.5 ? -0.5 * std::cos(2 * M_PI * p) : 1.5 - 2 * p;
}

// Between ticks the references stay, not the torque: it is called in every step, and minds its period itself.
class PolicyController final : public Controller {
 public:
  PolicyController(const Model& model, const PolicyOptions& options)
      : options_(options), policy_(*options.policy), member_(model.members[at(options.member)]) {
    const std::string owner = "policy of '" + member_.name + "'";
    if (model.bodies[at(member_.first_body)].joint != JointKind::Free)
      throw InvalidInput(owner + ": the robot has no free base");
    for (const std::string& name : policy_.joints) joints_.push_back(find_joint(model, name, owner));
    n_ = static_cast<int>(joints_.size());
    check_sizes(owner);
    observation_.setZero(policy_.mean.size());
    for (const VecX& b : policy_.biases) layers_.push_back(VecX::Zero(b.size()));
  }

  /// Number of the tick, references, last action.
  int memory() const override { return 1 + 2 * n_; }

  void control(const Model& model, const State& state, const Dynamics&, std::span<double> memory,
               Actuation& a) override {
    const auto number = static_cast<double>(state.clock.period_number(policy_.period));
    const double now = number < 0 ? number : number + 1;  // memory begins as zeros
    double *reference = memory.data() + 1, *action = reference + n_;
    if (now != memory[0]) {
      const double clock = options_.phase + policy_.frequency * number * policy_.period;
      const Eigen::RowVector3d command(options_.forward, options_.left, options_.yaw);
      observe(model, state, action, clock);
      decide(action);
      for (int i = 0; i < n_; ++i) {
        const double p = clock + policy_.phase[i];
        reference[i] = policy_.pose[i] + policy_.reach * action[i] + policy_.lift[i] * arc(p) +
                       policy_.stride.row(i).dot(command) * way(p);  // (policy.2)
      }
      memory[0] = now;
    }
    for (int i = 0; i < n_; ++i) {
      const DrivenJoint& joint = joints_[at(i)];
      a.kp[joint.iv] += policy_.kp;
      a.kd[joint.iv] += policy_.kd;
      a.error[joint.iv] += joint_error(model.bodies[at(joint.body)], reference[i], state.q);
    }
  }

 private:
  DrivenJoint find_joint(const Model& model, const std::string& name, const std::string& owner) const {
    std::vector<std::string> known;
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (nq_of(body.joint) != 1) continue;
      known.push_back(body.name.substr(body.name.find('/') + 1));
      if (known.back() == name) return {b, body.iv, body.iv - member_.iv};
    }
    throw InvalidInput(owner + ": " + unknown_name("joint", name, known));
  }

  int size_of(PolicyTerm term) const {
    switch (term) {
      case PolicyTerm::Joints:
      case PolicyTerm::JointVelocities:
      case PolicyTerm::Action:
        return n_;
      case PolicyTerm::Clock:
        return 2;
      default:
        return 3;
    }
  }

  void check_sizes(const std::string& owner) const {
    int size = 0;
    for (PolicyTerm term : policy_.layout) size += size_of(term);
    const auto must = [&](const std::string& what, Eigen::Index is, Eigen::Index wanted) {
      if (is != wanted)
        throw InvalidInput(owner + ": " + what + " has " + std::to_string(is) + " entries, must have " +
                           std::to_string(wanted));
    };
    must("mean", policy_.mean.size(), size);
    must("std", policy_.std.size(), size);
    must("pose", policy_.pose.size(), n_);
    must("lift", policy_.lift.size(), n_);
    must("phase", policy_.phase.size(), n_);
    must("stride", policy_.stride.rows(), n_);
    must("a row of stride", policy_.stride.cols(), 3);
    Eigen::Index in = size;
    for (std::size_t i = 0; i < policy_.weights.size(); ++i) {
      must("a row of weight" + std::to_string(i), policy_.weights[i].cols(), in);
      in = policy_.weights[i].rows();
      must("bias" + std::to_string(i), policy_.biases[i].size(), in);
    }
    must("the last layer", in, n_);
    if (!(policy_.std.array() > 0).all()) throw InvalidInput(owner + ": std has entries that are not > 0");
    constexpr double most = 1e6;  // beyond it the clock would soon be no number
    if (!(std::abs(policy_.frequency) <= most) || !(policy_.phase.array().abs() <= most).all())
      throw InvalidInput(owner + ": frequency and phase must lie within 1e6, the frequency is " +
                         shown(policy_.frequency));
    if (!(policy_.period > 0)) throw InvalidInput(owner + ": period = " + shown(policy_.period) + " s, must be > 0");
    if (!(policy_.kp >= 0) || !(policy_.kd >= 0)) throw InvalidInput(owner + ": kp and kd must be >= 0");
  }

  void observe(const Model& model, const State& state, const double* action, double clock) {
    const int iq = member_.iq, iv = member_.iv;
    int k = 0;
    for (PolicyTerm term : policy_.layout) {
      auto out = observation_.segment(k, size_of(term));
      switch (term) {
        case PolicyTerm::Gravity: {
          const double x = state.q[iq + 3], y = state.q[iq + 4], z = state.q[iq + 5], w = state.q[iq + 6];
          out = -Vec3(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y));
          break;
        }
        case PolicyTerm::Linear:
          out = state.v.segment<3>(iv);
          break;
        case PolicyTerm::Angular:
          out = state.v.segment<3>(iv + 3);
          break;
        case PolicyTerm::Joints:
          for (int i = 0; i < n_; ++i) out[i] = state.q[model.bodies[at(joints_[at(i)].body)].iq] - policy_.pose[i];
          break;
        case PolicyTerm::JointVelocities:
          for (int i = 0; i < n_; ++i) out[i] = state.v[joints_[at(i)].iv];
          break;
        case PolicyTerm::Action:
          for (int i = 0; i < n_; ++i) out[i] = action[i];
          break;
        case PolicyTerm::Command:
          out = Vec3(options_.forward, options_.left, options_.yaw);
          break;
        case PolicyTerm::Clock: {
          const double angle = 2 * M_PI * clock;
          out = Eigen::Vector2d(std::sin(angle), std::cos(angle));
          break;
        }
      }
      k += static_cast<int>(out.size());
    }
  }

  // (policy.1)
  void decide(double* action) {
    observation_ = (observation_ - policy_.mean).cwiseQuotient(policy_.std).cwiseMax(-10).cwiseMin(10);
    const VecX* in = &observation_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      VecX& y = layers_[i];
      y.noalias() = policy_.weights[i] * *in;
      y += policy_.biases[i];
      if (i + 1 < layers_.size())
        for (double& x : y) x = x > 0 ? x : std::expm1(x);
      in = &y;
    }
    for (int i = 0; i < n_; ++i) action[i] = std::clamp((*in)[i], -1.0, 1.0);
  }

  PolicyOptions options_;
  const Policy& policy_;
  Member member_;
  std::vector<DrivenJoint> joints_;
  int n_ = 0;
  VecX observation_;
  std::vector<VecX> layers_;
};

}  // namespace

std::unique_ptr<Controller> make_policy(const Model& model, const PolicyOptions& options) {
  return std::make_unique<PolicyController>(model, options);
}

}  // namespace tribo
