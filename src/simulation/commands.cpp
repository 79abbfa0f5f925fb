#include "tribo/commands.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "control/live_controls.hpp"
#include "tribo/dynamics.hpp"

namespace tribo {
namespace {

/// The reference of the scene until a target is written; then the target, at rest.
class Aimed final : public Reference {
 public:
  Aimed(const Model& model, const PdOptions& pd, const double* row)
      : model_(model),
        member_(model.members[tribo::at(pd.member)]),
        scene_(pd.q_ref),
        moving_(pd.reference),
        row_(row) {}
  int nv() const override { return member_.nv; }
  void at(double t, JointMotion& out) const override {
    const Eigen::Map<const VecX> target(row_, member_.nq);
    if (moving_ && target == scene_) return moving_->at(t, out);
    out.v.setZero();
    out.a.setZero();
    for (int b = member_.first_body; b < member_.first_body + member_.bodies; ++b) {
      const Body& body = model_.bodies[tribo::at(b)];
      const int iq = body.iq - member_.iq, j = body.iv - member_.iv;
      if (nv_of(body.joint) != 1) continue;
      out.q[j] = body.joint == JointKind::Continuous ? std::atan2(target[iq + 1], target[iq]) : target[iq];
    }
  }

 private:
  const Model& model_;
  const Member& member_;
  const VecX scene_;
  const std::shared_ptr<const Reference> moving_;
  const double* row_;
};

/// Zeros are left out, so that they do not change a bit.
class AddedTorque final : public Controller {
 public:
  explicit AddedTorque(const double* row) : row_(row) {}
  void control(const Model& model, const State&, const Dynamics&, std::span<double>, Actuation& a) override {
    for (int k = 0; k < model.nv; ++k)
      if (row_[k] != 0 && model.actuated(k)) a.tau[k] += row_[k];
  }

 private:
  const double* row_;
};

class Wrenches final : public Controller {
 public:
  explicit Wrenches(const double* rows) : rows_(rows) {}
  void control(const Model& model, const State&, const Dynamics& dynamics, std::span<double>, Actuation& a) override {
    for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
      const double* w = rows_ + 6 * b;
      const Vec3 force(w[0], w[1], w[2]), torque(w[3], w[4], w[5]);
      if (!force.isZero(0))
        dynamics.add_force(b, dynamics.X_WB(b) * model.bodies[at(b)].inertia.com, force, a.external);
      if (!torque.isZero(0)) dynamics.add_torque(b, torque, a.external);
    }
  }

 private:
  const double* rows_;
};

/// Where the controls of a member begin in ctrl.
int first_actuator(const Model& model, int member) {
  std::size_t n = 0;
  for (int m = 0; m < member; ++m) n += model.members[at(m)].actuators.size();
  return static_cast<int>(n);
}

}  // namespace

std::vector<std::string> actuator_names(const Model& model) {
  std::vector<std::string> names;
  for (const Member& member : model.members)
    for (const Actuator& actuator : member.actuators) names.push_back(member.name + "/" + actuator.name);
  return names;
}

bool has_actuators(const Scene& scene) {
  return std::any_of(scene.controllers.begin(), scene.controllers.end(), [](auto& c) { return c.name == "actuators"; });
}
bool has_pd(const Scene& scene) {
  return std::any_of(scene.controllers.begin(), scene.controllers.end(), [](auto& c) { return c.pd.has_value(); });
}
std::vector<int> walkers(const Scene& scene) {
  std::vector<int> members;
  for (const ControllerSpec& spec : scene.controllers)
    if (spec.name == "walk") members.push_back(spec.member);
  return members;
}

void add_commanded(Simulation& simulation, const Scene& scene, const CommandRows& rows) {
  const Model& model = simulation.model();
  for (const ControllerSpec& spec : scene.controllers) {
    if (spec.pd) {
      PdOptions options = *spec.pd;
      const Member& member = model.members[at(options.member)];
      options.gains = rows.gains + member.iv;
      options.reference = std::make_shared<Aimed>(model, options, rows.target + member.iq);
      simulation.add_controller(make_pd(model, options));
    } else {
      std::unique_ptr<Controller> made = spec.make(model);
      if (auto* live = dynamic_cast<LiveControls*>(made.get()); live != nullptr) {
        const int first = first_actuator(model, spec.member);
        live->follow(rows.ctrl + first, rows.force == nullptr ? nullptr : rows.force + first);
      }
      if (auto* live = dynamic_cast<LiveVelocity*>(made.get()); live != nullptr && rows.walk != nullptr)
        live->follow_velocity(rows.walk + 3 * spec.member);
      simulation.add_controller(std::move(made));
    }
  }
}

void add_direct(Simulation& simulation, const CommandRows& rows) {
  simulation.add_controller(std::make_unique<AddedTorque>(rows.torque));
  simulation.add_controller(std::make_unique<Wrenches>(rows.wrench));
}

void clear_commands(const Scene& scene, const CommandRows& rows) {
  const Model& model = *scene.model;
  std::copy_n(scene.start.q.data(), model.nq, rows.target);
  std::fill_n(rows.torque, model.nv, 0.0);
  std::fill_n(rows.ctrl, actuator_names(model).size(), 0.0);
  std::fill_n(rows.wrench, 6 * model.bodies.size(), 0.0);
  if (rows.walk != nullptr) std::fill_n(rows.walk, 3 * model.members.size(), std::numeric_limits<double>::quiet_NaN());
  for (const ControllerSpec& spec : scene.controllers) {
    if (spec.pd)
      std::copy_n(spec.pd->q_ref.data(), spec.pd->q_ref.size(), rows.target + model.members[at(spec.pd->member)].iq);
    if (spec.name != "actuators") continue;
    const std::unique_ptr<Controller> made = spec.make(model);
    if (const auto* live = dynamic_cast<const LiveControls*>(made.get()); live != nullptr)
      std::copy_n(live->controls().data(), live->controls().size(), rows.ctrl + first_actuator(model, spec.member));
  }
}

std::string unusable(const Model& model, const CommandRows& rows) {
  const auto finite = [](const double* x, std::size_t n) {  // several numbers in one instruction: no early end
    double bad = 0;
    for (std::size_t i = 0; i < n; ++i) bad = std::abs(x[i]) <= std::numeric_limits<double>::max() ? bad : 1;
    return bad == 0;
  };
  std::size_t nu = 0;
  for (const Member& member : model.members) nu += member.actuators.size();
  if (!finite(rows.target, at(model.nq))) return "a target is not finite";
  if (!finite(rows.torque, at(model.nv))) return "a torque is not finite";
  if (!finite(rows.ctrl, nu)) return "a control is not finite";
  if (!finite(rows.wrench, 6 * model.bodies.size())) return "a wrench is not finite";
  if (!std::all_of(rows.gains, rows.gains + model.nv, [](double x) { return x >= 0 && std::isfinite(x); }))
    return "a factor of gains is not finite and >= 0";
  for (std::size_t m = 0; rows.walk != nullptr && m < model.members.size(); ++m)
    if (!std::isnan(rows.walk[3 * m]) && !finite(rows.walk + 3 * m, 3)) return "a velocity to walk at is not finite";
  return "";
}

}  // namespace tribo
