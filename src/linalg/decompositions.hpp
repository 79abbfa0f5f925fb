// Decompositions of matrices of any size, for what happens once a run: none of them may stand in a step.
#pragma once

#include "tribo/types.hpp"

namespace tribo {

struct SymmetricEigen {
  VecX values;   ///< ascending
  MatX vectors;  ///< by column
};
SymmetricEigen symmetric_eigen(const MatX& A);

struct PrincipalAxes {
  Vec3 values;  ///< ascending
  Mat3 axes;    ///< by column
};
PrincipalAxes principal_axes(const Mat3& A);

/// Largest eigenvalue of M^-1 A for a symmetric positive M and a symmetric A; 0 where M is not positive.
double largest_eigenvalue(const MatX& M, const MatX& A);

/// Largest modulus of the eigenvalues of a square A, whose coefficients are finite.
double spectral_radius(const MatX& A);

/// H^-1 b for a symmetric positive H.
VecX solve_symmetric(const MatX& H, const VecX& b);

/// The shortest of the x for which |A x - b| is least.
VecX least_norm_solution(const MatX& A, const VecX& b);

}  // namespace tribo
