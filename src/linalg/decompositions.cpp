#include "linalg/decompositions.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "linalg/dense.hpp"

namespace tribo {

SymmetricEigen symmetric_eigen(const MatX& A) {
  const Eigen::SelfAdjointEigenSolver<MatX> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

PrincipalAxes principal_axes(const Mat3& A) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

// Of L^-1 A L^-T with M = L L^T, which is symmetric: L^-1 goes over the columns, then over those of the transpose.
double largest_eigenvalue(const MatX& M, const MatX& A) {
  const auto n = static_cast<int>(M.rows());
  MatX L = M, C = A;
  if (n == 0 || !dense::cholesky(L.data(), n)) return 0;
  for (int side = 0; side < 2; ++side) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        double x = C(i, j);
        for (int k = 0; k < i; ++k) x -= L(i, k) * C(k, j);
        C(i, j) = x / L(i, i);
      }
    C.transposeInPlace();
  }
  return symmetric_eigen(C).values.maxCoeff();
}

// Gelfand's formula: the radius is the limit of |A^m|^(1/m). Squared again and again, and scaled to |B| = 1, A^m = s^m B.
double spectral_radius(const MatX& A) {
  constexpr int squarings = 24;  // m = 2e7: what is left is of order log(m) / m for each of equal eigenvalues
  const auto n = static_cast<int>(A.rows());
  MatX B = A, square(n, n);
  double log_s = 0, share = 1;
  for (int k = 0; k < squarings; ++k, share /= 2) {
    const double norm = B.norm();
    if (!(norm > 0)) return 0;
    log_s += share * std::log(norm);
    B /= norm;
    for (int j = 0; j < n; ++j) dense::multiply(B.data(), n, B.data() + j * n, square.data() + j * n);
    B.swap(square);
  }
  return std::exp(log_s);
}

VecX solve_symmetric(const MatX& H, const VecX& b) { return H.ldlt().solve(b); }

VecX least_norm_solution(const MatX& A, const VecX& b) { return A.completeOrthogonalDecomposition().solve(b); }

}  // namespace tribo
