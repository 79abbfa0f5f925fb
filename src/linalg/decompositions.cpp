#include "linalg/decompositions.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace tribo {

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

PrincipalAxes principal_axes(const Mat3& A) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

double largest_eigenvalue(const MatX& M, const MatX& A) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(A, M, Eigen::EigenvaluesOnly);
  return solver.info() == Eigen::Success ? solver.eigenvalues().maxCoeff() : 0;
}

// The Schur form has the eigenvalues on its diagonal, and a block of two rows for each pair of conjugate ones: of equal
// diagonal or not, their modulus is the root of the determinant.
double spectral_radius(const MatX& A) {
  const MatX T = Eigen::RealSchur<MatX>(A, false).matrixT();
  double most = 0;
  for (Eigen::Index i = 0; i < T.rows(); ++i)
    if (i + 1 < T.rows() && T(i + 1, i) != 0) {
      most = std::max(most, std::sqrt(std::abs(T(i, i) * T(i + 1, i + 1) - T(i, i + 1) * T(i + 1, i))));
      ++i;
    } else {
      most = std::max(most, std::abs(T(i, i)));
    }
  return most;
}

VecX solve_symmetric(const MatX& H, const VecX& b) { return H.ldlt().solve(b); }

VecX least_norm_solution(const MatX& A, const VecX& b) { return A.completeOrthogonalDecomposition().solve(b); }

}  // namespace tribo
