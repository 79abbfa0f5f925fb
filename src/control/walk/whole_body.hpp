// Torques of all joints from the accelerations of base and feet that are wanted, and from the predicted forces.
//   joints of leg i follow its foot:   a_i = J_i^-1 (a_foot - bias - J_b a_b),  so that a = N a_b + n            (walk.5)
//   the base is not driven:            M_b (N a_b + n) + h_b = sum J_b^T f                                       (walk.6)
//   min |a_b(f) - a_wanted|^2 + weight/mass^2 |f - f_predicted|^2 over f of the feet that stand, in their pyramids (walk.7)
//   tau = M a + h - J^T f;  joints are also pulled to where base and feet should be:
//   e = J_i^-1 (foot - where it should be seen from where the base should be)                                    (walk.8)
#pragma once

#include "control/mpc_program.hpp"
#include "control/quadratic_program.hpp"
#include "control/walk/plan.hpp"

namespace tribo::walk {

struct FootTask {
  bool stands = true;
  Vec3 error = Vec3::Zero(), v = Vec3::Zero();  ///< of its place; velocity that it should have, in W
  Vec3 a = Vec3::Zero();                        ///< acceleration that it should have
  Vec3 force = Vec3::Zero();                    ///< predicted, in W [N]
};
struct BaseTask {
  Vec3 error = Vec3::Zero(), turn = Vec3::Zero();  ///< of its place; rotation vector that it should still make, in W
  Vec3 v = Vec3::Zero(), w = Vec3::Zero();         ///< velocity that it should have, in W
  Vec3 a = Vec3::Zero(), alpha = Vec3::Zero();     ///< acceleration that is wanted of it, in W
};

class WholeBody {
 public:
  WholeBody(const Model& model, const Walker& walker, const WalkOptions& options);
  struct Gains {
    double kp = 0, kd = 0;
  };
  /// False: no forces were found, the predicted ones are taken.
  bool control(const Dynamics& dynamics, const VecX& v, const BaseTask& base, const std::array<FootTask, 4>& feet,
               const Gains& gains, Actuation& a);

 private:
  void read(const Dynamics& dynamics, const std::array<FootTask, 4>& feet);
  bool find_forces(const BaseTask& base, const std::array<FootTask, 4>& feet, const Mat3& R);
  void pull(const Dynamics& dynamics, const BaseTask& base, const std::array<FootTask, 4>& feet, const Gains& gains,
            const VecX& v, Actuation& a) const;

  const Walker* walker_;
  double mu_, weight_;
  int iv_;
  std::array<QuadraticProgram, 5> programs_;  // by the number of feet that stand
  std::array<Eigen::Matrix<double, 3, 6>, 4> base_J_;
  std::array<Mat3, 4> leg_J_, inverse_;
  std::array<Vec3, 4> sole_, force_, drift_;  // drift: a_foot - bias
  Eigen::Matrix<double, 6, 6> composite_;     // M_b N
  Vec6 rest_, base_a_;                        // M_b n + h_b; a_b
  Eigen::Matrix<double, 6, 12> A_;            // a_b = A f + o
  Vec6 o_;
  VecX unit_, column_;
};

}  // namespace tribo::walk
