// The derivative of a step with compliant contacts: what all its schemes share.
//
// What such contacts remember moves with the state: m has the anchor of each contact in the frame of a, its point in the frame
// of b and its rest, then the force of each dry friction. A substep is a map (x, m, u) -> (x+, m+); with the contact's point p,
// axes C and gap, which move with q as a rigid contact's do, and y = held - anchor,
//   dx_T = [C^T (dheld - danchor - dw x y)]_T,   dx_N = dgap - drest                                          (deriv.20)
//   dc = C^T (dV(p) + (w_b - w_a) x dp - dw x c), as (deriv.7)
// A scheme says how v_end and v_mean move. Then q+, v+ by (deriv.9), and
//   danchor+ = dheld - C_T (dx_T - ddrawn) - dw x C_T (x_T - drawn), in the frame of a                       (deriv.21)
// Substeps that end at a touch follow each other as (deriv.16).
#pragma once

#include "derivatives/contact_motion.hpp"
#include "derivatives/differences.hpp"
#include "derivatives/outputs.hpp"
#include "derivatives/tree_solve.hpp"
#include "dynamics/derivatives.hpp"
#include "stepping/compliant/compliant.hpp"
#include "stepping/crossing.hpp"
#include "stepping/substeps.hpp"

namespace tribo {

class CompliantDerivative {
 public:
  CompliantDerivative(const Model& model, std::unique_ptr<Scheme> scheme, const StepperOptions& options);
  virtual ~CompliantDerivative() = default;
  CompliantDerivative(const CompliantDerivative&) = delete;
  CompliantDerivative& operator=(const CompliantDerivative&) = delete;

  /// Are touches within steps to be found to the last digit?
  void find_exactly(bool exactly) { substeps_.find_exactly(exactly); }
  /// Whose slopes follow those of the inputs in B.
  void set_parameters(std::span<const Parameter> parameters) {
    parameters_.assign(parameters.begin(), parameters.end());
  }
  /// Are the slopes of forces wanted? They stand after compute, by the columns of A and B.
  void want_forces(bool wanted) { wants_forces_ = wanted; }
  const ContactForces& forces() const { return forces_out_; }
  /// Forces are means over the whole step: where it was divided they have no slope.
  bool divided() const { return lengths_.size() > 1; }
  /// Null, or why slopes by these parameters are not analytic.
  const char* why_differences(const StepInput& step, std::span<const Parameter> parameters) const;
  /// Null, or why this step has no analytic derivative: out is then as it was.
  const char* compute(const StepInput& step, Linearization& out);

 protected:
  /// Twists of all bodies, and psi_j = V_p x S_j by coordinate.
  struct Twists {
    std::vector<Spatial> V, psi;
  };
  /// Of a substep: q, v, memory, inputs, one after the other.
  struct Columns {
    int nv = 0, memory = 0, inputs = 0;
    int state() const { return 2 * nv + memory; }
    int all() const { return state() + inputs; }
  };

  /// Null, or why not: fills end_ and mean_, slopes of v_end and v_mean, and forces_ (nv, nv, 3 a contact; all columns).
  virtual const char* cross(const Start& start, const Outcome& out) = 0;
  /// Options or a model that the scheme has no derivative for.
  virtual const char* unsupported() const { return nullptr; }

  // compliant_contacts.cpp
  const char* move_contacts(const Start& start);
  bool list_given(const Start& start, const Contact& listed, std::size_t i);
  const char* displace(const Start& start, std::size_t i);
  const char* limit_stretch(double last, const Eigen::Vector2d& x, std::size_t i);
  void set_twists(const Dynamics& dynamics, const VecX& v, Twists& out) const;
  /// Slope by q of J v, in the axes of contact i, into rows of K (3 x nv); given: kinematic bodies move too.
  void rate_slopes(const Start& start, std::size_t i, const Twists& twists, bool given, RowMatrix& K, int row) const;
  /// Slope of the acceleration of contact i, by q and by v, into rows (3 x 2 nv); core: of the point under a round core.
  void acceleration_slopes(const Start& start, std::size_t i, bool core, RowMatrix& K, int row) const;
  /// X += d(J^T f)/dq of a force that is fixed in the axes of contact i.
  void force_slopes(const Start& start, std::size_t i, const Vec3& f_W, RowMatrix& X) const;
  /// X += d(J^T f)/dq of what pushes a point of a body in W.
  void held_force_slopes(const Start& start, const AppliedForce& force, RowMatrix& X) const;
  /// Slopes of torques, drives and springs at the start into X; of joint spring j alone into row j of drives_.
  void drive_slopes(const Start& start, RowMatrix& X);
  void damper_slopes(const Start& start);

  const Contact& acting(std::size_t i) const { return compliant_.acting()[i]; }
  const CompliantContact& active(std::size_t i) const { return compliant_.active()[i]; }
  int contacts() const { return static_cast<int>(compliant_.active().size()); }
  int input_column(int dof) const { return input_of_[at(dof)] < 0 ? -1 : columns_.state() + input_of_[at(dof)]; }
  Spatial relative(const Start& start, int body, int dof) const;
  // compliant_parameters.cpp
  int parameters() const { return static_cast<int>(parameters_.size()); }
  int parameter_column(int i) const { return columns_.state() + static_cast<int>(inputs_.size()) + i; }
  /// f(parameter, its number, its column).
  template <class F>
  void each_parameter(F f) const {
    for (int i = 0; i < parameters(); ++i) f(parameters_[at(i)], i, parameter_column(i));
  }
  /// Adds x to a row of slopes by the friction of contact i.
  template <class Row>
  void add_rubbed(std::size_t i, double x, Row&& row) const {
    each_parameter([&](const Parameter& p, int, int column) {
      if (rubs_on(model_, p, acting(i).surface)) row[column] += x;
    });
  }
  void parameter_springs();
  void store_forces();
  /// Rows of q+ and v+ in whole_, from end_ and mean_ (deriv.9).
  void move_configuration(const Start& start, const Outcome& out);

  const Model& model_;
  double margin_;
  std::unique_ptr<Scheme> scheme_;
  Compliant& compliant_;
  std::span<const AppliedForce> applied_;
  std::vector<int> inputs_, input_of_, joint_end_;
  Columns columns_;
  ContactMotion motion_;
  InverseDynamics inverse_;  // at the start, with its accelerations
  TreeSolve trees_;
  RowMatrix dp_, dw_, dgap_, J_;  // of contacts: (3, 3, 1 and 3 a contact; nv)
  RowMatrix dx_, dc_;             // of their displacements and velocities (3 a contact; all columns)
  RowMatrix given_;               // of Contact::v_given beside w x dp, in its axes (3 a contact; 2 nv), or empty
  RowMatrix drest_;               // (1 a contact; all columns)
  RowMatrix dampers_;             // B of joint springs (1 each; nv, parameters)
  RowMatrix stiffeners_;          // K of joint springs (the same)
  std::vector<Parameter> parameters_;
  ContactForces forces_out_;
  bool wants_forces_ = false;
  RowMatrix drives_;  // (1 a joint spring; all columns)
  RowMatrix end_, mean_, forces_;
  RowMatrix whole_;  // of the substep: (2 nv + m+; all columns)
  VecX zero_, scratch_;
  Twists twists_;
  BodyVelocities carrying_;
  double edge_ = HUGE_VAL;  // how near an anchor is to being left behind [N]

 private:
  const char* differentiate(const Start& start, const Outcome& out, bool first, Linearization& lin);
  const char* join(const StepInput& step, StepReport& report, Linearization& out);
  void list_memory(const State& state, bool wanted);
  int memory_column(std::uint64_t id) const;
  bool slope_by_length(double h);
  const char* find_touch(Linearization& out);
  void note_weak(const Outcome& out, Linearization& lin) const;
  void store(const StepInput& step, Linearization& out) const;
  // compliant_memory.cpp
  const char* remember(const Start& start, const Outcome& out);
  void remember_friction(const Start& start, const Outcome& out);
  void list_rolling(const Start& start, std::size_t i);
  Eigen::Vector2d drawn(const Start& start, const Outcome& out, std::size_t i);

  Workspace work_;
  State state_;
  Crossing crossing_;
  Substeps substeps_;
  Shift still_;
  std::vector<std::pair<std::uint64_t, int>> column_of_;  // contacts, then rows of the memory of the substep
  std::vector<char> rolls_;                               // by column
  std::vector<double> lengths_;
  std::vector<OpenContact> open_before_;
  Crossing::Saved saved_;
  int first_memory_ = 0;  // columns of the memory of the whole step
  RowMatrix K_;           // scratch
  MatX sum_, through_;    // (2 nv + m; 2 nv + m_0 + nu)
  Eigen::RowVectorXd when_, tau_;
  VecX by_length_, moved_, m_, drawn_velocity_;
  VecX q_end_;
  std::array<VecX, 4> side_;
};

}  // namespace tribo
