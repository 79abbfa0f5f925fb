// The backward pass of iLQR [LiTodorov2004]: feedback of least cost along a trajectory, whose dynamics are linear and whose cost is
// quadratic in the changes dx, du of each stage.
//
//   dx+ = A dx + B du,   cost = l_x dx + dx^T l_xx dx / 2 + l_u du + du^T l_uu du / 2
//   Q_u = l_u + B^T V_x,   Q_uu = l_uu + B^T V_xx B + r,   Q_ux = B^T V_xx A                                (ilqr.1)
//   K = -Q_uu^-1 Q_ux,   k = -Q_uu^-1 Q_u,   du = k + K dx                                                  (ilqr.2)
//   V_x <- l_x + A^T V_x + Q_ux^T k,   V_xx <- l_xx + A^T V_xx A + Q_ux^T K                                 (ilqr.3)
#pragma once

#include "tribo/types.hpp"

namespace tribo {

/// Row after row, stage after stage; V begins with the last of l_x and l_xx.
struct StageArrays {
  int stages = 0, n = 0, m = 0;
  const double *A = nullptr, *B = nullptr;       ///< (stages x n x n), (stages x n x m)
  const double *l_x = nullptr, *l_xx = nullptr;  ///< (stages + 1 x n), (stages + 1 x n x n)
  const double *l_u = nullptr, *l_uu = nullptr;  ///< (stages x m), (stages x m x m)
  double regularisation = 0;                     ///< r on the diagonal of Q_uu
};

/// K (stages x m x n), k (stages x m); expected: the change of cost that k alone promises. False where a Q_uu is not
/// positive definite.
bool backward_pass(const StageArrays& in, double* K, double* k, double& expected);

}  // namespace tribo
