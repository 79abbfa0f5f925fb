#include "linalg/backward_pass.hpp"

#include <Eigen/Cholesky>

namespace tribo {

bool backward_pass(const StageArrays& in, double* K_out, double* k_out, double& expected) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using InRows = Eigen::Map<const Rows>;
  const Eigen::Index n = in.n, m = in.m, T = in.stages;
  VecX V_x = Eigen::Map<const VecX>(in.l_x + T * n, n), Q_u;
  MatX V_xx = InRows(in.l_xx + T * n * n, n, n), VA, VB, Q_uu, Q_ux, K;
  Eigen::LLT<MatX> factor;
  expected = 0;
  for (Eigen::Index t = T - 1; t >= 0; --t) {
    const InRows A(in.A + t * n * n, n, n), B(in.B + t * n * m, n, m);
    VA.noalias() = V_xx * A;
    VB.noalias() = V_xx * B;
    Q_u = Eigen::Map<const VecX>(in.l_u + t * m, m);
    Q_u.noalias() += B.transpose() * V_x;
    Q_uu = InRows(in.l_uu + t * m * m, m, m);
    Q_uu.noalias() += B.transpose() * VB;
    Q_uu.diagonal().array() += in.regularisation;
    Q_ux.noalias() = B.transpose() * VA;  // (ilqr.1)
    if (!Q_uu.allFinite()) return false;
    factor.compute(Q_uu);
    if (factor.info() != Eigen::Success) return false;
    K = -factor.solve(Q_ux);
    const VecX k = -factor.solve(Q_u);  // (ilqr.2)
    expected += 0.5 * k.dot(Q_u);
    VecX next = Eigen::Map<const VecX>(in.l_x + t * n, n);
    next.noalias() += A.transpose() * V_x;
    next.noalias() += Q_ux.transpose() * k;
    V_x = next;
    V_xx = InRows(in.l_xx + t * n * n, n, n);
    V_xx.noalias() += A.transpose() * VA;
    V_xx.noalias() += Q_ux.transpose() * K;  // (ilqr.3)
    V_xx = (0.5 * (V_xx + V_xx.transpose())).eval();
    Eigen::Map<Rows>(K_out + t * m * n, m, n) = K;
    Eigen::Map<VecX>(k_out + t * m, m) = k;
  }
  return true;
}

}  // namespace tribo
