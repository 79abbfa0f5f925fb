// Joint position control: tau = tau_ff + kp (q_ref - q) + kd (0 - v), within the effort limits of the model.
#include <cmath>

#include "model/names.hpp"
#include "tribo/controller.hpp"

namespace tribo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Pd final : public Controller {
 public:
  Pd(const Model& model, const PdOptions& options) : options_(options), member_(model.members[at(options.member)]) {
    const std::string owner = "pd controller of '" + member_.name + "'";
    auto sized = [&](const VecX& x, const char* field, int n) {
      if (x.size() != n)
        throw InvalidInput(owner + ": " + field + " has " + std::to_string(x.size()) + " entries, must have " +
                           std::to_string(n));
      if (!x.allFinite()) throw InvalidInput(owner + ": " + field + " is not finite");
    };
    sized(options.q_ref, "q_ref", member_.nq);
    sized(options.kp, "kp", member_.nv);
    sized(options.kd, "kd", member_.nv);
    sized(options.tau_ff, "tau_ff", member_.nv);
    for (int k = 0; k < member_.nv; ++k) {
      if (options.kp[k] < 0 || options.kd[k] < 0)
        throw InvalidInput(owner + ": gain " + shown(std::min(options.kp[k], options.kd[k])) + " is negative");
    }
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      const bool scalar = nv_of(body.joint) == 1;
      for (int k = body.iv; k < body.iv + nv_of(body.joint); ++k)
        if (!scalar && (options.kp[k - member_.iv] != 0 || options.kd[k - member_.iv] != 0))
          throw InvalidInput(owner + ": '" + body.name + "' has no motor that a gain could belong to");
    }
  }

  void control(const Model& model, const State& state, const Dynamics&, std::span<double>, Actuation& a) override {
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model.bodies[at(b)];
      if (nv_of(body.joint) != 1) continue;
      const int k = body.iv, j = k - member_.iv, i = body.iq - member_.iq;
      double error;
      if (body.joint == JointKind::Continuous) {
        const double c = state.q[body.iq], s = state.q[body.iq + 1], cr = options_.q_ref[i], sr = options_.q_ref[i + 1];
        error = std::atan2(sr * c - cr * s, cr * c + sr * s);
      } else {
        error = options_.q_ref[i] - state.q[body.iq];
      }
      a.tau[k] += options_.tau_ff[j];
      if (options_.implicit) {
        a.kp[k] += options_.kp[j];
        a.kd[k] += options_.kd[j];
        a.error[k] += error;
      } else {
        a.tau[k] += options_.kp[j] * error - options_.kd[j] * state.v[k];
      }
    }
  }

 private:
  PdOptions options_;
  Member member_;
};

}  // namespace

std::unique_ptr<Controller> make_pd(const Model& model, const PdOptions& options) {
  return std::make_unique<Pd>(model, options);
}

}  // namespace tribo
