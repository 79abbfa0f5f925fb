// The rational approximant against the exponential of the augmented matrix: two ways to the same integrals.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "linalg/matrix_exponential.hpp"
#include "linalg/modal.hpp"
#include "linalg/rational.hpp"

using namespace tribo;

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double error(const VecX& is, const VecX& must) { return (is - must).norm() / must.norm(); }

}  // namespace

TEST_CASE("rational: the integrals of the matrix exponential, where damping is not proportional") {
  // Contacts of 1e5 N/m beside drives of 1 to 100 N m/rad, of any damping; more rows than coordinates and fewer. 1e-9 is
  // what the squarings of the other way leave at the longest steps.
  std::srand(3);
  for (int N : {1, 4, 18})
    for (int n : {1, 5, 24})
      for (double h : {1e-4, 1e-3, 1e-2, 4e-2})
        for (double damping : {0.0, 1e-3, 3e-3, 3e-2}) {
          CAPTURE(N);
          CAPTURE(n);
          CAPTURE(h);
          CAPTURE(damping);
          const Rows Y = 1.5 * Rows::Random(n, N);
          VecX K(n), B(n);
          for (int r = 0; r < n; ++r) {
            K[r] = r % 2 == 0 ? 1e5 : std::pow(10.0, r % 3);
            B[r] = r % 2 == 0 ? damping * K[r] : 0.02 * K[r];
          }
          const VecX x = 1e-4 * VecX::Random(n), c = 0.1 * VecX::Random(n);
          const VecX b = 10 * (Y * VecX::Random(N)) + VecX::Random(n);
          const MatX G = Y * Y.transpose();
          VecX f1(n), f2(n), e1(n), e2(n);
          MatrixExponential exponential;
          REQUIRE(exponential.integrate(G.data(), K.data(), B.data(), n, h, 0, x.data(), c.data(), b.data(), e1.data(),
                                        e2.data()));
          Rational rational;
          REQUIRE(rational.prepare(Y.data(), K.data(), B.data(), n, N, h));
          rational.integrate(x.data(), c.data(), b.data(), f1.data(), f2.data());
          CHECK(error(f1, e1) < 1e-9);
          CHECK(error(f2, e2) < 1e-9);
        }
}

TEST_CASE("rational: a mass on a spring beside one on a drive of a 1e6 times stiffer damper") {
  // One coordinate, two rows: the sum is an oscillator of closed form (modal.3) with K and B added up.
  const double y[] = {2, 2}, x0 = 1e-3, c0 = -0.2, b = 9.81, h = 0.01;
  for (double B2 : {0.0, 1.0, 1e6}) {
    CAPTURE(B2);
    const double K[] = {1e5, 100}, B[] = {300, B2}, x[] = {x0, x0}, c[] = {c0, c0}, free[] = {b, b};
    Rational rational;
    REQUIRE(rational.prepare(y, K, B, 2, 1, h));
    double f1[2], f2[2];
    rational.integrate(x, c, free, f1, f2);
    const double G = 4, k = K[0] + K[1], d = B[0] + B[1];
    const Oscillator o = oscillate(G * k, G * d, h);
    // With s the solution from (0, 1) and l, D the coefficients: x = x0 (1 - l s1) + c0 s + b s1
    const double moved = -x0 * G * k * o.s1 + c0 * o.s + b * o.s1;
    const double area = h * x0 - x0 * G * k * o.s2 + c0 * o.s1 + b * o.s2;
    const double must[] = {-(K[0] * area + B[0] * moved), -(K[1] * area + B[1] * moved)};
    for (int r = 0; r < 2; ++r) CHECK(f1[r] == doctest::Approx(must[r]).epsilon(1e-9));
  }
}

TEST_CASE("rational: what is not finite is refused") {
  const double y[] = {1}, K[] = {1e5}, B[] = {300}, bad[] = {std::numeric_limits<double>::quiet_NaN()};
  Rational rational;
  CHECK(rational.prepare(y, K, B, 1, 1, 0.01));
  CHECK_FALSE(rational.prepare(bad, K, B, 1, 1, 0.01));
  CHECK_FALSE(rational.prepare(y, bad, B, 1, 1, 0.01));
}
