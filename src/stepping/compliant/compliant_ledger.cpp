// The energy ledger of the compliant family. A scheme takes its forces at moments of a part, each for a time t; the
// times add up to the part's. With M, the bias, v and a of each moment, the work of a force f and what the scheme
// itself adds are
//   W_f = sum t v . f                                                                                   (compliant.10)
//   W_int = E(q+, v+) - E(q, v) - sum t v . (M a + bias),  E = T + V                                     (compliant.6)
// M a + bias is the force that the motion needs; no force that acts stands in (compliant.6). The ledger closes because
// the accelerations satisfy the equations of motion with the forces that are charged, and for no other reason.
//   explicit Euler, exponential  the start; mean forces, (v + v') / 2 and (v' - v) / h: h v . M a = T(q, v') - T(q, v)
//   midpoint                     the same in the middle, with its M, J and bias, in its axes
//   implicit Euler               the end, v+
//   Runge-Kutta                  the four stages, with the weights of the method
#include "stepping/compliant/compliant.hpp"

namespace tribo {

void Compliant::add_moment(const Model& model, const Workspace& work, const Moment& m) {
  charged_.actuators += m.time * m.v.dot(torque_);  // (compliant.10)
  charged_.external += m.time * m.v.dot(work.actuation.external);
  for (int k = 0; k < model.nv; ++k) charged_.damping -= m.time * m.v[k] * model.joints.damping[k] * m.damped[k];
  for (int t = 0; t < static_cast<int>(model.trees.size()); ++t)
    m.dynamics.multiply(t, m.a.data(), momentum_rate_.data());
  charged_.motion += m.time * (m.v.dot(momentum_rate_) + m.v.dot(m.dynamics.h()));
}

void Compliant::add_mean_forces(const Model& model, const std::vector<Contact>& contacts, const Moment& m) {
  for (std::size_t i = 0; i < springs_.size(); ++i)
    charged_.contacts += m.time * springs_[i].mean.dot(velocity_of(model, m.dynamics, contacts[i], m.v));
  for (std::size_t j = 0; j < limits_.size(); ++j)
    charged_.constraints += m.time * rows_[j].sign * limits_[j].mean * m.v[rows_[j].dof];
}

void Compliant::charge(const Model& model, const State& state, const Workspace& work, double h) {
  charged_ = {};
  mid_ = 0.5 * (state.v + v_new_);
  vdot_mean_ = (v_new_ - state.v) / h;
  damped_at_ = state.v + damping_at() * (v_new_ - state.v);
  const Moment start{work.dynamics, mid_, vdot_mean_, damped_at_, h};
  add_moment(model, work, start);
  add_mean_forces(model, contacts_, start);
}

// At the end of the part.
void Compliant::close_charge(const Workspace& work, EnergyLines& sum) const {
  sum.kinetic = work.dynamics.kinetic();
  sum.potential = work.dynamics.potential();
  sum.elastic = stored();
  sum.actuators += charged_.actuators;
  sum.damping += charged_.damping;
  sum.external += charged_.external;
  sum.constraints += charged_.constraints;
  sum.contacts += charged_.contacts + sum.elastic - elastic_before_;
  sum.integrator += sum.kinetic + sum.potential - energy_before_ - charged_.motion;  // (compliant.6)
}

}  // namespace tribo
