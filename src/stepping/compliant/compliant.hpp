// What the compliant schemes share: the visco-elastic contact law with anchors, what is reported and remembered of
// contacts, and the energy that they store. A scheme of the family says how to cross a time with the contacts held.
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
// mu is mu_s until the anchor slides faster than the Stribeck speed over a step, then mu_d until it sticks      (compliant.10)
// [Hammoud2022, (2), (21), (22)]. Departs from its (28), SlipAnchor::Set: -K x_T = f_T at once, the end of
// (compliant.9) where h >> B / K. Step after step the damper then pulls anew at a spring that bears all friction
// already, and friction turns towards the slip by B c / (mu f_N) a step, however short: the law depends on the step.
// Where a point rolls over b, the anchor follows and x is carried on.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "model/sizes.hpp"
#include "stepping/compliant/joint_springs.hpp"
#include "stepping/compliant/row_springs.hpp"
#include "tribo/compliant.hpp"

namespace tribo {

/// A contact that acts, at the start of a step.
struct CompliantContact {
  Vec3 K = Vec3::Zero(), B = Vec3::Zero();  ///< (t1, t2, n) [N/m], [N s/m]
  const SurfacePair* surface = nullptr;
  double mu_stick = 0, mu_slip = 0;
  Vec3 x = Vec3::Zero();                          ///< from the anchor, in C, as moved by (compliant.3) [m]
  Vec3 c = Vec3::Zero();                          ///< velocity of b relative to a, in C [m/s]
  Vec3 f = Vec3::Zero();                          ///< force at the start, in C [N]
  Vec3 mean = Vec3::Zero();                       ///< mean force over the step, filled by the scheme [N]
  Vec3 last = Vec3::Zero();                       ///< mean force over the step before, 0 where it is fresh [N]
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  ///< cores of the point of contact in the frames of both bodies [m]
  Vec3 off_a = Vec3::Zero(),
       off_b = Vec3::Zero();             ///< from the cores to the point, in W: the radius of round shapes [m]
  Vec3 point = Vec3::Zero();             ///< what the anchor holds, in the frame of b [m]
  Vec3 anchor = Vec3::Zero();            ///< on a, in its frame, where it was not moved [m]
  double rest = 0;                       ///< gap without load [m]
  double stretch = HUGE_VAL;             ///< most that the anchor may be away (compliant.11) [m]
  int listed = 0;                        ///< index in the list of collision
  ContactMode mode = ContactMode::Open;  ///< at the start, then over the step
  bool slipping = false;         ///< as the last step left it; slower than the Stribeck speed counts as sticking
  bool fresh = false;            ///< touches for the first time
  bool moved = true;             ///< the anchor is another than that in memory
  bool drawn_by_stages = false;  ///< the scheme has filled drawn
  Eigen::Vector2d drawn{0, 0};   ///< way of the anchor over the step, in C [m]
  double mu() const { return slipping ? mu_slip : mu_stick; }  ///< (compliant.10)
};

/// A contact followed within a step: where it is, how it moves, and the force. Points roll over round shapes.
struct Followed {
  Vec3 p_a, p_b;        ///< in W [m]
  Mat3 turn_a, turn_b;  ///< of the bodies since the start, in W
  Vec3 x, c;            ///< in C [m], [m/s]
};

/// A joint at its limit: a one-sided spring on one velocity coordinate.
struct LimitSpring {
  double gap = 0, c = 0;  ///< distance to the limit and its rate [rad] or [m]
  double B = 0;           ///< damping over the step (compliant.13)
  double f = 0, mean = 0;
};

/// An instant of a step at which forces are taken, for the ledger (ledger.1).
struct Instant {
  const Dynamics& dynamics;  ///< M and the bias there
  const VecX &v, &a;         ///< velocity and acceleration there (nv)
  const VecX& damped;        ///< velocity at which joint damping was taken (nv)
  double time;               ///< that it stands for [s]
};

class Compliant : public Scheme {
 public:
  Compliant(const Model& model, const CompliantOptions& options);
  SubstepRules substeps() const final;
  double contact_margin(double margin) const final;
  void begin(const Start& start) final;
  void solve(const Start& start, Outcome& out) final;
  void finish(const Start& start, Outcome& out) final;
  /// Here for M(q) (v_end - v) = dt (mean forces).
  void charge(const Start& start, Outcome& out) override;
  bool stores_energy() const final { return true; }
  Elastic stored(const State& state) final;
  std::span<const OpenContact> open() const final { return open_; }

  // Of the last begin and solve, for their derivative.
  const CompliantOptions& rules() const { return options_; }
  const std::vector<CompliantContact>& active() const { return active_; }
  /// Of active(), with their points as they act.
  const std::vector<Contact>& acting() const { return contacts_; }
  const std::vector<LimitSpring>& limits() const { return limits_; }
  const std::vector<Row>& rows() const { return rows_; }
  const JointSprings& joints() const { return joints_; }
  const RowSprings& row_springs() const { return row_springs_; }
  bool linear() const { return linear_; }  ///< is the law -K x - B c with constant K and B?

 protected:
  /// Fills v_end, v_mean, and mean forces and modes of contacts, limits and joint springs. False: did not converge.
  virtual bool cross(const Start& start, Outcome& out) = 0;
  /// Of the scheme, between changes of contacts.
  virtual int order() const { return 1; }
  /// Does a substep end where a contact changes its law?
  virtual bool events() const { return false; }
  virtual FailurePolicy failure() const { return FailurePolicy::Substep; }
  /// Where in the step joint damping is taken: 0 at its start, 1 at its end.
  virtual double damping_at() const { return 0; }
  /// Are stiff forces those of the start, or of stages?
  virtual bool takes_start_forces() const { return false; }

  /// Force before the cone, by the law of contact (compliant.1), and how it falls with x and c.
  Vec3 free_force(const CompliantContact& s, const Vec3& x, const Vec3& c) const {
    if (linear_) return -s.K.cwiseProduct(x) - s.B.cwiseProduct(c);
    return law_->force({*s.surface, x, s.B.x() > 0 ? c : Vec3(0, 0, c.z())});
  }
  LawSlope slope(const CompliantContact& s, const Vec3& x, const Vec3& c) const {
    if (linear_) return {s.K, s.B};
    return law_->slope({*s.surface, x, c});
  }
  Vec3 project(const CompliantContact& s, const Vec3& f, ContactMode& mode) const;  // (compliant.2), (compliant.3)
  Vec3 force(const CompliantContact& s, const Vec3& x, const Vec3& c, ContactMode& mode) const;
  double limit_force(const LimitSpring& limit, double gap, double c) const;
  /// Does the anchor follow its own law (compliant.8)? Else it is set at the start of a step (compliant.3).
  bool draws(const CompliantContact& s) const { return options_.slip == SlipAnchor::Drawn && s.B.x() > 0; }
  /// Velocity of the anchor that leaves the force f (compliant.8).
  static Eigen::Vector2d slip_rate(const CompliantContact& s, const Vec3& x, const Vec3& c, const Vec3& f) {
    return (f + s.K.cwiseProduct(x) + s.B.cwiseProduct(c)).head<2>() / s.B.x();
  }
  /// Contact i with the bodies where stage has them, a time after the start.
  Followed follow(std::size_t i, const Start& start, const Dynamics& stage, double time) const;
  /// Is joint damping among the joint springs, where there are any?
  virtual bool lists_damping() const { return false; }
  /// Motors without gains, pushes, joint damping and bias at the start, as a generalised force.
  void applied(const Start& start, const VecX& torque, VecX& tau) const;
  /// Adds J^T f of every contact and limit, as at the start.
  void add_generalised(const Dynamics& dynamics, VecX& tau) const;
  /// Adds an instant to the work; contacts and limits are added apart: at the mean forces, or by the scheme.
  void add_instant(const Start& start, const VecX& torque, const Instant& instant, Work& work);
  void add_mean_forces(const Start& start, const std::vector<Contact>& contacts, const Instant& instant, Work& work);
  /// M^-1 of a generalised force, at the factor that stands.
  void to_acceleration(const Model& model, const Dynamics& dynamics, VecX& tau) const;

  CompliantOptions options_;
  std::vector<CompliantContact> active_;  // contacts that act
  std::vector<Contact> contacts_;         // of active_, as collision lists them
  std::vector<LimitSpring> limits_;
  std::vector<Row> rows_;  // of the limits, each along a coordinate
  JointSprings joints_;
  RowSprings row_springs_;
  VecX zero_;
  bool factored_ = false;  // the dynamics of the start hold the factor of M

 private:
  /// A contact and its anchor in the memory of the state; null where it is not remembered.
  struct Remembered {
    const ContactMemory* contact = nullptr;
    const AnchorMemory* anchor = nullptr;
    bool touched() const { return contact != nullptr && contact->touched; }
  };
  void add_contact(const Start& start, int listed, const Remembered& memory);
  Remembered neighbour(const Start& start, const Contact& contact) const;
  void limit_stretch(CompliantContact& s, double last) const;
  void list_limits(const Start& start);
  void draw_anchors(const Start& start, const VecX& v_mean);
  void report(const Start& start, Outcome& out) const;
  void remember(const Start& start, Outcome& out) const;

  std::unique_ptr<ContactLaw> law_;
  bool linear_ = true;                        // the law is -K x - B c: it is not asked within a step
  std::vector<LawSlope> by_surface_;          // K and B at x = c = 0
  std::vector<std::pair<int, int>> limited_;  // iv, iq of joints with a range
  std::vector<OpenContact> open_;
  VecX mid_, vdot_mean_, damped_at_, momentum_rate_, row_;
  Sizes sizes_;
  bool split_ = false;
};

}  // namespace tribo
