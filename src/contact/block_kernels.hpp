// Inner loops of BlockSystem. Column-major; the six coordinates of a free body have paths of their own.
#pragma once

namespace tribo::kernels {

/// C (rows x columns) -= V (rows x inner) W^T, W (columns x inner).
void subtract_outer(const double* V, const double* W, int rows, int inner, int columns, double* C);
/// C -= sum of V_m W_m^T over count of them, all 6 x 6.
void subtract_outers_6x6(const double* const* V, const double* const* W, int count, double* C);
/// B (rows x n) <- B A^-T, A = P^T L U by dense::lu.
void divide_by_transposed(const double* LU, int n, const int* pivot, int rows, double* B);
/// out = D Y, D 3 x 3, Y 3 x 6.
void multiply_3x6(const double* D, const double* Y, double* out);
/// out (6 x 6) += A^T B, both 3 x 6.
void add_product_6(const double* A, const double* B, double* out);
/// Of two free bodies, the one that is eliminated first and the other: the blocks on the diagonal, the block below it, and the
/// transpose of the one above.
struct PairBlocks {
  double *early, *late, *lower, *upper;
};
/// += Y^T D Y for a contact of one free body, of two.
void add_contact_6(const double* D, const double* Y, double* out);
void add_contact_6(const double* D, const double* early, const double* late, const PairBlocks& out);
/// y (rows) -= A (rows x n) x.
void subtract_times(const double* A, const double* x, int rows, int n, double* y);
/// x (n) -= A^T y, A (rows x n).
void subtract_transposed_times(const double* A, const double* y, int rows, int n, double* x);

}  // namespace tribo::kernels
