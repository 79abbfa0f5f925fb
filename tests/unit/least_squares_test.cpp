// Singular systems in three ways, against Eigen's decompositions.
#include "linalg/least_squares.hpp"

#include <doctest/doctest.h>

#include <Eigen/QR>
#include <Eigen/SVD>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

/// J J^T + a skew part, of a rank below its size.
MatX singular(int n, int rank, double skewness, Random& random) {
  MatX J(n, rank), K(rank, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < rank; ++j) J(i, j) = 2 * random.uniform() - 1, K(j, i) = 2 * random.uniform() - 1;
  return J * (J.transpose() + skewness * K);
}

VecX vector(int n, Random& random) {
  VecX x(n);
  for (int i = 0; i < n; ++i) x[i] = 2 * random.uniform() - 1;
  return x;
}

MatrixBuffer buffer(const MatX& M) {
  MatrixBuffer b;
  b.resize(M.rows(), M.cols());
  b.map() = M;
  return b;
}

}  // namespace

TEST_CASE("relaxed, minimum norm and pivoting on singular systems") {
  Random random;
  LeastSquares solver;
  for (int n : {1, 2, 5, 12, 30})
    for (int rank : {1, (n + 1) / 2, n})
      for (double skewness : {0.0, 0.3}) {
        CAPTURE(n);
        CAPTURE(rank);
        const MatX B = singular(n, rank, skewness, random);
        const MatrixBuffer b = buffer(B);
        const VecX y = vector(n, random), consistent = B * vector(n, random);
        VecX x(n);
        for (double eps : {1e-1, 1e-5}) {
          solver.relaxed(b, y.data(), eps, x.data());
          // Independent route: singular values, s / (s^2 + eps^2).
          const Eigen::JacobiSVD<MatX> svd(B, Eigen::ComputeFullU | Eigen::ComputeFullV);
          const VecX s = svd.singularValues();
          const VecX gain = s.array() / (s.array().square() + eps * eps);
          const VecX expected = svd.matrixV() * gain.cwiseProduct(svd.matrixU().transpose() * y);
          // Rounding of B in its null space is amplified by 1e-16 / eps^2.
          CHECK((x - expected).norm() < 1e-12 / (eps * eps) * (1 + expected.norm()));
        }
        solver.minimum_norm(b, y.data(), 1e-10, x.data());
        Eigen::CompleteOrthogonalDecomposition<MatX> cod(B);
        cod.setThreshold(1e-10);
        const VecX shortest = cod.solve(y);
        CHECK((x - shortest).norm() < 1e-7 * (1 + shortest.norm()));
        solver.pivoting(b, consistent.data(), 1e-10, x.data());
        CHECK((B * x - consistent).norm() < 1e-9 * (1 + consistent.norm()));
      }
}

TEST_CASE("a row that nothing moves gets no impulse") {
  MatX B = MatX::Zero(3, 3);
  B.diagonal() = Vec3(2, 0, 3);
  const MatrixBuffer b = buffer(B);
  const Vec3 y(4, 0, 9);
  LeastSquares solver;
  Vec3 x;
  solver.relaxed(b, y.data(), 0, x.data());
  CHECK((x - Vec3(2, 0, 3)).norm() < 1e-14);
  solver.pivoting(b, y.data(), 1e-12, x.data());
  CHECK((x - Vec3(2, 0, 3)).norm() < 1e-14);
  solver.minimum_norm(b, y.data(), 1e-12, x.data());
  CHECK((x - Vec3(2, 0, 3)).norm() < 1e-14);
}
