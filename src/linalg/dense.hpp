// Small dense factorisations in place, without allocation. Column-major, leading dimension n.
// Compiled for the base machine and for AVX2; the loader picks. Plain pointers only, so that no Eigen type meets
// another instruction set's alignment.
#pragma once

namespace tribo::dense {

/// A -> L (lower triangle) with A = L L^T; false where it is not positive definite. Reads the lower triangle.
bool cholesky(double* A, int n);
void cholesky_solve(const double* L, int n, double* b);

/// A -> L U with row exchanges in pivot (n); false where it is singular to working precision.
bool lu(double* A, int n, int* pivot);
void lu_solve(const double* LU, int n, const int* pivot, double* b);

/// y = A x for a square A.
void multiply(const double* A, int n, const double* x, double* y);

/// G = Y Y^T, Y (n x m), G (n x n), both triangles.
void gram(const double* Y, int n, int m, double* G);

/// C -= A B, A (rows x inner), B (inner x columns), C (rows x columns).
void subtract_product(const double* A, const double* B, int rows, int inner, int columns, double* C);

}  // namespace tribo::dense
