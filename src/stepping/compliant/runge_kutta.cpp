// The classic Runge-Kutta method of order four on visco-elastic contact.
//
// Within a step the state is written in the coordinates of (chart.1), so that the method is used on a vector space.
// The list of contacts is that of the start; their points move with the bodies. Anchors that are drawn (compliant.8)
// are coordinates too, where h K <= B; else their time constant is shorter than the step. Drives, joint springs and dry
// friction are taken at each stage, so that the order stays: gains and friction must be as soft as the step is short.
#include "dynamics/chart.hpp"
#include "dynamics/group.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/compliant/compliant_fields.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class RungeKutta final : public Compliant {
 public:
  RungeKutta(const Model& model, const StepperOptions& options)
      : Compliant(model, options.own.taken<CompliantOptions>("stepper 'runge-kutta'")), stage_(model), chart_(model) {
    for (VecX* x : {&move_, &u_, &k_move_, &k_u_, &sum_move_, &sum_u_, &v_stage_, &a_}) x->setZero(model.nv);
  }

 private:
  bool takes_start_forces() const override { return true; }
  void charge(const Start&, Outcome& out) override { out.work = work_; }
  int order() const override { return 4; }

  bool cross(const Start& start, Outcome& out) override {
    const double h = start.dt;
    const VecX& v = start.state.v;
    constexpr double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    slips_.assign(active_.size(), {});
    for (CompliantContact& s : active_) {
      s.mean.setZero();
      s.drawn.setZero();
      s.drawn_by_stages = draws(s) && h * s.K.x() <= s.B.x();
    }
    for (LimitSpring& l : limits_) l.mean = 0;
    for (JointSpring& s : joints_.all()) s.mean = 0;
    for (RowSpring& s : row_springs_.all()) s.law.mean = 0;
    hold_targets(start, out.torque);
    sum_move_.setZero();
    sum_u_.setZero();
    work_ = {};
    for (int k = 0; k < 4; ++k) {
      if (k == 0) {
        move_.setZero();
        u_ = v;
      } else {
        move_ = node[k] * h * k_move_;
        u_ = v + node[k] * h * k_u_;
        for (Slip& s : slips_) s.way = node[k] * h * s.rate;
      }
      elapsed_ = node[k] * h;
      rates(start, out.torque, weight[k] * h, k == 0);
      sum_move_ += weight[k] * k_move_;
      sum_u_ += weight[k] * k_u_;
    }
    out.v_end = v + h * sum_u_;
    out.v_mean = sum_move_;
    for (CompliantContact& s : active_) s.mean /= h;
    for (LimitSpring& l : limits_) l.mean /= h;
    return true;
  }

  // The torque that brings joints to their velocity targets, by one step of (euler.2), is held over the stages.
  void hold_targets(const Start& start, const VecX& torque) {
    const double h = start.dt;
    const VecX& v = start.state.v;
    bool any = false;
    for (const JointSpring& s : joints_.all()) any |= s.target;
    if (!any) return;
    passive_.setZero(start.model.nv);
    applied(start, torque, a_);
    add_generalised(start.dynamics, a_);
    for (const JointSpring& s : joints_.all()) {
      a_[s.dof] += s.target ? s.at(0, v[s.dof]) : s.within(s.at(0, v[s.dof]));
      if (s.target) passive_[s.dof] = h * s.B;
    }
    start.dynamics.factor(passive_);
    to_acceleration(start.model, start.dynamics, a_);
    for (JointSpring& s : joints_.all()) {
      if (!s.target) continue;
      s.a = s.within(s.at(0, v[s.dof] + h * a_[s.dof]));
      s.B = 0;
    }
  }

  // Rates of the coordinates at (move_, u_); forces and slips are summed over the time of the stage.
  void rates(const Start& start, const VecX& torque, double time, bool first) {
    const Model& model = start.model;
    q_stage_ = start.state.q;
    integrate(model, move_, 1, q_stage_);
    v_stage_ = u_;
    chart_.turn(move_, -1, v_stage_);
    stage_.compute(q_stage_, v_stage_);
    stage_.factor(zero_);
    torque_ = torque;
    add_joints(start, time);
    a_ = torque_ + start.actuation.external - stage_.h() - model.joints.damping.cwiseProduct(v_stage_);
    if (!joints_.empty()) a_ += passive_;
    add_forces(start, time, first);
    to_acceleration(model, stage_, a_);
    if (start.audited) add_instant(start, torque_, {stage_, v_stage_, a_, v_stage_, time}, work_);
    chart_.rate(move_, u_, k_move_);
    k_u_ = a_;
    chart_.turn(move_, 1, k_u_);
  }

  void add_forces(const Start& start, double time, bool first) {
    for (std::size_t i = 0; i < active_.size(); ++i) {
      CompliantContact& s = active_[i];
      const Contact& c = contacts_[i];
      Followed at_stage = follow(i, start, stage_, elapsed_);
      at_stage.x.head<2>() -= slips_[i].way;
      ContactMode mode;
      const Vec3 f = force(s, at_stage.x, at_stage.c, mode);
      if (first) s.mode = mode;
      if (mode == ContactMode::Slip) s.mode = mode;
      s.mean += time * f;
      if (start.audited) {
        work_.contacts += time * f.dot(at_stage.c);
        work_.external -= time * (c.R_WC * f).dot(c.v_given);
      }
      if (s.drawn_by_stages) {
        slips_[i].rate.setZero();
        if (mode != ContactMode::Stick) slips_[i].rate = slip_rate(s, at_stage.x, at_stage.c, f);
        s.drawn += time * slips_[i].rate;
      }
      stage_.add_force(c.body_b, at_stage.p_b, c.R_WC * f, a_);
      if (c.body_a >= 0) stage_.add_force(c.body_a, at_stage.p_a, -(c.R_WC * f), a_);
    }
    for (std::size_t j = 0; j < limits_.size(); ++j) {
      const auto& [dof, sign] = *rows_[j].coordinate();
      const double f = limit_force(limits_[j], limits_[j].gap + sign * move_[dof], sign * v_stage_[dof]);
      limits_[j].mean += time * f;
      if (start.audited) work_.constraints += time * sign * f * v_stage_[dof];
      a_[dof] += sign * f;
    }
    if (!row_springs_.empty()) add_rows(start, time);
  }

  void add_rows(const Start& start, double time) {
    const std::vector<Row>& rows = row_springs_.rows_at(q_stage_, stage_, start.state.kinematic_time().later(elapsed_));
    for (std::size_t j = 0; j < rows.size(); ++j) {
      RowSpring& s = row_springs_.all()[j];
      const double c = row_springs_.velocity(rows[j], stage_, v_stage_), f = s.force(rows[j].error, c);
      s.law.mean += time / start.dt * f;
      row_springs_.add_force(rows[j], stage_, f, a_);
      s.at = rows[j];
      if (start.audited) RowSprings::charge(s, time, f, c, work_);
    }
  }

  // Drives go into torque_, the rest into passive_.
  void add_joints(const Start& start, double time) {
    if (!joints_.empty()) passive_.setZero(start.model.nv);
    for (JointSpring& s : joints_.all()) {
      const bool drive = s.kind == JointSpring::Kind::Drive;
      const double f = s.within(s.at(move_[s.dof], v_stage_[s.dof])), done = time * f * v_stage_[s.dof];
      s.mean += time / start.dt * f;
      (drive ? torque_ : passive_)[s.dof] += f;
      if (s.kind == JointSpring::Kind::Spring) work_.motion -= done;
      if (s.kind == JointSpring::Kind::Friction) work_.constraints += done;
    }
  }

  struct Slip {
    Eigen::Vector2d way{0, 0}, rate{0, 0};  // of the anchor, in C [m], [m/s]
  };

  Dynamics stage_;
  std::vector<Slip> slips_;
  Chart chart_;
  VecX move_, u_, k_move_, k_u_, sum_move_, sum_u_, v_stage_, q_stage_, a_, torque_, passive_;
  Work work_;
  double elapsed_ = 0;  // from the start to the stage
};

}  // namespace

OptionTable runge_kutta_options() { return compliant_fields<CompliantOptions>(); }

std::unique_ptr<Scheme> make_runge_kutta(const Model& model, const StepperOptions& options) {
  return std::make_unique<RungeKutta>(model, options);
}

}  // namespace tribo
