#include "stepping/compliant/implicit_euler.hpp"

#include <cmath>
#include <limits>

#include "dynamics/group.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/steppers.hpp"

namespace tribo {

ImplicitEuler::ImplicitEuler(const Model& model, const ImplicitEulerOptions& options)
    : Compliant(model, options), own_(options), stage_(model), chart_(model), inverse_(model) {
  for (VecX* x : {&torque_, &z_, &trial_, &step_, &v_end_, &a_, &r_, &gain_, &weight_, &vdot_}) x->setZero(model.nv);
  for (Columns* x : {&J_, &Jx_, &by_q_, &Fq_, &Fv_, &F_}) x->setZero(3, model.nv);
  joint_end_.resize(at(model.nv));
  tree_of_.resize(at(model.nv));
  turn_of_.assign(at(model.nv), -1);
  for (const Body& b : model.bodies) {
    const int end = b.iv + nv_of(b.joint);
    const bool turns = b.joint == JointKind::Free || b.joint == JointKind::Spherical;
    for (int k = b.iv; k < end; ++k) {
      joint_end_[at(k)] = end;
      tree_of_[at(k)] = b.tree;
      if (turns) turn_of_[at(k)] = static_cast<int>(turns_.size());
    }
    if (!turns) continue;
    Turn& turn = turns_.emplace_back();
    turn.angular = end - 3;
    if (b.joint == JointKind::Free) turn.linear = b.iv;
  }
  for (const Tree& tree : model.trees) tree_start_.push_back(tree.iv);
  tree_start_.push_back(model.nv);
}

// At the end, where the last residual was taken.
void ImplicitEuler::charge(const Start& start, Outcome& out) {
  add_instant(start, out.torque, {stage_, v_end_, a_, v_end_, start.dt}, out.work);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    out.work.contacts += start.dt * active_[i].mean.dot(followed_[i].c);
    out.work.external -= start.dt * (contacts_[i].R_WC * active_[i].mean).dot(contacts_[i].v_given);
  }
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const Coordinate& along = *rows_[j].coordinate();
    out.work.constraints += start.dt * along.sign * limits_[j].mean * v_end_[along.dof];
  }
  joints_.charge(start.dt, v_end_, out.work);
  for (const RowSpring& s : row_springs_.all())
    RowSprings::charge(s, start.dt, s.law.mean, row_springs_.velocity(s.at, stage_, v_end_), out.work);
}

bool ImplicitEuler::cross(const Start& start, Outcome& out) {
  const ImplicitEulerOptions& o = own_;
  for (int k = 0; k < start.model.nv; ++k) weight_[k] = start.dt * start.dt / start.dynamics.inertia(k);
  given_ = out.torque;
  double merit = first_guess(start), reg = 0;
  bool converged = false;
  int iteration = 0;
  for (; iteration < o.max_newton && !converged && std::isfinite(merit); ++iteration) {
    if (!newton_step(start.model, start.dt, reg)) {
      if ((reg = std::max(10 * reg, o.regularisation)) > 1e-3) break;
      continue;
    }
    const double size = step_.cwiseAbs().maxCoeff();
    double share = 1, reached = 0;
    for (int k = 0; k <= o.max_halvings; ++k, share *= 0.5) {
      trial_ = z_ + share * step_;
      reached = residual(start, trial_);
      if (reached <= (1 - 1e-4 * share) * merit || share * size <= o.newton_tolerance) break;
    }
    if (!(reached < merit) && share * size > o.newton_tolerance) {
      merit = residual(start, z_);
      if ((reg = std::max(10 * reg, o.regularisation)) > 1e-3) break;
      continue;
    }
    z_ = trial_;
    merit = reached;
    reg *= 0.1;
    converged = share == 1 ? size <= o.newton_tolerance : false;
  }
  merit = residual(start, z_);
  out.solve.iterations += iteration;
  out.solve.status = converged                   ? SolveStatus::Converged
                     : iteration == o.max_newton ? SolveStatus::IterationLimit
                                                 : SolveStatus::Stalled;
  if (!std::isfinite(merit)) z_.setConstant(std::numeric_limits<double>::quiet_NaN());  // no step to take
  out.v_end = z_;
  out.v_mean = z_;
  return converged;
}

// The better of the current velocity and the explicit step.
double ImplicitEuler::first_guess(const Start& start) {
  z_ = start.state.v;
  const double still = residual(start, z_);
  if (!factored_) start.dynamics.factor(zero_);
  factored_ = true;
  applied(start, torque_, vdot_);  // as residual has left it at the current velocity
  add_generalised(start.dynamics, vdot_);
  to_acceleration(start.model, start.dynamics, vdot_);
  trial_ = start.state.v + start.dt * vdot_;
  const double moved = residual(start, trial_);
  if (moved < still) {
    z_ = trial_;
    return moved;
  }
  return residual(start, z_);
}

// r at z (implicit.1); leaves q+, v+, a, forces and the dynamics there. Returns its weighted square [J].
double ImplicitEuler::residual(const Start& start, const VecX& z) {
  const Model& model = start.model;
  const double h = start.dt;
  q_end_ = start.state.q;
  integrate(model, z, h, q_end_);
  v_end_ = z;
  a_ = (z - start.state.v) / h;
  chart_.turn(z, -h, v_end_);
  chart_.turn(z, -h, a_);
  stage_.compute(q_end_, v_end_);
  inverse_.compute(stage_, v_end_, a_);
  drive(h, z);
  r_ = model.joints.damping.cwiseProduct(v_end_) - torque_ - start.actuation.external;
  r_ += inverse_.tau();
  contact_forces(start, z);
  double sum = 0;
  for (int k = 0; k < model.nv; ++k) sum += weight_[k] * r_[k] * r_[k];
  return sum;
}

// Motors and joint springs at the end of the step, and their slope.
void ImplicitEuler::drive(double h, const VecX& z) {
  torque_ = given_;
  gain_.setZero();
  for (JointSpring& s : joints_.all()) {
    const double f = s.at(h * z[s.dof], z[s.dof]);
    s.mean = s.within(f);
    torque_[s.dof] += s.mean;
    if (s.mean == f) gain_[s.dof] += s.B + h * s.K;
  }
}

// Forces at the end into contacts, limits and r.
void ImplicitEuler::contact_forces(const Start& start, const VecX& z) {
  const double h = start.dt;
  followed_.resize(active_.size());
  wanted_.resize(active_.size());
  for (std::size_t i = 0; i < active_.size(); ++i) {
    CompliantContact& s = active_[i];
    const Contact& c = contacts_[i];
    const Followed& f = followed_[i] = follow(i, start, stage_, h);
    s.mean = force(s, f.x, f.c, s.mode);
    wanted_[i] = free_force(s, f.x, f.c);
    const Vec3 f_W = c.R_WC * s.mean;
    stage_.add_force(c.body_b, f.p_b, -f_W, r_);
    stage_.add_force(c.body_a, f.p_a, f_W, r_);
  }
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const auto& [dof, sign] = *rows_[j].coordinate();
    limits_[j].mean = limit_force(limits_[j], limits_[j].gap + sign * h * z[dof], sign * z[dof]);
    r_[dof] -= sign * limits_[j].mean;
  }
  if (!row_springs_.empty()) row_forces(start);
}

void ImplicitEuler::row_forces(const Start& start) {
  const std::vector<Row>& rows = row_springs_.rows_at(q_end_, stage_, start.state.kinematic_time().later(start.dt));
  for (std::size_t j = 0; j < rows.size(); ++j) {
    RowSpring& s = row_springs_.all()[j];
    s.at = rows[j];
    s.law.mean = s.force(rows[j].error, row_springs_.velocity(rows[j], stage_, v_end_));
    row_springs_.add_force(rows[j], stage_, -s.law.mean, r_);
  }
}

OptionTable implicit_euler_options() {
  using Own = ImplicitEulerOptions;
  auto table = compliant_fields<Own>();
  table.add("max_newton", &Own::max_newton, within(1, 100'000), "", "iterations of Newton's method a step");
  table.add("max_halvings", &Own::max_halvings, within(0, 1000), "", "of a Newton step by the line search");
  table.add("regularisation", &Own::regularisation, positive(1e-3), "",
            "first tried where the matrix is singular, relative; up to 1e-3");
  table.add("newton_tolerance", &Own::newton_tolerance, positive(), "m/s or rad/s", "largest error of a velocity");
  table.add("failure", &Own::failure,
            {{"report", FailurePolicy::Report}, {"substep", FailurePolicy::Substep}, {"stop", FailurePolicy::Stop}},
            "where Newton's method does not converge: take the step and say so; halve it, down to 1/64; stop");
  return table;
}

std::unique_ptr<Scheme> make_implicit_euler(const Model& model, const StepperOptions& options) {
  return std::make_unique<ImplicitEuler>(model, options.own.taken<ImplicitEulerOptions>("stepper 'implicit-euler'"));
}

}  // namespace tribo
