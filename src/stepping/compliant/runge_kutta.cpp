// The classic Runge-Kutta method of order four on visco-elastic contact.
//
// Within a part the state is written in coordinates about its start, so that the method is used on a vector space:
//   free joint: displacement d in the axes of the start, rotation vector r; R = R_0 exp(r)
//   d' = u,  r' = T(r) w,  u' = exp(r) a,  w' = alpha                                                   (rk.1)
// u: linear velocity in the axes of the start, w: angular in body axes, (a, alpha): what the dynamics gives,
// T(r) w = w + r x w / 2 + (1/|r|^2 - (1 + cos|r|) / (2 |r| sin|r|)) r x (r x w). Spherical joints: r alone.
// The list of contacts is that of the start; their points move with the bodies. Anchors that are drawn (compliant.8)
// are coordinates too, where h K <= B; else their time constant is shorter than the step. Gains are taken at the start.
#include "stepping/compliant/compliant.hpp"
#include "stepping/steppers.hpp"

namespace tribo {
namespace {

class RungeKutta final : public Compliant {
 public:
  RungeKutta(const Model& model, const StepperOptions& options) : Compliant(model, options), stage_(model) {
    for (VecX* x : {&move_, &u_, &k_move_, &k_u_, &sum_move_, &sum_u_, &v_stage_, &a_}) x->setZero(model.nv);
    for (const Body& b : model.bodies) {
      if (b.joint == JointKind::Free) free_.push_back(b.iv);
      if (b.joint == JointKind::Free) turning_.push_back(b.iv + 3);
      if (b.joint == JointKind::Spherical) turning_.push_back(b.iv);
    }
  }

 private:
  void charge(const Model&, const State&, const Workspace&, double) override {}  // solve has done it, stage by stage
  int order() const override { return 4; }

  bool solve(const Model& model, const State& state, Workspace& work, double h, StepReport&) override {
    constexpr double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    slips_.assign(springs_.size(), {});
    for (Spring& s : springs_) {
      s.mean.setZero();
      s.drawn.setZero();
      s.drawn_by_stages = draws(s) && h * s.K.x() <= s.B.x();
    }
    for (LimitSpring& l : limits_) l.mean = 0;
    sum_move_.setZero();
    sum_u_.setZero();
    charged_ = {};
    for (int k = 0; k < 4; ++k) {
      if (k == 0) {
        move_.setZero();
        u_ = state.v;
      } else {
        move_ = node[k] * h * k_move_;
        u_ = state.v + node[k] * h * k_u_;
        for (Slip& s : slips_) s.way = node[k] * h * s.rate;
      }
      rates(model, state, work, weight[k] * h, k == 0);
      sum_move_ += weight[k] * k_move_;
      sum_u_ += weight[k] * k_u_;
    }
    v_new_ = state.v + h * sum_u_;
    v_mean_ = sum_move_;
    for (Spring& s : springs_) s.mean /= h;
    for (LimitSpring& l : limits_) l.mean /= h;
    return true;
  }

  // Rates of the coordinates at (move_, u_); forces and slips are summed over the time of the stage.
  void rates(const Model& model, const State& state, const Workspace& work, double time, bool first) {
    q_stage_ = state.q;
    integrate(model, move_, 1, q_stage_);
    v_stage_ = u_;
    for (int i : free_)
      v_stage_.segment<3>(i) = rotation_exponential(-move_.segment<3>(i + 3)) * Vec3(u_.segment<3>(i));
    stage_.compute(q_stage_, v_stage_);
    stage_.factor(zero_);
    a_ = torque_ + work.actuation.external - stage_.h() - model.joints.damping.cwiseProduct(v_stage_);
    add_forces(work, time, first);
    to_acceleration(model, stage_, a_);
    if (audited()) add_moment(model, work, {stage_, v_stage_, a_, v_stage_, time});
    k_move_ = u_;
    for (int i : turning_) k_move_.segment<3>(i) = rotation_rate(move_.segment<3>(i), u_.segment<3>(i));
    k_u_ = a_;
    for (int i : free_) k_u_.segment<3>(i) = rotation_exponential(move_.segment<3>(i + 3)) * Vec3(a_.segment<3>(i));
  }

  void add_forces(const Workspace& work, double time, bool first) {
    for (std::size_t i = 0; i < springs_.size(); ++i) {
      Spring& s = springs_[i];
      const Contact& c = contacts_[i];
      Followed at_stage = follow(i, work, stage_);
      at_stage.x.head<2>() -= slips_[i].way;
      ContactMode mode;
      const Vec3 f = force(s, at_stage.x, at_stage.c, mode);
      if (first) s.mode = mode;
      if (mode == ContactMode::Slip) s.mode = mode;
      s.mean += time * f;
      if (audited()) charged_.contacts += time * f.dot(at_stage.c);
      if (s.drawn_by_stages) {
        slips_[i].rate.setZero();
        if (mode != ContactMode::Stick) slips_[i].rate = slip_rate(s, at_stage.x, at_stage.c, f);
        s.drawn += time * slips_[i].rate;
      }
      stage_.add_force(c.body_b, at_stage.p_b, c.R_WC * f, a_);
      if (c.body_a >= 0) stage_.add_force(c.body_a, at_stage.p_a, -(c.R_WC * f), a_);
    }
    for (std::size_t j = 0; j < limits_.size(); ++j) {
      const Row& row = rows_[j];
      const double f = limit_force(limits_[j].gap + row.sign * move_[row.dof], row.sign * v_stage_[row.dof]);
      limits_[j].mean += time * f;
      if (audited()) charged_.constraints += time * row.sign * f * v_stage_[row.dof];
      a_[row.dof] += row.sign * f;
    }
  }

  struct Slip {
    Eigen::Vector2d way{0, 0}, rate{0, 0};  // of the anchor, in C [m], [m/s]
  };

  Dynamics stage_;
  std::vector<Slip> slips_;
  VecX move_, u_, k_move_, k_u_, sum_move_, sum_u_, v_stage_, q_stage_, a_;
  std::vector<int> free_, turning_;
};

}  // namespace

std::unique_ptr<Stepper> make_runge_kutta(const Model& model, const StepperOptions& options) {
  return std::make_unique<RungeKutta>(model, options);
}

}  // namespace tribo
