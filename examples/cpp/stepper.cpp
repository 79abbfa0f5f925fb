// A stepper in one file: semi-implicit Euler, with a spring and viscous friction at every point that overlaps.
//   M (v' - v) = dt (tau + f_ext - D v - h + J^T f),  q+ = q moved along v' over dt
#include <algorithm>
#include <cmath>
#include <tribo/step.hpp>

namespace {

using namespace tribo;

struct PenaltyOptions {
  double stiffness = 1e4;  // [N/m]
  double damping = 100;    // [N s/m]
};

class Penalty final : public Scheme {
 public:
  Penalty(const Model& model, const PenaltyOptions& options) : options_(options) {
    for (VecX* x : {&force_, &zero_, &rate_, &mean_}) x->setZero(model.nv);
  }

  void solve(const Start& s, Outcome& out) override {
    const Actuation& a = s.actuation;
    for (int k = 0; k < s.model.nv; ++k)
      out.torque[k] =
          std::clamp(a.tau[k] + a.kp[k] * a.error[k] + a.kd[k] * (a.v_ref[k] - s.v_control[k]), a.lower[k], a.upper[k]);
    force_ = out.torque + a.external - s.model.joints.damping.cwiseProduct(s.state.v) - s.dynamics.h();
    out.contacts.resize(s.contacts.size());
    for (std::size_t i = 0; i < s.contacts.size(); ++i) add_contact(s, s.contacts[i], out.contacts[i]);
    s.dynamics.factor(zero_);
    for (int t = 0; t < static_cast<int>(s.model.trees.size()); ++t) s.dynamics.solve_in_place(t, force_.data());
    out.v_end = s.state.v + s.dt * force_;
    out.v_mean = out.v_end;
    for (std::size_t i = 0; i < s.contacts.size(); ++i) out.contacts[i].c = velocity(s, s.contacts[i], out.v_end);
    out.memory.begin(MemoryFamily::Unknown, out.contacts.size());
    for (std::size_t i = 0; i < out.contacts.size(); ++i) {
      const ContactReport& r = out.contacts[i];
      out.memory.contacts[i] = {r.id, r.f, r.R_WC.col(0), r.mode, r.f.z() > 0};
    }
  }

  // With the mean of both velocities, so that h v . M a is what the kinetic energy gains.
  void charge(const Start& s, Outcome& out) override {
    mean_ = 0.5 * (s.state.v + out.v_end);
    out.work.actuators = s.dt * mean_.dot(out.torque);
    out.work.external = s.dt * mean_.dot(s.actuation.external);
    out.work.damping = -s.dt * mean_.dot(s.model.joints.damping.cwiseProduct(s.state.v));
    for (const ContactReport& r : out.contacts) out.work.contacts += s.dt * r.f.dot(0.5 * (r.c_start + r.c));
    for (int t = 0; t < static_cast<int>(s.model.trees.size()); ++t)
      s.dynamics.multiply(t, force_.data(), rate_.data());
    out.work.motion = s.dt * mean_.dot(rate_ + s.dynamics.h());
  }

 private:
  static Vec3 velocity(const Start& s, const Contact& c, const VecX& v) {
    Vec3 sum = Vec3::Zero();
    for (double sign : {1.0, -1.0}) {
      const int body = sign > 0 ? c.body_b : c.body_a;
      if (body < 0) continue;
      const Vec3 r = c.p_WC - s.dynamics.origin(s.model.bodies[at(body)].tree);
      for (int k : s.model.bodies[at(body)].chain)
        sum += sign * v[k] * (s.dynamics.axis(k).lin + s.dynamics.axis(k).ang.cross(r));
    }
    return c.R_WC.transpose() * sum;
  }

  void add_contact(const Start& s, const Contact& c, ContactReport& r) {
    r = {};
    r.id = c.id;
    r.geometry_a = c.geometry_a;
    r.geometry_b = c.geometry_b;
    r.p_WC = c.p_WC;
    r.R_WC = c.R_WC;
    r.gap = c.gap;
    r.mu = s.model.surface(c.surface).mu_dynamic;
    r.c_start = velocity(s, c, s.state.v);
    if (c.gap >= 0) return;
    const double normal = std::max(0.0, -options_.stiffness * c.gap - options_.damping * r.c_start.z());
    const Eigen::Vector2d drag = options_.damping * r.c_start.head<2>();
    const double share = drag.norm() > r.mu * normal ? r.mu * normal / drag.norm() : 1;
    r.f << -share * drag, normal;
    r.mode = normal > 0 ? (share < 1 ? ContactMode::Slip : ContactMode::Stick) : ContactMode::Open;
    r.cone_margin = r.mu * normal - r.f.head<2>().norm();
    s.dynamics.add_force(c.body_b, c.p_WC, c.R_WC * r.f, force_);
    if (c.body_a >= 0) s.dynamics.add_force(c.body_a, c.p_WC, -(c.R_WC * r.f), force_);
  }

  PenaltyOptions options_;
  VecX force_, zero_, rate_, mean_;
};

OptionTable keys() {
  FieldTable<PenaltyOptions> table;
  table.add("penalty_stiffness", &PenaltyOptions::stiffness, positive(), "N/m", "of every point that overlaps");
  table.add("penalty_damping", &PenaltyOptions::damping, at_least(0), "N s/m", "along the normal and the surface");
  return table;
}

const bool registered = (register_stepper({.name = "penalty",
                                           .summary = "springs and viscous friction at points that overlap",
                                           .make =
                                               [](const Model& model, const StepperOptions& options) {
                                                 return std::make_unique<Penalty>(
                                                     model, options.own.taken<PenaltyOptions>("stepper 'penalty'"));
                                               },
                                           .uses = {Feature::JointDamping},
                                           .options = keys(),
                                           .implicit_gains = false,
                                           .explicit_contact = true}),
                         true);

}  // namespace
