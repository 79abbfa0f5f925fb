// Eigenvalues of matrices that are built from the ones they shall have.
#include "linalg/decompositions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tribo/state.hpp"

using namespace tribo;

namespace {

double draw(Random& random) { return 2 * random.uniform() - 1; }

MatX drawn(int n, Random& random) {
  MatX A(n, n);
  for (int i = 0; i < n * n; ++i) A.data()[i] = draw(random);
  return A;
}

/// Orthogonal: a product of reflections.
MatX orthogonal(int n, Random& random) {
  MatX Q = MatX::Identity(n, n);
  for (int k = 0; k < 3; ++k) {
    VecX u = drawn(n, random).col(0).normalized();
    Q -= 2 * (Q * u).eval() * u.transpose();
  }
  return Q;
}

}  // namespace

TEST_CASE("decompositions: the largest eigenvalue of M^-1 A is the one that it was built with") {
  Random random;
  for (int n : {1, 2, 5, 18, 40})
    for (double scale : {1e-6, 1.0, 1e8}) {
      CAPTURE(n);
      CAPTURE(scale);
      // M = L L^T and A = L Q diag(d) Q^T L^T: M^-1 A has the eigenvalues d.
      const MatX L = MatX(drawn(n, random).triangularView<Eigen::StrictlyLower>()) + 2 * MatX::Identity(n, n);
      const MatX Q = orthogonal(n, random);
      VecX d = scale * drawn(n, random).col(0);
      d[n / 2] = 1.5 * scale;
      const MatX LQ = L * Q;
      CHECK(largest_eigenvalue(L * L.transpose(), LQ * d.asDiagonal() * LQ.transpose()) ==
            doctest::Approx(1.5 * scale).epsilon(1e-9));
    }
  MatX indefinite = MatX::Identity(2, 2);
  indefinite(1, 1) = -1;
  CHECK(largest_eigenvalue(indefinite, MatX::Identity(2, 2)) == 0);
}

TEST_CASE("decompositions: the spectral radius of real, complex, defective and nilpotent matrices") {
  Random random;
  for (int n : {2, 3, 7, 20, 76}) {
    CAPTURE(n);
    // Q T Q^T with T block-triangular: a turn by 1 rad that is scaled by 3, then real ones below 2.
    MatX T = drawn(n, random).triangularView<Eigen::StrictlyUpper>();
    for (int i = 0; i < n; ++i) T(i, i) = 2 * draw(random);
    T(0, 0) = T(1, 1) = 3 * std::cos(1.0);
    T(0, 1) = -3 * std::sin(1.0);
    T(1, 0) = 3 * std::sin(1.0);
    const MatX Q = orthogonal(n, random);
    // The drawn upper part makes it far from normal, and its eigenvalues sensitive.
    CHECK(spectral_radius(Q * T * Q.transpose()) == doctest::Approx(3).epsilon(n > 20 ? 1e-3 : 1e-6));
    // One eigenvalue n times with a single vector. Longer chains have none to working precision: it moves by the n-th root
    // of what is rounded.
    if (n > 20) continue;
    MatX jordan = -0.5 * MatX::Identity(n, n);
    for (int i = 0; i + 1 < n; ++i) jordan(i, i + 1) = 1;
    CHECK(spectral_radius(jordan) == doctest::Approx(0.5).epsilon(1e-4));
    jordan.diagonal().setZero();
    CHECK(spectral_radius(jordan) == 0);
  }
  // A stiff oscillator, x'' = -w^2 x: its eigenvalues are +-i w.
  for (double w : {1e-3, 1.0, 300.0, 1e5}) {
    MatX A = MatX::Zero(2, 2);
    A(0, 1) = 1;
    A(1, 0) = -w * w;
    CHECK(spectral_radius(A) == doctest::Approx(w).epsilon(1e-5));
  }
  CHECK(spectral_radius(MatX::Zero(3, 3)) == 0);
}
