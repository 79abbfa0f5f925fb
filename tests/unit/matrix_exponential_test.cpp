// Closed-form modes and matrix exponentials against a long-double Taylor series with scaling and squaring, and against
// each other.
#include "linalg/matrix_exponential.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "linalg/modal.hpp"

using namespace tribo;

namespace {

using Big = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

// Independent of the code under test: no Pade, no balancing, 64-bit mantissa. Squaring k times loses about 2^k units.
Big reference_exponential(Big A) {
  const long double norm = A.cwiseAbs().colwise().sum().maxCoeff();
  const int squarings = std::max(0, static_cast<int>(std::ceil(std::log2(norm))) + 3);
  A *= std::exp2(-static_cast<long double>(squarings));
  Big sum = Big::Identity(A.rows(), A.rows()), term = sum;
  for (int k = 1; k < 25; ++k) {
    term = (term * A / k).eval();
    sum += term;
  }
  for (int k = 0; k < squarings; ++k) sum = (sum * sum).eval();
  return sum;
}

// s, s1, s2, s3 of y'' + d y' + l y = 0 as the last entries of the exponential of a chain of integrators.
Eigen::Matrix<long double, 4, 1> reference_oscillator(double l, double d, double t) {
  Big A = Big::Zero(5, 5);
  // State (y, y', int y, int int y, int int int y), time scaled so that the matrix is balanced.
  A(0, 1) = 1;
  A(1, 0) = -static_cast<long double>(l) * t * t;
  A(1, 1) = -static_cast<long double>(d) * t;
  A(2, 0) = A(3, 2) = A(4, 3) = 1;
  const Big E = reference_exponential(A);
  const long double T = t;
  return {E(0, 1) * T, E(2, 1) * T * T, E(3, 1) * T * T * T, E(4, 1) * T * T * T * T};
}

struct Problem {
  int n;
  MatX G;
  VecX K, p, pdot, b;
};

Problem make_problem(int n, int rank, std::uint32_t seed, double stiffness) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  auto draw = [&](int r, int c) { return MatX::NullaryExpr(r, c, [&] { return normal(random); }).eval(); };
  Problem x;
  x.n = n;
  const MatX J = draw(n, rank);
  x.G = J * J.transpose();
  x.K = VecX::Constant(n, stiffness);
  for (int i = 2; i < n; i += 3) x.K[i] *= 2.5;
  x.p = 1e-3 * draw(n, 1);
  x.pdot = draw(n, 1);
  x.b = 10 * draw(n, 1);
  return x;
}

// Both routes; the largest difference over the largest force.
double disagreement(const Problem& x, double beta, double h) {
  Modal modal;
  MatrixExponential full;
  VecX m1(x.n), m2(x.n), f1(x.n), f2(x.n);
  const VecX B = beta * x.K;
  REQUIRE(modal.decompose(x.G.data(), x.K.data(), x.n));
  modal.integrate(beta, h, x.p.data(), x.pdot.data(), x.b.data(), m1.data(), m2.data());
  REQUIRE(full.integrate(x.G.data(), x.K.data(), B.data(), x.n, h, 0, x.p.data(), x.pdot.data(), x.b.data(), f1.data(),
                         f2.data()));
  return std::max((m1 - f1).norm() / f1.norm(), (m2 - f2).norm() / f2.norm());
}

}  // namespace

TEST_CASE("scalar oscillator: every damping, from free to stiff") {
  // The long-double reference itself is good to about 2^squarings 1e-19: 1e-12 at the largest norm here.
  double worst = 0;
  for (double t : {1e-4, 1e-3, 1e-2, 1e-1})
    for (double l : {0.0, 1e-12, 1e-3, 1.0, 1e2, 99.9, 1e4, 1e6, 1e8}) {
      const double critical = 2 * std::sqrt(l);
      for (double ratio : {0.0, 1e-3, 0.3, 0.999, 1 - 1e-9, 1.0, 1 + 1e-9, 1.001, 2.0, 10.0, 300.0, 1e5}) {
        const double d = ratio * critical;
        if (d * t > 1e6) continue;
        const Oscillator o = oscillate(l, d, t);
        const auto r = reference_oscillator(l, d, t);
        // s passes through zero where it is undamped, and dies out where it is damped: judged against its envelope.
        const long double envelope =
            std::max<long double>(std::abs(r[0]), d < critical ? r[1] * std::sqrt(l) : 1e-9 * t);
        const double e[] = {
            static_cast<double>(std::abs(o.s - r[0]) / envelope), static_cast<double>(std::abs(o.s1 - r[1]) / r[1]),
            static_cast<double>(std::abs(o.s2 - r[2]) / r[2]), static_cast<double>(std::abs(o.s3 - r[3]) / r[3])};
        CAPTURE(t);
        CAPTURE(l);
        CAPTURE(ratio);
        for (double x : e) {
          CHECK(x < 2e-11);
          worst = std::max(worst, x);
        }
      }
    }
  MESSAGE("worst relative error: ", worst);
}

TEST_CASE("modes and augmented matrix agree") {
  // 1e-10: asked for. Conditions that break naive formulas: rank-deficient G, no G at all, repeated and tiny
  // eigenvalues.
  for (int n : {1, 2, 3, 6, 12, 24})
    for (int rank : {1, 2, 3, 6, 18})
      for (double h : {1e-4, 1e-3, 1e-2})
        for (double stiffness : {1e3, 1e5})
          for (double beta : {0.0, 1e-4, 3e-3, 0.1}) {
            const Problem x = make_problem(n, rank, static_cast<std::uint32_t>(n + 100 * rank), stiffness);
            CAPTURE(n);
            CAPTURE(rank);
            CAPTURE(h);
            CAPTURE(beta);
            CHECK(disagreement(x, beta, h) < 1e-10);
          }
  Problem x = make_problem(6, 6, 5, 1e5);
  x.G.setZero();
  CHECK(disagreement(x, 1e-3, 1e-2) < 1e-10);
  x.G.setIdentity();  // all eigenvalues equal (but for K)
  CHECK(disagreement(x, 1e-3, 1e-2) < 1e-10);
  x.K.setConstant(1e4);
  CHECK(disagreement(x, 2 / std::sqrt(1e4), 1e-2) < 1e-10);  // critical damping of every mode
  x.G(0, 0) = 1e-14;
  x.G(1, 1) = 1e-9;
  CHECK(disagreement(x, 1e-3, 1e-2) < 1e-10);
}

TEST_CASE("the exponential of a matrix against the series") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (double size : {1e-3, 0.1, 0.5, 1.0, 5.0, 40.0}) {
    MatX A = MatX::NullaryExpr(9, 9, [&] { return normal(random); });
    A *= size / A.norm();
    for (int i = 0; i < 9; ++i) A.row(i) *= std::exp2(i), A.col(i) *= std::exp2(-i);  // badly balanced
    const MatX expected = reference_exponential(A.cast<long double>()).cast<double>();
    MatX E = A;
    MatrixExponential exponential;
    REQUIRE(exponential.exponentiate(E.data(), 9));
    CHECK((E - expected).norm() < 1e-12 * expected.norm());
    VecX v = VecX::Ones(9);
    MatX a = A;
    REQUIRE(exponential.apply(a.data(), 9, v.data(), 1, 0));
    CHECK((v - expected.rowwise().sum()).norm() < 1e-12 * expected.norm());
  }
  MatX bad = MatX::Constant(3, 3, std::numeric_limits<double>::quiet_NaN());
  CHECK_FALSE(MatrixExponential().exponentiate(bad.data(), 3));
}

TEST_CASE("an approximant of order j errs as the power 2j + 1 of the step") {
  // [Higham2005, (2.3)]: e^A - r_jj(A) = O(A^(2j+1)). Two steps a factor of two apart, in a range above rounding.
  const Problem x = make_problem(6, 6, 7, 1e5);
  const VecX B = 1e-3 * x.K;
  const int orders[] = {1, 2, 3, 5, 7};
  const double steps[] = {1e-4, 2e-4, 4e-4, 1.5e-3, 3e-3};
  MatrixExponential exponential;
  for (int k = 0; k < 5; ++k) {
    double error[2];
    for (int half = 0; half < 2; ++half) {
      const double h = steps[k] / (1 + half);
      VecX e1(6), e2(6), r1(6), r2(6);
      auto run = [&](int order, VecX& first, VecX& second) {
        REQUIRE(exponential.integrate(x.G.data(), x.K.data(), B.data(), 6, h, order, x.p.data(), x.pdot.data(),
                                      x.b.data(), first.data(), second.data()));
      };
      run(0, e1, e2);
      run(orders[k], r1, r2);
      error[half] = (r2 - e2).norm() / e2.norm();
    }
    CAPTURE(orders[k]);
    CAPTURE(error[0]);
    CAPTURE(error[1]);
    // The second integral starts at h^2, so its relative error is of order 2j - 1, seen from slightly above the limit:
    // in any case more than what the next lower order could do.
    CHECK(std::log2(error[0] / error[1]) > 0.7 * (2 * orders[k] - 1));
  }
}
