// Inner loops of BlockSystem. Column-major; the six coordinates of a free body have paths of their own.
#pragma once

namespace tribo::kernels {

/// C (rows x columns) -= V (rows x inner) W^T, W (columns x inner).
void subtract_outer(const double* V, const double* W, int rows, int inner, int columns, double* C);
/// B (rows x n) <- B A^-T, A = P^T L U by dense::lu.
void divide_by_transposed(const double* LU, int n, const int* pivot, int rows, double* B);
/// out = D Y, D 3 x 3, Y 3 x 6.
void multiply_3x6(const double* D, const double* Y, double* out);
/// out (6 x 6) += A^T B, both 3 x 6.
void add_product_6(const double* A, const double* B, double* out);
/// y (rows) -= A (rows x n) x.
void subtract_times(const double* A, const double* x, int rows, int n, double* y);
/// x (n) -= A^T y, A (rows x n).
void subtract_transposed_times(const double* A, const double* y, int rows, int n, double* x);

}  // namespace tribo::kernels
