// Sums of rows, four numbers at a time where the machine has AVX2.
#pragma once

#include "linalg/row_matrix.hpp"

namespace tribo::rows {

/// y = scale y + sum_i x_i X[index_i], over `columns` numbers, a multiple of four. y is none of those rows.
void combine(double scale, double* y, const double* X, int stride, const int* index, const double* x, int n,
             int columns);
/// The same with rows 0, 1, … n - 1.
void combine(double scale, double* y, const double* X, int stride, const double* x, int n, int columns);
double dot(const double* x, const double* y, int n);
/// y += a x.
void add(double a, const double* x, double* y, int n);
/// out_i = x . Y[i], over n numbers, a multiple of four, of rows 0, 1, … rows - 1.
void dots(const double* x, const double* Y, int stride, int rows, int n, double* out);
/// Four columns of X, of so many rows, each to a place of its own.
void to_columns(const double* X, int stride, int rows, double* const to[4]);
bool all_finite(const double* x, int n);

/// X <- (L U)^-1 X with the factor of dense::lu (column-major) and a row of X for each unknown.
void lu_solve(const double* LU, int n, const int* pivot, RowMatrix& X);

}  // namespace tribo::rows
