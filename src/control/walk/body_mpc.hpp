// Predictive control of the robot as one rigid body: the program (mpc.1) to (mpc.3) of an instant and a plan.
//   x = (com, roll pitch yaw, v, w), h a node:   com+ = com + h v,   angles+ = angles + h Rz(yaw_ref)^T w
//   v+ = v + h (f / m + g),   w+ = w + h I(yaw_ref)^-1 (p_foot - com_ref) x f, summed over the feet that stand    (walk.4)
#pragma once

#include "control/mpc_program.hpp"
#include "control/walk/plan.hpp"

namespace tribo::walk {

/// Where the body is to be from now on.
struct BodyPlan {
  Vec3 com = Vec3::Zero(), angles = Vec3::Zero();  ///< now; it goes on with
  Vec3 v = Vec3::Zero();                           ///< in the axes of the heading [m/s]
  double turning = 0;                              ///< [rad/s]
};

class BodyMpc {
 public:
  BodyMpc(const Walker& walker, const WalkOptions& options, const GaitPlan& gait);

  double node() const { return node_; }  ///< [s]
  /// Forces of the feet that stand from t on, in W; others are left. soles: where each foot stands or will land next.
  MpcProgram::Report solve(double t, const Instant& now, const BodyPlan& plan, const std::array<Vec3, 4>& soles,
                           const Vec3& gravity, std::array<Vec3, 4>& force);
  const MpcProgram& program() const { return program_; }

 private:
  void fill(double t, const Instant& now, const BodyPlan& plan, const std::array<Vec3, 4>& soles, const Vec3& gravity);

  const Walker* walker_;
  WalkOptions options_;
  GaitPlan gait_;
  double node_;
  Mat3 inverse_;  // of the inertia
  MpcProgram program_;
};

}  // namespace tribo::walk
