#include "linalg/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

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

VecX least_norm_solution(const MatX& A, const VecX& b) { return A.completeOrthogonalDecomposition().solve(b); }

}  // namespace tribo
