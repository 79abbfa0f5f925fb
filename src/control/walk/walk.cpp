// The controller `walk`: what the parts do, tick by tick.
#include <cmath>
#include <cstring>

#include "base/names.hpp"
#include "control/joints.hpp"
#include "control/live_controls.hpp"
#include "control/walk/body_mpc.hpp"
#include "control/walk/whole_body.hpp"

namespace tribo {
namespace {

using namespace walk;

constexpr double fallen = 0.3;  // cosine of the tilt of the base

// Numbers that nobody gave, from the height h and the mass of the robot: those of Solo (h = 0.24 m, 2.5 kg), scaled as
// lengths with h, times with sqrt(h/g), torques with m g h.
WalkOptions sized(WalkOptions o, const Walker& w, double g) {
  auto fill = [](double& x, double value) {
    if (std::isnan(x)) x = value;
  };
  const double time = std::sqrt(w.height / g), torque = w.mass * g * w.height;
  fill(o.gait_period, 0.01 * std::round(100 * 2.05 * time));
  fill(o.swing_height, 0.2 * w.height);
  fill(o.foothold_gain, 0.5 * time);
  fill(o.kp, 0.5 * torque);
  fill(o.kd, 0.3 * torque * time);
  return o;
}

void check(const Model& model, const WalkOptions& o) {
  const std::string owner = "walk controller of '" + model.members[at(o.member)].name + "'";
  check_entries(o.q_stand, model.nq, owner, "q_stand");
  controller_entry("walk").options.check(Options(o), owner);
  if (model.gravity.norm() == 0) throw InvalidInput(owner + ": there is no gravity, and nothing to stand on");
  double last = -HUGE_VAL;
  for (const WalkCommand& c : o.commands) {
    if (!std::isfinite(c.t) || c.t < last)
      throw InvalidInput(owner + ": a command at t = " + shown(c.t) +
                         " s, must be finite and not before the one above");
    if (!c.velocity.allFinite()) throw InvalidInput(owner + ": the velocity of a command is not finite");
    last = c.t;
  }
}

class Walk final : public Controller, public LiveVelocity {
 public:
  Walk(const Model& model, const WalkOptions& options)
      : walker_(model, options),
        options_(sized(options, walker_, std::max(model.gravity.norm(), 1e-3))),
        gait_{options_.start, options_.gait_period, options_.duty},
        rule_{options_.foothold_gain, 0.6 * walker_.height},
        ground_(model),
        mpc_(walker_, options_, gait_),
        body_(model, walker_, options_) {}

  double period() const override { return options_.period; }
  int memory() const override { return memory_size; }
  void follow_velocity(const double* row) override { live_ = row; }

  void control(const Model& model, const State& state, const Dynamics& dynamics, std::span<double> numbers,
               Actuation& a) override {
    WalkMemory m;
    std::memcpy(&m, numbers.data(), sizeof m);
    const double t = state.t;
    Instant now = look(walker_, dynamics, m.ref[2]);
    if (dynamics.X_WB(walker_.base).R(2, 2) < fallen) return give_up(a);
    if (m.begun == 0) begin(now, m);
    follow(t, a.dt, now, m);
    const Vec3 command(m.command[0], m.command[1], 0);
    const Vec3 v_ref = heading(m.ref[2]) * command;
    const double node = std::floor((t - gait_.start) / mpc_.node() + 1e-6) + 1e6;  // never 0
    const bool anew = node != m.node;
    step_feet(model, state.kinematic_time(), now, v_ref, anew, m);
    const BodyPlan plan = body_plan(now, m);
    if (anew) {
      if (!predict(t, now, plan, model.gravity, m)) ++a.unsolved;
      m.node = node;
    }
    if (!act(model, state, dynamics, now, plan, m, a)) ++a.unsolved;
    std::memcpy(numbers.data(), &m, sizeof m);
  }

 private:
  // Lying robots only damp their joints.
  void give_up(Actuation& a) const {
    for (const Leg& leg : walker_.legs)
      for (const int j : leg.iv) a.kd[j] += options_.kd;
  }

  void begin(const Instant& now, WalkMemory& m) const {
    m.begun = 1;
    m.ref[0] = now.com.x(), m.ref[1] = now.com.y(), m.ref[2] = now.angles.z();
    for (std::size_t i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) m.foot[i].from[k] = m.foot[i].to[k] = now.foot[i][k];
  }

  Vec3 asked(double t) const {
    if (live_ != nullptr && !std::isnan(live_[0])) return {live_[0], live_[1], live_[2]};
    Vec3 v = Vec3::Zero();
    for (const WalkCommand& c : options_.commands)
      if (c.t <= t + 1e-9) v = c.velocity;
    return v;
  }

  // The command is approached at a bounded rate; the reference moves with it, and is never far from the robot.
  void follow(double t, double dt, const Instant& now, WalkMemory& m) const {
    const Vec3 want = t < gait_.start ? Vec3::Zero() : asked(t);
    for (int k = 0; k < 3; ++k) {
      const double most = dt * options_.acceleration * (k == 2 ? 2 : 1);
      m.command[k] += std::clamp(want[k] - m.command[k], -most, most);
    }
    const Vec3 v = heading(m.ref[2]) * Vec3(m.command[0], m.command[1], 0);
    const double leash = 0.2 * walker_.height, most_turn = 0.2;
    Vec3 off(m.ref[0] + dt * v.x() - now.com.x(), m.ref[1] + dt * v.y() - now.com.y(), 0);
    if (off.norm() > leash) off *= leash / off.norm();
    m.ref[0] = now.com.x() + off.x();
    m.ref[1] = now.com.y() + off.y();
    const double turn = m.ref[2] + dt * m.command[2] - now.angles.z();
    m.ref[2] = now.angles.z() + std::clamp(turn, -most_turn, most_turn);
  }

  // Which feet swing, and where they will land: looked for anew at every node.
  void step_feet(const Model& model, const KinematicTime& time, const Instant& now, const Vec3& v_ref, bool anew,
                 WalkMemory& m) const {
    for (std::size_t i = 0; i < 4; ++i) {
      const GaitPlan::Leg leg = gait_.leg(walker_.legs[i].diagonal, time.t);
      WalkMemory::Foot& foot = m.foot[i];
      if (leg.stands) {
        if (foot.swings != 0)
          for (int k = 0; k < 3; ++k) foot.to[k] = now.foot[i][k];
        foot.swings = 0;
        continue;
      }
      const bool lifts = foot.swings == 0;
      if (lifts)
        for (int k = 0; k < 3; ++k) foot.from[k] = now.foot[i][k];
      foot.swings = 1;
      if (!lifts && (leg.rest < options_.lock || !anew)) continue;
      Vec3 p = foothold(walker_, gait_, rule_, now, v_ref, m.command[2], leg.rest, i);
      p = ground_.level_place(model, p, time, foot.from[2] - walker_.radius[i], 0.07 * walker_.height);
      p.z() += walker_.radius[i];
      for (int k = 0; k < 3; ++k) foot.to[k] = p[k];
    }
  }

  // The soles as they stand or will, and the plane through them: height and slope along the heading.
  BodyPlan body_plan(const Instant& now, const WalkMemory& m) const {
    Vec3 mean = Vec3::Zero();
    double rise = 0, lever = 0;
    const Mat3 back = heading(m.ref[2]).transpose();
    for (std::size_t i = 0; i < 4; ++i) mean += 0.25 * sole(now, m, i);
    for (std::size_t i = 0; i < 4; ++i) {
      const Vec3 r = back * (sole(now, m, i) - mean);
      rise += r.x() * r.z();
      lever += r.x() * r.x();
    }
    BodyPlan plan;
    plan.com = {m.ref[0], m.ref[1], mean.z() + walker_.height};
    plan.angles = {0, -std::atan2(rise, std::max(lever, 1e-9)), m.ref[2]};
    plan.v = {m.command[0], m.command[1], 0};
    plan.turning = m.command[2];
    return plan;
  }

  Vec3 sole(const Instant& now, const WalkMemory& m, std::size_t i) const {
    const double* to = m.foot[i].to;
    Vec3 p = m.foot[i].swings != 0 ? Vec3(to[0], to[1], to[2]) : now.foot[i];
    p.z() -= walker_.radius[i];
    return p;
  }

  bool predict(double t, const Instant& now, const BodyPlan& plan, const Vec3& gravity, WalkMemory& m) {
    std::array<Vec3, 4> soles, force;
    for (std::size_t i = 0; i < 4; ++i) soles[i] = sole(now, m, i), force[i].setZero();
    if (!mpc_.solve(t, now, plan, soles, gravity, force).solved) return false;
    for (std::size_t i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) m.force[3 * i + at(k)] = force[i][k];
    return true;
  }

  bool act(const Model& model, const State& state, const Dynamics& dynamics, const Instant& now, const BodyPlan& plan,
           const WalkMemory& m, Actuation& a) {
    std::array<FootTask, 4> feet;
    BaseTask base;
    base.a = model.gravity;
    const Mat3 R = heading(now.angles.z());
    Vec3 moment = Vec3::Zero();
    for (std::size_t i = 0; i < 4; ++i) {
      FootTask& foot = feet[i];
      foot.stands = m.foot[i].swings == 0;
      if (foot.stands) {
        foot.force = {m.force[3 * i], m.force[3 * i + 1], m.force[3 * i + 2]};
        base.a += foot.force / walker_.mass;
        moment += (sole(now, m, i) - now.com).cross(foot.force);
      } else {
        swing(model, state.kinematic_time(), now, dynamics, m, i, foot);
      }
    }
    base.alpha = R * walker_.inertia.inverse() * R.transpose() * moment;
    const Vec3 v_ref = R * plan.v;
    const Vec3 off = plan.angles - now.angles;
    base.error = plan.com - now.com;
    base.turn = R * Vec3(off.x(), off.y(), off.z());
    base.v = v_ref;
    base.w = {0, 0, plan.turning};
    base.a += options_.base_kp * base.error + options_.base_kd * (base.v - now.v);
    base.alpha += options_.base_kp * base.turn + options_.base_kd * (base.w - now.w);
    return body_.control(dynamics, state.v, base, feet, {options_.kp, options_.kd}, a);
  }

  void swing(const Model& model, const KinematicTime& time, const Instant& now, const Dynamics& dynamics,
             const WalkMemory& m, std::size_t i, FootTask& foot) const {
    const GaitPlan::Leg leg = gait_.leg(walker_.legs[i].diagonal, time.t);
    const double* f = m.foot[i].from;
    const double* to = m.foot[i].to;
    Vec3 from(f[0], f[1], f[2]), goal(to[0], to[1], to[2]);
    Vec3 a = from, b = goal;
    a.z() = b.z() = now.com.z();
    const double low = std::min(from.z(), goal.z()) - walker_.radius[i];
    const double top =
        std::max(std::max(from.z(), goal.z()), ground_.highest(model, a, b, time, low, 3) + walker_.radius[i]) +
        options_.swing_height;
    const FootMotion motion = swing_motion(from, goal, top, leg.since / gait_.swing(), gait_.swing());
    const Vec3 v = dynamics.point_velocity(walker_.legs[i].body, now.foot[i]);
    const double stiffness = 900, damping = 60;  // a foot follows its way within some 0.03 s
    foot.error = motion.p - now.foot[i];
    foot.v = motion.v;
    foot.a = motion.a + stiffness * foot.error + damping * (motion.v - v);
  }

  Walker walker_;
  WalkOptions options_;
  GaitPlan gait_;
  FootholdRule rule_;
  Ground ground_;
  BodyMpc mpc_;
  WholeBody body_;
  const double* live_ = nullptr;
};

}  // namespace

std::unique_ptr<Controller> make_walk(const Model& model, const WalkOptions& options) {
  check(model, options);
  return std::make_unique<Walk>(model, options);
}

}  // namespace tribo
