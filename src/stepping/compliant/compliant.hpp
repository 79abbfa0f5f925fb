// What the compliant steppers share: the visco-elastic contact law with anchors, the splitting of steps at new
// contacts, reports, memory and energy. A stepper of the family says how to cross a part of a step with the contacts
// held.
//
//   f = -K x - B c                                                                               (compliant.1)
// in the axes of the contact, K and B diagonal. x: tangential distance of a point of b from its anchor on a, and
// gap - rest along the normal; c: velocity of b relative to a. The contact pushes and stays in its cone:
//   f_N <= 0: f = 0                                                                              (compliant.2)
//   |f_T| > mu f_N: f_T is shortened to mu f_N                                                   (compliant.3)
// and the anchor is drawn along with the velocity s that leaves just this force:
//   f_T = -K x_T - B (c_T - s),  x_T' = c_T - s = -(K x_T + f_T) / B                             (compliant.8)
// spring and damper side by side, in series with a slider: s points against f_T, nothing jumps. With f_T held over h
//   x_T+ = -f_T / K + (x_T + f_T / K) exp(-h K / B)                                              (compliant.9)
// [Hammoud2022, (2), (21), (22)]. Departs from its (28), SlipAnchor::Set: -K x_T = f_T at once, the end of
// (compliant.9) where h >> B / K. Step after step the damper then pulls anew at a spring that bears all friction
// already, and friction turns towards the slip by B c / (mu f_N) a step, however short: the law depends on the step.
// Where a point rolls over b, the anchor follows and x is carried on.
#pragma once

#include <string>
#include <vector>

#include "stepping/workspace.hpp"

namespace tribo {

/// An active contact at the start of a part of a step.
struct Spring {
  Vec3 K = Vec3::Zero(), B = Vec3::Zero();  ///< (t1, t2, n) [N/m], [N s/m]
  double mu_stick = 0, mu_slip = 0;
  Vec3 x = Vec3::Zero();                          ///< from the anchor, in C, as moved by (compliant.3) [m]
  Vec3 c = Vec3::Zero();                          ///< velocity of b relative to a, in C [m/s]
  Vec3 f = Vec3::Zero();                          ///< force at the start, in C [N]
  Vec3 mean = Vec3::Zero();                       ///< mean force over the part, filled by the stepper [N]
  Vec3 last = Vec3::Zero();                       ///< mean force over the part before, 0 where it is fresh [N]
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  ///< cores of the point of contact in the frames of both bodies [m]
  Vec3 off_a = Vec3::Zero(),
       off_b = Vec3::Zero();             ///< from the cores to the point, in W: the radius of round shapes [m]
  Vec3 point = Vec3::Zero();             ///< what the anchor holds, in the frame of b [m]
  Vec3 anchor = Vec3::Zero();            ///< on a, in its frame, where it was not moved [m]
  double rest = 0;                       ///< gap without load [m]
  int listed = 0;                        ///< index in the list of collision
  ContactMode mode = ContactMode::Open;  ///< at the start, then over the part
  bool slipping = false;                 ///< as the last step left it
  bool fresh = false;                    ///< touches for the first time
  bool moved = true;                     ///< the anchor is another than that in memory
  bool drawn_by_stages = false;          ///< the stepper has filled drawn
  Eigen::Vector2d drawn{0, 0};           ///< way of the anchor over the part, in C [m]
};

/// A contact followed within a part: where it is, how it moves, and the force. Points roll over round shapes.
struct Followed {
  Vec3 p_a, p_b;        ///< in W [m]
  Mat3 turn_a, turn_b;  ///< of the bodies since the start, in W
  Vec3 x, c;            ///< in C [m], [m/s]
};

/// A joint at its limit: a one-sided spring on one velocity coordinate.
struct LimitSpring {
  double gap = 0, c = 0;  ///< distance to the limit and its rate [rad] or [m]
  double f = 0, mean = 0;
};

/// A moment of a part at which forces are taken, for the ledger (compliant.6).
struct Moment {
  const Dynamics& dynamics;  ///< M and the bias there
  const VecX &v, &a;         ///< velocity and acceleration there (nv)
  const VecX& damped;        ///< velocity at which joint damping was taken (nv)
  double time;               ///< that it stands for [s]
};

class Compliant : public Stepper {
 public:
  Compliant(const Model& model, const StepperOptions& options);
  StepReport advance(const Model& model, State& state, Workspace& work, double dt) final;
  double elastic(const Model& model, const State& state, Workspace& work) final;

 protected:
  /// Fills v_new_ (at the end, free joints in the axes of the start), v_mean_ (q moves along it), and mean forces and
  /// modes of springs and limits. False: did not converge.
  virtual bool solve(const Model& model, const State& state, Workspace& work, double h, StepReport& report) = 0;
  /// After solve: share of the part up to where a contact begins to slip, to stick, to part or to press.
  virtual double held() const { return 1; }
  /// Of the scheme, between changes of contacts.
  virtual int order() const { return 1; }
  /// Where in the step joint damping is taken: 0 at its start, 1 at its end.
  virtual double damping_at() const { return 0; }
  /// Fills charged_ for the ledger, after solve; here for M(q) (v_new - v) = h (mean forces).
  virtual void charge(const Model& model, const State& state, const Workspace& work, double h);

  Vec3 project(const Spring& spring, const Vec3& f, ContactMode& mode) const;  // (compliant.2), (compliant.3)
  Vec3 force(const Spring& spring, const Vec3& x, const Vec3& c, ContactMode& mode) const;
  double limit_force(double gap, double c) const;
  /// Does the anchor follow its own law (compliant.8)? Else it is set at the start of a part (compliant.3).
  bool draws(const Spring& s) const { return options_.compliant.slip == SlipAnchor::Drawn && s.B.x() > 0; }
  /// Velocity of the anchor that leaves the force f (compliant.8).
  static Eigen::Vector2d slip_rate(const Spring& s, const Vec3& x, const Vec3& c, const Vec3& f) {
    return (f + s.K.cwiseProduct(x) + s.B.cwiseProduct(c)).head<2>() / s.B.x();
  }
  /// Contact i with the bodies where stage has them; work stands at the start of the part.
  Followed follow(std::size_t i, const Workspace& work, const Dynamics& stage) const;
  /// Actuators, pushes, joint damping and bias at the start of the part, as a generalised force.
  void applied(const Model& model, const State& state, const Workspace& work, VecX& tau) const;
  /// Adds J^T f of every spring and limit, as at the start of the part.
  void add_generalised(const Dynamics& dynamics, VecX& tau) const;
  /// Adds a moment to charged_; contacts and limits are added apart: at the mean forces, or by the stepper.
  void add_moment(const Model& model, const Workspace& work, const Moment& moment);
  void add_mean_forces(const Model& model, const std::vector<Contact>& contacts, const Moment& moment);
  bool audited() const { return options_.audit == AuditLevel::Full; }
  const VecX& q_at_start() const { return start_.q; }  ///< where control measured its errors
  double whole_step() const { return dt_; }            ///< which may have been split into parts [s]
  /// M^-1 of a generalised force, at the factor that stands.
  void to_acceleration(const Model& model, const Dynamics& dynamics, VecX& tau) const;

  StepperOptions options_;
  std::vector<Spring> springs_;
  std::vector<Contact> contacts_;  // of the springs
  std::vector<LimitSpring> limits_;
  std::vector<Row> rows_;  // of the limits: dof and sign
  VecX torque_;            // of the actuators, held over the step
  VecX v_new_, v_mean_, zero_;
  bool factored_ = false;  // work.dynamics holds the factor of M
  struct Charged {
    double actuators = 0, damping = 0, external = 0, contacts = 0, constraints = 0;
    double motion = 0;  // of the force that the motion needs
  } charged_;           // work over the part [J]

 private:
  struct OpenContact {
    std::uint64_t id;
    double gap, speed;
  };
  struct Saved {
    VecX q, v;
    double t = 0;
    std::vector<ContactMemory> contacts;
    std::vector<ContactReport> reports;
    int merged_parts = 0;
    StepReport report;
  };

  void prepare(const Model& model, const State& state, Workspace& work);
  void add_spring(const Model& model, const State& state, const Workspace& work, int listed,
                  const ContactMemory* memory);
  const ContactMemory* neighbour(const State& state, const Workspace& work, const Contact& contact) const;
  void list_limits(const State& state);
  double stored() const;

  void hold_torque(const Model& model, const State& state, const Workspace& work);
  bool run(const Model& model, State& state, Workspace& work, double duration, StepReport& report);
  bool run_accurate(const Model& model, State& state, Workspace& work, double dt, StepReport& report);
  bool part(const Model& model, State& state, Workspace& work, double h, StepReport& report, double& taken);
  double crossing(const Model& model, const State& state, const Workspace& work, double h) const;
  double late(double h) const;
  void draw_anchors(const Model& model, const Workspace& work, double h);
  bool commit(const Model& model, State& state, Workspace& work, double h);
  void remember(State& state, const Workspace& work);
  void report_part(const Model& model, const Workspace& work, double h);
  /// Of b relative to a at the velocity v, in C.
  static Vec3 velocity_of(const Model& model, const Dynamics& dynamics, const Contact& contact, const VecX& v);
  void merge_part(Workspace& work, double h, StepReport& report);
  void close_charge(const Workspace& work, EnergyLines& sum) const;
  void save(const State& state, const Workspace& work, const StepReport& report, Saved& saved) const;
  void restore(const Saved& saved, State& state, Workspace& work, StepReport& report);

  std::vector<std::pair<int, int>> limited_;  // iv, iq of joints with a range
  std::vector<OpenContact> open_, open_before_;
  std::vector<ContactReport> part_reports_, merged_;
  std::vector<ContactMemory> kept_;
  StepReport part_;
  VecX q_new_, q_known_, v_known_, mid_, vdot_mean_, damped_at_, momentum_rate_, lower_, upper_;
  VecX q_single_, v_single_;
  Saved start_, before_part_, before_pair_;
  double dt_ = 0, t_known_ = 0;
  double energy_before_ = 0, elastic_before_ = 0;  // at the start of the part [J]
  bool prepared_ = false, split_ = false;
  int parts_ = 0, merged_parts_ = 0;
  double first_part_ = 0;  // [s]
};

}  // namespace tribo
