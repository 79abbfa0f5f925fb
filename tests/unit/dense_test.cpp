// The dense kernels against Eigen, at every size that a step may bring.
#include "linalg/dense.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <vector>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

constexpr int most = 40;

MatX random_matrix(int rows, int columns, Random& random) {
  MatX A(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) A(i, j) = 2 * random.uniform() - 1;
  return A;
}

VecX random_vector(int n, Random& random) { return random_matrix(n, 1, random).col(0); }

double largest(const MatX& A) { return A.size() == 0 ? 0 : A.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("dense: Cholesky of every size from 1 to 40 multiplies back to its matrix, and solves as Eigen does") {
  Random random;
  for (int n = 1; n <= most; ++n) {
    CAPTURE(n);
    const MatX B = random_matrix(n, n, random), A = B * B.transpose() + 0.1 * MatX::Identity(n, n);
    MatX given = A;
    given.triangularView<Eigen::StrictlyUpper>().setConstant(1e300);  // must not be read
    REQUIRE(dense::cholesky(given.data(), n));
    const MatX L = given.triangularView<Eigen::Lower>();
    CHECK(largest(L * L.transpose() - A) < 1e-14 * n * largest(A));
    const VecX b = random_vector(n, random);
    VecX x = b;
    dense::cholesky_solve(given.data(), n, x.data());
    // Residuals rather than solutions: these do not depend on the condition of A.
    CHECK(largest(A * x - b) < 1e-13 * n * largest(A) * largest(x));
    CHECK(largest(x - A.llt().solve(b)) < 1e-10 * largest(x));
  }
}

TEST_CASE("dense: what is not positive definite is refused, whichever column shows it") {
  for (int n = 1; n <= most; ++n)
    for (int k = 0; k < n; ++k) {
      CAPTURE(n);
      CAPTURE(k);
      MatX A = MatX::Identity(n, n);
      A(k, k) = -1;
      CHECK_FALSE(dense::cholesky(A.data(), n));
      A = MatX::Identity(n, n);
      A(k, k) = std::numeric_limits<double>::quiet_NaN();
      CHECK_FALSE(dense::cholesky(A.data(), n));
    }
}

TEST_CASE("dense: LU of every size solves as Eigen does, also where every row must be exchanged") {
  Random random;
  for (int n = 1; n <= most; ++n)
    for (bool turned : {false, true}) {
      CAPTURE(n);
      CAPTURE(turned);
      MatX A = random_matrix(n, n, random);
      if (turned) {  // a zero on every diagonal place that elimination meets
        A = MatX::Zero(n, n);
        for (int i = 0; i < n; ++i) A(i, (i + 1) % n) = 1 + random.uniform();
      }
      MatX LU = A;
      std::vector<int> pivot(static_cast<std::size_t>(n));
      REQUIRE(dense::lu(LU.data(), n, pivot.data()));
      const VecX b = random_vector(n, random);
      VecX x = b;
      dense::lu_solve(LU.data(), n, pivot.data(), x.data());
      CHECK(largest(A * x - b) < 1e-11 * largest(A) * largest(x));  // rows are exchanged late: growth up to 10 a column
      CHECK(largest(x - A.fullPivLu().solve(b)) < 1e-8 * largest(x));
    }
}

TEST_CASE("dense: LU refuses a singular matrix, whichever column shows it") {
  for (int n = 1; n <= most; ++n)
    for (int k = 0; k < n; ++k) {
      CAPTURE(n);
      CAPTURE(k);
      MatX A = MatX::Identity(n, n);
      A.col(k).setZero();
      std::vector<int> pivot(static_cast<std::size_t>(n));
      CHECK_FALSE(dense::lu(A.data(), n, pivot.data()));
    }
}

TEST_CASE("dense: products of every size") {
  Random random;
  for (int n = 1; n <= most; ++n) {
    CAPTURE(n);
    const MatX A = random_matrix(n, n, random);
    const VecX x = random_vector(n, random);
    VecX y = VecX::Constant(n, 1e300);  // must be overwritten
    dense::multiply(A.data(), n, x.data(), y.data());
    CHECK(largest(y - A * x) < 1e-14 * n);
    for (int m : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, n, 2 * n + 1}) {
      CAPTURE(m);
      MatX Y = random_matrix(n, m, random);
      if (m > 2) Y.row(n / 2).setZero();
      MatX G = MatX::Constant(n, n, 1e300);
      dense::gram(Y.data(), n, m, G.data());
      CHECK(largest(G - Y * Y.transpose()) < 1e-14 * (m + 1));
      CHECK(G == MatX(G.transpose()));
    }
  }
}

TEST_CASE("dense: C - A B for every shape, those of free bodies too") {
  Random random;
  for (int rows = 1; rows <= 12; ++rows)
    for (int inner = 0; inner <= 12; ++inner)
      for (int columns : {0, 1, 5, 6, 7}) {
        CAPTURE(rows);
        CAPTURE(inner);
        CAPTURE(columns);
        const MatX A = random_matrix(rows, inner, random), B = random_matrix(inner, columns, random);
        const MatX before = random_matrix(rows, columns, random);
        MatX C = before;
        dense::subtract_product(A.data(), B.data(), rows, inner, columns, C.data());
        CHECK(largest(C - (before - A * B)) < 1e-14 * (inner + 1));
      }
}
