#include "linalg/matrix_exponential.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dense.hpp"

namespace tribo {
namespace {

// C = A B, all n x n; B may have fewer columns.
void multiply(const double* A, const double* B, int n, int columns, double* C) {
  std::fill(C, C + at(n) * at(columns), 0.0);
  for (int j = 0; j < columns; ++j) {
    double* c = C + at(j) * at(n);
    const double* b = B + at(j) * at(n);
    for (int k = 0; k < n; ++k) {
      const double x = b[k];
      if (x == 0) continue;
      const double* a = A + at(k) * at(n);
      for (int i = 0; i < n; ++i) c[i] += x * a[i];
    }
  }
}

double norm1(const double* A, int n) {
  double norm = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::abs(A[at(i) + at(j) * at(n)]);
    if (!(sum <= norm)) norm = sum;  // NaN comes through
  }
  return norm;
}

// Coefficients of the numerator of the diagonal Pade approximants [Higham2005, (2.2)], lowest power first.
const double* coefficients(int order) {
  static const double c1[] = {2, 1}, c2[] = {12, 6, 1}, c3[] = {120, 60, 12, 1},
                      c5[] = {30240, 15120, 3360, 420, 30, 1},
                      c7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1},
                      c13[] = {64764752532480000.,
                               32382376266240000.,
                               7771770303897600.,
                               1187353796428800.,
                               129060195264000.,
                               10559470521600.,
                               670442572800.,
                               33522128640.,
                               1323241920.,
                               40840800.,
                               960960.,
                               16380.,
                               182.,
                               1.};
  switch (order) {
    case 1:
      return c1;
    case 2:
      return c2;
    case 3:
      return c3;
    case 5:
      return c5;
    case 7:
      return c7;
    default:
      return c13;
  }
}

}  // namespace

void MatrixExponential::resize(int n) {
  const std::size_t size = at(n) * at(n);
  if (A2_.size() < size)
    for (auto* x : {&A2_, &A4_, &A6_, &U_, &V_, &work_}) x->resize(size);
  if (scale_.size() < at(n)) {
    scale_.resize(at(n));
    pivot_.resize(at(n));
  }
}

// Powers of two on the diagonal, so that rows and columns have like norms [Parlett1969]; exact in binary arithmetic.
void MatrixExponential::balance(double* A, int n) {
  std::fill(scale_.begin(), scale_.begin() + n, 1.0);
  for (int sweep = 0; sweep < 20; ++sweep) {
    bool done = true;
    for (int i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        row += std::abs(A[at(i) + at(j) * at(n)]);
        column += std::abs(A[at(j) + at(i) * at(n)]);
      }
      if (row == 0 || column == 0) continue;
      const double f = std::exp2(std::round(0.5 * std::log2(row / column)));
      if (column * f + row / f > 0.95 * (column + row)) continue;
      done = false;
      scale_[at(i)] *= f;
      for (int j = 0; j < n; ++j) {
        A[at(i) + at(j) * at(n)] /= f;
        A[at(j) + at(i) * at(n)] *= f;
      }
    }
    if (done) break;
  }
}

void MatrixExponential::parts(const double* A, int n, int order) {
  const std::size_t size = at(n) * at(n);
  const double* c = coefficients(order);
  double *odd = work_.data(), *even = V_.data();
  if (order > 1) multiply(A, A, n, n, A2_.data());
  if (order > 3) multiply(A2_.data(), A2_.data(), n, n, A4_.data());
  if (order > 5) multiply(A4_.data(), A2_.data(), n, n, A6_.data());
  auto add = [&](double* out, double o, double x2, double x4, double x6) {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      if (x2 != 0) sum += x2 * A2_[i];
      if (x4 != 0) sum += x4 * A4_[i];
      if (x6 != 0) sum += x6 * A6_[i];
      out[i] = sum;
    }
    for (int i = 0; i < n; ++i) out[at(i) * at(n + 1)] += o;
  };
  if (order == 13) {  // U = A (A6 (c13 A6 + c11 A4 + c9 A2) + c7 A6 + …)
    add(odd, 0, c[9], c[11], c[13]);
    multiply(A6_.data(), odd, n, n, U_.data());
    add(odd, c[1], c[3], c[5], c[7]);
    for (std::size_t i = 0; i < size; ++i) odd[i] += U_[i];
    multiply(A, odd, n, n, U_.data());
    add(odd, 0, c[8], c[10], c[12]);
    multiply(A6_.data(), odd, n, n, even);
    add(odd, c[0], c[2], c[4], c[6]);
    for (std::size_t i = 0; i < size; ++i) even[i] += odd[i];
    return;
  }
  auto coefficient = [&](int k) { return k <= order ? c[k] : 0.0; };
  add(even, c[0], coefficient(2), coefficient(4), coefficient(6));
  if (order < 3) {
    for (std::size_t i = 0; i < size; ++i) U_[i] = c[1] * A[i];
    return;
  }
  add(odd, c[1], coefficient(3), coefficient(5), coefficient(7));
  multiply(A, odd, n, n, U_.data());
}

bool MatrixExponential::exponentiate(double* A, int n) {
  resize(n);
  const std::size_t size = at(n) * at(n);
  balance(A, n);
  const double norm = norm1(A, n);
  if (!std::isfinite(norm)) return false;
  // Largest norms at which an approximant is exact to double precision [Higham2005, table 2.3].
  int order = 13, squarings = 0;
  if (norm < 1.495585217958292e-2)
    order = 3;
  else if (norm < 2.539398330063230e-1)
    order = 5;
  else if (norm < 9.504178996162932e-1)
    order = 7;
  else if (norm > 5.371920351148152)
    squarings = std::max(0, static_cast<int>(std::ceil(std::log2(norm / 5.371920351148152))));
  const double down = std::exp2(-squarings);
  for (std::size_t i = 0; i < size; ++i) A[i] *= down;
  parts(A, n, order);
  for (std::size_t i = 0; i < size; ++i) {
    A[i] = V_[i] + U_[i];
    V_[i] -= U_[i];
  }
  if (!dense::lu(V_.data(), n, pivot_.data())) return false;
  for (int j = 0; j < n; ++j) dense::lu_solve(V_.data(), n, pivot_.data(), A + at(j) * at(n));
  for (int k = 0; k < squarings; ++k) {
    multiply(A, A, n, n, work_.data());
    std::copy(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(size), A);
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) A[at(i) + at(j) * at(n)] *= scale_[at(i)] / scale_[at(j)];
  return true;
}

bool MatrixExponential::apply(double* A, int n, double* V, int columns, int order) {
  resize(n);
  const std::size_t size = at(n) * at(n);
  double* product = U_.data();
  if (order == 0) {
    if (!exponentiate(A, n)) return false;
    for (int j = 0; j < columns; ++j) {
      multiply(A, V + at(j) * at(n), n, 1, product);
      std::copy(product, product + n, V + at(j) * at(n));
    }
    return true;
  }
  parts(A, n, order);
  for (std::size_t i = 0; i < size; ++i) {
    A[i] = V_[i] + U_[i];
    V_[i] -= U_[i];
  }
  if (!dense::lu(V_.data(), n, pivot_.data())) return false;
  for (int j = 0; j < columns; ++j) {
    double* v = V + at(j) * at(n);
    multiply(A, v, n, 1, product);
    std::copy(product, product + n, v);
    dense::lu_solve(V_.data(), n, pivot_.data(), v);
  }
  return true;
}

bool MatrixExponential::integrate(const double* G, const double* K, const double* B, int n, double h, int order,
                                  const double* p, const double* pdot, const double* c, double* first, double* second) {
  const int N = 2 * n + 3;
  const std::size_t ld = at(N);
  if (A_.size() < ld * ld) A_.resize(ld * ld);
  if (columns_.size() < 2 * ld) columns_.resize(2 * ld);
  double *A = A_.data(), *x = columns_.data();
  std::fill(A, A + ld * ld, 0.0);
  std::fill(x, x + 2 * ld, 0.0);
  for (int j = 0; j < n; ++j) {
    A[at(j) + at(n + j) * ld] = h;
    for (int i = 0; i < n; ++i) {
      const double g = h * G[i + j * n];
      A[at(n + i) + at(j) * ld] = -g * K[j];
      A[at(n + i) + at(n + j) * ld] = -g * B[j];
    }
  }
  for (int i = 0; i < n; ++i) {
    A[at(n + i) + at(2 * n) * ld] = h * c[i];
    A[at(i) + at(2 * n + 1) * ld] = h * p[i];
    A[at(n + i) + at(2 * n + 1) * ld] = h * pdot[i];
  }
  A[at(2 * n) + at(2 * n + 1) * ld] = A[at(2 * n + 1) + at(2 * n + 2) * ld] = h;
  x[at(2 * n + 1)] = x[ld + at(2 * n + 2)] = 1;
  if (!apply(A, N, x, 2, order)) return false;  // (expo.2)
  for (int i = 0; i < n; ++i) {
    first[i] = -(K[i] * x[i] + B[i] * x[n + i]);
    second[i] = -(K[i] * x[ld + at(i)] + B[i] * x[ld + at(n + i)]);
  }
  return true;
}

}  // namespace tribo
