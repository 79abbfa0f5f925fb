// The quadratic program of predictive control of one body on its feet, stage by stage: a primal-dual interior point
// method whose linear systems are solved by a Riccati recursion.
//
//   x = (place, velocity), 6 + 6:   place+ = place + D velocity,  velocity+ = velocity + B f + c          (mpc.1)
//   min sum_k 1/2 (x_k - ref_k)^T Q (x_k - ref_k) + 1/2 w |f_k|^2,   k = 1 … n for x                      (mpc.2)
//   e(f) = E f + e_0 >= 0 of each foot:  mu f_z +- f_x,  mu f_z +- f_y,  f_z - least,  most - f_z         (mpc.3)
// With slacks s = e(f) - r, multipliers z and the slope d of the Lagrangian by f, a Newton step to s z = target is the
// program without inequalities that has x_0 = 0, c = 0, ref = 0 and, for the changes of f,
//   H = w + E^T (z/s) E,   g = d - E^T (target/s - z - (z/s) r)                                           (mpc.4)
//   ds = E df + r,   dz = target/s - z - (z/s) ds
// whose solution is, with the cost to go 1/2 x^T P x + p^T x and its blocks by place (1) and velocity (2),
//   F = H + B^T P_22 B = L L^T,   T = L^-1 B^T (P_21, P_22),   eta = L^-1 (B^T p_2 + g)                   (mpc.5)
//   df = -L^-T (T A dx + eta),   P <- A^T (P - T^T T) A + Q,   p <- A^T (p - T^T eta)                     (mpc.6)
// Two solutions a step, the second with the centring and the correction of [Mehrotra1992]. x follows from f exactly, so
// that (mpc.1) has no residual. The work is linear in the stages; nothing is allocated after resize.
#pragma once

#include <vector>

#include "tribo/types.hpp"

namespace tribo {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

/// What one foot may press, in the axes of its forces.
struct FootBounds {
  double mu = 0;               ///< of the pyramid [-], >= 0
  double least = 0, most = 0;  ///< normal force [N], least < most
};

/// From x_k to x_(k+1). Axes and units are the caller's.
struct MpcStage {
  int feet = 0;                  ///< that stand, 0 to 4
  double step = 0;               ///< D = diag(step, step, step, turn)
  Mat3 turn = Mat3::Identity();  ///< angles from angular velocity over the step
  Eigen::Matrix<double, 6, 12> B = Eigen::Matrix<double, 6, 12>::Zero();  ///< of the feet that stand, 3 columns each
  Vec6 c = Vec6::Zero();
  Vec12 Q = Vec12::Zero();    ///< diagonal, >= 0, of x_(k+1)
  Vec12 ref = Vec12::Zero();  ///< of x_(k+1)
  FootBounds bounds[4];
};

class MpcProgram {
 public:
  struct Report {
    bool solved = false;
    int iterations = 0;
    double primal = 0, dual = 0, gap = 0;  ///< residuals of (mpc.3) and of the slope by f; sum of s z
  };

  void resize(int stages);
  int stages() const { return static_cast<int>(stage.size()); }
  /// To absolute residuals below the tolerance. Always from the same start: the answer depends on the program alone.
  Report solve(double tolerance = 1e-6, int most_iterations = 40);
  const Vec12& forces(int k) const { return work_[at(k)].f; }  ///< of the feet of stage k, in their order
  const Vec12& state(int k) const { return work_[at(k)].x; }   ///< x_(k+1)

  Vec12 start = Vec12::Zero();  ///< x_0
  double force_weight = 1;      ///< w > 0
  std::vector<MpcStage> stage;

 private:
  using Vec24 = Eigen::Matrix<double, 24, 1>;
  struct Work {
    Vec12 f, x;                       // of (mpc.1)
    Vec24 s, z, weight, miss;         // weight: z/s; miss: r
    Vec12 slope;                      // d
    Vec24 pull, ds, dz;               // pull: target/s - z
    Vec12 df, g, eta;                 // of (mpc.5)
    Eigen::Matrix<double, 12, 12> L;  // lower; its diagonal is that of the inverse
    Eigen::Matrix<double, 12, 6> T1, T2;
  };
  template <int Feet>
  bool factor(int k);
  template <int Feet>
  void backward(int k);
  template <int Feet>
  void forward(int k, Vec12& dx);
  template <class Body>
  static void by_feet(int feet, Body&& body);

  void begin();
  bool factor_all();
  void newton();  // df, ds, dz from the pull
  double step_length() const;
  void aim(bool corrected);
  void measure(Report& report);
  void roll(Vec12& x, const MpcStage& s, const Vec12& f) const;

  std::vector<Work> work_;
  Mat6 P11_, P12_, P22_;  // of the recursion
  Vec6 p1_, p2_;
  int rows_ = 0;  // inequalities
};

}  // namespace tribo
