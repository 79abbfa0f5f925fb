// Implicit Euler on visco-elastic contact [Hammoud2022b, (35)], by Newton's method on the velocities alone.
//
// Unknown z: velocity at the end, the free joints' linear part u in the axes of the start.
//   q+ = q moved along h z,  v+ = (exp(-h w) u, w, …),  a = (exp(-h w) (u - u_0), w - w_0, …) / h
//   r(z) = M(q+) a + bias(q+, v+) + D v+ - tau(q+, v+) - f_ext - J^T f(q+, v+) = 0                         (implicit.1)
// The matrix dr/dz is analytic: inverse dynamics (dyn.7), (dyn.8), the contact law with its projections, the change of
// J with q, and the group: with T the right Jacobian of the rotation h w,
//   dq = (h exp(-h w) du, h T dw, …),  dv_lin = exp(-h w) du + v_lin x h T dw,  da_lin alike              (implicit.2)
// Departs from the paper: inverse dynamics instead of forward dynamics, so that the system has nv unknowns, not 2 nv;
// begins at the current velocity or at the explicit step, whichever has the smaller residual. Drives, joint springs,
// dry friction and joint damping are taken at the end of the step, torques within their limits.
#include <cmath>
#include <limits>

#include "dynamics/chart.hpp"
#include "dynamics/derivatives.hpp"
#include "dynamics/group.hpp"
#include "linalg/dense.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/compliant/implicit_view.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class ImplicitEuler final : public Compliant, public ImplicitView {
 public:
  ImplicitEuler(const Model& model, const ImplicitEulerOptions& options)
      : Compliant(model, options), own_(options), stage_(model), chart_(model), inverse_(checked(model)) {
    for (VecX* x : {&torque_, &z_, &trial_, &step_, &v_end_, &a_, &r_, &gain_, &weight_, &vdot_}) x->setZero(model.nv);
    A_.setZero(model.nv, model.nv);
    for (MatX* x : {&J_, &Jx_, &by_q_, &Fq_, &Fv_}) x->setZero(3, model.nv);
    pivot_.resize(at(model.nv));
    joint_end_.resize(at(model.nv));
    for (const Body& b : model.bodies)
      for (int k = b.iv; k < b.iv + nv_of(b.joint); ++k) joint_end_[at(k)] = b.iv + nv_of(b.joint);
  }

  bool factor_end(const Model& model, double h) override { return factor(model, h, 0); }
  void solve_end(double* x) const override {
    dense::lu_solve(A_.data(), static_cast<int>(A_.rows()), pivot_.data(), x);
  }
  const InverseDynamics& end() const override { return inverse_; }
  const Dynamics& end_dynamics_view() const override { return stage_; }
  const Followed& followed(std::size_t i) const override { return followed_[i]; }
  Mat3 cone_slope(std::size_t i) const override { return projection_slope(active_[i], wanted_[i]); }

 private:
  // Each iteration factors one dense matrix of all coordinates: 2000 take a second.
  static const Model& checked(const Model& model) {
    constexpr int most = 2000;
    if (model.nv > most)
      throw InvalidInput(
          "the model has " + std::to_string(model.nv) +
          " coordinates: the stepper 'implicit-euler' factors a dense matrix of them and takes at most " +
          std::to_string(most) + "; 'exponential' and 'rigid' take more");
    return model;
  }
  FailurePolicy failure() const override { return own_.failure; }
  // At the end, where the last residual was taken.
  void charge(const Start& start, Outcome& out) override {
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

  bool cross(const Start& start, Outcome& out) override {
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
  double first_guess(const Start& start) {
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

  // r at z (implicit.1); leaves q+, v+, a, forces and the dynamics there. Returns its weighted square [m^2/s^2].
  double residual(const Start& start, const VecX& z) {
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
    for (int k = 0; k < model.nv; ++k) sum += weight_[k] * r_[k] * r_[k] * weight_[k];
    return sum;
  }

  // Motors and joint springs at the end of the step, and their slope.
  void drive(double h, const VecX& z) {
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
  void contact_forces(const Start& start, const VecX& z) {
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

  void row_forces(const Start& start) {
    const std::vector<Row>& rows = row_springs_.rows_at(q_end_, stage_, start.state.kinematic_time().later(start.dt));
    for (std::size_t j = 0; j < rows.size(); ++j) {
      RowSpring& s = row_springs_.all()[j];
      s.at = rows[j];
      s.law.mean = s.force(rows[j].error, row_springs_.velocity(rows[j], stage_, v_end_));
      row_springs_.add_force(rows[j], stage_, -s.law.mean, r_);
    }
  }

  // Without the turning of J: it is small beside K and B.
  void add_row_slope(const RowSpring& s, MatX& Eq, MatX& Ev) {
    if (s.law.mean <= s.law.lower || s.law.mean >= s.law.upper) return;
    row_springs_.jacobian(s.at, stage_, row_);
    for (int j = 0; j < row_.size(); ++j) {
      if (row_[j] == 0) continue;
      Eq.col(j) += s.law.K * row_[j] * row_;
      Ev.col(j) += s.law.B * row_[j] * row_;
    }
  }

  // d(projected force) / d(force before projection).
  static Mat3 projection_slope(const CompliantContact& s, const Vec3& wanted) {
    if (s.mode == ContactMode::Open) return Mat3::Zero();
    if (s.mode == ContactMode::Stick) return Mat3::Identity();
    const double size = std::hypot(wanted.x(), wanted.y());
    const Eigen::Vector2d u = wanted.head<2>() / size;
    Mat3 P = Mat3::Zero();
    P.topLeftCorner<2, 2>() = s.mu() * wanted.z() / size * (Eigen::Matrix2d::Identity() - u * u.transpose());
    P.topRightCorner<2, 1>() = s.mu() * u;
    P(2, 2) = 1;
    return P;
  }

  // step_ = -(dr/dz)^-1 r at the point where the last residual was taken.
  bool newton_step(const Model& model, double h, double reg) {
    step_ = -r_;
    if (!factor(model, h, reg)) return false;
    dense::lu_solve(A_.data(), model.nv, pivot_.data(), step_.data());
    return step_.allFinite();
  }

  // Of dr/dz there.
  bool factor(const Model& model, double h, double reg) {
    inverse_.differentiate(stage_, v_end_, a_);
    MatX &Eq = inverse_.dq(), &Ev = inverse_.dv();
    for (std::size_t i = 0; i < active_.size(); ++i) add_contact_slope(model, i, Eq, Ev);
    for (std::size_t j = 0; j < limits_.size(); ++j) {
      if (!(limits_[j].mean > 0)) continue;
      const int k = rows_[j].coordinate()->dof;
      Eq(k, k) += options_.limit_stiffness;
      Ev(k, k) += limits_[j].B;
    }
    for (const RowSpring& s : row_springs_.all()) add_row_slope(s, Eq, Ev);
    to_unknowns(model, h);
    for (int k = 0; k < model.nv; ++k) {
      A_(k, k) += gain_[k] + model.joints.damping[k];
      A_(k, k) += reg * std::abs(A_(k, k));
    }
    return dense::lu(A_.data(), model.nv, pivot_.data());
  }

  // A = dr/dz from the slopes along q, v and a (implicit.2).
  void to_unknowns(const Model& model, double h) {
    const MatX &Eq = inverse_.dq(), &Ev = inverse_.dv(), &M = inverse_.M();
    A_ = h * Eq + Ev + M / h;
    for (const Body& b : model.bodies) {
      if (b.joint != JointKind::Free && b.joint != JointKind::Spherical) continue;
      const int w = b.joint == JointKind::Free ? b.iv + 3 : b.iv;
      const Vec3 turn = h * v_end_.segment<3>(w);
      const Mat3 T = h * right_jacobian(turn);
      auto columns = A_.middleCols<3>(w);
      for (int k = 0; k < model.nv; ++k) {
        const Eigen::RowVector3d q_row = Eq.row(k).segment<3>(w);
        columns.row(k) += q_row * T - h * q_row;
        if (b.joint == JointKind::Spherical) continue;
        const Eigen::RowVector3d v_row = Ev.row(k).segment<3>(b.iv), m_row = M.row(k).segment<3>(b.iv);
        columns.row(k) += (v_row * skew(v_end_.segment<3>(b.iv)) + m_row * skew(a_.segment<3>(b.iv))) * T;
      }
      if (b.joint == JointKind::Spherical) continue;
      const Mat3 back = rotation_exponential(-turn).toRotationMatrix();
      auto linear = A_.middleCols<3>(b.iv);
      for (int k = 0; k < model.nv; ++k) {
        const Eigen::RowVector3d row = linear.row(k);
        linear.row(k) = row * back;
      }
    }
  }

  // - d(J^T f) along q and v.
  void add_contact_slope(const Model& model, std::size_t i, MatX& Eq, MatX& Ev) {
    const CompliantContact& s = active_[i];
    const Contact& c = contacts_[i];
    if (s.mode == ContactMode::Open) return;
    dofs_.clear();
    for (double sign : {1.0, -1.0}) {
      const int body = sign > 0 ? c.body_b : c.body_a;
      if (body < 0) continue;
      const std::vector<int>& chain = model.bodies[at(body)].chain;
      for (int k : chain)
        if (std::find(dofs_.begin(), dofs_.end(), k) == dofs_.end()) {
          dofs_.push_back(k);
          J_.col(k).setZero();
          Jx_.col(k).setZero();
          by_q_.col(k).setZero();
        }
      const Followed& f = followed_[i];
      const Vec3 off = sign > 0 ? s.off_b : s.off_a;
      const Vec3 r = (sign > 0 ? f.p_b : f.p_a) - stage_.origin(model.bodies[at(body)].tree), core = r - off;
      const Mat3& turn = sign > 0 ? f.turn_b : f.turn_a;
      const Mat3 theta = 0.5 * (turn.trace() * Mat3::Identity() - turn);  // d(theta) of (compliant.7) by a rotation
      const Spatial& V = stage_.body_velocity(body);
      const Vec3 g = sign * (c.R_WC * s.mean), moment = r.cross(g);
      for (int j : chain) {
        const Spatial &S = stage_.axis(j), &psi = inverse_.psi(j);
        const Vec3 move = S.lin + S.ang.cross(core);
        // The twist of the body, turned by S, at the point that went along with the core.
        const Vec3 lin = S.ang.cross(V.lin) + S.lin.cross(V.ang) + psi.lin, ang = S.ang.cross(V.ang) + psi.ang;
        J_.col(j) += sign * (c.R_WC.transpose() * (S.lin + S.ang.cross(r)));
        Jx_.col(j) += sign * (c.R_WC.transpose() * (move + Vec3(theta * S.ang).cross(off)));
        by_q_.col(j) += sign * (c.R_WC.transpose() * (lin + ang.cross(r) + V.ang.cross(move)));
        for (int k : chain) {  // J^T turns while the force stays
          const Spatial& Sk = stage_.axis(k);
          double slope = Sk.ang.dot(move.cross(g));
          if (j < joint_end_[at(k)])
            slope += (S.ang.cross(Sk.lin) + S.lin.cross(Sk.ang)).dot(g) + S.ang.cross(Sk.ang).dot(moment);
          Eq(k, j) -= slope;
        }
      }
    }
    const LawSlope law = slope(s, followed_[i].x, followed_[i].c);
    const Mat3 P = projection_slope(s, wanted_[i]), PK = P * law.K.asDiagonal(), PB = P * law.B.asDiagonal();
    for (int j : dofs_) {
      Fq_.col(j) = PK * Vec3(Jx_.col(j)) + PB * Vec3(by_q_.col(j));
      Fv_.col(j) = PB * Vec3(J_.col(j));
    }
    for (int j : dofs_)
      for (int k : dofs_) {
        Eq(k, j) += J_.col(k).dot(Fq_.col(j));
        Ev(k, j) += J_.col(k).dot(Fv_.col(j));
      }
  }

  ImplicitEulerOptions own_;
  Dynamics stage_;
  Chart chart_;
  InverseDynamics inverse_;
  VecX given_, torque_, z_, trial_, step_, v_end_, a_, q_end_, r_, gain_, weight_, vdot_, row_;
  MatX A_, J_, Jx_, by_q_, Fq_, Fv_;
  std::vector<Followed> followed_;
  std::vector<Vec3> wanted_;  // forces before projection
  std::vector<int> pivot_, joint_end_, dofs_;
};

}  // namespace

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
