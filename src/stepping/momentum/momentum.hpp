// What the schemes of the momentum family share: contacts with referential points, the held torque, Runge-Kutta-Gill
// on the group with articulated-body passes, reports, memory and energy. A scheme of the family says which contact
// forces act. No mass matrix is formed: a step is linear in the bodies for a given number of contacts.
//
//   a = A f + a0,  v+ = A p + b,  b = a0 dt + v,  p = f dt                            (momentum.1) [Wakisaka2014, 4, 6, 7]
//   (M + dt (D + kd) + dt^2 kp) x0 = tau + kp (e - dt v) + kd (v_ref - v) - D v + f_ext - h           (momentum.2)
// a0: point accelerations by x0, one pass; columns of A: one pass each with a unit force at the contact, with the same
// gains. The torque of the gains and of damping is then that at v' = v + dt x, held over the step.
//
// Referential point p_R and displacement d = p - p_R, in the axes of the contact:
//   first touch: p_R = (1 - s) p_P + s p, s = phi_P / (phi_P - phi)                   (momentum.3) [Wakisaka2014, 16, 17]
//   at rest it stays with body a; while the contact slides it is p on the surface     (momentum.4) [Wakisaka2014, 20]
// p_P, phi_P: point and gap one step before. d_N = phi. Where the contact point rolls over b, d_T is carried on.
//
// Runge-Kutta-Gill in the coordinates (chart.1), with c = 1/sqrt(2) and weights (1, 2 - 2c, 2 + 2c, 1) / 6:
//   y2 = y + dt/2 k1,  y3 = y + dt ((c - 1/2) k1 + (1 - c) k2),  y4 = y + dt (-c k2 + (1 + c) k3)  (momentum.5)
// Contact forces are held over the four stages, along the axes of the start, at points that move with the bodies.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "dynamics/articulated.hpp"
#include "dynamics/chart.hpp"
#include "dynamics/drive.hpp"
#include "model/sizes.hpp"
#include "tribo/momentum.hpp"
#include "tribo/options.hpp"
#include "tribo/step.hpp"

namespace tribo {

/// k_w |g| dt where k_w is not given: the ramp ends far below the speed that friction takes away in a step, mu |g| dt.
constexpr double ramp_of_gravity = 20;

/// A contact whose surfaces touch.
struct Touching {
  int listed = 0;                                   ///< index in the list of collision
  Contact c;                                        ///< p_WC: where its force acts
  SurfacePair surface;                              ///< of the two materials
  Vec3 d = Vec3::Zero();                            ///< from the referential point, in C [m]
  Vec3 v = Vec3::Zero();                            ///< of b relative to a at the start, in C [m/s]
  Vec3 b = Vec3::Zero();                            ///< at the end without contact forces [m/s]
  Vec3 v_end = Vec3::Zero();                        ///< the same at the end, as the forces of the start have it [m/s]
  Vec3 f = Vec3::Zero();                            ///< of the last step, then at the start or held, in C [N]
  Vec3 mean = Vec3::Zero();                         ///< over the step, in C [N]
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();    ///< cores of the point in the frames of the bodies [m]
  Vec3 off_a = Vec3::Zero(), off_b = Vec3::Zero();  ///< from the cores to the point, in W: radii of round shapes [m]
  Vec3 point = Vec3::Zero();                        ///< what the referential point holds, in the frame of b [m]
  Vec3 reference = Vec3::Zero();                    ///< the referential point on the surface, in the frame of a [m]
  bool slid = false, loaded = false;                ///< in the last step
  bool fresh = false;                               ///< touches for the first time
  double rest = 0;                       ///< gap without load where a run began with overlap (momentum.13) [m]
  ContactMode mode = ContactMode::Open;  ///< over the step
};

/// A joint at its limit (d <= 0), dry friction, or a joint that follows another: a force on one degree of freedom, or two.
struct JointForce {
  int dof = 0, iq = -1;
  double sign = 1;
  double d = 0;         ///< distance to the limit, <= 0 [rad] or [m]
  double f = 0;         ///< held [N m] or [N]
  double friction = 0;  ///< bound of dry friction; 0: a limit; infinite: an equality, with the error d [N m] or [N]
  int other = -1;       ///< of an equality: the degree that it follows, -1: none
  double slope = 0;     ///< and the share of the force there

  bool equality() const { return friction > std::numeric_limits<double>::max(); }
  /// Along the force, from what belongs to each degree (nv).
  double along(const VecX& x) const { return sign * x[dof] + (other >= 0 ? slope * x[other] : 0); }
  void add_force(double force, VecX& tau) const {
    tau[dof] += sign * force;
    if (other >= 0) tau[other] += slope * force;
  }
};

template <class T>
FieldTable<T> momentum_fields() {
  FieldTable<T> table;
  Range range = positive();
  range.infinite = true;
  table.add("ramp", &T::ramp, range, "s/m", "k_w: friction sets in over the sliding speed 1/k_w; inf: at once")
      .fallback_words = std::same_as<T, MicroscopicOptions> ? "100" : "20 / (g dt)";
  return table;
}

class MomentumFamily : public Scheme {
 public:
  MomentumFamily(const Model& model, const MomentumFamilyOptions& options);
  bool needs_mass_matrix() const final { return false; }
  void begin(const Start& start) final;
  void solve(const Start& start, Outcome& out) final;
  void finish(const Start& start, Outcome& out) final;
  void charge(const Start& start, Outcome& out) final;
  Elastic stored(const State& state) override;
  /// Joint degrees that the articulated-body passes have visited so far.
  std::uint64_t visits() const { return articulated_.operations(); }

 protected:
  /// Forces of touching_ and joints_ from what stands at the start: applied_ is the right-hand side of (momentum.2),
  /// x0_ its solution, articulated_ the factor.
  virtual void find_forces(const Start& start, Outcome& out) = 0;
  /// Force of a contact at a stage, in C; gap and relative velocity there.
  virtual Vec3 stage_force(const Touching& t, double gap, const Vec3& c) const;
  /// Force along sign on the degree of a joint limit, at a stage.
  virtual double stage_force(const JointForce& j, double gap, double rate) const;

  Vec3 point_acceleration(const Dynamics& dynamics, const Contact& contact) const;
  /// Ramp w(|v_F|) = 1 - exp(-k_w |v_F|).
  double ramp(double speed) const;

  ArticulatedBody articulated_;
  std::vector<Touching> touching_;
  std::vector<JointForce> joints_;
  VecX applied_, x0_;
  VecX extra_;             // added to the diagonal of M: damping and gains at the end of the step (nv)
  double ramp_;            // k_w as asked for [s/m]; NaN: not given
  double k_w_ = 0;         // [s/m]
  double default_kw_ = 0;  // of microscopic [s/m]; 0: scaled by gravity and dt

 private:
  /// A contact and its referential point in the memory of the state; null where it is not remembered.
  struct Remembered {
    const ContactMemory* contact = nullptr;
    const ReferenceMemory* reference = nullptr;
  };
  void add_touching(const Start& start, int listed, const Remembered& memory);
  void set_reference(const Start& start, Touching& t, const Remembered& memory) const;
  void list_joints(const Start& start);
  void free_motion(const Start& start, const VecX& torque);
  bool hold_torque(const Start& start, Outcome& out);
  Drive drive(const Actuation& a, int k, double dt) const;
  void gill(const Start& start, Outcome& out);
  void rates(const Start& start, int stage);
  void load_contacts(const Dynamics& at_stage, double weight, double time);
  void report(const Start& start, Outcome& out) const;
  void remember(const Start& start, Outcome& out) const;

  const Model* model_;
  Sizes sizes_;
  bool sprung_;            // there are springs in joints
  VecX target_gains_;      // (target.1)
  VecX stretch_, spring_;  // of joint springs: deflection, torque at the end of the step
  Dynamics stage_;
  Chart chart_;
  std::vector<std::pair<int, int>> limited_;  // dof and coordinate of joints with a range
  std::vector<int> rubbing_;                  // degrees with dry friction
  std::vector<Row> equalities_;               // of joints, at the start
  std::vector<char> saturated_;
  VecX zero_, damping_, joint_tau_, held_, tau_stage_, x_;
  VecX move_, u_, v_stage_, q_stage_, a_, k_move_[4], k_u_[4];
  VecX v_mean_;                                                              // over the stages, in their axes
  double rate_ = 0, contact_power_ = 0, limit_power_ = 0, given_power_ = 0;  // means over the stages [W]
};

}  // namespace tribo
