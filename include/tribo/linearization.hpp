// The derivative of one step: how its end changes with its start and with the inputs of its actuators.
//
//   x = (q, v),  dx+ = A dx + B du                                                                            (lin.1)
// dx is a tangent: of q as `integrate` moves it (a free joint: linear and angular part in the axes of its body), then of v.
// What is held: what contacts and controllers remember, feed-forward torques, references and gains. What is not: the
// implicit gains of the Actuation act on the q and v that move, and pushes act on the point that moves. So a controller's
// own feedback is not in A: du = K dx closes the loop.
// u has an entry for each coordinate that has a motor: its velocity target where there is one, else its torque.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tribo/stepper.hpp"

namespace tribo {

class Dynamics;

/// A contact of the step that was linearised.
struct LinearizedContact {
  std::uint64_t id = 0;
  ContactMode mode = ContactMode::Open;
  bool weak = false;  ///< at the edge of its mode: A and B hold on one side of it only
};

/// What a linearisation is asked for beside A and B.
struct LinearizationRequest {
  /// How far contacts are from hard, kappa over the scales of force and acceleration of the step. 0: not at all. Above, A and
  /// B are those of the smoothed law (smooth.1), of rigid steps alone; the motion stays as it is.
  double smoothing = 0;
  /// Are A and B wanted with what compliant contacts remember as a part of the state? See whole_A.
  bool memory = false;
  /// Whose slopes P are wanted: "mass:BODY", "com:BODY:x", "inertia:BODY:xy" (about the centre of mass, in axes of the body),
  /// "friction:MATERIAL" (all its pairs, both coefficients), and of joints "kp", "kd", "damping", "armature", "dry_friction".
  std::vector<std::string> parameters;
  /// Whose slopes C, D, E are wanted: "accelerometer:PLACE", "gyroscope:PLACE" (3 rows each), "position:JOINT",
  /// "velocity:JOINT", "force:GEOMETRY" (sum of its normal forces), "contacts" (three forces each, on b, in W).
  std::vector<std::string> sensors;
};

/// A row of the outputs.
struct SensorRow {
  int sensor = 0;             ///< in the request
  int component = 0;          ///< 0 to 2
  std::uint64_t contact = 0;  ///< of "contacts": its id
  bool unique = true;         ///< false: a force that is not unique; the slope is that of least change
};

struct Linearization : LinearizationRequest {
  enum class Method {
    Analytic,    ///< from the equations of the step
    Differences  ///< central differences of the step; `reason` says why
  };

  MatX A;  ///< (2 nv x 2 nv)
  MatX B;  ///< (2 nv x nu)
  MatX P;  ///< (2 nv x parameters): dx+ = A dx + B du + P dp
  /// y, of the sample at the end of the step: dy = C dx + D du + E dp; accelerations and forces are means over the step.
  MatX C, D, E;
  VecX y;
  std::vector<SensorRow> rows;  ///< of y
  /// Where `memory` is set: from (x, m) to (x+, m+), and from u. m: for each contact of the memory that touched, its anchor in
  /// the frame of a, its point in the frame of b, and its rest (7 numbers); then the force of each dry friction. Of steppers
  /// without anchors they are A and B.
  MatX whole_A, whole_B;
  std::vector<int> inputs;  ///< velocity coordinate of each entry of u (nu)
  VecX q_next, v_next;      ///< the end of the step (nq), (nv)
  std::vector<LinearizedContact> contacts;
  int weak = 0;        ///< contacts and rows at the edge of their mode
  double margin = 1;   ///< how far the nearest one is from it, as a share of the scales of the step; 1: nothing is near
  bool unique = true;  ///< false: forces are not unique where the motion depends on them (slip); least forces are taken
  bool finite = true;  ///< false: the step or its derivative is not finite, A and B are zero
  Method method = Method::Analytic;
  const char* reason = "";             ///< why the method is not analytic
  const char* parameters_reason = "";  ///< why P and E are by differences; "": they are analytic
  const char* sensors_reason = "";     ///< the same of C and D
  StepStatus status = StepStatus::Ok;

  /// A dx + B du (2 nv); an empty du is zero.
  VecX jvp(const VecX& dx, const VecX& du) const;
  /// (A^T w, B^T w, P^T w): 2 nv, nu and as many numbers as parameters.
  VecX vjp(const VecX& w) const;
  /// Name of a row of y: "gyroscope:base.x".
  std::string row_name(int row) const;
};
std::string to_string(Linearization::Method method);

/// A force and a torque that go with a point of a body, in W.
struct AppliedForce {
  int body = 0;
  Vec3 point = Vec3::Zero();   ///< in the frame of the body [m]
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 torque = Vec3::Zero();  ///< [N m]
};

/// Adds their generalised force.
void add_forces(const Dynamics& dynamics, std::span<const AppliedForce> forces, VecX& tau);

/// The step that is asked about.
struct StepInput {
  const State& state;
  const Actuation& actuation;  ///< without the generalised force of `forces`
  std::span<const AppliedForce> forces;
  double dt;
};

/// Linearisation beside central differences of the same step.
struct DerivativeCheck {
  /// Largest difference, relative to the largest entry of its block (q+ by q, q+ by v, … v+ by u; a block of zeros counts as
  /// 1e-3, times dt for q+), over the columns that no mode change disturbs.
  double error = 0;
  int row = -1, column = -1;  ///< where; columns of B count on from those of A
  int columns = 0;            ///< compared
  int disturbed = 0;  ///< columns along which a contact, a row or a drive changes its mode within the difference
  Linearization linearization, differences;
};

/// Linearises steps of one stepper, on a workspace of its own: nothing of the run changes. Allocates as it grows, no more
/// after the first step of a size. One thread at a time.
class Linearizer {
 public:
  /// The model must outlive it.
  Linearizer(const Model& model, const std::string& stepper, const StepperOptions& options);
  ~Linearizer();

  void linearize(const StepInput& step, Linearization& out);
  /// By central differences with Richardson's extrapolation, whatever the stepper.
  void difference(const StepInput& step, Linearization& out);
  DerivativeCheck check(const StepInput& step);
  /// The derivative on the side that (dx, du) points to: linearised at a point beside the state, and at one twice as far:
  ///   2 A(x + s dx) dx - A(x + 2 s dx) dx,  s |(dx, du)| = 1e-6                                              (lin.3)
  VecX one_sided(const StepInput& step, const VecX& dx, const VecX& du);
  /// By parameters, by differences (lin.2) of steps of changed models, whatever the stepper.
  MatX difference_parameters(const StepInput& step, const std::vector<std::string>& names);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
